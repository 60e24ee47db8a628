"""The GPU as a whole: kernels on all presets, blocks, sums, idle SMs, configurations and their errors
(docs/contract/gpu.md)."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.golden_traces import trace_of
from support.gpu_traffic import Wanted, latencies, run

from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError, ExecutionError
from warploom.arch.gpu import GpuConfig, gpu_presets, gpu_text
from warploom.arch.isa import Instruction, Op
from warploom.arch.modifiers import Access, Space
from warploom.cli import main
from warploom.compiler.compile import compile_file
from warploom.compiler.prepare import prepared
from warploom.golden_model.functional.executor import Stream
from warploom.golden_model.gpu.core import Core
from warploom.golden_model.gpu.packets import Kind
from warploom.golden_model.gpu.simulate import GpuRun, simulate_gpu
from warploom.golden_model.gpu.statistics import in_sequence
from warploom.golden_model.simulate import simulate
from warploom.golden_model.sm import Sm
from warploom.host.gpu import Gpu
from warploom.kernels.library import kernel

MOV = Instruction(op=Op.MOV, dst=1, imm_slot=0, imm=300)


def on_gpu(name: str, preset: str = "k20x", *settings: str, check: bool = False) -> GpuRun:
    file, config = kernel(name).load("tiny"), GpuConfig.preset(preset).with_settings(list(settings))
    program = prepared(compile_file(file.ptx, file.entry), config.sm)
    return simulate_gpu(config, Stream(program, file.launch), check=check)


# ---------------------------------------------------------------- runs

@pytest.mark.parametrize(("name", "preset"), [("bfs", "k20x"), ("histogram", "hd7970"), ("matmul", "fermi")])
def test_kernels_run_with_every_operand_checked(name: str, preset: str) -> None:
    """Two runs give the same bytes; counts of the program are those of one SM; stalls and issues fill the cycles."""
    first, second = (on_gpu(name, preset, check=check) for check in (True, False))
    assert json.dumps([first.statistics.to_json(), *(sm.to_json() for sm in first.sms)]) == json.dumps(
        [second.statistics.to_json(), *(sm.to_json() for sm in second.sms)])
    config = GpuConfig.preset(preset).sm
    file = kernel(name).load("tiny")
    alone = simulate(config, Stream(compile_file(file.ptx, file.entry), file.launch)).statistics
    for field in ("warp_instructions", "thread_instructions", "operands", "source_widths", "destination_widths",
                  "load_transactions", "store_transactions", "shared_passes"):
        assert getattr(first.summed, field) == getattr(alone, field), field
    for sm in first.sms:
        issues = sm.cycles * config.schedulers - sum(sm.stalls.values())
        assert issues >= sm.warp_instructions if config.affine.is_on else issues == sm.warp_instructions


@pytest.mark.parametrize(("name", "settings"), [
    ("bfs", ["mshrs=2"]), ("histogram", ["network=mesh", "packet_queue=1"]), ("vector_add", ["affine=abm", "rows=128"]),
    ("histogram", ["hints=on"]),
])
def test_cycles_that_are_skipped_change_nothing(
    name: str, settings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    skipping = on_gpu(name, "k20x", "sms=3", *settings)
    monkeypatch.setattr(Sm, "next_event", lambda sm: sm.cycle + 1)
    assert on_gpu(name, "k20x", "sms=3", *settings) == skipping


def test_blocks_go_to_the_sms_in_turn() -> None:
    blocks = on_gpu("vector_add", "k20x", "sms=5").statistics.warp_instructions
    each = max(blocks) // 2 if max(blocks) % 2 == 0 else max(blocks)
    assert min(blocks) >= each and max(blocks) - min(blocks) <= each


def test_an_sm_without_a_block_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """It sees in its second cycle that there is none; and an SM that waits for memory is not simulated meanwhile."""
    steps: dict[int, int] = {}
    step = Core.step

    def counted(core: Core, tick: int) -> None:
        steps[id(core)] = steps.get(id(core), 0) + 1
        step(core, tick)

    monkeypatch.setattr(Core, "step", counted)
    load = Instruction(op=Op.LD, access=Access.B32, space=Space.GLOBAL, dst=1)
    gpu = GpuConfig.preset("k20x").with_settings(["sms=32", "controller_latency=5000"])
    found = simulate_gpu(gpu, trace_of([load, MOV], warps=1, per_block=1)).statistics
    assert found.cycles[1:] == [1] * 31 and found.cycles[0] > 2500
    assert sorted(steps.values())[:31] == [2] * 31 and max(steps.values()) < 40


def test_matrices_are_read_by_several_sms_at_once() -> None:
    """Blocks of a row or a column of the result read the same lines: [HAWS], section 6.1, calls the MSHRs redundant."""
    found = on_gpu("matmul").statistics
    assert 0.5 < found.duplicates / found.entries < 0.95
    assert sum(found.loads_per_entry) == found.entries == sum(found.latencies)
    assert on_gpu("matmul", "k20x", "sms=1").statistics.duplicates == 0


def test_contention_makes_memory_slow() -> None:
    """A kernel that streams fills its MSHRs; with one it waits for them."""
    few, many = (on_gpu("vector_add", "k20x", "sms=1", f"mshrs={count}") for count in (1, 16))
    assert few.summed.cycles > many.summed.cycles
    assert sum(few.statistics.waits["mshr"]) > sum(many.statistics.waits["mshr"])
    assert many.statistics.mean_latency > few.statistics.mean_latency


@pytest.mark.parametrize(("name", "setting", "cause"), [
    ("vector_add", "mshrs=1", "mshr"), ("bfs", "mshr_merges=1", "merge"), ("vector_add", "packet_queue=1", "path"),
])
def test_what_transactions_wait_for(name: str, setting: str, cause: str) -> None:
    found, none = (sum(on_gpu(name, "k20x", "sms=2", "mshrs=32", *some).statistics.waits[cause])
                   for some in ([setting], ["mshrs=1024", "mshr_merges=64", "packet_queue=1024"]))
    assert found > none == 0


def test_writes_after_the_last_answer_take_time_too() -> None:
    """32 stores are answered at once, and written to DRAM behind each other, 128 cycles each: its bus is never idle
    for long, and never busy for more than the time."""
    store = Instruction(op=Op.ST, access=Access.B32, space=Space.GLOBAL)
    gpu = GpuConfig().with_settings(["sms=1", "slices=1", "channels=1", "l2_write=through", "dram_bytes=1"])
    found = simulate_gpu(gpu, trace_of([store] * 32, warps=1, per_block=1)).statistics
    assert found.dram_seconds > found.seconds == found.run_cycles / 732e6
    assert 0.9 < found.bus_utilisation <= 1
    assert found.bytes_per_second == pytest.approx(found.bus_utilisation * gpu.dram_mhz * 10**6)
    assert in_sequence([found, found]).bus_utilisation == found.bus_utilisation
    read = on_gpu("vector_add", "k20x", "sms=2").statistics
    assert read.dram_seconds == read.seconds


def test_no_progress_is_an_error() -> None:
    barrier = Instruction(op=Op.BAR, count=64)
    with pytest.raises(ExecutionError, match=r"no progress after cycle .*let all threads reach it"):
        simulate_gpu(GpuConfig(), trace_of([barrier], warps=1, per_block=1))


# ---------------------------------------------------------------- presets

def test_the_presets_have_the_values_of_their_tables() -> None:
    k20x, hd7970, fermi = (GpuConfig.preset(name) for name in ("k20x", "hd7970", "fermi"))
    assert (k20x.sms, k20x.core_mhz) == (14, 732) and (hd7970.sms, hd7970.core_mhz) == (32, 1000)
    assert (fermi.sms, fermi.core_mhz, fermi.dram_mhz, fermi.channels, fermi.channel_bytes) == (15, 1000, 1250, 6, 16)
    assert [gpu.sm.l1_sets * gpu.sm.l1_ways * gpu.line_bytes for gpu in (k20x, hd7970, fermi)] == [16384] * 3
    assert [gpu.l2_sets * gpu.l2_ways * gpu.line_bytes for gpu in (k20x, hd7970, fermi)] == [131072] * 3
    assert k20x.slices * 128 == 1536 and fermi.slices == hd7970.slices == 6
    assert (k20x.sm.warps, k20x.sm.blocks, k20x.sm.mshrs, k20x.sm.mshr_merges) == (64, 16, 16, 8)
    assert (hd7970.sm.warps, hd7970.sm.scheduler, hd7970.line_bytes, hd7970.sm.l1_sets) == (40, "gto", 64, 64)
    assert (fermi.sm.warps, fermi.sm.blocks, fermi.sm.collectors, fermi.sm.scheduler) == (48, 8, 4, "gto")
    assert [gpu.sm.register_file_bytes >> 10 for gpu in (k20x, hd7970, fermi)] == [256, 256, 128]


def test_004_table_1() -> None:
    """`tfet_gpu` is `fermi` around SMs of one issue port, whose banks have two ports."""
    gpu, fermi = GpuConfig.preset("tfet_gpu"), GpuConfig.preset("fermi")
    assert replace(gpu, name="fermi", sm=fermi.sm) == fermi
    assert (gpu.sms, gpu.core_mhz, gpu.channels, gpu.dram_mhz, gpu.channel_bytes) == (15, 1000, 6, 1250, 16)
    sm = gpu.sm
    assert (sm.scheduler, sm.collectors, sm.warps, sm.blocks, sm.shared_bytes) == ("gto", 4, 48, 8, 48 << 10)
    assert (sm.register_file_bytes, sm.rows, sm.bank_ports, sm.issue_ports) == (128 << 10, 256, 2, 1)
    assert sm.banks * sm.rows * 1024 == 32 * 256 * 128 and sm.l1_sets * sm.l1_ways * sm.line_bytes == 16 << 10


@pytest.mark.parametrize("preset", gpu_presets())
def test_an_idle_gpu_has_the_latencies_of_its_class(preset: str) -> None:
    """Beyond the L1, mean over SMs, in cycles of the SMs: 120 for a line in L2, 220 for one in DRAM."""
    config, dram, l2 = GpuConfig.preset(preset), 0, 0
    for sm in range(config.sms):
        wanted: list[list[Wanted]] = [[] for _ in range(config.sms)]
        wanted[sm] = [Wanted(0, Kind.READ, 0), Wanted(5000, Kind.READ, 0)]
        first, second = latencies(run(config, wanted)[1][sm])
        dram, l2 = dram + first - config.sm.l1_latency, l2 + second - config.sm.l1_latency
    assert dram / config.sms == pytest.approx(220, abs=4) and l2 / config.sms == pytest.approx(120, abs=2)


# ---------------------------------------------------------------- configurations

def test_a_file_describes_the_gpu_and_its_sms(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\n[sm]\npreset = "small"\nmshrs = 7\n"pipes.mem.credits" = 3\nscheduler = "gto"\n'
                    '[gpu]\nsms = 3\n[interconnect]\nnetwork = "mesh"\n[l2]\nl2_write = "through"\n')
    gpu = GpuConfig.preset(str(path))
    assert (gpu.name, gpu.sm.name, gpu.sms, gpu.network, gpu.l2_write) == ("mine", "mine", 3, "mesh", "through")
    assert gpu.sm.mshrs == 7 and gpu.sm.pipes[-1].credits == 3 and gpu.sm.scheduler == "gto"
    changed = gpu.with_settings(["l2.l2_ways=4", "sms=2", "memory.mshrs=5"])
    assert (changed.l2_ways, changed.sms, changed.sm.mshrs) == (4, 2, 5)


@pytest.mark.parametrize(("settings", "message"), [
    (["sms=33"], r"sms = 33: must be a whole number from 1 to 32"),
    (["slices=7"], r"slices = 7 and channels = 6 disagree: every channel serves the same number of slices"),
    (["network=ring"], r"network = 'ring': must be one of crossbar, mesh"),
    (["interleave_bytes=64"], r"interleave_bytes = 64 and line_bytes = 128 disagree: it must hold a line"),
    (["row_bytes=32"], r"row_bytes = 32 and line_bytes = 128 disagree"),
    (["network=mesh", "mesh_columns=27"], r"mesh_columns = 27 and sms = 14 disagree: a column must have a node"),
    (["l2_sets=3"], r"l2_sets = 3: must be a power of two"),
    (["l2.ways=3"], r"'ways' is not a configuration field; fields are .*; nearest: l2_ways"),
    (["mshr=3"], r"'mshr' is not a configuration field; .*nearest: mshrs"),
    (["memory_latency=3"], r"memory_latency: it is of a single SM, whose memory has a fixed latency"),
    (["dram.l2_ways=3"], r"dram\.l2_ways is not a configuration field: it is l2\.l2_ways"),
])
def test_errors_of_settings(settings: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        GpuConfig().with_settings(settings)


@pytest.mark.parametrize(("text", "message"), [
    ("[gpu]\nsms = 2", r"\[sm\] must name the preset of the SMs: preset = \"fermi\""),
    ('[sm]\npreset = "fermi"\nmemory_interval = 3', r"\[sm\]: memory_interval: it is of a single SM"),
    ('[sm]\npreset = "fermy"', r"preset = 'fermy': must be one of"),
    ('[sm]\npreset = "fermi"\n[gpu]\nl2_ways = 3', r"gpu\.l2_ways is not a configuration field: it is l2\.l2_ways"),
    ('smms = 3\n[sm]\npreset = "fermi"', r"'smms' is not a configuration field; .*nearest: sms"),
    ("[gpu", r"not TOML"),
])
def test_errors_of_files(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        GpuConfig.from_toml(text, "mine.toml")


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("\ufeff" + gpu_text("k20x"), encoding="utf-8")
    assert GpuConfig.preset(str(path)) == GpuConfig.preset("k20x")


def test_an_unknown_gpu_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gpu = 'k20': must be one of fermi, hd7970, k20x.*nearest: k20x"):
        GpuConfig.preset("k20")
    with pytest.raises(ConfigError, match=r"none\.toml: No such file.*name a GPU"):
        GpuConfig.preset(str(tmp_path / "none.toml"))


# ---------------------------------------------------------------- for users

def test_a_program_in_python() -> None:
    gpu = Gpu(gpu="fermi", sms=3, mshrs=4)
    add = gpu.module(kernel("vector_add").ptx)["vector_add"]
    x, y = gpu.array(np.arange(1024, dtype=np.float32)), gpu.zeros(1024, np.float32)
    for _ in range(2):
        launched = add[8, 128](x, y, y, 1024)
        assert launched.gpu is not None and len(launched.gpu.sms) == 3
        assert launched.statistics.warp_instructions == launched.warp_instructions
    assert (y.numpy() == 2 * np.arange(1024)).all()
    assert gpu.statistics.cycles == sum(each.statistics.cycles for each in gpu.launches)
    assert Gpu(gpu="fermi", timing=False).gpu == GpuConfig.preset("fermi")


@pytest.mark.parametrize("arguments", [
    {"machine": "fermi"}, {"machine": SmConfig()}, {"rtl": True}, {"sample": 2}, {"timing": lambda config, trace: None},
])
def test_options_for_one_sm_are_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=r"gpu = k20x: leave out machine \(its SMs are part of it\), and rtl, sample"):
        Gpu(gpu="k20x", **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["matmul", "bfs_levels"])
def test_the_command_line(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.json"
    arguments = ["run", name, "--size", "tiny", "--gpu", "k20x", "--set", "sms=4", "--set", "mshrs=8"]
    assert main([*arguments, "--json", str(path)]) == 0
    shown, document = capsys.readouterr().out, json.loads(path.read_text())
    assert "Memory of k20x" in shown and "MSHRs in use, mean" in shown
    assert document["configuration"]["sms"] == 4 and document["configuration"]["sm"]["mshrs"] == 8
    assert document["gpu"]["requests"] == document["gpu"]["answers"] > 0
    launches = document["gpu"]["launches"]
    assert document["timing"]["warp_instructions"] == sum(
        sm["warp_instructions"] for launch in launches for sm in launch["sms"])
    assert document["timing"]["cycles"] == document["gpu"]["run_cycles"]


@pytest.mark.parametrize(("arguments", "message"), [
    (["--preset", "fermi"], "--preset: the SMs of --gpu k20x are part of it"),
    (["--rtl"], "--gpu: leave out --rtl and --blocks, which are for one SM"),
    (["--blocks", "3"], "--gpu: leave out --rtl and --blocks, which are for one SM"),
])
def test_errors_of_the_command_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "matmul", "--size", "tiny", "--gpu", "k20x", *arguments]) == 1
    assert message in capsys.readouterr().err


def test_gpus_and_their_fields_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["presets", "--gpu", "fermi"]) == 0
    assert capsys.readouterr().out == gpu_text("fermi")
    assert main(["presets", "--gpu"]) == 0
    assert "hd7970" in capsys.readouterr().out
    assert main(["config", "--gpu", "k20x", "--set", "l2_ways=8"]) == 0
    shown = capsys.readouterr().out
    assert "controller_latency" in shown and "mshr_merges" in shown
