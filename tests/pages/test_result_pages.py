"""Tables of the pages, from committed results: what each shows, and that it shows only what the results have."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from warploom import results
from warploom.evaluation import pages
from warploom.evaluation.energy.assumptions import FIGURES

SERIES = {
    "reg": {"kernels": {"bfs": 10.0, "matmul": 20.04}, "average": 15.02, "published": "31.8"},
    "write": {"kernels": {"bfs": 1.0, "matmul": -2.0}, "average": -0.5, "published": None},
}
DOCUMENT = {
    "experiment": "coalescing", "size": "default", "commit": "0123456789abcdef", "configuration": {"name": "fermi"},
    "figures": [{"figure": "Fig. 3.21", "note": "", "series": SERIES},
                {"figure": "Fig. 3.33", "note": "rest by time", "series": SERIES}],
    "pressure": [{"kernel": "bfs", "ipc": 0.123456}],
    "sensitivity": [
        {"figure": "Fig. 1", "published": "5.0", "ours": 4, "assumption": "logic", "with least": 3.04, "with most": 5},
        {"figure": "Fig. 2", "published": "-", "ours": 1, "assumption": "logic", "with least": 1, "with most": 0},
        {"figure": "Fig. 2", "published": "-", "ours": 1, "assumption": "tables", "with least": 2, "with most": 0.5}],
    "runs": {"bfs": {}}, "charts": "build",
}


@pytest.fixture(autouse=True)
def committed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A folder with the results of one experiment, committed from a document."""
    monkeypatch.setattr(pages, "RESULTS", tmp_path / "results")
    pages.document.cache_clear()
    monkeypatch.setattr(results, "RESULTS", tmp_path / "results")
    (tmp_path / "coalescing.json").write_text(json.dumps(DOCUMENT))
    results.commit("coalescing", tmp_path)
    yield
    pages.document.cache_clear()


def test_what_is_committed() -> None:
    assert pages.document("coalescing").keys() == DOCUMENT.keys() - {"runs", "charts"}
    assert pages.made_with("coalescing").startswith("Preset `fermi`, default size, commit `0123456789ab`.")
    pages.document("coalescing")["simulated"] = ["0123456789abcdef", "fedcba9876543210"]
    assert "commit `0123456789ab`, counts of commit `fedcba987654`." in pages.made_with("coalescing")


def test_averages() -> None:
    found = pages.results("coalescing")
    assert pages.averages([("3.21", "saved", found("Fig. 3.21", "reg", "write")),
                           ("3.33", "energy", found("Fig. 3.33", "write", note="rest by time"))]) == (
        "| figure | quantity, % | ours | published |\n| --- | --- | --- | --- |\n"
        "| 3.21 | saved | 15.0, -0.5 | 31.8, - |\n| 3.33 | energy | -0.5 |  |\n")


def test_kernels_and_sums() -> None:
    found = pages.results("coalescing")("Fig. 3.21", "reg", "write")
    assert pages.by_kernel([("both", [pages.summed(found)]), ("`reg`", found[:1])], "saved").splitlines()[2:] == [
        "| both | 11.0 | 18.0 | 14.5 |  |", "| `reg` | 10.0 | 20.0 | 15.0 | 31.8 |"]


def test_grids_and_records() -> None:
    found = pages.results("coalescing")("Fig. 3.21", "reg", "write")
    assert pages.grid(["%", "a", "b"], [("x", found)]).splitlines()[2] == "| x | 15.0 | -0.5 |"
    assert pages.records("coalescing", "pressure", ["kernel", "ipc"]).splitlines()[2] == "| bfs | 0.123 |"
    assert pages.turned("coalescing", "pressure", "kernel", ["ipc"]) == (
        "| kernel | bfs |\n| --- | --- |\n| ipc | 0.123 |\n")


def test_a_mean_over_some_workloads() -> None:
    (quantity,) = pages.results("coalescing")("Fig. 3.21", "reg")
    assert quantity.only(["matmul"]) == ({"matmul": 20.04}, 20.04, "31.8", {})


def test_what_assumptions_carry() -> None:
    """In the order of the assumptions."""
    assert pages.carried("coalescing").splitlines() == [
        "| assumption | Fig. 1: ours 4.0, published 5.0 | Fig. 2: ours 1.0, published - |", "| --- | --- | --- |",
        "| `logic` | 3.0 to 5.0 | 1.0 to 0.0 |", "| `tables` |  | 2.0 to 0.5 |"]


def test_each_assumption_has_a_row() -> None:
    rows = pages.assumptions().splitlines()
    assert len(rows) == 2 + len(FIGURES["assumptions"])
    assert any(row.startswith("| `sram_power` |") and "| 0.5 | 0.5 to 1.12 |" in row for row in rows)


@pytest.mark.parametrize("wanted", [("Fig. 3.22", "reg"), ("Fig. 3.21", "ideal"), ("Fig. 3.33", "reg")])
def test_what_no_result_has(wanted: tuple[str, str]) -> None:
    with pytest.raises(KeyError):
        pages.results("coalescing")(*wanted)


# ------------------------------------------------------------------ several averages

BOTH = {"2 programs of [BOW]": 20.0, "seven kernels": 30.0}
SEVERAL = {
    "experiment": "bypassing", "size": "default", "commit": "0123456789abcdef", "configuration": {"name": "pascal"},
    "groups": {name: [] for name in BOTH},
    "figures": [{"figure": "Fig. 10", "note": "", "series": {
        key: {"kernels": {"lud": 10.0, "bfs": 40.0}, "average": 20.0, "averages": BOTH, "published": "11.0",
              "settings": []} for key in ("bow", "bow_wr")}}],
}


@pytest.fixture
def found(tmp_path: Path) -> Callable[..., list[pages.Quantity]]:
    (tmp_path / "bypassing.json").write_text(json.dumps(SEVERAL))
    results.commit("bypassing", tmp_path)
    return pages.results("bypassing")


def test_each_average_has_a_column(found: Callable[..., list[pages.Quantity]]) -> None:
    assert pages.averages([("10", "IPC", found("Fig. 10", "bow", "bow_wr"))]).splitlines()[::2] == [
        "| figure | quantity, % | 2 programs of [BOW] | seven kernels | published |",
        "| 10 | IPC | 20.0, 20.0 | 30.0, 30.0 | 11.0, 11.0 |"]


def test_many_workloads_have_a_line_each(found: Callable[..., list[pages.Quantity]]) -> None:
    rows = [(key, found("Fig. 10", key)) for key in ("bow", "bow_wr")]
    assert pages.by_kernel([*rows, ("sum", [pages.summed(found("Fig. 10", "bow", "bow_wr"))])], "IPC") == (
        "| IPC | bow | bow_wr | sum |\n| --- | --- | --- | --- |\n"
        "| lud | 10.0 | 10.0 | 20.0 |\n| bfs | 40.0 | 40.0 | 80.0 |\n"
        "| 2 programs of [BOW] | 20.0 | 20.0 | 40.0 |\n| seven kernels | 30.0 | 30.0 | 60.0 |\n"
        "| published | 11.0 | 11.0 |  |\n")


def test_what_is_published_has_a_line_each(found: Callable[..., list[pages.Quantity]]) -> None:
    assert len(found("Fig. 10", "bow")) == 1  # the document is there
    assert pages.published("bypassing").splitlines()[2:] == [
        "| Fig. 10 | bow | 20.0 | 30.0 | 11.0 |", "| Fig. 10 | bow_wr | 20.0 | 30.0 | 11.0 |"]


def test_a_grid_says_what_its_averages_are_over(found: Callable[..., list[pages.Quantity]]) -> None:
    assert pages.grid(["%", "a"], [("x", found("Fig. 10", "bow"))]).splitlines()[2] == "| x | 20.0 / 30.0 |"
    assert pages.made_with("bypassing").endswith("Averages: 2 programs of [BOW] / seven kernels.\n")
