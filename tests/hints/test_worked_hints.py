"""The worked examples of hint-assisted scheduling ([HAWS], chapter 5), on the ideal machine of its figures."""

from collections.abc import Sequence
from dataclasses import asdict, replace

import numpy as np
import pytest
from support.barrel import HALF, REST, Barrel, Try, add, in_lanes, load, program_of, trace_of

from warploom.arch.isa import RZ, Instruction, Op
from warploom.arch.order_hints import FORMAT_1_BITS, FORMAT_2_BITS, BranchHint, Hint
from warploom.arch.program import Program
from warploom.compiler.hints import hinted
from warploom.golden_model.front_end.decode import decode
from warploom.golden_model.front_end.hazards import Hazards
from warploom.golden_model.front_end.scoreboard import Scoreboard
from warploom.golden_model.front_end.simt import Walk
from warploom.golden_model.front_end.stalls import READY, Stall
from warploom.golden_model.front_end.warps import Block, Warp
from warploom.golden_model.hints.collection import ENTRY_BITS, Entry
from warploom.golden_model.hints.order import HintOrder
from warploom.golden_model.trace import Trace

# ------------------------------------------------------------ Fig. 5.3 and 5.7

FIG_5_3 = program_of(load(1, 0), add(2, 0), add(3, 1, 2), add(4, 2), add(6, 3), add(5, 4), add(7, 6), load(8, 7),
                     add(9, 8))
"""I1 to I9, made so that all holds that the text says: I3 and I9 are stall points, only I4 and I6 are independent of
I1, I4 writes r4, and I6 reads it and writes r5."""


def cycles(program: Program, latency: int) -> dict[int, list[int]]:
    """The cycles in which each instruction, by its number in the figure, issues in the four warps."""
    found: dict[int, list[int]] = {}
    for each in Barrel(trace_of(program), warps=4, latency=latency).run():
        if each.issued is not None:
            found.setdefault(each.pc + 1, []).append(each.cycle)
    return found


def four(first: int) -> list[int]:
    return [*range(first, first + 4)]


def test_003_fig_5_3_memory_of_19_cycles() -> None:
    plain, tried = cycles(FIG_5_3, 19), list(Barrel(trace_of(hinted(FIG_5_3)), warps=4, latency=19).run())
    assert [each[:3] for each in tried if 9 <= each.cycle <= 12] == [(9 + warp, warp, 2) for warp in range(4)]
    assert not any(each.issued for each in tried if 9 <= each.cycle <= 12)
    helped = cycles(hinted(FIG_5_3), 19)
    assert (helped[4], helped[6], helped[3]) == (four(13), four(17), four(21))
    assert (plain[3], plain[4], plain[7]) == (four(21), four(25), four(37))
    assert max(plain[7]) / max(helped[7]) == 1.25


def test_003_fig_5_3_memory_of_14_cycles() -> None:
    plain, helped = cycles(FIG_5_3, 14), cycles(hinted(FIG_5_3), 14)
    assert (helped[4], helped[3], helped[6]) == (four(13), four(17), four(25))
    assert plain[3] == four(17)
    assert max(plain[7]) / max(helped[7]) == 1.125


def test_003_fig_5_7() -> None:
    """The hints of I3, I4 and I6, and the two entries before I3 issues."""
    program = hinted(FIG_5_3)
    assert {pc + 1: Hint.decode(word) for pc, word in program.order_hints} == {
        3: Hint(1, True, RZ), 4: Hint(3, False, 4), 6: Hint(0, False, 5)}
    barrel = Barrel(trace_of(program), warps=4, latency=19)
    entries = [list(barrel.hinted.detours[0].entries) for each in barrel.run() if each.cycle in (13, 14, 18)]
    assert entries == [[], [Entry(1, 4, 4)], [Entry(1, 4, 4), Entry(3, 5, 5)]]


# ------------------------------------------------------------ Fig. 5.4 and 5.6


def test_003_fig_5_4() -> None:
    assert (FORMAT_1_BITS, FORMAT_2_BITS) == (9 + 1 + 8, 1 + 11 + 11)
    assert Hint(3, False, 4).encode() == 0b00000100_0_000000011
    assert Hint(-16, True, 9).encode() == 0b00001001_1_111110000
    assert BranchHint(False, 5, -2).encode() == 0b11111111110_00000000101_0
    assert BranchHint(True, -1024, 0).encode() == 0b00000000000_10000000000_1


@pytest.mark.parametrize("hint", [Hint(-256, True, 255), Hint(255, False, 0), BranchHint(True, 1023, 0),
                                  BranchHint(False, -1024, 1023)])
def test_hints_are_decoded(hint: Hint | BranchHint) -> None:
    assert type(hint).decode(hint.encode()) == hint


@pytest.mark.parametrize(("hint", "message"), [
    (Hint(256, False, 0), r"offset 256: must be -256..255"), (Hint(-257, False, 0), r"offset -257: must be -256..255"),
    (Hint(0, False, 256), r"dst = 256: must be 0..255"),
    (BranchHint(False, 0, 1024), r"offset 1024: must be -1024..1023"),
])
def test_fields_that_do_not_fit(hint: Hint | BranchHint, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        hint.encode()


def test_003_fig_5_6() -> None:
    """28 bits: offset, dst, renamed, ready, control, valid."""
    assert ENTRY_BITS == 28
    assert Entry(3, 5, 20).encode(ready=False) == 0b1_0_0_00010100_00000101_000000011
    assert Entry.branch(-16, -300).encode(ready=True) == 0b1_1_1_1111111011010100_111110000
    assert 40 * 8 * ENTRY_BITS == 8960  # of the source's 40 wavefronts


@pytest.mark.parametrize("entry", [Entry(-256, 255, 255), Entry(255, 7, 200), Entry.branch(-3, 1)])
def test_entries_are_decoded(entry: Entry) -> None:
    assert Entry.decode(entry.encode(ready=True)) == entry


# ------------------------------------------------------------ Fig. 5.8


def issued(program: Program, pcs: list[int] | None = None, latency: int = 30) -> list[Try]:
    """What one warp issues."""
    return [each for each in Barrel(trace_of(program, pcs), warps=1, latency=latency).run() if each.issued]


def test_003_fig_5_8_a_result_in_its_own_register_is_skipped() -> None:
    assert [each.pc + 1 for each in issued(hinted(FIG_5_3)) if each.cycle > 2][:6] == [4, 6, 3, 5, 7, 8]


def test_003_fig_5_8_a_renamed_result_is_copied() -> None:
    """I3 reads r2, which I4 writes: I4 gets r4, which is free, I5 reads r4, and a copy takes the place of I4."""
    program = hinted(program_of(load(1, 0), add(8, 0), add(3, 1, 2), add(2, 0), add(5, 2), add(6, 3, 2)))
    steps = issued(program)
    assert [each.pc for each in steps] == [0, 1, 3, 4, 2, 3, 5]
    assert [(each.issued.op, each.issued.dst, each.issued.src) for each in steps[2:6]] == [
        (Op.IADD, 4, (0, RZ, RZ)), (Op.IADD, 5, (4, RZ, RZ)), (Op.IADD, 3, (1, 2, RZ)), (Op.MOV, 2, (4, RZ, RZ))]


def test_003_fig_5_8_a_branch_is_followed_without_an_issue() -> None:
    """The jump and the sum behind it execute in hint mode; in order the warp skips both."""
    program = hinted(program_of(load(1, 0), add(3, 1, 2), Instruction(op=Op.BRA, imm=4), add(9, 0), add(5, 0),
                                add(6, 3)))
    assert [each.pc for each in issued(program, [0, 1, 2, 4, 5, 6])] == [0, 2, 4, 1, 5]


def test_at_most_eight_entries() -> None:
    """Ten independent sums: eight execute while memory answers, two in order."""
    program = hinted(program_of(load(1, 0), add(3, 1), *(add(10 + number, 0) for number in range(10))))
    assert [each.pc for each in issued(program)] == [0, *range(2, 10), 1, 10, 11]


# ------------------------------------------------------------ Fig. 5.9

T = 10
"""Cycles of an instruction, which is one t of the figure."""

CHAIN = add(3, 3)
FIRST, SECOND = load(1, 3), load(2, 3)
BLOCK_1 = [*[CHAIN] * 10, FIRST, *[CHAIN] * 4]
STALL_1, STALL_2 = add(3, 3, 1), add(3, 3, 2)
PART_C = [add(10 + number, 0) for number in range(5)]
PART_F = [add(20 + number, 0) for number in range(3)]
BLOCK_2, BLOCK_3 = [CHAIN, CHAIN, SECOND, *[CHAIN] * 6], [CHAIN] * 11
"""The blocks of 15 instructions, without the stall points, and without c and f."""


def duration(*code: Instruction, with_hints: bool = False) -> int:
    """Cycles until the last instruction has issued and kept the machine busy; memory takes 10 t."""
    program = program_of(*code)
    *_, last = issued_in_t(hinted(program) if with_hints else program)
    return last.cycle + T - 1


def issued_in_t(program: Program) -> list[Try]:
    return [each for each in Barrel(trace_of(program), warps=1, latency=10 * T, busy=T).run() if each.issued]


def test_003_fig_5_9() -> None:
    """Normal execution, two static schedules, and hints. Each switch to hint mode costs one cycle more, that of the
    try."""
    normal = [*BLOCK_1, STALL_1, *PART_C, *BLOCK_2, STALL_2, *PART_F, *BLOCK_3]
    assert len(normal) == 45
    assert duration(*normal) == 53 * T
    assert duration(*BLOCK_1, *PART_C, *PART_F, STALL_1, *BLOCK_2, STALL_2, *BLOCK_3) == 48 * T
    assert duration(*BLOCK_1, *PART_C[:3], STALL_1, *BLOCK_2, *PART_C[3:], *PART_F, STALL_2, *BLOCK_3) == 47 * T
    assert duration(*normal, with_hints=True) == 45 * T + 2


# ------------------------------------------------------------ counts

STALL = Hint(1, True, RZ).encode()
"""Of a stall point: the group begins with the next instruction."""


def by_hand(program: Program, hints: dict[int, int]) -> Program:
    """The program with these hints, by pc."""
    return replace(program, order_hints=tuple(hints.items()))


def counted(trace: Trace, latency: int = 30) -> tuple[list[int], dict[str, int]]:
    """The instructions that one warp issues, by pc, and the counts of its hints that are not 0."""
    machine = Barrel(trace, warps=1, latency=latency)
    pcs = [each.pc for each in machine.run() if each.issued]
    return pcs, {name: count for name, count in asdict(machine.order.counts).items() if count}


EIGHT = program_of(load(1, 0), add(3, 1), *(add(10 + number, 0) for number in range(10)))
ON_AND_ON = {1: STALL, **{pc: Hint(pc, False, 8 + pc).encode() for pc in range(2, 12)}}
"""Each instruction of the group names the next one, without an end."""


@pytest.mark.parametrize(("program", "latency", "expected"), [
    (hinted(FIG_5_3), 30, {"entered": 1, "executed": 2, "ended_end": 1}),
    # The memory result is there in 5, when I4 has issued: I6 does not.
    (hinted(FIG_5_3), 4, {"entered": 1, "executed": 1, "ended_resolved": 1}),
    (hinted(program_of(load(1, 0), add(3, 1), load(4, 0), add(5, 3))), 30,
     {"entered": 1, "executed": 1, "loads": 1, "ended_end": 1}),
    (hinted(program_of(load(1, 0), add(3, 1, 2), add(2, 0), add(5, 3))), 30,
     {"entered": 1, "executed": 1, "copies": 1, "ended_end": 1}),
    # The group of the compiler ends with the eighth instruction.
    (hinted(EIGHT), 30, {"entered": 1, "executed": 8, "ended_end": 1}),
    (by_hand(EIGHT, ON_AND_ON), 30, {"entered": 1, "executed": 8, "ended_full": 1}),
], ids=["end", "resolved", "load", "renamed", "eight", "full"])
def test_counts_of_hint_mode(program: Program, latency: int, expected: dict[str, int]) -> None:
    assert counted(trace_of(program), latency)[1] == expected


def test_counts_of_a_branch_in_hint_mode() -> None:
    program = hinted(program_of(load(1, 0), add(3, 1, 2), Instruction(op=Op.BRA, imm=4), add(9, 0), add(5, 0),
                                add(6, 3)))
    counts = counted(trace_of(program, [0, 1, 2, 4, 5, 6]))[1]
    assert counts == {"entered": 1, "executed": 2, "branches": 1, "ended_end": 1}


def test_a_branch_that_diverges_issues_again() -> None:
    """It takes no entry, and ends hint mode."""
    program = by_hand(
        program_of(load(1, 0), add(3, 1), Instruction(op=Op.BRA, guard=0, imm=4, reconverge=4), add(4, 0)),
        {1: STALL, 2: BranchHint(False, 0, 2).encode(), 3: Hint(0, False, 4).encode()})
    pcs, counts = counted(in_lanes(trace_of(program), {2: HALF, 3: REST}))
    assert pcs == [0, 2, 1, 2, 3]
    assert counts == {"entered": 1, "ended_divergence": 1}


BRANCH = Instruction(op=Op.BRA, guard=0, imm=5, reconverge=5)


def test_so_does_a_branch_to_where_sides_join() -> None:
    """The warp waits on one side of a branch, whose last instruction leads to the join."""
    program = by_hand(program_of(BRANCH, load(1, 0), add(3, 1), Instruction(op=Op.BRA, imm=5), add(9, 0), add(4, 0)),
                      {2: STALL, 3: BranchHint(True, 3, 0).encode(), 5: Hint(0, False, 4).encode()})
    trace = trace_of(program, [0, 1, 2, 3, 5, 6])
    pcs, counts = counted(in_lanes(trace, {0: HALF, 1: REST, 2: REST, 3: REST}))
    assert pcs == [0, 1, 3, 2, 3, 5]
    assert counts == {"entered": 1, "ended_divergence": 1}


@pytest.mark.parametrize(("join", "enters"), [(3, False), (4, False), (5, True)])
def test_a_warp_does_not_enter_if_sides_join_up_to_behind_the_target(join: int, enters: bool) -> None:
    """The warp waits at pc 2, on one side of a branch, and the only instruction of the group is the next one."""
    branch = replace(BRANCH, imm=join, reconverge=join)
    program = by_hand(program_of(branch, load(1, 0), add(3, 1), add(4, 0), add(5, 0), add(6, 0)),
                      {2: STALL, 3: Hint(0, False, 4).encode()})
    pcs, counts = counted(in_lanes(trace_of(program), {0: HALF, **dict.fromkeys(range(1, join), REST)}))
    assert pcs == ([0, 1, 3, 2, 4, 5] if enters else [0, 1, 2, 3, 4, 5])
    assert counts == ({"entered": 1, "executed": 1, "ended_end": 1} if enters else {"ended_join": 1})


def test_a_warp_does_not_enter_behind_its_stall_point() -> None:
    """The stall point at pc 2 has not had to wait; then the last sum waits for memory, and is none."""
    program = by_hand(program_of(load(1, 0), add(5, 0), add(3, 1), add(4, 0), load(6, 0), add(7, 6)),
                      {2: STALL, 3: Hint(0, False, 4).encode()})
    assert counted(trace_of(program), latency=2) == ([0, 1, 2, 3, 4, 5], {})


# ------------------------------------------------------------ several warps


def at_stall_point(program: Program, warps: int) -> tuple[HintOrder, Scoreboard]:
    """Warps of two schedulers, which have issued the load before their stall point."""
    trace = trace_of(program)
    statics = decode(trace)
    order, scoreboard = HintOrder(program, statics, 2), Scoreboard(warps, tracks_reads=False)
    for slot in range(warps):
        warp = Warp(Walk(trace.warps[0], np.zeros(len(statics), bool)), slot, slot, Block([slot]), trace)
        warp.next = order.first(warp)
        scoreboard.issue(slot, warp.next.hazards, (), memory=True)
        order.following(warp)
    return order, scoreboard


def entering(events: Sequence[dict[int, int]], state: int) -> list[list[int]]:
    """The warps that enter hint mode at the end of each cycle. Two schedulers have two warps each, which come to their
    stall points in the first cycle; events change states before the end of a cycle. A warp that enters has this state.
    """
    order, scoreboard = at_stall_point(hinted(program_of(load(1, 0), add(3, 1), add(4, 0))), 4)
    states: list[int | None] = [Stall.MEMORY] * 4
    entered = []
    for changes in events:
        for slot, change in changes.items():
            states[slot] = change
        entered.append(list[int]())
        for warp, _ in order.turns(scoreboard, states):
            states[warp.slot] = state
            entered[-1].append(warp.slot)
    return entered


def test_hint_mode_ends_with_the_memory_result() -> None:
    """Although the stall point still waits for another one."""
    order, scoreboard = at_stall_point(hinted(program_of(load(1, 0), add(3, 1, 8), add(4, 0))), 1)
    scoreboard.issue(0, Hazards(add(8, 0)), (), memory=False)
    assert not list(order.turns(scoreboard, [Stall.MEMORY])) and list(order.turns(scoreboard, [Stall.MEMORY]))
    assert order.away == {0} and not list(order.turns(scoreboard, [READY]))
    scoreboard.done(0, Hazards(load(1, 0)))
    ((warp, static),) = order.turns(scoreboard, [READY])
    assert (warp.slot, static.instruction.dst, order.away, order.counts.ended_resolved) == (0, 3, set(), 1)


def test_warps_enter_one_after_the_other() -> None:
    """The lowest slot of those that memory holds, if no warp of its scheduler may issue; first in the cycle after the
    warp has come."""
    assert entering([{}, {1: READY}, {1: Stall.SCOREBOARD}, {}, {0: Stall.SCOREBOARD}, {}], READY) == [
        [], [0], [3], [], [2], []]


def test_warps_enter_together_if_their_groups_are_held() -> None:
    assert entering([{}, {}, {}], Stall.SCOREBOARD) == [[], [0, 1, 2, 3], []]
