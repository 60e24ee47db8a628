"""Block dispatch, the issue port and statistics of the golden SM."""

import json
from dataclasses import replace

import numpy as np
import pytest
from support.golden_traces import random_trace, trace_of

from warploom.arch.config import SmConfig
from warploom.arch.isa import Instruction, Op
from warploom.golden_model.front_end.stalls import Stall
from warploom.golden_model.simulate import simulate
from warploom.golden_model.sm import Sm
from warploom.golden_model.trace import Trace
from warploom.golden_model.widths import histograms, width
from warploom.golden_model.words import ALL_LANES

MOV = Instruction(op=Op.MOV, dst=1, imm_slot=0, imm=300)


@pytest.mark.parametrize("policy", ["lrr", "gto", "two_level"])
def test_statistics_add_up(policy: str) -> None:
    config = SmConfig().with_settings([f"scheduler={policy}"])
    trace = random_trace(8)
    run = simulate(config, trace)
    counts = run.statistics
    issues = counts.cycles * config.schedulers - sum(counts.stalls.values())
    assert issues == counts.warp_instructions == trace.warp_instructions
    assert counts.bank_accesses == sum(counts.bank_reads) + sum(counts.bank_writes)
    assert sum(counts.bank_reads) == counts.collector_writes == sum(k * n for k, n in enumerate(counts.operands))
    assert sum(counts.bank_reads) == sum(counts.source_widths)
    assert counts.bank_requests == counts.bank_accesses and not any(counts.coalesced.values())
    assert counts.operands_stored == counts.collector_writes
    assert counts.sub_bank_reads + counts.sub_bank_writes == 4 * counts.bank_accesses
    assert counts.slice_writes == 4 * counts.operands_stored
    assert sum(counts.bank_writes) == sum(counts.destination_widths)
    assert counts.l1_hits + counts.l1_misses + counts.l1_merges == counts.load_transactions
    assert 0 < counts.occupancy <= 8 / 48
    assert json.loads(json.dumps(counts.to_json())) == counts.to_json()


def test_every_cause_of_a_stall_has_a_name() -> None:
    counts = simulate(SmConfig(), trace_of([MOV], warps=1)).statistics
    assert list(counts.stalls) == [stall.name.lower() for stall in Stall]
    assert counts.stalls["no_warp"] == 2 and counts.stalls["drained"] > 0


def test_blocks_wait_for_room_and_take_the_lowest_slots() -> None:
    config = SmConfig().with_settings(["blocks=2", "warps=4"])
    sm, resident = Sm(config, trace_of([MOV], warps=6, per_block=1)), []
    while True:
        sm.step()
        if sm.finished:
            break
        resident.append(sm.front_end.residency.warps)
    assert resident[:4] == [0, 1, 2, 2] and max(resident) == 2
    assert set(sm.front_end.warps) == {0, 1}


def test_schedulers_share_the_port_in_turn() -> None:
    """Two schedulers with equal work issue equally often."""
    sm, issued = Sm(SmConfig(), trace_of([MOV] * 40, warps=8)), [0, 0]
    while True:
        sm.step()
        if sm.finished:
            break
        if sm.inputs.issue:
            issued[sm.inputs.issue[0]["warp"] % 2] += 1
        if sum(issued) == 100:
            break
    assert abs(issued[0] - issued[1]) <= 8


def issuers(sm: Sm) -> list[int]:
    """The slots of the warps that issue, one after the other."""
    slots: list[int] = []
    while not sm.finished:
        sm.step()
        slots += [] if sm.finished else [warp.slot for warp in sm.issuing]
    return slots


def test_a_barrier_without_executing_lanes_holds_nobody_and_is_not_waited_at() -> None:
    """Warp 0 passes a BAR whose guard holds in no lane; warp 1 waits at it, alone, until warp 0 has ended."""
    trace = trace_of([Instruction(op=Op.BAR), MOV, MOV], warps=2)
    lanes = trace.warps[0].lanes.copy()
    lanes[0] = 0
    trace = replace(trace, warps=(replace(trace.warps[0], lanes=lanes), trace.warps[1]))
    config = SmConfig().with_settings(["schedulers=1", "scheduler=lrr"])
    assert issuers(Sm(config, trace)) == [0, 1, 0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize("lanes", [0, ALL_LANES])
def test_a_count_without_executing_lanes_is_no_result(lanes: int) -> None:
    """A BARRED is followed by the MOV of its result, unless its guard holds in no lane."""
    count = Instruction(op=Op.BARRED, dst=5, vote=4, src=(255, 255, 255))
    sm = Sm(SmConfig(), trace_of([count, MOV], lanes=[lanes, ALL_LANES]))
    assert len(issuers(sm)) == (3 if lanes == 0 else 4)


def test_width_of_an_operand() -> None:
    rows = np.zeros((6, 32), np.uint32)
    rows[1, 3], rows[2, 5], rows[3, 0], rows[4, :] = 0xFF, 0x100, 0xFFFFFF80, 0xFFFFFF80
    rows[5, :] = 0xFFFE8000
    lanes = np.ones((6, 32), bool)
    assert width(rows, lanes).tolist() == [1, 1, 2, 4, 1, 3]
    lanes[3, 0] = False
    assert width(rows, lanes).tolist() == [1, 1, 2, 1, 1, 3]


def _widths_one_by_one(trace: Trace) -> tuple[list[int], list[int]]:
    """The histograms, computed warp by warp."""
    counts = ([0] * 4, [0] * 4)
    for warp in trace.warps:
        registers = np.zeros((256, 32), np.uint32)
        for pc, lanes, row in zip(warp.pc, warp.lanes, warp.result, strict=True):
            instruction = trace.program.instructions[pc]
            executing = (int(lanes) >> np.arange(32) & 1).astype(bool)[None]
            for source in instruction.sources if lanes else ():
                counts[0][width(registers[source][None], executing)[0] - 1] += 1
            if row >= 0:
                registers[instruction.dst] = np.where(executing[0], trace.results[row], registers[instruction.dst])
                counts[1][width(trace.results[row][None], executing)[0] - 1] += 1
    return counts


@pytest.mark.parametrize("seed", range(3))
def test_width_histograms(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warploom.golden_model.widths.CHUNK", 100)
    trace = random_trace(seed)
    trace.results[::3] &= 0xFF
    trace.results[1::3] &= 0xFFFF
    assert histograms(trace) == _widths_one_by_one(trace)
