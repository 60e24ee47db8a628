"""What the statistics of a GPU say, by hand (docs/json.md, docs/contract/gpu.md)."""

from dataclasses import replace

import pytest
from support.golden_traces import trace_of
from support.runs import statistics

from warploom.arch.gpu import GpuConfig
from warploom.arch.isa import Instruction, Op
from warploom.arch.modifiers import Access, Space
from warploom.golden_model.gpu.simulate import simulate_gpu
from warploom.golden_model.gpu.statistics import GpuStatistics, in_sequence, together

LOAD = Instruction(op=Op.LD, access=Access.B32, space=Space.GLOBAL, dst=1)
STORE = Instruction(op=Op.ST, access=Access.B32, space=Space.GLOBAL)
GPU = GpuConfig.preset("k20x").with_settings(["sms=2", "slices=2", "channels=2"])


def one_load(*settings: str) -> GpuStatistics:
    """A warp of the first SM loads a line."""
    return simulate_gpu(GPU.with_settings(list(settings)), trace_of([LOAD], warps=1, per_block=1)).statistics


def test_a_load_that_finds_its_line_nowhere() -> None:
    """It takes one MSHR for the time of its request. That has a head alone, and the answer a line; the network has one
    channel on the way."""
    found = one_load()
    (taken, none), latency = found.mshr_cycles, int(found.mean_latency)
    assert (found.entries, found.loads_per_entry, found.duplicates, found.mshrs) == (1, [1], 0, 16)
    assert taken == latency > 200 and none == 0
    assert found.latencies == [0] * (latency // 50) + [1] and found.latency_bucket == 50
    assert (found.requests, found.answers) == (1, 1)
    assert (found.request_flits, found.answer_flits) == (GPU.flits(0), GPU.flits(128)) and found.answer_flits > 1
    assert (sum(found.l2_misses), sum(found.l2_hits), sum(found.l2_merges), sum(found.l2_written)) == (1, 0, 0, 0)
    assert (sum(found.dram_reads), sum(found.dram_writes), sum(found.dram_activates), found.row_hits) == (1, 0, 1, 0)
    assert sum(found.dram_data_cycles) == GPU.burst and max(found.dram_data_cycles) == GPU.burst
    assert {cause: sum(cycles) for cause, cycles in found.waits.items()} == {"mshr": 0, "merge": 0, "path": 0}
    assert found.run_cycles == max(found.cycles) == found.cycles[0] and found.seconds == found.run_cycles / 732e6
    assert found.warp_instructions[1] == 0


def test_the_last_data_of_any_channel_counts() -> None:
    """A store is answered before its line is written."""
    gpu, used = GPU.with_settings(["l2_write=through", "dram_bytes=1"]), set()
    for seed in range(4):
        found = simulate_gpu(gpu, trace_of([STORE], warps=1, per_block=1, seed=seed)).statistics
        used.update(channel for channel, writes in enumerate(found.dram_writes) if writes)
        assert found.dram_seconds > found.seconds
    assert used == {0, 1}


def test_without_a_load_histograms_are_empty() -> None:
    found = simulate_gpu(GPU, trace_of([Instruction(op=Op.MOV, dst=1, imm_slot=0)], warps=1, per_block=1)).statistics
    assert (found.entries, found.loads_per_entry, found.latencies, found.requests) == (0, [], [0], 0)


FIRST = replace(
    one_load(), run_cycles=200, seconds=2e-6, dram_seconds=4e-6, cycles=[200, 0], warp_instructions=[50, 0],
    mshr_cycles=[600, 300], entries=3, latencies=[1, 0, 2], dram_reads=[30, 10], dram_writes=[8, 2],
    dram_activates=[10, 5], dram_data_cycles=[100, 60], dram_mhz=1000, line_bytes=128)


def test_figures_that_follow_from_the_counts() -> None:
    assert FIRST.ipc == [0.25, 0]
    assert FIRST.row_hits == pytest.approx(0.7)  # 15 activates for 50 accesses
    assert FIRST.bytes_per_second == pytest.approx(50 * 128 / 4e-6)
    assert FIRST.bus_utilisation == pytest.approx(0.02)  # 160 of 4,000 cycles of two channels
    assert FIRST.mean_latency == 300
    idle = replace(FIRST, entries=0, dram_reads=[0], dram_writes=[0], dram_activates=[0])
    assert (idle.mean_latency, idle.row_hits) == (0, 0)
    assert FIRST.to_json()["row_hits"] == FIRST.row_hits


def test_launches_in_sequence_add_up() -> None:
    second = replace(FIRST, run_cycles=100, seconds=1e-6, dram_seconds=1e-6, cycles=[90, 100], latencies=[1, 1, 0, 4],
                     entries=6)
    found = in_sequence([FIRST, second])
    assert (found.run_cycles, found.seconds, found.dram_seconds) == pytest.approx((300, 3e-6, 5e-6))
    assert (found.cycles, found.latencies, found.entries) == ([290, 100], [2, 1, 2, 4], 9)
    assert (found.gpu, found.mshrs, found.dram_mhz, found.line_bytes, found.latency_bucket) == (
        "k20x", 16, 1000, 128, 50)


def test_sms_side_by_side() -> None:
    """One SM for all of 120 cycles and half full, the other for 60 and full at a quarter: IPC is that of both."""
    found = together([statistics(cycles=120, occupancy=0.5, warp_instructions=90),
                      statistics(cycles=60, occupancy=0.25, warp_instructions=60)], 120)
    assert (found.cycles, found.warp_instructions, found.ipc) == (120, 150, 1.25)
    assert found.occupancy == (60 + 15) / 240
