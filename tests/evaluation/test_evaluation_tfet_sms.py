"""TFET rows by SM: what is counted, and what becomes of samples."""

import pytest

from warploom.arch.gpu import GpuConfig
from warploom.evaluation.simulations import Case, annotated
from warploom.evaluation.tfet import sms
from warploom.evaluation.tfet.sms import WORK, BySm
from warploom.golden_model.gpu.simulate import simulate_gpu

MACHINES = sms.configurations(GpuConfig.preset("tfet_gpu"), ())


def test_machines_keep_the_bandwidth_of_an_sm() -> None:
    whole, scaled = GpuConfig.preset("tfet_gpu"), MACHINES["baseline"]
    for share in (lambda gpu: gpu.channels * gpu.dram_bytes, lambda gpu: gpu.slices * gpu.l2_sets):
        assert 1 <= share(scaled) / 4 / (share(whole) / whole.sms) < 1.5
    assert all(machine.sms == 4 for machine in MACHINES.values())


def test_row_of_samples() -> None:
    """In the second of two samples one SM has few free rows (below 15 %) and one many (above 40)."""
    found = BySm(100, 250.0, 40.0, (10, 30), (10, 10), ((50.0, 60.0), (14.0, 41.0)))
    named = dict(zip(sms.COLUMNS, found.row("one", "mem_ra"), strict=True))
    assert named["served, %"] == 50 and named["free rows, %"] == pytest.approx(41.25)
    assert named["spread, %"] == pytest.approx(18.5) and named["unbalanced, %"] == 50


def test_at_the_limits_of_tuba_samples_are_balanced() -> None:
    """It lowers below 15 %, and raises above 40 %."""
    found = BySm(100, 250.0, 40.0, (0, 0), (0, 0), ((15.0, 41.0), (14.0, 40.0)))
    named = dict(zip(sms.COLUMNS, found.row("one", "mem_ra"), strict=True))
    assert named["unbalanced, %"] == 0 and named["served, %"] is None
    none = dict(zip(sms.COLUMNS, BySm(1, 0.0, 0.0, (1,), (1,), ()).row("one", "mem_ra"), strict=True))
    assert none["unbalanced, %"] is none["spread, %"] is none["free rows, %"] is None and none["served, %"] == 100


def test_counts_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """By SM, of which two get blocks of most launches; the cached text has all."""
    case = Case("bfs_levels", "tiny", "mem_ra", MACHINES["mem_ra"])
    runs = []
    monkeypatch.setattr(sms, "simulate_gpu", lambda *given: runs.append(simulate_gpu(*given)) or runs[-1])
    found = sms.measured(case)
    assert len(runs) > 1 and found.cycles == sum(run.statistics.run_cycles for run in runs)
    assert len(found.requests) == len(found.served) == 4
    assert sum(found.served) > 500, "as few as without last reads, where hardly a value is new"
    assert all(served <= asked for served, asked in zip(found.served, found.requests, strict=True))
    assert WORK.read(case, WORK.make(case)) == found


def test_samples_of_free_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all SMs at the same time, in percent."""
    monkeypatch.setattr("warploom.golden_model.gpu.samples.INTERVAL", 64)
    free = sms.measured(Case("transpose", "tiny", "mem_ra", MACHINES["mem_ra"])).free
    assert free and all(len(sample) == 4 and 0 <= min(sample) <= max(sample) <= 100 for sample in free)
    assert free[0] == (100.0,) * 4, "no value before the first loads"


def test_a_sample_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three of four is what the SMs get."""
    monkeypatch.setattr(sms, "simulate_gpu", lambda _, launch: pytest.fail(str(launch.numbers)))
    with pytest.raises(pytest.fail.Exception, match=r"^\(0, 1, 3\)$"):
        sms.measured(Case("transpose", "tiny", "mem_ra", MACHINES["mem_ra"], blocks=3))


def test_no_requests_without_renaming() -> None:
    found = sms.measured(Case("nearest_neighbour", "tiny", "baseline", MACHINES["baseline"]))
    assert found.requests == (0, 0, 0, 0) and not found.free


def test_waiting_is_a_share_of_the_cycles_of_all_schedulers() -> None:
    """Two of them wait at most all the time, also if they pick in every second cycle."""
    for settings in ("schedulers=2", "front_end_interval=2"):
        machine = MACHINES["baseline"].with_settings(["sms=1", *settings.split()])
        case = Case("laplace3d", "tiny", "baseline", machine)
        found = sms.measured(case)
        launches = annotated("laplace3d", "tiny", machine)
        runs = [simulate_gpu(machine, launch) for launch in launches]
        each = [sm for run in runs for sm in run.sms]
        cycles = sum(-(-sm.cycles // machine.sm.front_end_interval) for sm in each) * machine.sm.schedulers
        memory = [run.statistics for run in runs]
        assert found.cycles == sum(one.run_cycles for one in memory)
        assert found.latency == sum(sum(one.mshr_cycles) for one in memory) / sum(one.entries for one in memory)
        assert found.waiting == pytest.approx(100 * sum(sm.stalls["memory"] for sm in each) / cycles)
