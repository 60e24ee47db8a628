"""Hints for bypassing collectors: programs by hand, a search over all paths, warps that diverge, and real traces."""

import dataclasses
from collections import Counter
from itertools import pairwise
from random import Random

import pytest
from support.warp_programs import LostValueError, Window, of, program, random_program, run

from warploom.arch.config import SmConfig
from warploom.arch.isa import PT, RZ, Instruction, Op
from warploom.arch.mechanisms import Bypass
from warploom.arch.modifiers import Vote
from warploom.arch.program import Program
from warploom.compiler import writeback_hints
from warploom.compiler.compile import compile_file
from warploom.compiler.prepare import prepared
from warploom.compiler.writeback_hints import (
    Destination,
    annotate,
    destination,
    destination_classes,
    transient_registers,
)
from warploom.golden_model.functional.executor import execute
from warploom.golden_model.trace import Trace
from warploom.kernels.library import kernel, kernels

LETTERS = {None: "", Destination.FILE: "F", Destination.COLLECTOR: "C", Destination.BOTH: "B"}
KERNELS = [bundled.name for bundled in kernels()]
WINDOWS = range(2, 9)
PROGRAMS = 1000
STEPS = 150
"""Instructions of a random program that a warp executes: enough to run through its loops several times."""


def places(code: Program, window: int) -> str:
    """The destination of each result, in program order: F(ile), C(ollector), B(oth)."""
    return "".join(LETTERS[destination(i)] for i in annotate(code, window).instructions)


STRAIGHT = [
    ("next instruction", "r1 =; = r1; exit", "C"),
    ("last one in the window", "r1 =; nop; = r1; exit", "C"),
    ("first one behind the window", "r1 =; nop; nop; = r1; exit", "F"),
    ("each read renews", "r1 =; nop; = r1; nop; = r1; nop; = r1; exit", "C"),
    ("read, and again too late", "r1 =; = r1; nop; nop; = r1; exit", "B"),
    ("never read", "r1 =; exit; = r1", "C"),
    ("overwritten before it is read", "r1 =; nop; nop; nop; r1 =; = r1; exit", "CC"),
    ("read by the instruction that overwrites it", "r1 =; r1 = r1; = r1; exit", "CC"),
    ("read too late by the instruction that overwrites it", "r1 =; nop; nop; r1 = r1; = r1; exit", "FC"),
    ("another register's accesses renew nothing", "r1 =; r2 =; = r2; = r1; exit", "FC"),
    ("both halves of a pair, one of which is also read later", "r2 =; r3 =; = r2 r3; nop; nop; = r3; exit", "CB"),
    ("three reads of one register", "r1 =; nop; = r1 r1 r1; exit", "C"),
]

GUARDED = [
    ("a guarded read needs its value in time", "r1 =; nop; nop; @ = r1; exit", "F"),
    ("a guarded read in time", "r1 =; @ = r1; exit", "C"),
    ("a guarded read renews nothing", "r1 =; @ = r1; nop; = r1; exit", "B"),
    ("the same without the guard", "r1 =; = r1; nop; = r1; exit", "C"),
    ("a guarded write ends no value", "r1 =; nop; @ r1 =; = r1; exit", "FC"),
    ("both values in time", "r1 =; @ r1 =; = r1; exit", "CC"),
    ("a guarded write renews nothing", "r1 =; @ r1 = r1; nop; = r1; exit", "BC"),
    ("two guarded writes do not make a whole one", "r1 =; nop; nop; @ r1 =; @ r1 =; = r1; exit", "FCC"),
    ("a guarded EXIT holds nobody up", "r1 =; @ exit; = r1; exit", "C"),
    ("what is read behind a guarded EXIT counts", "r1 =; @ exit; nop; = r1; exit", "F"),
]

BRANCHING = [
    ("over a jump", "r1 =; bra L; nop; nop; L:; = r1; exit", "C"),
    ("a jump counts", "r1 =; nop; bra L; L:; = r1; exit", "F"),
    ("dead at the branch", "r1 =; = r1; @bra L L; nop; L:; exit", "C"),
    ("live over a branch", "r1 =; @bra L M; = r1; bra M; L:; nop; M:; exit", "B"),
    ("live over a branch, on the other side", "r1 =; @bra L M; nop; bra M; L:; = r1; M:; exit", "B"),
    ("over a branch, too late", "r1 =; nop; @bra L M; = r1; bra M; L:; nop; M:; exit", "F"),
    ("within a side", "@bra L M; r1 =; = r1; bra M; L:; r1 =; = r1; M:; exit", "CC"),
    ("into the place where sides meet", "@bra L M; r1 =; bra M; L:; r1 =; M:; = r1; exit", "BB"),
    ("from the place where sides meet", "@bra L M; r1 =; bra M; L:; nop; M:; r1 =; = r1; exit", "CC"),
    ("paths join where nobody waits", "@bra L; r1 =; bra M; L:; r1 =; M:; = r1; exit", "CC"),
    ("in time on one path only", "@bra L; r1 =; nop; bra M; L:; r1 =; M:; = r1; exit", "FC"),
    ("read on one path, overwritten on the other", "bra L; M:; = r1; exit; L:; r1 =; @bra M; r1 =; = r1; exit", "BC"),
]

LOOPS = [
    ("round a loop", "r1 =; L:; r1 = r1; bra L", "CC"),
    ("round a loop that may diverge", "r1 =; L:; r1 = r1; @bra L M; M:; exit", "CB"),
    ("read first in the next round, too late", "L:; = r1; r1 =; nop; nop; bra L", "F"),
    ("renewed in each round", "r1 =; L:; = r1; @exit; bra L", "B"),
    ("the entry of a loop is no place where sides meet", "r1 =; L:; = r1; nop; bra L", "B"),
    ("a short round", "r1 =; L:; = r1; bra L", "C"),
    ("where sides meet in front of the loop's head", "L:; r1 =; @bra M L; nop; M:; = r1; bra L", "B"),
]

CASES = [*STRAIGHT, *GUARDED, *BRANCHING, *LOOPS]


@pytest.mark.parametrize(("text", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_window_of_three(text, expected):
    assert places(program(text), 3) == expected


@pytest.mark.parametrize("window", WINDOWS)
def test_every_window(window):
    """A value whose reads are `step` instructions apart, in a row and around a loop."""
    for step in range(1, 10):
        gap = "nop; " * (step - 1)
        expected = "C" if step < window else "F"
        assert places(program(f"r1 =; {gap}= r1; {gap}= r1; exit"), window) == expected
        if step > 1:
            rounds = program(f"r1 =; L:; = r1; {'nop; ' * (step - 2)}bra L")
            assert places(rounds, window) == ("C" if step < window else "B")


def test_beats():
    """LATCH reads the latched operands, the latched instruction the rest, and each beat of a result is a
    destination."""
    code = of(*(Instruction(op=Op.MOV, dst=register) for register in range(4)),
              Instruction(op=Op.LATCH, src=(0, 1, RZ)),
              Instruction(op=Op.DADD, dst=4, src=(2, 3, RZ)), Instruction(op=Op.HIGH, dst=5),
              Instruction(op=Op.ST, src=(RZ, RZ, 4)), Instruction(op=Op.ST, src=(RZ, RZ, 5)), Instruction(op=Op.EXIT))
    assert places(code, 3) == "FFFC" + "CC"


def test_barriers():
    """BARRED writes a register although it is a control instruction; a barrier only counts."""
    code = of(Instruction(op=Op.MOV, dst=0), Instruction(op=Op.BAR), Instruction(op=Op.BARRED, dst=1, vote=Vote.POPC),
              Instruction(op=Op.IADD, dst=2, src=(0, 1, RZ)), Instruction(op=Op.EXIT))
    assert places(code, 3) == "FCC"


def test_what_is_no_register():
    """RZ, immediates, and the predicates in the slots of PLOP3 are not registers."""
    code = of(Instruction(op=Op.MOV, dst=1), Instruction(op=Op.IADD, dst=RZ, pdst=0),
              Instruction(op=Op.PLOP3, pdst=1, src=(1, 1, PT)),
              Instruction(op=Op.ISETP, pdst=0, src=(1, RZ, RZ), imm_slot=0), Instruction(op=Op.EXIT))
    assert places(code, 2) == "C"
    assert annotate(code, 2).instructions[1:] == code.instructions[1:]


def test_hints_are_for_the_configuration():
    code, config = program("r1 =; nop; nop; = r1; exit"), SmConfig.preset("small")
    hinted = {
        window: prepared(code, dataclasses.replace(config, bypass=Bypass.BOW_HINTS, window=window))
        for window in (3, 4)
    }
    assert [i.to_file for i in (hinted[3].instructions[0], hinted[4].instructions[0])] == [True, False]
    assert prepared(code, dataclasses.replace(config, bypass=Bypass.BOW_WR)) is code
    assert annotate(hinted[4], 3) == hinted[3]  # earlier hints do not matter
    with pytest.raises(ValueError, match="window = 1"):
        annotate(code, 1)


def test_statistics():
    code = program("r1 =; r2 = r1; nop; nop; r3 = r2; r1 =; = r1 r3; nop; nop; r4 = r1; exit")
    assert destination_classes(code, 3) == Counter({Destination.FILE: 1, Destination.COLLECTOR: 3, Destination.BOTH: 1})
    assert transient_registers(code, 3) == {3, 4}  # R1 is transient at first, but not later
    assert sum(destination_classes(compile_file(kernel("bfs").ptx), 3).values()) > 20


# ------------------------------------------------------------ all paths


def forward(code: Program, pc: int, window: int) -> str:
    """The destination of one result, by a search over all paths from it: states are (instruction, instructions since
    the last certain access, instructions since the write, whether others may have run since)."""
    diverging = {at: i for at, i in enumerate(code.instructions) if i.op is Op.BRA and i.guard != PT}
    meets = {i.reconverge for i in diverging.values()}
    register = code.instructions[pc].dst
    waiting, seen, transient, reused = [(pc, 0, 0, False)], set(), True, False
    while waiting:
        state = at, age, distance, others = waiting.pop()
        if state in seen or at >= len(code.instructions):
            continue
        seen.add(state)
        i = code.instructions[at]
        if distance:
            others |= at in meets
            if register in i.sources:
                transient &= age < window and not others
                reused |= distance < window
            if i.guard == PT and register in i.sources:
                age = 0
            if i.guard == PT and register == i.dst:
                continue
        following = {at + 1} if i.op not in (Op.BRA, Op.EXIT) or i.guard != PT else set()
        following |= {i.imm} if i.op is Op.BRA else set()
        waiting += [(then, min(age + 1, window), min(distance + 1, window), others or at in diverging)
                    for then in following]
    return "C" if transient else "B" if reused else "F"


def test_random_programs_along_all_paths():
    """The hints are exactly those of the search, so as many values as possible are transient."""
    random, found = Random(1), Counter[str]()
    for number in range(PROGRAMS):
        code, window = random_program(random), WINDOWS[number % len(WINDOWS)]
        expected = "".join(forward(code, pc, window) for pc, i in enumerate(code.instructions) if i.dst != RZ)
        assert places(code, window) == expected, number
        found.update(expected)
    assert min(found[place] for place in "BCF") > 500


# ------------------------------------------------------------ warps that diverge


def lost(programs: int, size: int = 0) -> int:
    """The number of random programs that read a dropped value, if the hints assume a window that is `size` instructions
    too long."""
    random, found = Random(2), 0
    for number in range(programs):
        window = WINDOWS[number % len(WINDOWS)]
        code = annotate(random_program(random), window + size)
        try:
            for _ in range(2):
                follower = Window(window, code.registers)
                for instruction, executing in run(code, random, STEPS):
                    follower.issue(instruction, executing)
        except LostValueError:
            found += 1
    return found


def test_random_warps_never_read_a_dropped_value():
    assert lost(PROGRAMS) == 0


def test_a_window_that_is_too_long_is_caught():
    assert lost(PROGRAMS // 10, size=1) > 5


def test_lanes_that_wait_must_be_reckoned_with(monkeypatch):
    solve = writeback_hints._Flow.solve
    monkeypatch.setattr(writeback_hints._Flow, "solve", lambda flow, transfer, waits: solve(flow, transfer, None))
    assert lost(PROGRAMS // 4) > 3


def test_guards_must_be_reckoned_with(monkeypatch):
    branches = property(lambda i: i.op in (Op.BRA, Op.EXIT) and (i.guard != PT or i.guard_not))
    monkeypatch.setattr(Instruction, "guarded", branches)
    assert lost(PROGRAMS // 10) > 5


# ------------------------------------------------------------ real traces


@pytest.fixture(scope="module", params=KERNELS)
def trace(request) -> Trace:
    bundled = kernel(request.param)
    found = execute(compile_file(bundled.ptx), bundled.load("tiny").launch).trace
    assert found is not None
    return found


def replay(trace: Trace, code: Program, window: int) -> None:
    """Simulate the window of every warp. Raises `LostValueError`."""
    for warp in trace.warps:
        follower = Window(window, code.registers)
        for pc, executing in zip(warp.pc.tolist(), warp.lanes.tolist(), strict=True):
            follower.issue(code.instructions[pc], executing)


@pytest.mark.parametrize("window", WINDOWS)
def test_kernels_never_read_a_dropped_value(trace, window):
    code = annotate(trace.program, window)
    replay(trace, code, window)
    classes = destination_classes(trace.program, window)
    assert classes[Destination.COLLECTOR] > 0
    assert transient_registers(code, window) <= set(range(code.registers))


def test_a_wrong_hint_in_a_kernel_is_caught(trace):
    """Each value that the file needs, in turn, is marked transient."""
    code = annotate(trace.program, 3)
    wrong = [pc for pc, i in enumerate(code.instructions) if i.dst != RZ and i.to_file]
    caught = 0
    for pc in wrong:
        planted = list(code.instructions)
        planted[pc] = dataclasses.replace(planted[pc], to_collector=True, to_file=False)
        try:
            replay(trace, dataclasses.replace(code, instructions=tuple(planted)), 3)
        except LostValueError:
            caught += 1
    assert caught >= len(wrong) / 2


def test_longer_windows_keep_more(trace):
    """A value that is transient in a window is transient in every longer one."""
    transient = [{pc for pc, i in enumerate(annotate(trace.program, window).instructions) if not i.to_file}
                 for window in WINDOWS]
    assert all(shorter <= longer for shorter, longer in pairwise(transient))
    assert transient[0] < transient[-1]
