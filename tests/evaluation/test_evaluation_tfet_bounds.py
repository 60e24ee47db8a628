"""Why savings differ: logs of predictions, a predictor that knows the next access, and bounds."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from support.runs import statistics

from warploom.arch.gpu import GpuConfig
from warploom.evaluation.figures import Launched, Run
from warploom.evaluation.simulations import Case, _decode, _run
from warploom.evaluation.tfet import bounds
from warploom.evaluation.tfet import experiment as tfet
from warploom.evaluation.tfet.bounds import WORK, Found, Log, Oracle
from warploom.evaluation.tfet.energy import Energy
from warploom.golden_model.renaming.lists import Kind, Lists
from warploom.golden_model.sm import Sm
from warploom.golden_model.values import Values

MACHINE = bounds.configurations(GpuConfig.preset("tfet_gpu"), ())["mem_ra"]


def sm_of() -> Sm:
    """What a log sees of an SM; its clock can be set."""
    renaming = SimpleNamespace(predictor=SimpleNamespace(predict=None), lists=Lists(MACHINE.sm, powered=8))
    return cast("Sm", SimpleNamespace(cycle=0, datapath=SimpleNamespace(renaming=renaming)))


def predict(sm: Sm, cycle: int, *given: int) -> int:
    sm.cycle = cycle
    return bounds.predictor(sm).predict(*given)


def test_log() -> None:
    """Two slots; the sample is 0, then 200, then 100: what was predicted since the one before is compared with it. An
    access of no cycles is no measure."""
    sm: Any = sm_of()
    log = Log(sm)
    assert predict(sm, 10, 0, 300, 0) == 0
    assert predict(sm, 20, 1, 110, 200) == 100
    assert predict(sm, 40, 0, 400, 200) == 390
    assert predict(sm, 50, 1, 50, 200) == 40
    assert predict(sm, 60, 1, 0, 200) == 0
    assert predict(sm, 70, 0, 20, 100) == 7
    assert list(log.pairs()) == [(0, 400), (100, 50), (390, 20)]
    assert log.distances == [100, 0, 290, 60, 100]


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
    assert bounds._held(launches, [log, Log(idle)]) == pytest.approx(120 / 2 / 200)


def test_rows_of_several_launches() -> None:
    """Of 100 cycles with a row of each of two SMs, and of 300 without any."""
    logs = []
    for cycles, rows in [(100, 1), (100, 1), (300, 0), (300, 0)]:
        sm: Any = sm_of()
        logs.append(Log(sm))
        for _ in range(rows):
            sm.datapath.renaming.lists.take(1, Kind.CMOS)
        sm.cycle = cycles
    launches = [Launched(16, 8, cycles=100), Launched(16, 8, cycles=300)]
    assert bounds._held(launches, logs) == pytest.approx(1 / 4)


def test_oracle_knows_the_next_access_of_a_slot() -> None:
    sm: Any = sm_of()
    log = Log(sm)
    for cycle, (slot, access) in enumerate([(0, 300), (1, 5), (0, 400), (1, 8), (0, 20)]):
        predict(sm, cycle, slot, access, 0)
    Oracle(sm, log)
    assert [predict(sm, 0, slot, 999, 0) for slot in (0, 0, 1, 1, 0, 2)] == [390, 10, 0, 0, 0, 0]


def test_errors_of_predictions_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slot stalls 0, 100 and 118 cycles before accesses of 110, 128 and 1,200, of which the last two are long, and
    knows them in the second run. A value has a row all the time."""
    stalls: list[list[int]] = []

    def timed(case: Case, prepare: Any) -> tuple[str, None, list[Launched]]:
        sm: Any = sm_of()
        prepare(sm)
        sm.datapath.renaming.lists.take(1, Kind.CMOS)
        stalls.append([predict(sm, cycle, 0, access, sample) for cycle, (access, sample) in enumerate(
            [(300, 0), (110, 200), (128, 200), (1200, 200)])])
        sm.cycle = 100
        return f"run {len(stalls)}", None, [Launched(16, 8, cycles=50 * len(stalls))]

    monkeypatch.setattr(bounds, "timed", timed)
    found: Any = bounds.measured(Case("nw", "tiny", "mem_ra", MACHINE))
    assert stalls == [[0, 100, 118, 1190], [100, 118, 1190, 0]]
    assert (found.predictions, found.perfect, found.launches) == (3, "run 2", (Launched(16, 8, cycles=100),))
    errors = 100.0, 100 * 28 / 128, 100 * 1082 / 1200
    assert (found.median, found.of_sums) == pytest.approx((errors[2], 100 * (110 + 28 + 1082) / (110 + 128 + 1200)))
    assert (found.long, found.next_sample) == pytest.approx(((errors[1] + errors[2]) / 2, 100))
    assert found.held == pytest.approx(100 / 1024)


def test_each_sm_knows_its_own_accesses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two SMs."""
    stalls: list[int] = []

    def timed(case: Case, prepare: Any) -> tuple[str, None, list[Launched]]:
        for next_access in (110, 210):
            sm: Any = sm_of()
            prepare(sm)
            stalls.extend(predict(sm, cycle, 0, access, 200) for cycle, access in enumerate((60, next_access)))
            sm.cycle = 100
        return "run", None, [Launched(16, 8, cycles=100)]

    monkeypatch.setattr(bounds, "timed", timed)
    bounds.measured(Case("nw", "tiny", "mem_ra", MACHINE))
    assert stalls == [50, 100, 50, 200, 100, 0, 200, 0]


def test_without_predictions_there_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def timed(case: Case, prepare: Any) -> tuple[str, None, list[Launched]]:
        sm: Any = sm_of()
        prepare(sm)
        sm.cycle = 100
        return "run", None, [Launched(16, 8, cycles=100)]

    monkeypatch.setattr(bounds, "timed", timed)
    found = bounds.measured(Case("nw", "tiny", "mem_ra", MACHINE))
    assert (found.predictions, found.median, found.of_sums, found.long, found.next_sample, found.held) == (0,) * 6


def run_of(cycles: int, slow: int, **counted: Any) -> Run:
    """On the machine of `mem_ra`: of twelve accesses so many are slow."""
    counts = statistics(cycles=cycles, bank_reads=[5, 2], bank_writes=[4, 1])
    counts = replace(counts, counted={**counts.counted, "slow": {"reads": slow, "writes": 0}, **counted})
    return Run(MACHINE, counts, Values())


FOUND = Found(predictions=9, median=1.0, of_sums=2.0, long=3.0, next_sample=4.0, held=20.0,
              perfect=run_of(105, 6).statistics, launches=(Launched(16, 8, cycles=105),))


def test_a_row_of_predictions_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors are counted in thousandths: eight predictions are wrong by four accesses together."""
    monkeypatch.setattr(bounds, "energy_saved", lambda run, _: run.statistics.cycles / 10)
    ours = run_of(110, 3, predicted={"errors": 4000, "compared": 8})
    found = bounds.predicted("nw", {tfet.BASELINE: run_of(100, 0), tfet.MEM_RA: ours}, FOUND)
    assert FOUND.run(ours).launches == FOUND.launches
    assert found[0] == "nw" and found[1:] == pytest.approx((9, 50, 1, 2, 3, 4, 10, 5, 11, 10.5, 25, 50))


@pytest.mark.parametrize(("held", "most", "both"), [(20.0, 30, 30), (100.0, 0, 8.75)])
def test_bounds_by_hand(held: float, most: float, both: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows leak 40 % of the energy, and 80 % of them are on; those without a value could be off, or the 56 of 256 of
    the source. Arrays take 30 % for accesses, which at 3 / 7 of the supply take (3 / 7)^2."""
    spent = Energy({"CMOS": 30, "around": 20}, {"CMOS": 40, "around": 10})
    monkeypatch.setattr(bounds, "energy", lambda _: spent)
    monkeypatch.setattr(bounds, "rows_on", lambda _: 80.0)
    runs = {name: run_of(100, 0) for name in (tfet.BASELINE, tfet.MEM_RA)}
    name, *found = bounds.bounds("nw", runs, replace(FOUND, held=held))
    slow = 30 * (1 - 9 / 49)
    assert name == "nw" and found == pytest.approx([40, 8.75, 80, held, most, 30, slow, both + slow])


@pytest.mark.long
def test_runs_and_tables() -> None:
    """The log changes nothing; the text that is kept has all."""
    case = Case("nw", "tiny", "mem_ra", MACHINE)
    found = bounds.measured(case)
    assert WORK.read(case, WORK.make(case)) == found
    gpu = tfet.configurations(GpuConfig.preset("tfet_gpu"), ())
    runs = {name: _decode(each, _run(each)) for name in (tfet.BASELINE, tfet.MEM_RA)
            for each in [Case("nw", "tiny", name, gpu[name])]}
    row = dict(zip(bounds.PREDICTED, bounds.predicted("nw", runs, found), strict=True))
    assert row["predictions"] and row["error, %"] == pytest.approx(tfet.prediction_error(runs[tfet.MEM_RA]))
    assert row["of sums, %"] > 0 and row["perfect, slower, %"] != row["slower, %"]
    bound = dict(zip(bounds.BOUNDS, bounds.bounds("nw", runs, found), strict=True))
    assert bound["saved by the rule, %"] == pytest.approx(bound["leakage of rows, %"] * 56 / 256)
    assert 0 < bound["rows with a value, %"] < bound["rows on, %"] <= 100
    assert bound["both at most, %"] == pytest.approx(bound["saved at most, %"] + bound["saved if all are TFET, %"])
