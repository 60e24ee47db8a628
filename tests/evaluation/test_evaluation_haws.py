"""The evaluation of hints for order: machines, groups, quantities by hand, and the command."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.barrel import add, load, program_of, trace_of
from support.work import in_this_process

from warploom import points
from warploom.arch.gpu import GpuConfig
from warploom.arch.isa import Instruction, Op
from warploom.cli import main
from warploom.compiler.compile import compile_file
from warploom.evaluation.figures import Run
from warploom.evaluation.haws import bars
from warploom.evaluation.haws import experiment as haws
from warploom.evaluation.haws.code import HintedCode, hinted_code
from warploom.evaluation.simulations import Case, _decode, _run
from warploom.evaluation.study import Study, Wanted
from warploom.evaluation.workloads import traces
from warploom.golden_model.front_end.stalls import Stall
from warploom.golden_model.statistics import scaled
from warploom.kernels.library import kernel
from warploom.programs.library import program

GPU = GpuConfig.preset("hd7970")


def run_of(name: str, setting: str) -> Run:
    """A run of a tiny workload."""
    case = Case(name, "tiny", setting, haws.configurations(GPU, ())[setting])
    return _decode(case, _run(case))


def test_the_tables_of_the_source() -> None:
    """All twelve programs of Table 5.1, and all five of Table 5.3."""
    groups = haws.groups()
    assert [len(members) for members in groups.values()] == [10, 2, 5]
    assert not set(groups[haws.MEMORY_BOUND]) & set(groups[haws.OTHERS])
    names = {"BitonicSort": "bitonic_sort", "FFT": "fft"}
    for benchmark, name in names.items():
        assert program(name).suite["HAWS 5.1"].replace(" ", "") == benchmark


def test_machines_keep_the_bandwidth_of_an_sm() -> None:
    """Scaled machines have at least the share of L2 and DRAM of an SM, and less than one and a half of it."""
    machines = {**haws.configurations(GPU, ()), **haws.kepler(())}
    for setting, machine in machines.items():
        assert isinstance(machine, GpuConfig)
        whole = GpuConfig.preset(machine.name)
        for share in (lambda gpu: gpu.channels * gpu.dram_bytes, lambda gpu: gpu.slices * gpu.l2_sets):
            assert 1 <= share(machine) / share(whole) * whole.sms < 1.5, setting
        assert machine.sm.reorders == setting.endswith(("_hints", "_short copies"))
    assert machines["few_off"].sm.warps == 8 and machines["kepler_off"].sm.scheduler == "lrr"


def test_settings_of_a_user_come_after_the_scale() -> None:
    machine = haws.configurations(GPU, ["sms=32", "slices=6", "channels=6", "l2_sets=128", "dram_bytes=32"])["full_off"]
    assert machine == GPU


def test_each_table_runs_on_its_gpu() -> None:
    asked = Study("haws", Wanted("tiny", Path())).cases()
    assert len(asked) == 12 * 11 + 5 * 4
    assert {case.workload for case in asked if case.setting.startswith("kepler")} == set(haws.groups()[haws.ON_KEPLER])
    named = Study("haws", Wanted("tiny", Path(), workloads=["mvt"])).cases()
    four = ("off", "hints", "preexecution", "cta_aware")
    of_both = [f"{machine}_{scheduler}" for machine in ("full", "few") for scheduler in four]
    assert [case.setting for case in named] == [
        *of_both, *(f"full_{each}" for each in haws.APART), *(f"kepler_{each}" for each in four)]


def test_every_cycle_of_the_schedulers_has_a_kind() -> None:
    run = run_of("transpose", "full_hints")
    parts = [bars.issued(run), *(bars.stalled(kind)(run) for kind in bars.CYCLES)]
    assert sum(parts) == pytest.approx(100) and min(parts) > 0
    copies, ended = (bars.hinted(part, run) for part in ("copies", "ended_divergence"))
    issues = run.statistics.warp_instructions + copies + ended
    assert bars.issued(run) == pytest.approx(100 * issues / bars.scheduler_cycles(run))
    sampled = replace(run, statistics=scaled(run.statistics, 2))
    with pytest.raises(AssertionError, match="a run of all blocks"):
        bars.scheduler_cycles(sampled)


def test_every_cause_of_a_stall_has_one_kind() -> None:
    assert sorted(cause for causes in bars.CYCLES.values() for cause in causes) == list(Stall)


def test_schedulers_of_a_slower_clock_pick_in_fewer_cycles() -> None:
    """An SM that takes 100 cycles has 34 in which a scheduler may pick, and one of 99 cycles has 33."""
    run = run_of("transpose", "full_hints")
    assert isinstance(run.machine, GpuConfig) and run.memory is not None
    sms = replace(run.memory, cycles=[100, 99], warp_instructions=[run.statistics.warp_instructions, 0])
    slow = replace(run, machine=run.machine.with_settings(["front_end_interval=3"]), memory=sms)
    assert bars.scheduler_cycles(slow) == (34 + 33) * run.machine.sm.schedulers


def test_what_issues_in_hint_mode() -> None:
    """Of 40 ALU instructions 10, of 8 loads 2; branches are neither."""
    run = run_of("dct", "full_hints")
    run.statistics.counted["order"].update(entered=5, executed=15, loads=2, branches=3, copies=25)
    code = HintedCode(20, 4, 6, registers=32, alu=40, loads=8)
    assert (bars.alu(run, code), bars.loads(run, code), bars.each_time(run)) == (25, 25, 300)
    assert bars.copies(run) == pytest.approx(100 * 25 / (run.statistics.warp_instructions + 25))


def test_registers_of_resident_warps() -> None:
    """32 registers of 40 warps, of 64 rows in 32 banks; 64 of the 32 warps that then fit are all."""
    assert bars.register_usage(HintedCode(0, 0, 0, 32, 0, 0), GPU.sm) == pytest.approx(62.5)
    assert bars.register_usage(HintedCode(0, 0, 0, 64, 0, 0), GPU.sm) == 100


def test_the_code_of_a_workload() -> None:
    """Each kernel counts once, each launch of it anew."""
    file = kernel("matmul").load("tiny")
    code, (launch,) = compile_file(file.ptx, file.entry).instructions, traces("matmul", "tiny")
    found = hinted_code([launch, launch])
    loads = [pc for pc, instruction in enumerate(code) if instruction.op is Op.LD]
    assert found.instructions == len(code) and found.long_latency == len(loads)
    assert 0 < found.independent <= len(code) - len(loads)
    assert found.loads == 2 * sum(int((warp.pc == pc).sum()) for warp in launch.warps for pc in loads)
    control = [pc for pc, one in enumerate(code) if _moves(one)]
    rest = sum(int((warp.pc == pc).sum()) for warp in launch.warps for pc in control)
    assert found.alu == 2 * (launch.warp_instructions - rest)


def test_code_by_hand() -> None:
    """The load and the sum at pcs 2 and 3 are a hint group; the shuffle, whose only result is a predicate, and both
    loads are of long latency. The barrier and the fence are neither ALU instructions nor loads."""
    shuffle = Instruction(op=Op.SHFL, src=(0, 0, 0), pdst=1)
    small = program_of(load(1, 0), add(3, 1), load(4, 0), add(5, 0), add(6, 3), shuffle, Instruction(op=Op.BAR),
                       Instruction(op=Op.MEMBAR), registers=16)
    large = program_of(add(1, 0), registers=20)
    found = hinted_code([trace_of(small), trace_of(large), trace_of(small)])
    assert (found.instructions, found.long_latency, found.independent, found.registers) == (9 + 2, 3, 1, 20)
    assert (found.alu, found.loads) == (2 * (3 + 1) + 1, 2 * 2)


def _moves(instruction: Instruction) -> bool:
    """Whether it accesses memory or changes the flow; matmul has no other such operations."""
    return instruction.op in (Op.LD, Op.ST, Op.BRA, Op.EXIT, Op.BAR)


@pytest.mark.long
def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Named programs run on both GPUs, and the averages are over them."""
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(points, "compute", in_this_process)
    path = tmp_path / "haws.json"
    assert main(["evaluate", "haws", "--size", "tiny", "--workloads", "haar,transpose", "--out", str(tmp_path),
                 "--json", str(path)]) == 0
    found = json.loads(path.read_text())
    figures = {(one["figure"], one["note"]): one["series"] for one in found["figures"]}
    gain = figures["HAWS, Fig. 5.10", ""]["hints"]
    cycles = {setting: found["runs"]["haar"][setting]["cycles"] for setting in ("full_off", "full_hints")}
    assert gain["kernels"]["haar"] == pytest.approx(100 * (cycles["full_off"] / cycles["full_hints"] - 1)) and (
        gain["kernels"]["haar"] > 5)
    assert gain["averages"].keys() == {"named workloads"} and gain["published"] == "14.6"
    assert set(figures["HAWS, Fig. 5.16", ""]["hints"]["kernels"]) == {"haar", "transpose"}
    assert found["settings"]["few_hints"][:2] == ["--gpu", "hd7970"] and "warps=8" in found["settings"]["few_hints"]
    assert found["memory"]["haar"]["full_off"]["mean_latency"] == found["circumstances"][0]["latency"]
    assert found["configuration"]["sms"] == 32 and "on hd7970" in capsys.readouterr().out


@pytest.mark.parametrize(("arguments", "line"), [
    (["--preset", "fermi"], "the machine is a GPU: name one with --gpu"),
    (["--blocks", "4"], "a sample of them would not load it"),
    (["--gpu", "k20"], "must be one of fermi, hd7970, k20x"),
])
def test_what_cannot_be_asked_for(arguments: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "haws", *arguments]) == 1
    assert line in capsys.readouterr().err
