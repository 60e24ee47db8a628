"""Why savings differ: logs of predictions, a predictor that knows the next access, and bounds."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from warploom.arch.gpu import GpuConfig
from warploom.evaluation import machines, tfet, tfet_bounds
from warploom.evaluation.figures import Launched
from warploom.evaluation.simulations import Case, _decode, _run
from warploom.evaluation.tfet_bounds import WORK, Log, Oracle
from warploom.golden_model.renaming.lists import Kind, Lists
from warploom.golden_model.sm import Sm

MACHINE = machines.tfet_bounds(GpuConfig.preset("tfet_gpu"), ())["mem_ra"]


def sm_of() -> Sm:
    """What a log sees of an SM; its clock can be set."""
    renaming = SimpleNamespace(predictor=SimpleNamespace(predict=None), lists=Lists(MACHINE.sm, powered=8))
    return cast("Sm", SimpleNamespace(cycle=0, datapath=SimpleNamespace(renaming=renaming)))


def predict(sm: Sm, cycle: int, *given: int) -> int:
    sm.cycle = cycle
    return tfet_bounds.predictor(sm).predict(*given)


def test_log() -> None:
    """Two slots; the sample is 0, then 200: what was predicted before is compared with it."""
    sm: Any = sm_of()
    log = Log(sm)
    assert predict(sm, 10, 0, 300, 0) == 0
    assert predict(sm, 20, 1, 110, 200) == 100
    assert predict(sm, 40, 0, 400, 200) == 390
    assert predict(sm, 50, 1, 50, 200) == 40
    assert list(log.pairs()) == [(0, 400), (100, 50)]
    assert log.distances == [100]


def test_rows_are_seen_at_each_change() -> None:
    """Without any access; those of TFET do not count. The SM ends after 100 cycles, another one after 200."""
    sm: Any = sm_of()
    log, lists = Log(sm), sm.datapath.renaming.lists
    for cycle, kind in [(10, Kind.CMOS), (20, Kind.CMOS), (30, Kind.TFET)]:
        sm.cycle = cycle
        lists.take(1, kind)
    sm.cycle = 50
    lists.release(1, 0, 0)
    assert log.held == 10 + 2 * 30
    sm.cycle = 100
    assert log.held == 10 + 2 * 30 + 50
    idle: Any = sm_of()
    idle.cycle = 200
    launches = [Launched(16, 8, cycles=1000)]
    assert tfet_bounds._held(launches, [log, Log(idle)]) == pytest.approx(120 / 2 / 200)


def test_oracle_knows_the_next_access_of_a_slot() -> None:
    sm: Any = sm_of()
    log = Log(sm)
    for cycle, (slot, access) in enumerate([(0, 300), (1, 5), (0, 400), (1, 8), (0, 20)]):
        predict(sm, cycle, slot, access, 0)
    Oracle(sm, log)
    assert [predict(sm, 0, slot, 999, 0) for slot in (0, 0, 1, 1, 0, 2)] == [390, 10, 0, 0, 0, 0]


@pytest.mark.long
def test_runs_and_tables() -> None:
    """The log changes nothing; the text that is kept has all."""
    case = Case("nw", "tiny", "mem_ra", MACHINE)
    found = tfet_bounds.measured(case)
    assert WORK.read(case, WORK.make(case)) == found
    gpu = tfet.configurations(GpuConfig.preset("tfet_gpu"), ())
    runs = {name: _decode(each, _run(each)) for name in (tfet.BASELINE, tfet.MEM_RA)
            for each in [Case("nw", "tiny", name, gpu[name])]}
    row = dict(zip(tfet_bounds.PREDICTED, tfet_bounds.predicted("nw", runs, found), strict=True))
    assert row["predictions"] and row["error, %"] == pytest.approx(tfet.prediction_error(runs[tfet.MEM_RA]))
    assert row["of sums, %"] > 0 and row["perfect, slower, %"] != row["slower, %"]
    bound = dict(zip(tfet_bounds.BOUNDS, tfet_bounds.bounds("nw", runs, found), strict=True))
    assert bound["saved by the rule, %"] == pytest.approx(bound["leakage of rows, %"] * 56 / 256)
    assert 0 < bound["rows with a value, %"] < bound["rows on, %"] <= 100
    assert bound["both at most, %"] == pytest.approx(bound["saved at most, %"] + bound["saved if all are TFET, %"])
