"""Instructions per cycle beside those of GPGPU-Sim (docs/calibration.md)."""

import pytest
from support.runs import run as run_of

from warploom.arch.config import SmConfig
from warploom.arch.isa import Op
from warploom.cli import main
from warploom.evaluation import calibration, pages
from warploom.evaluation.calibration import Row
from warploom.evaluation.simulations import cases, simulate_all
from warploom.evaluation.workloads import traces
from warploom.golden_model.simulate import simulate

GTX480 = SmConfig.preset("gtx480")


def test_machines_are_changed_step_by_step() -> None:
    found = calibration.configurations(GTX480)
    assert {machine: config.banks for machine, config in found.items()} == {
        "16 banks": 16, "4 banks": 4, "4 collectors": 4}
    assert all(config.register_file_bytes == GTX480.register_file_bytes for config in found.values())
    assert [len(config.collector_sets) for config in found.values()] == [3, 3, 1]
    assert [config.collectors for config in found.values()] == [16, 16, 4]
    assert {machine for theirs in calibration.measured().values() for machine in theirs} == {*found, "instructions"}


def test_measured_values_are_those_of_the_committed_results() -> None:
    rows = pages.document("calibration")["calibration"]
    found = {(row["kernel"], row["machine"]): row["GPGPU-Sim"] for row in rows}
    assert found == {(kernel, machine): ipc for kernel, theirs in calibration.measured().items()
                     for machine, ipc in theirs.items() if machine != "instructions"}


def test_differences_are_ours_over_theirs() -> None:
    row = Row("matmul", "4 banks", ipc=1.65, cycles=900, published_ipc=1.5, published_instructions=1200)
    assert (row.ipc_percent, row.cycles_percent) == (pytest.approx(10), pytest.approx(12.5))
    assert row.shown == ("matmul", "4 banks", 1.65, 1.5, "+10", "+12", "")
    far = Row("matmul", "4 banks", ipc=1.8, cycles=900, published_ipc=1.5, published_instructions=1200, experiment=1.56)
    assert not far.is_close and far.shown[-1] == "+4"


def test_what_is_not_close_has_an_experiment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten percent are close, eleven are not, on either side."""
    theirs = {"instructions": 1200.0, "a": 1.0, "b": 1.0, "c": 2.0}
    monkeypatch.setattr(calibration, "measured", lambda: {"matmul": theirs})
    monkeypatch.setattr(calibration, "_experiment", lambda row, config, size: (row.kernel, config, size))
    runs = {name: run_of(GTX480, ipc=ipc, cycles=900) for name, ipc in (("a", 0.9), ("b", 0.89), ("c", 2.22))}
    tried = ("matmul", GTX480, "tiny")
    assert calibration.rows({"matmul": runs}, "tiny") == [
        Row("matmul", "a", 0.9, 900, 1.0, 1200), Row("matmul", "b", 0.89, 900, 1.0, 1200, tried),  # type: ignore[arg-type]
        Row("matmul", "c", 2.22, 900, 2.0, 1200, tried)]  # type: ignore[arg-type]


def test_branches_enter_the_datapath() -> None:
    """The same instructions in the same order, of which none is a branch and more enter the datapath."""
    (trace,) = traces("reduction", "tiny")
    changed = calibration.through_collectors(trace)
    assert changed.warp_instructions == trace.warp_instructions
    branches = sum(int((warp.pc == pc).sum()) for warp in trace.warps
                   for pc, instruction in enumerate(trace.program.instructions) if instruction.op is Op.BRA)
    plain, through = (simulate(GTX480, each).statistics for each in (trace, changed))
    assert through.datapath_instructions == plain.datapath_instructions + branches > plain.datapath_instructions
    assert through.warp_instructions == plain.warp_instructions and through.cycles > plain.cycles


@pytest.mark.long
def test_the_command_shows_kernels_on_every_machine(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two kernels here; the long regression simulates all."""
    some = {name: calibration.measured()[name] for name in ("vector_add", "reduction")}
    monkeypatch.setattr(calibration, "measured", lambda: some)
    assert main(["evaluate", "calibration", "--size", "tiny"]) == 0
    text = capsys.readouterr().out
    assert all(text.count(kernel) == len(theirs) - 1 for kernel, theirs in some.items())


@pytest.mark.long
def test_the_machine_is_as_fast_as_gpgpu_sim() -> None:
    """Instructions per cycle, by the experiment if need be; in vector_add, where our code has fewer instructions than
    the PTX, cycles."""
    wanted = cases(list(calibration.measured()), "default", calibration.configurations(GTX480))
    for row in calibration.rows(simulate_all(wanted, lambda case: None).runs, "default"):
        ipc = row.ipc if row.experiment is None else row.experiment
        percent = row.cycles_percent if row.kernel == "vector_add" else 100 * (ipc / row.published_ipc - 1)
        assert abs(percent) <= calibration.CLOSE, row
