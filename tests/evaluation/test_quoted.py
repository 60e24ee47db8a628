"""Counts of single runs that sentences quote: the committed ones are those of the present model, and each is used."""

import csv
import re
from pathlib import Path

import pytest
from support.work import in_this_process

from warploom import points, quoted, results
from warploom.arch.errors import ExecutionError
from warploom.quoted import FILE, Question, Run, counted, document, questions

ROOT = Path(__file__).resolve().parents[2]

AGAIN = [(name, next(question.runs())) for name, question in questions().items()]
"""The first run of each question."""


def committed(question: str, run: Run) -> dict[str, float]:
    """The committed counts of a run."""
    return {line["count"]: float(line["value"]) for line in csv.DictReader(FILE.read_text().splitlines())
            if (line["question"], line["workload"], line["options"]) == (question, *run)}


def test_every_run_is_committed_and_no_other() -> None:
    lines = [tuple(line)[:4] for line in csv.reader(FILE.read_text().splitlines())][1:]
    assert lines == [(name, *run, count) for name, question in questions().items() for run in question.runs()
                     for count in question.counts]


@pytest.mark.parametrize("question", questions())
def test_every_question_is_asked(question: str) -> None:
    """By its name, or by what comes before a comma, behind which machines differ."""
    readers = [*ROOT.glob("docs/*.md"), *ROOT.glob("tests/pages/claims/*.py")]
    asked = re.compile(rf'"{re.escape(question)}"|"{re.escape(question.partition(",")[0])}, .*{{')
    assert any(asked.search(path.read_text(encoding="utf-8")) for path in readers)


@pytest.mark.parametrize(("question", "run"), [
    pytest.param(*one, marks=() if "--size tiny" in one[1].options else pytest.mark.long) for one in AGAIN])
def test_a_run_again(question: str, run: Run) -> None:
    assert counted(document(run), questions()[question].counts) == committed(question, run)


def test_a_file_of_two_machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Question(["vector_add", "matmul"], "--size tiny", ["--preset small", "--preset small --set banks=4"],
                     ["timing.cycles", "timing.bank_reads.1"])
    monkeypatch.setattr(quoted, "FILE", tmp_path / "quoted.csv")
    monkeypatch.setattr(quoted, "questions", lambda: {"banks": asked})
    monkeypatch.setattr(points, "compute", in_this_process)
    assert results.main(["quoted"]) == 0
    quoted._lines.cache_clear()
    cycles, reads = (quoted.found("banks", "--preset small", count) for count in asked.counts)
    body = document(Run("matmul", "--size tiny --preset small"))["timing"]
    assert (cycles["matmul"], reads["matmul"]) == (body["cycles"], body["bank_reads"][1])
    assert quoted.found("banks", "--preset small --set banks=4", "timing.cycles")["matmul"] < cycles["matmul"]
    with pytest.raises(KeyError):
        quoted.found("banks", "--preset small", "timing.ipc")
    quoted._lines.cache_clear()


def test_a_run_with_wrong_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quoted.verb, "main", lambda _: {"failure": "3 buffers are wrong"})
    with pytest.raises(ExecutionError, match=r"^matmul --size tiny: 3 buffers are wrong$"):
        document(Run("matmul", "--size tiny"))
