"""The datapaths with gating (docs/contract/stored_forms.md): the rules on a few instructions, then whole kernels.

`test_golden_activity` counts in each cycle.
"""

from functools import cache
from typing import Any

import pytest
from support.gated_runs import COALESCING, COLUMN_COUNTERS, GATED, HALF, add, config, counted, cycles, integers, mov
from support.golden_traces import random_trace, trace_of

from warploom.arch.config import SmConfig
from warploom.arch.fields import pack
from warploom.arch.interfaces import dispatch_fields, result_fields
from warploom.arch.isa import Instruction, Op
from warploom.arch.mechanisms import Coalescing
from warploom.compiler.compile import compile_file
from warploom.golden_model import lane_activity
from warploom.golden_model.check import Mismatch
from warploom.golden_model.functional.executor import execute
from warploom.golden_model.gating.zero_buffer import ZeroBuffer
from warploom.golden_model.observation import shown_by
from warploom.golden_model.register_file.width import Encoding
from warploom.golden_model.register_file.zero_mask import Interleaved, LaneOrder, Zero
from warploom.golden_model.simulate import simulate
from warploom.golden_model.sm import Sm
from warploom.golden_model.statistics import Statistics
from warploom.golden_model.trace import Trace
from warploom.golden_model.trivial import Outcomes
from warploom.golden_model.words import ALL_LANES
from warploom.kernels.library import kernel, kernels

# ---------------------------------------------------------------------- rules


@pytest.mark.parametrize(("gating", "values", "lanes", "reads", "writes"), [
    ("active", (7, 0), HALF, 32, 32), ("in_lane", (7, 0), HALF, 16, 16), ("in_lane", (0, 0), ALL_LANES, 0, 0),
    ("cross_lane", (7, 0), ALL_LANES, 8, 8), ("cross_lane", (0x70007, 0), ALL_LANES, 16, 16),
    ("cross_lane", (0, 0), ALL_LANES, 0, 0),
])
def test_columns_of_two_registers(
    gating: str, values: tuple[int, int], lanes: int, reads: int, writes: int
) -> None:
    """In lane order. A lane that is zero or does not execute costs nothing, nor does a byte that is zero in four."""
    trace = trace_of([mov(2, values[0]), mov(3, values[1]), add(255, 2, 3)], lanes=[lanes] * 3)
    counts = counted(trace, config("off", gating))
    assert (counts["column_reads"], counts["column_writes"]) == (reads, writes)
    assert counts["sub_bank_reads"] == {32: 4, 16: 2 if lanes == HALF else 4, 8: 4, 0: 0}[reads]


@pytest.mark.parametrize(("gating", "read", "stored"), [
    ("off", 8 + 16, 2 * 8 + 16 + 6 * 32), ("active", 4 + 8, 2 * 4 + 8 + 6 * 16),
    ("in_lane", 4 + 8, 2 * 4 + 8 + 2 * 16), ("cross_lane", 4 + 4, 2 * 4 + 4 + 2 * 16),
])
def test_columns_of_narrow_registers(gating: str, read: int, stored: int) -> None:
    """R2 has one byte and is stored twice; R3 has two, of which the lower is zero; two instructions have constants."""
    code = [mov(2, 7), mov(3, 0x700), Instruction(op=Op.IMAD, dst=4, src=(2, 2, 3))]
    counts = counted(trace_of(code, lanes=[HALF] * 3), config("on", gating))
    assert (counts["column_reads"], counts["collector_columns"]) == (read, stored)


@pytest.mark.parametrize(("gating", "first", "last", "bypass"), [
    ("off", 32, 32, 0), ("active", 16, 16, 0), ("in_lane", 0, 16, 16), ("cross_lane", 0, 16, 16),
])
@pytest.mark.parametrize("coalescing", COALESCING)
def test_stages_load_one_after_the_other(coalescing: str, gating: str, first: int, last: int, bypass: int) -> None:
    """An addition of zero in half the lanes: nothing happens up to d + 1, then a stage loads in each cycle."""
    code = [Instruction(op=Op.IADD, dst=2, src=(255, 255, 255), imm_slot=0, imm=5)]
    sm, seen, dispatched = Sm(config(coalescing, gating), trace_of(code, lanes=[HALF])), [], 0
    while not sm.finished:
        sm.step()
        dispatched = sm.cycle if sm.datapath.dispatch[0] is not None else dispatched
        seen.append(sm.datapath.activity())
    seen = seen[dispatched : dispatched + 5]
    assert [counts["lane_loads"] for counts in seen] == [0, 0, first, 2 * first, 2 * first + last]
    assert [counts["bypass_loads"] for counts in seen] == [0, 0, bypass, 2 * bypass, 2 * bypass]


def test_trivial_lanes_at_the_dispatch_port() -> None:
    """R2 is zero in the lower half, R3 in the upper one: of R2 + R3 each half is the other operand."""
    trace = trace_of([mov(2, 7), mov(2, 0), mov(3, 9), mov(3, 0), add(4, 2, 3)],
                     lanes=[ALL_LANES, HALF, ALL_LANES, ALL_LANES & ~HALF, ALL_LANES])
    for gating in ("in_lane", "cross_lane"):
        sm, sent = Sm(config("off", gating), trace, check=True), []
        for datapath in cycles(sm):
            sent += [datapath.sent[0]] if datapath.sent[0] is not None else []
        outcomes = [sent[-1]["trivial"] >> 3 * lane & 7 for lane in range(32)]
        assert outcomes == [3] * 16 + [2] * 16 and sm.checker is not None and sm.checker.trivial > 32
        assert (sm.datapath.lanes.meter.operations, sm.datapath.lanes.meter.inactive) == (5 * 32, 32)
        assert sm.datapath.lanes.meter.trivial == 16 + 16 + 32


def test_a_zero_buffer_has_entries_for_each_side() -> None:
    buffer = ZeroBuffer(config("on", "cross_lane"))
    buffer.write(1, 2, True, Zero(5))
    assert [buffer.read(1, 2, left) for left in (False, True)] == [Zero(0), Zero(5)]
    assert buffer.read(0, 2, True) == buffer.read(1, 3, True) == Zero(0)


# ---------------------------------------------------------------------- what travels


@pytest.mark.parametrize("gating", ["off", *GATED])
@pytest.mark.parametrize("settings", [["off"], ["on", "alignment=reg"], ["on", "alignment=write"]], ids=str)
def test_a_result_carries_the_stored_metadata(settings: list[str], gating: str) -> None:
    """Every instruction carries the metadata of its destination to its latch, and it has not changed in between. The
    fields fit the ports."""
    setting = config(settings[0], gating, *settings[1:])
    sm, seen = Sm(setting, random_trace(5)), 0
    for datapath in cycles(sm):
        if datapath.sent[0] is not None and datapath.sent[0]["writes"]:
            pack(dispatch_fields(setting), datapath.sent[0])
        for result in datapath.register_file.writeback.latches:
            if result is not None and result["writes"]:
                pack(result_fields(setting), result)
                seen += _is_stored(datapath, result)
    assert seen > 100


def _is_stored(datapath: Any, result: Any) -> bool:
    """The fields of a result are the entries of mask buffer and zero buffer."""
    address = result["bank"], result["row"], result["left"]
    if datapath.config.coalescing is Coalescing.ON:
        assert Encoding.of(result) == datapath.register_file.form.mask_buffer.read(*address)
    if datapath.config.gating.has_zero_mask:
        assert Zero(result["zero"], result.get("reorder", 0)) == datapath.register_file.form.zero_buffer.read(*address)
    return True


def test_a_latch_shows_the_new_zero_mask() -> None:
    setting, seen = config("off", "cross_lane"), set()
    for datapath in cycles(Sm(setting, trace_of([mov(2, 7), mov(3, 0)]))):
        probe = shown_by(datapath)
        if probe["sp_latch_valid"]:
            columns = probe["bank0_columns" if probe["sp_latch_tag"] == 0 else "bank1_columns"]
            seen.add((probe["sp_latch_zero"], probe["sp_latch_reorder"], columns))
    assert seen == {(0xEEEEEEEE, 0xFF, 0x11111111), (ALL_LANES, 0, 0)}


# ---------------------------------------------------------------------- values


@pytest.mark.sample(12)
@pytest.mark.parametrize("gating", GATED)
@pytest.mark.parametrize("settings", [["off"], ["on", "alignment=reg"], ["on", "alignment=write"]], ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_no_value_is_lost(seed: int, settings: list[str], gating: str) -> None:
    """Values that are zero here and there, under masks of all kinds; results and trivial lanes are checked."""
    setting = config(settings[0], gating, *settings[1:])
    run, before = simulate(setting, integers(seed), check=True), simulate(config(settings[0], "off", *settings[1:]),
                                                                          integers(seed))
    assert run.sm.checker is not None and run.statistics.cycles == before.statistics.cycles
    assert (run.sm.checker.trivial > 100) is setting.gating.has_zero_mask


@pytest.mark.parametrize(("coalescing", "rules"), [("off", LaneOrder), ("on", Interleaved)])
def test_an_operand_that_is_not_restored_is_found(
    coalescing: str, rules: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Zeros are not written: without the zero mask old values come out."""
    trace = trace_of([mov(2, 0x12345678), mov(2, 0), add(3, 2, 2)])
    simulate(config(coalescing, "in_lane"), trace, check=True)
    monkeypatch.setattr(rules, "restore", lambda self, word, zero, *code: word)
    with pytest.raises(Mismatch, match="operand 0 of IADD"):
        simulate(config(coalescing, "in_lane"), trace, check=True)


@pytest.mark.parametrize(("wrong", "message"), [
    (Outcomes(1 << 4), "ZERO for IADD, lane 4"), (Outcomes(0, b=1 << 6), "B for IADD, lane 6"),
])
def test_a_lane_that_is_not_trivial_is_found(
    wrong: Outcomes, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = trace_of([mov(2, 3), mov(3, 4), add(4, 2, 3)])
    monkeypatch.setattr(lane_activity, "outcomes",
                        lambda dispatch, known, sp_pipes: wrong if dispatch["op"] == Op.IADD else Outcomes(0))
    with pytest.raises(Mismatch, match=message):
        simulate(config("off", "in_lane"), trace, check=True)


# ---------------------------------------------------------------------- whole kernels


@cache
def trace(name: str) -> Trace:
    found = kernel(name)
    executed = execute(compile_file(found.ptx), found.load("tiny").launch).trace
    assert executed is not None
    return executed


@cache
def baseline(name: str, preset: str, coalescing: str) -> Statistics:
    return simulate(config(coalescing, "off", preset=preset), trace(name)).statistics


SOME_KERNELS = ["bfs", "hotspot", "matmul"]
"""Not only for the long regression."""


@pytest.mark.sample(4)
@pytest.mark.parametrize(("preset", "gating"), [("small", "cross_lane"), ("maxwell", "in_lane")])
@pytest.mark.parametrize("coalescing", COALESCING)
@pytest.mark.parametrize("name", [
    pytest.param(found.name, marks=[] if found.name in SOME_KERNELS else pytest.mark.long) for found in kernels()
])
def test_kernels_are_right_in_as_many_cycles(name: str, coalescing: str, preset: str, gating: str) -> None:
    """No operand, result or trivial lane differs from functional execution, and less is active."""
    run = simulate(config(coalescing, gating, preset=preset), trace(name), check=True)
    before, after = baseline(name, preset, coalescing), run.statistics
    assert after.cycles == before.cycles and after.stalls == before.stalls
    assert run.sm.checker is not None and run.sm.checker.trivial > 100
    assert all(getattr(after, counter) < getattr(before, counter) for counter in COLUMN_COUNTERS)
    assert after.lane_operations == before.lane_operations and after.lanes_trivial > before.lanes_trivial == 0


@pytest.mark.parametrize("coalescing", COALESCING)
@pytest.mark.parametrize("name", ["bfs", "reduction"])
def test_each_value_of_gating_saves_more(name: str, coalescing: str) -> None:
    """`in_lane` never enables what `active` does not. (`cross_lane` may enable more than either, where a lane executes
    without its neighbours: all granules of a reordered group have a byte of it.)"""
    runs = [baseline(name, "small", coalescing)]
    runs += [simulate(config(coalescing, gating), trace(name)).statistics for gating in ("active", "in_lane")]
    for counter in COLUMN_COUNTERS:
        off, active, in_lane = (getattr(run, counter) for run in runs)
        assert in_lane <= active <= off


def test_gating_without_zero_masks_uses_every_row_under_several_issue_ports() -> None:
    """There is no table to divide, so a table's share of the rows is no limit."""
    pascal = SmConfig.preset("pascal").with_settings(["layout=wshift"])
    plain, gated = (simulate(pascal.with_settings([f"gating={gating}"]), trace("reduction")).statistics
                    for gating in ("off", "active"))
    assert gated.cycles == plain.cycles


@pytest.mark.parametrize("coalescing", COALESCING)
def test_where_all_lanes_execute_cross_lane_enables_least(coalescing: str) -> None:
    """Every write is full then, and every group takes the better order."""
    whole = integers(11)
    whole = trace_of(whole.program.instructions[:-1], warps=4, seed=11)
    runs = [counted(whole, config(coalescing, gating)) for gating in ("off", *GATED)]
    for counter in ("column_reads", "column_writes", "collector_columns", "operand_columns"):
        off, active, in_lane, cross_lane = (run[counter] for run in runs)
        assert cross_lane < in_lane < active <= off
