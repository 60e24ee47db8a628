"""The golden SM with an affine unit (docs/contract/affine.md): loads, and a slower front end."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.affine_runs import LANE, LOW_HALF, SPREAD, checked, config, executed, happenings, load
from support.gated_runs import add, cycles, integers, mov
from support.golden_traces import trace_of

from warploom.arch.compact import ATTEMPT_CYCLES
from warploom.arch.config import LANES
from warploom.arch.isa import RZ, Instruction, Op, Pipe
from warploom.arch.modifiers import Access, Combine, Cond, Space
from warploom.compiler.compile import compile_file
from warploom.golden_model.compact import Compact
from warploom.golden_model.front_end.stalls import Stall
from warploom.golden_model.functional.executor import execute
from warploom.golden_model.observation import shown_by
from warploom.golden_model.sm import Sm
from warploom.golden_model.statistics import collect
from warploom.kernels import launchfile

TAPS = Path(__file__).parents[1] / "ptx" / "taps.toml"

# ---------------------------------------------------------------------- loads


def test_loads_with_a_compact_address_wait_in_the_address_slot() -> None:
    loads = load(2, 1, access=Access.U8), load(3, RZ, imm=8, space=Space.SHARED)
    sm = Sm(config("abm"), executed(LANE, mov(5, 4), *loads))
    issued, dispatched, busy = [], [], []
    for datapath in cycles(sm):
        if sm.inputs.issue:
            assert datapath.operands.address_ready
            issued.append(sm.cycle)
        if datapath.dispatch[0] is not None:
            assert datapath.dispatch[0]["collector"] == sm.config.collectors
            dispatched.append(sm.cycle)
        if shown_by(datapath)["address_busy"]:
            assert not datapath.operands.address_ready
            busy.append(sm.cycle)
        assert not any(collector.busy for collector in datapath.operands.collectors)
    assert dispatched == [cycle + 1 for cycle in issued] and len(issued) == 2
    assert issued[1] == issued[0] + 2  # the slot is free when the first load has left it
    assert busy == dispatched


def test_memory_operations_keep_their_order() -> None:
    """The store, the older one, waits in a collector for its value, the load in the address slot for the store."""
    store = Instruction(op=Op.ST, src=(RZ, RZ, 2), space=Space.SHARED, access=Access.B32)
    trace = executed(LANE, SPREAD, store, load(3, 1, access=Access.U8))
    sm, order, waited = Sm(config("abm"), trace), [], False
    for datapath in cycles(sm):
        operands = datapath.operands
        waited |= not operands.address_ready and any(collector.busy for collector in operands.collectors)
        if datapath.dispatch[0] is not None and datapath.dispatch[0]["pipe"] == Pipe.MEM:
            order.append(Op(datapath.dispatch[0]["op"]))
    assert order == [Op.ST, Op.LD] and waited


def test_a_full_address_slot_holds_back_no_other_instruction() -> None:
    """Three loads of eight lines each: one in the load/store unit, one in its queue, one in the slot. The addition and
    the load with a generic address go to collectors, where the load waits for its turn; the last one stalls."""
    scale, generic = (
        Instruction(op=Op.SHF, dst=2, src=(RZ, 1, RZ), imm_slot=2, imm=3),
        Instruction(op=Op.LOP3, dst=3, src=(1, RZ, RZ), imm_slot=1, imm=0x1C, lut=0xC0),
    )
    code = [LANE, scale, generic, *(load(register, 2, access=Access.U8) for register in (4, 5, 6)),
            add(0, 3), load(7, 3), load(1, RZ, space=Space.SHARED)]
    setting = config("abm", "mem.credits=1", "line_bytes=32")
    sm, loads, beside, held, behind = Sm(setting, executed(*code)), [], [], False, False
    for datapath in cycles(sm):
        issue, dispatch = next(iter(sm.inputs.issue), None), datapath.dispatch[0]
        if not datapath.operands.address_ready and issue is not None:
            beside.append((Op(issue["op"]), issue["dst"]))
        if dispatch is not None and dispatch["op"] == Op.LD:
            loads.append((dispatch["dst"], dispatch["collector"] == setting.collectors))
        if not datapath.operands.address_ready:
            behind |= any(collector.ready and collector.fields["op"] == Op.LD
                          for collector in datapath.operands.collectors)
            held |= datapath.operands.free_collectors[0] > 0 and sm.front_end.stalls.now == [Stall.COLLECTOR]
    assert beside[-2:] == [(Op.IADD, 0), (Op.LD, 7)] and behind and held
    assert loads == [(4, True), (5, True), (6, True), (7, False), (1, True)]
    checked(setting, executed(*code))


@pytest.mark.parametrize(("offset", "lines"), [(0, 4), (32, 4), (4, 5), (28, 5)])
def test_002_section_4_2(offset: int, lines: int) -> None:
    """A load of 32 consecutive words takes four lines of 32 bytes if its address is aligned to them, five otherwise."""
    shift = Instruction(op=Op.SHF, dst=2, src=(RZ, 1, RZ), imm_slot=2, imm=2)
    run = checked(config("abm", "line_bytes=32"), executed(LANE, shift, load(3, 2, imm=offset)))
    assert run.statistics.counted["affine"]["vector_requests"] == 1
    assert run.statistics.load_transactions == lines


@pytest.mark.parametrize(("access", "scale", "vectors", "lines"), [
    (Access.U8, 0, 1, 1), (Access.B32, 2, 1, 4), (Access.B32, 3, 0, 2), (Access.U8, 2, 0, 2)])
def test_vector_requests_are_all_lines_from_first_to_last(
    access: Access, scale: int, vectors: int, lines: int
) -> None:
    """Lanes 0 and 31 alone execute. With 32 B lines a vector request of words takes four of them, two otherwise."""
    shift = Instruction(op=Op.SHF, dst=2, src=(RZ, 1, RZ), imm_slot=2, imm=scale)
    first = replace(LOW_HALF, imm=0, cond=Cond.EQ)
    last = replace(LOW_HALF, imm=31, cond=Cond.EQ, psrc=0, combine=Combine.OR)
    code = [LANE, shift, first, last, load(3, 2, access=access, guard=0)]
    run = checked(config("abm", "line_bytes=32"), executed(*code))
    assert run.statistics.counted["affine"]["vector_requests"] == vectors
    assert run.statistics.load_transactions == lines
    assert run.statistics.counted["affine"]["affine_loads"] == run.statistics.counted["affine"]["loads"] == 1
    before = checked(config("ab", "line_bytes=32"), executed(*code)).statistics
    assert before.counted["affine"]["vector_requests"] == 0 and before.load_transactions == min(lines, 2)


@pytest.mark.parametrize(("low", "high", "space", "vectors", "lines"), [
    (Compact(0x1000, 4), Compact(2), Space.GLOBAL, 1, 4),
    (Compact(0xFFFFFF80, 4), Compact(2), Space.GLOBAL, 1, 4),  # up to the last word below 2^32
    (Compact(0xFFFFFFC0, 4), Compact(2), Space.GLOBAL, 0, 4),
    (Compact(0x1000, 4), Compact(2, 1), Space.GLOBAL, 0, 32),
    (Compact(0, 4), Compact(0), Space.SHARED, 0, 0), (Compact(0, 4), Compact(0), Space.LOCAL, 0, 32),
])
def test_vector_requests_for_addresses_of_two_words(
    low: Compact, high: Compact, space: Space, vectors: int, lines: int
) -> None:
    """The low word may not wrap, the high word is uniform. A line is 32 B."""
    code = [LANE, *linear(2, low), *linear(3, high), load(4, 2, src=(2, 3, RZ), space=space, wide=True)]
    trace = trace_of(code)
    addresses = [[high.value(lane) << 32 | low.value(lane) for lane in range(LANES)]]
    run = checked(config("abm", "line_bytes=32"), replace(trace, addresses=np.array(addresses, np.uint64)))
    counts = run.statistics.counted["affine"]
    assert (counts["vector_requests"], run.statistics.load_transactions) == (vectors, lines)
    assert counts["affine_loads"] == 1 and counts["accepted"] == len(code) - 1


def linear(register: int, value: Compact) -> list[Instruction]:
    """A register becomes compact, if R1 is the lane."""
    product = Instruction(op=Op.IMAD, dst=register, src=(1, RZ, register), imm_slot=1, imm=value.stride)
    return [mov(register, value.base), product]


# ---------------------------------------------------------------------- constants


def test_a_uniform_load_of_constants_is_an_attempt() -> None:
    """Its result is uniform. In the low half of the warp it is moved to the register file. Loads with an affine address
    go to memory."""
    trace = executed(LANE, mov(2, 4), load(3, 2, imm=8), add(4, 3), LOW_HALF, load(5, 2, guard=0),
                     load(6, 1, access=Access.U8), load(7, RZ, space=Space.SHARED))
    sm = Sm(config("a"), trace, check=True)
    found = happenings(sm)
    tries = [(cycle, what) for cycle, what in found if what == "try LD"]
    assert len(tries) == 2 and all((cycle + ATTEMPT_CYCLES, "accepted") in found for cycle, _ in tries)
    assert [what for _, what in found].count("LD") == 2 and "refused" not in {what for _, what in found}
    assert sm.datapath.affine is not None and sm.decisions.counts is not None
    registers = sm.datapath.affine.registers
    assert registers.read(0, 3) == Compact(0x0F0E0D0C) and registers.read(0, 4) is not None
    assert [registers.read(0, register) for register in (5, 6, 7)] == [None] * 3
    assert (sm.decisions.counts.loads, sm.decisions.counts.suppressed) == (4, 1)


@pytest.mark.parametrize("affine", ["a", "abm"])
def test_the_taps_of_a_filter_are_uniform(affine: str) -> None:
    """Each of six warps loads four taps. The warps of two blocks also load their block's scale, and so does a part of
    the next one, not for all lanes. The last scale is each thread's own, and so is what is filtered."""
    launched = launchfile.load(TAPS)
    trace = execute(compile_file(launched.ptx), launched.launch).trace
    assert trace is not None
    names = [what for _, what in happenings(Sm(config(affine), trace, check=True))]
    assert (names.count("try LD"), names.count("LD")) == (6 * 4 + 4, 6 * 4 + 1 + 6)


@pytest.mark.parametrize("affine", ["a", "abm"])
def test_an_unwritten_address_is_harmless(affine: str) -> None:
    """The slot's previous warp has left it compact: an address beyond the constants, or an odd one."""
    for address in (0x7000, 3):
        checked(config(affine), executed(load(3, 5), mov(5, address), blocks=20))


# ---------------------------------------------------------------------- a slower front end


@pytest.mark.parametrize("affine", ["off", "abm"])
def test_a_slower_front_end_picks_in_every_second_cycle(affine: str) -> None:
    setting = config(affine, "front_end_interval=2", "schedulers=2")
    trace = integers(3)
    sm, turns = Sm(setting, trace), set()
    while True:  # without skipping a cycle
        sm.step()
        if sm.finished:
            break
        if sm.inputs.issue or any(sm.inputs.attempts):
            assert sm.cycle % 2 == 0
        if sm.inputs.issue:
            turns.add(sm.inputs.issue[0]["warp"] % 2)
    patient = collect(sm)
    run = checked(setting, trace)
    assert run.statistics == patient and turns == {0, 1}
    counts = run.statistics.counted["affine"] or {"refused": 0, "expansions": 0}
    issues = run.statistics.warp_instructions + counts["refused"] + counts["expansions"]
    assert issues + sum(run.statistics.stalls.values()) == (run.statistics.cycles + 1) // 2 * 2
    assert run.statistics.cycles > checked(replace(setting, front_end_interval=1), trace).statistics.cycles
