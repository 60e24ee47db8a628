"""`warploom evaluate fg_simt`: programs on the engine, beside the published table."""

import json
from collections import Counter
from pathlib import Path

import pytest

from warploom.arch.errors import ExecutionError
from warploom.cli import main
from warploom.evaluation.cached import Sized
from warploom.evaluation.fg_simt import experiment as fg_simt
from warploom.evaluation.fg_simt.experiment import PUBLISHED, PUBLISHED_MIX, WORK, OnEngine
from warploom.fg_simt.programs import NAMES
from warploom.golden_model.fg_simt.engine import Finished

FOUND = OnEngine(
    {"off": 200, "a": 160, "ab": 125, "abm": 100}, {"off": 400, "abm": 320},
    {kind: {"instructions": 50, "threads": 1000, "affine": affine, "memory": 8, "vector_loads": affine // 10,
            "integer": 30, "float": 7, "control": 5, "shared_loads": 2, "narrow_requests": 18, "wide_requests": 4,
            "registers_read": 100 - affine, "words_written": 2000 - 60 * affine}
     for kind, affine in (("off", 0), ("a", 10), ("ab", 20), ("abm", 20))}, 500)


def test_a_row_has_ours_and_the_published_values() -> None:
    row = FOUND.row("cmult")
    assert {column: row[column] for column in fg_simt.COLUMNS} == {
        "program": "cmult", "instructions": 50, "active": 20, "cycles": 200, "a": 1.25, "ab": 1.6, "abm": 2,
        "mcore": 0.4, "L1": 400, "abm, L1": 1.25, "affine a": 20, "affine ab": 40, "vector": 25}
    assert fg_simt.texts(row) == [
        "cmult", "50", "20.0 (31.3)", "200", "1.25 (1.32)", "1.60 (1.32)", "2.00 (1.32)", "0.40 (0.41)", "400",
        "1.25 (1.32)", "20 (55)", "40 (55)", "25 (6)"]


def test_a_row_has_the_mix_of_instructions() -> None:
    row = FOUND.row("cmult")
    assert {column: row[column] for column in fg_simt.MIX} == {
        "integer": 60, "float": 14, "control": 10, "memory": 16, "shared loads": 4, "bytes": 1, "reads": 10,
        "writes": 30}
    assert fg_simt.texts(row, fg_simt.MIX) == [
        "60 (20)", "14 (27)", "10 (1)", "16 (42)", "4 (13)", "1.0 (12.5)", "10 (64)", "30 (38)"]


def test_all_programs_of_the_table_are_there() -> None:
    assert PUBLISHED.keys() == PUBLISHED_MIX.keys() == NAMES.keys()
    sums = [[round(sum(column), 1) for column in zip(*table.values(), strict=True)]
            for table in (PUBLISHED, PUBLISHED_MIX)]
    assert sums == [[341.3, 3229.9, 3045.2, 2903.2, 2837.2, 8459, 361, 402, 34],
                    [651, 131, 105, 362, 59, 84.3, 625, 351]]
    assert fg_simt.usual() == {"programs": tuple(NAMES.values())}


def test_a_program() -> None:
    point = Sized("conv", "tiny")
    found = WORK.read(point, WORK.make(point))
    assert found.cycles["off"] > found.cycles["abm"] and found.cached["off"] > found.cycles["off"]
    assert found.row("conv")["instructions"] == 2112


def test_a_program_that_computes_something_else_has_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    for found, message in ((Finished(0x0300_0004, (), 0, 0, Counter()), "has stopped, status 0x3000004"),
                           (None, "'array_0' is not as functional execution leaves it")):
        monkeypatch.setattr(fg_simt, "run", lambda contents, *_, found=found, **__: found or Finished(
            0, contents, 0, 0, Counter()))
        with pytest.raises(ExecutionError, match=message):
            fg_simt.COUNTING.make(Sized("cmult", "tiny"))


def test_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(fg_simt, "NAMES", {"cmult": "cmult"})
    path = tmp_path / "fg_simt.json"
    assert main(["evaluate", "fg_simt", "--json", str(path)]) == 0
    document = json.loads(path.read_text())
    assert document["size"] == "tiny" and [row["program"] for row in document["table_3"]] == ["cmult"]
    assert "Table 3: ours (published)" in capsys.readouterr().out


@pytest.mark.parametrize("option", [["--preset", "fermi"], ["--workloads", "bfs"], ["--blocks", "4"]])
def test_options_that_make_no_sense(option: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "fg_simt", *option]) == 1
    assert f"evaluate fg_simt: {option[0]}" in capsys.readouterr().err
