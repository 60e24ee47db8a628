"""`warploom evaluate locality`: its machines, its workloads, and its figures (docs/locality.md)."""

from dataclasses import replace

import pytest

from warploom.arch.gpu import GpuConfig
from warploom.arch.launch import Locality
from warploom.evaluation import locality
from warploom.evaluation.figures import Run, Runs
from warploom.evaluation.simulations import cases, simulate_all
from warploom.evaluation.workloads import traces

NAME = "transpose"


@pytest.fixture(scope="module")
def runs() -> dict[str, Runs]:
    """Four blocks, on two SMs with room for two each."""
    machines = locality.configurations(GpuConfig.preset("k20x"), ["sms=2", "blocks=2", "slices=2", "channels=1"])
    return simulate_all(cases([NAME], "tiny", machines), lambda case: None).runs


def test_machines_differ_in_what_follows_the_hint() -> None:
    machines = locality.configurations(GpuConfig.preset("k20x"), ["mshrs=8", "sms=2"])
    assert {name: (each.block_scheduler, each.sm.scheduler) for name, each in machines.items()} == {
        "lrr": ("in_turn", "lrr"), "cta_aware": ("in_turn", "cta_aware"), "mascar": ("in_turn", "lrr"),
        "blocks": ("locality", "lrr"),
        "warps": ("in_turn", "locality"), "locality": ("locality", "locality")}
    assert {(each.sms, each.slices, each.sm.mshrs) for each in machines.values()} == {(2, 4, 8)}


HINTS = {"gemm": Locality.LINES, "two_mm": Locality.LINES, "transpose": Locality.LINES,
         "jacobi_2d": Locality.BOUNDARY, "conv_2d": Locality.BOUNDARY}
"""Of programs of types 1 and 2; the others share only data."""


@pytest.mark.parametrize("name", [name for names in locality.TYPES.values() for name in names])
def test_003_table_6_2_programs_launch_with_their_hints(name: str) -> None:
    assert (name in HINTS) == (name in locality.TYPES[locality.HIGH])
    assert {launch.launch.locality for launch in traces(name, "tiny")} == {HINTS.get(name, Locality.DATA)}


def test_figures_are_those_of_the_runs(runs: dict[str, Runs]) -> None:
    found = {one.figure.number: one.values for one in locality.measured(runs, {"all": [NAME]})}
    of_setting = {name: run.memory for name, run in runs[NAME].items()}
    base, hinted = of_setting["lrr"], of_setting["locality"]
    assert base is not None and hinted is not None and base.duplicates
    assert found["HAWS, Fig. 6.1"]["lrr"][NAME] == pytest.approx(100 * base.duplicates / base.entries)
    assert found["HAWS, Fig. 6.10"]["locality"][NAME] == pytest.approx(100 * (base.run_cycles / hinted.run_cycles - 1))
    assert found["HAWS, Fig. 6.11"]["locality"][NAME] == pytest.approx(100 * hinted.duplicates / base.duplicates)
    assert set(found["HAWS, Fig. 6.12"]) == {"cta_aware", "mascar", "blocks", "warps", "locality"}


def test_loads_for_each_mshr_by_hand(runs: dict[str, Runs]) -> None:
    """Three MSHRs serve one load and one serves two; with the mechanism one serves one, one two, and two three."""
    def served(name: str, *loads: int) -> Run:
        run = runs[NAME][name]
        return replace(run, memory=replace(locality.memory(run), entries=sum(loads), loads_per_entry=list(loads)))

    by_hand = {**runs[NAME], "lrr": served("lrr", 3, 1), "locality": served("locality", 1, 1, 2)}
    found = {one.figure.number: one.values for one in locality.measured({NAME: by_hand}, {"all": [NAME]})}
    assert found["HAWS, Fig. 6.12"]["locality"][NAME] == pytest.approx(100 * (2.25 / 1.25 - 1))
    assert [locality.loads({NAME: by_hand})[0][place] for place in (1, -1)] == [1.25, 2.25]
    row = dict(zip(locality.MSHR_COLUMNS, locality.mshrs({NAME: by_hand})[0], strict=True))
    hinted = locality.memory(runs[NAME]["locality"])
    assert (row["MSHRs, lrr"], row["MSHRs, locality"]) == (4, 4)
    assert row["duplicates, %, locality"] == pytest.approx(100 * hinted.duplicates / 4)
    assert row["cycles that wait for an MSHR, locality"] == sum(hinted.waits["mshr"])
    idle = {**by_hand, "lrr": served("lrr")}
    found = {one.figure.number: one.values for one in locality.measured({NAME: idle}, {"all": [NAME]})}
    assert found["HAWS, Fig. 6.12"]["locality"][NAME] == 0


def test_programs_without_duplicates_are_left_out_of_their_figure(runs: dict[str, Runs]) -> None:
    base = runs[NAME]["lrr"]
    alone = {**runs[NAME], "lrr": replace(base, memory=replace(locality.memory(base), duplicates=0))}
    both = {NAME: runs[NAME], "scan": alone}
    found = {one.figure.number: one for one in locality.measured(both, {"a": ["scan"], "b": ["scan", NAME]})}
    assert set(found["HAWS, Fig. 6.11"].values["locality"]) == {NAME}
    assert list(found["HAWS, Fig. 6.11"].groups) == ["b"] and list(found["HAWS, Fig. 6.10"].groups) == ["a", "b"]
    assert "HAWS, Fig. 6.11" not in [one.figure.number for one in locality.measured({"scan": alone}, {"a": ["scan"]})]


def test_adjacent_blocks_need_fewer_mshrs(runs: dict[str, Runs]) -> None:
    """Rows of 60 numbers: the lines at the boundary of two blocks of a row are read by one SM, and by one load."""
    lrr, blocks = (locality.memory(runs[NAME][name]) for name in ("lrr", "blocks"))
    assert blocks.entries < lrr.entries and blocks.duplicates < lrr.duplicates
    row = dict(zip(locality.MSHR_COLUMNS, locality.mshrs(runs)[0], strict=True))
    assert (row["MSHRs, lrr"], row["cycles"]) == (lrr.entries, runs[NAME]["lrr"].statistics.cycles)
    assert row["duplicates, %, lrr"] == pytest.approx(100 * lrr.duplicates / lrr.entries)
    assert row["cycles that wait for an MSHR, lrr"] == sum(lrr.waits["mshr"])
    rows = locality.loads(runs)
    assert rows[0][0] == NAME and rows[0][1] < rows[0][1 + list(locality.MACHINES).index("blocks")]
