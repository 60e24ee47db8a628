"""Counts of single runs that sentences of docs/ quote.

`quoted.toml` has the questions that these runs answer: workloads, options of ``warploom run``, and which counts of its
document (docs/json.md, *run*) are kept. `python -m warploom.results quoted` runs all of them and writes
`docs/results/quoted.csv`, where the claims of sentences (`tests/pages/claims`) find them. So each count has a command
that prints it: ``warploom run``, workload and options of its line.
"""

import csv
import io
import json
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from warploom import report
from warploom.arch.errors import ExecutionError, WarploomError
from warploom.evaluation import cached
from warploom.evaluation.pages import RESULTS
from warploom.evaluation.workloads import KERNELS, SEVEN, chosen
from warploom.files import write_whole
from warploom.options import parser
from warploom.verbs import Body
from warploom.verbs import run as verb

QUOTED = "quoted"
"""The name of the result."""

FILE = RESULTS / f"{QUOTED}.csv"

COLUMNS = "question", "workload", "options", "count", "value"


class Run(NamedTuple):
    """A workload, and options of ``warploom run``."""

    workload: str
    options: str


class Question(NamedTuple):
    """Workloads, the options of all runs, the further ones of each variant, and the places of the counts in the
    document of a run: keys and numbers of elements, joined by dots."""

    workloads: list[str]
    run: str
    variants: list[str]
    counts: list[str]

    def runs(self) -> Iterator[Run]:
        """All runs, in order."""
        workloads = chosen([KERNELS], "")[SEVEN] if self.workloads == [KERNELS] else self.workloads
        return (Run(workload, self.options(variant)) for variant in self.variants for workload in workloads)

    def options(self, variant: str) -> str:
        """The options of a variant."""
        return f"{self.run} {variant}".strip()


@cache
def questions() -> dict[str, Question]:
    """What `quoted.toml` has."""
    found = tomllib.loads(Path(__file__).with_name("quoted.toml").read_text(encoding="utf-8"))
    return {name: Question(**asked) for name, asked in found.items()}


def make() -> None:
    """Run all and write the file. Raises the first error."""
    asked = questions()
    wanted = list(dict.fromkeys(run for question in asked.values() for run in question.runs()))
    with report.counting("running", len(wanted)) as done:
        found = cached.results(WORK, wanted, lambda run: done(" ".join(run)))
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(COLUMNS)
    for name, question in asked.items():
        for run in question.runs():
            lines.writerows((name, *run, count, value) for count, value in counted(found[run], question.counts).items())
    write_whole(FILE, text.getvalue().encode())


def found(question: str, variant: str = "", count: str = "timing.ipc") -> dict[str, float]:
    """A count of the runs of a variant, by workload, from the file. Raises `KeyError` if there is none."""
    options = questions()[question].options(variant)
    values = {line["workload"]: float(line["value"]) for line in _lines()
              if (line["question"], line["options"], line["count"]) == (question, options, count)}
    if not values:
        raise KeyError((question, options, count))
    return values


@cache
def _lines() -> list[dict[str, str]]:
    return list(csv.DictReader(FILE.read_text(encoding="utf-8").splitlines()))


def counted(document: Body | WarploomError, counts: Iterable[str]) -> dict[str, float]:
    """Counts of the document of a run. Raises its error."""
    if isinstance(document, WarploomError):
        raise document
    return {count: _at(document, count.split(".")) for count in counts}


def _at(found: Any, keys: Iterable[str]) -> float:
    for key in keys:
        found = found[int(key) if key.isdigit() else key]
    assert isinstance(found, int | float), f"not a number: {found}"
    return found


def document(run: Run) -> Body:
    """The document of a run. Raises `ExecutionError` if its results are wrong."""
    with redirect_stdout(io.StringIO()):
        body = verb.main(parser().parse_args(["run", run.workload, *run.options.split()]))
    if body["failure"]:
        raise ExecutionError(f"{' '.join(run)}: {body['failure']}")
    return body


def _make(run: Run) -> str:
    return json.dumps(document(run))


def _read(_: Run, text: str) -> Body:
    found: Body = json.loads(text)
    return found


def _name(run: Run) -> str:
    return f"{QUOTED}-{run.workload}"


WORK = cached.Work(_make, _read, _name, Run._asdict, (
    *cached.SOURCES, "warploom/running.py", "warploom/verbs/run.py", "warploom/verbs/run_program.py"))
"""Runs, each cached."""
