"""Parts of the FG-SIMT engine, each by a small case (docs/contract/fg_simt.md)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from support.assembler import Assembler, Imm
from support.fg_simt_faults import BEHIND, FAULTS, patched
from support.fg_simt_kernels import WORDS, kernel, launch, loading
from support.fg_simt_runs import once

from warploom.arch.encoding import encode_program
from warploom.arch.errors import LaunchError
from warploom.arch.fg_simt.code import check
from warploom.arch.fg_simt.image import HOST, Image, Segment
from warploom.arch.fg_simt.sizes import Cause, status
from warploom.arch.isa import PT, RZ, Instruction, Op
from warploom.arch.launch import Buffer, Launch
from warploom.arch.mechanisms import Affine
from warploom.arch.modifiers import Access, Cond, DType, Space, Special, Vote
from warploom.arch.program import Program
from warploom.fg_simt.images import Started, arrays, image
from warploom.fg_simt.programs import started
from warploom.golden_model.fg_simt.cached_memory import CachedMemory
from warploom.golden_model.fg_simt.engine import Engine, run
from warploom.golden_model.fg_simt.fragments import Backward, Fragments
from warploom.golden_model.fg_simt.memory import IdealMemory, Memory
from warploom.golden_model.fg_simt.memory_unit import Fault
from warploom.golden_model.functional.executor import execute

MISS = 4
"""Cycles at least of a shared load that misses: those of the memory."""

def observed(program: Program, of: str, affine: Affine = Affine.OFF) -> list[int]:
    """A value of every cycle."""
    engine = Engine(IdealMemory(image([Started(program, launch())])), affine)
    place, values = engine.observed.index(of), []
    while not engine.halted:
        engine.clock()
        values.append(engine.observe()[place])
    return values


# ---------------------------------------------------------------- fragments


def test_worked_example_of_the_two_stacks() -> None:
    fragments = Fragments()
    fragments.start(0xFFFF)
    fragments.pc = 3
    fragments.branch(0x00FF, 6)
    assert (fragments.pc, fragments.mask, fragments.forward) == (4, 0xFF00, [(6, 0x00FF)])
    fragments.pc = 5
    fragments.branch(0x0F00, 1)
    assert fragments.backward == Backward(1, 0x0F00, 5)
    fragments.merge()
    assert (fragments.pc, fragments.mask, fragments.forward) == (6, 0xF0FF, [])
    assert fragments.change()
    assert (fragments.pc, fragments.mask, fragments.forward, fragments.backward) == (1, 0x0F00, [(6, 0xF0FF)], None)


def test_the_lowest_pc_of_the_forward_stack_is_first() -> None:
    fragments = Fragments()
    fragments.start(0b1111)
    for lane, target in ((1, 30), (2, 10), (4, 20)):
        fragments.branch(lane, target)
    assert [pc for pc, _ in fragments.forward] == [30, 20, 10]
    fragments.pc = 25  # a jump over two of them
    assert fragments.change()
    assert (fragments.pc, fragments.mask) == (10, 2)
    assert [pc for pc, _ in fragments.forward] == [30, 25, 20]


def test_lanes_that_leave_a_loop_wait_behind_it() -> None:
    """Lane l goes round 1 + l mod 4 times; the code behind the loop is decoded once."""

    def body(code: Assembler) -> None:
        code.op(Op.LOP3, 13, 0, Imm(3), lut=0xC0)
        code.label("top")
        code.op(Op.IADD, 12, 12, Imm(1))
        code.op(Op.ISETP, 255, 13, Imm(0), pdst=0, cond=Cond.NE)
        code.op(Op.ISUB, 13, 13, Imm(1))
        code.branch("top", guard=0)

    finished = once(kernel(body), launch())
    straight = once(kernel(lambda code: None), launch())
    assert finished.counts["instructions"] == straight.counts["instructions"] + 1 + 4 * 4
    assert finished.counts["divergent"] == 3 * 4  # iterations 2 to 4


def test_sides_of_a_conditional_meet() -> None:
    def body(code: Assembler) -> None:
        code.op(Op.ISETP, 255, 0, Imm(7), pdst=0, cond=Cond.LT)
        code.branch("else", guard=0)
        code.op(Op.MOV, 12, Imm(1))
        code.branch("end")
        code.label("else")
        code.op(Op.MOV, 12, Imm(2))
        code.label("end")

    finished = once(kernel(body), launch())
    straight = once(kernel(lambda code: None), launch())
    more = finished.counts - straight.counts
    assert (more["instructions"], more["control"], more["branches"], more["collects"]) == (5, 2, 1, 1)
    assert (more["integer"], more["lane_operations"], more["divergent"]) == (3, 3, 3)
    assert max(observed(kernel(body), "forward")) == 1


# ---------------------------------------------------------------- counts


def half_of_the_lanes(code: Assembler) -> None:
    """Lanes below 16 add; the comparison writes no register."""
    code.op(Op.ISETP, 255, 0, Imm(16), pdst=0, cond=Cond.LT)
    code.op(Op.IADD, 12, 12, 0, guard=0)


@pytest.mark.parametrize(("body", "kind", "unit", "threads", "words"), [
    (lambda code: code.op(Op.IADD, 12, 12, Imm(5)), "integer", "simple", 32, (1, 1, 32)),
    (half_of_the_lanes, "integer", "simple", 32 + 16, (3, 1, 16)),
    (lambda code: code.op(Op.FMIN, 12, 0, 0), "float", "simple", 32, (2, 0, 32)),
    (lambda code: code.op(Op.FFMA, 12, 0, 0, 0), "float", "fused", 32, (3, 0, 32)),
    (lambda code: code.op(Op.CVT, 12, 0), "float", "conversion", 32, (1, 0, 32)),
    (lambda code: code.op(Op.IMUL, 12, 12, 0), "integer", "product", 32, (2, 0, 32)),
    (lambda code: code.op(Op.IDIV, 12, 0, Imm(3)), "integer", "division", 32, (1, 1, 32)),
    (lambda code: code.op(Op.FDIV, 12, 0, Imm(3)), "float", "division", 32, (1, 1, 32)),
    (lambda code: code.load(12, 4), "memory", "access", 32, (2, 0, 32)),
])
def test_what_an_operation_counts(
    body: Callable[[Assembler], None], kind: str, unit: str, threads: int, words: tuple[int, int, int]
) -> None:
    """Beyond a kernel without it: the work of its unit; registers and constants that it reads, and words of executing
    threads."""
    with_it, without = (once(kernel(each), launch()).counts for each in (body, lambda code: None))
    more = with_it - without
    operations = 2 if body is half_of_the_lanes else 1
    assert (more["registers_read"], more["constants_read"], more["words_written"]) == words
    units = {name: count for name, count in more.items() if name.endswith(("_operations", "_threads"))}
    assert units == {"lane_operations": operations, f"{unit}_operations": operations, "lane_threads": threads,
                     f"{unit}_threads": threads}
    assert (more["instructions"], more[kind], more["threads"]) == (operations, operations, 32 * operations)
    kinds = {"integer", "float", "memory", "control"} & more.keys()
    assert kinds == {kind} and more["fetches"] == operations and more["loads"] == (kind == "memory")


# ---------------------------------------------------------------- control processor and memory


def test_shared_loads_are_filled_by_the_first_warp() -> None:
    """Four parameter words: the second warp requests none."""
    program = kernel(lambda code: None)
    levels = observed(program, "shared_loads")
    assert max(levels) == 4
    assert levels[-1] == 0  # invalid after the kernel
    one, two = (once(program, launch(threads)).kernel_cycles for threads in (32, 64))
    assert two - one < one - 4 * MISS


@pytest.mark.parametrize(("offset", "requests"), [(0, 4), (4, 5), (32, 4), (60, 5)])
def test_vector_loads(offset: int, requests: int) -> None:
    """32 words need four lines if they are aligned, otherwise five; the store of the kernel needs four."""
    finished = once(loading(offset), launch(), Affine.ABM)
    assert (finished.counts["vector_loads"], finished.counts["wide_requests"]) == (1, requests + 4)
    assert not finished.counts["narrow_requests"]


@pytest.mark.parametrize(("offset", "narrow", "wide"), [(0, 0, 4), (4, 32, 0)])
def test_coalescing_is_within_a_line(offset: int, narrow: int, wide: int) -> None:
    finished = once(loading(offset), launch())
    assert (finished.counts["narrow_requests"], finished.counts["wide_requests"]) == (narrow, wide + 4)


def test_a_wide_load_waits_for_narrow_stores() -> None:
    """Stores of every second word are narrow; the loads behind them are wide."""

    def body(code: Assembler) -> None:
        code.indexed(16, 8, 0, shift=3)
        code.store(16, 0, imm=128)
        code.load(12, 4)

    program = kernel(body)
    narrow, wide = observed(program, "narrow_outstanding"), observed(program, "wide_outstanding")
    assert max(narrow) > 0 < max(wide)
    assert not any(one and other for one, other in zip(narrow, wide, strict=True))


@pytest.mark.parametrize("fence", [Op.MEMBAR, Op.BAR])
def test_a_fence_waits_for_accesses(fence: Op) -> None:
    """A load behind a store: with another instruction between them both are on their way at once."""

    def body(code: Assembler, between: Op) -> None:
        code.indexed(16, 8, 0, shift=3)
        code.op(fence)
        code.store(16, 0, imm=128)
        code.op(between)
        code.load(12, 4)
        code.op(fence)

    apart, at_once = (max(observed(kernel(partial(body, between=between)), "in_flight")) for between in (fence, Op.NOP))
    assert (apart, at_once) == (1, 2)


def test_lazy_expansion() -> None:
    """R12 is uniform; lanes below 7 give it another uniform value: it is expanded, then written in these lanes."""

    def body(code: Assembler) -> None:
        code.op(Op.ISETP, 255, 0, Imm(7), pdst=0, cond=Cond.LT)
        code.op(Op.MOV, 12, Imm(5), guard=0)

    finished = once(kernel(body), launch(), Affine.A)
    assert finished.counts["expansions"] == 1
    assert not once(kernel(body), launch()).counts["expansions"]


@pytest.mark.parametrize(("written", "guards"), [(1, {PT, 0, 1}), (2, {PT, 0})])
def test_a_guard_that_is_expanded_is_read_by_the_lanes(written: int, guards: set[int]) -> None:
    """P1 and P2 are uniform, and some lanes write one of them where P1 holds: it is a constant unless it is the one."""

    def body(code: Assembler) -> None:
        for predicate in (1, 2):
            code.op(Op.ISETP, RZ, RZ, RZ, pdst=predicate, cond=Cond.EQ)
        code.op(Op.ISETP, RZ, 0, Imm(7), pdst=0, cond=Cond.LT)
        code.branch("behind", guard=0)
        code.op(Op.ISETP, RZ, RZ, RZ, pdst=written, cond=Cond.EQ, guard=1)
        code.label("behind")

    engine, seen = Engine(IdealMemory(image([Started(kernel(body), launch())])), Affine.ABM), set()
    while not engine.halted:
        engine.clock()
        seen |= {sent.guard.number for sent in engine.issue.queue}
    assert seen == guards
    assert engine.control.counts["expansions"] == 1


def test_uniform_branches_are_resolved_by_the_control_processor() -> None:
    def body(code: Assembler) -> None:
        code.op(Op.MOV, 13, Imm(3))
        code.label("top")
        code.op(Op.ISETP, 255, 13, Imm(0), pdst=0, cond=Cond.NE)
        code.op(Op.ISUB, 13, 13, Imm(1))
        code.branch("top", guard=0)

    lanes, uniform = (once(kernel(body), launch(), affine) for affine in (Affine.A, Affine.AB))
    # four branches, of which none waits for a mask; but the comparison takes four cycles
    assert uniform.kernel_cycles <= lanes.kernel_cycles - 4 * 4


@pytest.mark.parametrize(("op", "distance"), [(Op.IADD, 2), (Op.IMUL, 4), (Op.FADD, 6), (Op.IDIV, 66), (Op.FSQRT, 66)])
def test_a_result_is_forwarded_in_the_cycle_in_which_it_is_written(op: Op, distance: int) -> None:
    def body(code: Assembler) -> None:
        code.op(op, 14, 0, 1)
        code.op(Op.MOV, 15, 14)

    program = kernel(body)
    place = next(pc for pc, i in enumerate(program.instructions) if i.op is op and i.dst == 14)
    issued = observed(program, "issue_pc")
    assert issued.index(place + 1) - issued.index(place) == distance


def _chain(op: Op, first: int = 13) -> Program:
    """Eight operations, each of which reads the result of the one before, and the first one this register."""

    def body(code: Assembler) -> None:
        code.op(Op.MOV, 13, Imm(3))
        for source in (first, *[13] * 7):
            code.op(op, 13, source, Imm(1))

    return kernel(body)


@pytest.mark.parametrize(("op", "first", "cycles"), [(Op.LOP3, 13, 4), (Op.IMUL, 13, 4), (Op.IMUL, 0, 5)])
def test_cycles_of_an_attempt(op: Op, first: int, cycles: int) -> None:
    """A linear one takes one, others four if their operands are uniform, and five if one is the thread's number."""
    linear, other = (once(_chain(tried, first), launch(), Affine.A) for tried in (Op.IADD, op))
    assert other.counts["affine"] == linear.counts["affine"]
    assert other.kernel_cycles - linear.kernel_cycles == 8 * (cycles - 1)


def _loads(words: Sequence[int]) -> Program:
    """Loads of these words of the parameters, at addresses that all lanes share."""

    def body(code: Assembler) -> None:
        for word in words:
            code.op(Op.MOV, 14, Imm(4 * word))
            code.op(Op.LD, 13, 14, RZ, space=Space.PARAM, access=Access.B32)

    return kernel(body)


def test_cycles_of_a_uniform_load() -> None:
    """The cache has these words: pointers to the buffers."""
    one, two = (once(_loads(words), launch(), Affine.A) for words in ((0,), (0, 1)))
    assert two.counts["shared_loads"] - one.counts["shared_loads"] == 1
    assert two.kernel_cycles - one.kernel_cycles == 1 + 4


def test_the_result_of_a_vote_is_sent_in_the_cycle_behind() -> None:
    def body(code: Assembler, votes: int) -> None:
        for _ in range(votes):
            code.op(Op.VOTE, 13, psrc=PT, imm=1, imm_slot=0, vote=Vote.BALLOT)

    none, some = (once(kernel(partial(body, votes=count)), launch(), Affine.A) for count in (0, 8))
    assert some.kernel_cycles - none.kernel_cycles == 8 * 2


@pytest.mark.parametrize("below", [0, 4, 12, 32])
@pytest.mark.parametrize("members", [0xFFFFFFFF, 0xFF, 0xFF0])
def test_votes(members: int, below: int) -> None:
    """Of the lanes below a number; those that are not members have no vote."""

    def body(code: Assembler) -> None:
        code.op(Op.ISETP, RZ, 0, Imm(below), pdst=0, cond=Cond.LT)
        code.op(Op.VOTE, 12, psrc=0, imm=members, imm_slot=0, vote=Vote.BALLOT)
        for vote in (Vote.ALL, Vote.ANY, Vote.UNI):
            code.op(Op.VOTE, RZ, psrc=0, imm=members, imm_slot=0, vote=vote, pdst=1)
            code.op(Op.SEL, 13, Imm(1 << vote), RZ, psrc=1)
            code.op(Op.IMAD, 12, 12, Imm(3), 13)

    once(kernel(body), launch())


@pytest.mark.parametrize(("members", "sync"), [(0xFFFFFFFF, False), (0xFFFFFFF0, True)])
def test_lanes_that_wait_elsewhere_may_miss_a_vote(members: int, sync: bool) -> None:
    """Four lanes wait behind it; it neither names them nor waits for them."""

    def body(code: Assembler) -> None:
        code.op(Op.ISETP, 255, 0, Imm(4), pdst=0, cond=Cond.LT)
        code.branch("behind", guard=0)
        code.op(Op.VOTE, 13, psrc=PT, imm=members, imm_slot=0, vote=Vote.BALLOT, sync=sync)
        code.label("behind")

    assert once(kernel(body), launch()).status == 0


def test_lanes_that_have_left_do_not_vote() -> None:
    """A vote of all others is whole."""

    def body(code: Assembler) -> None:
        code.op(Op.ISETP, 255, 0, Imm(4), pdst=0, cond=Cond.LT)
        code.op(Op.EXIT, guard=0)
        code.op(Op.VOTE, 13, psrc=PT, imm=0xFFFFFFFF, imm_slot=0, vote=Vote.BALLOT, sync=True)

    assert once(kernel(body), launch()).status == 0


def test_more_threads_than_a_launch_counts() -> None:
    with pytest.raises(LaunchError, match="launch fewer blocks than 134,217,728"):
        check(kernel(lambda code: None), replace(launch(), grid=(1 << 27, 1, 1), block=(32, 1, 1)))


def test_a_pc_has_24_bits() -> None:
    fragments = Fragments()
    fragments.start(0b11)
    fragments.pc = (1 << 24) - 1
    assert not fragments.advance() and fragments.pc == 0
    skipping = (Instruction(op=Op.BRA, imm=(1 << 24) + 2), Instruction(op=Op.DADD), Instruction(op=Op.EXIT))
    assert run((Segment(HOST, encode_program(skipping)),)).status == 0


def test_a_taken_branch_takes_four_cycles() -> None:
    def body(code: Assembler, branches: int) -> None:
        for number in range(branches):
            code.branch(f"behind {number}")
            code.op(Op.NOP)
            code.label(f"behind {number}")

    ten, twenty = (once(kernel(partial(body, branches=count)), launch()).kernel_cycles
                   for count in (10, 20))
    assert twenty - ten == 10 * 4


@pytest.mark.parametrize(("dst", "distance"), [(13, 1), (14, 50)])
def test_what_a_division_reads_is_kept(dst: int, distance: int) -> None:
    """The second MOV writes an operand of the division, whose last group reads after 49 cycles, or another register.
    After 49 cycles it would be written from the same cycle on as the third group of the division, if that were the
    first one: so it issues a cycle later."""

    def body(code: Assembler) -> None:
        code.op(Op.MOV, 14, Imm(3))
        code.op(Op.IDIV, 15, 0, 14)
        code.op(Op.MOV, dst, Imm(1))

    program = kernel(body)
    place = next(pc for pc, i in enumerate(program.instructions) if i.op is Op.IDIV)
    issued = observed(program, "issue_pc")
    assert issued.index(place + 1) - issued.index(place) == distance


def test_stores_of_a_block_do_not_reach_the_shared_memory_of_the_next_one() -> None:
    """The last stores of block 0 to shared memory are behind eight misses in one bank; block 1 stores there at once."""
    code = Assembler()
    code.op(Op.S2R, 0, special=Special.TID_X)
    code.op(Op.S2R, 1, special=Special.CTAID_X)
    code.op(Op.IMUL, 2, 0, Imm(20))
    code.op(Op.LOP3, 2, 2, Imm(127), lut=0xC0)  # where the thread stores
    code.op(Op.SHF, 3, RZ, 0, Imm(2))  # and loads
    code.op(Op.IMAD, 4, 1, Imm(100), 0)
    code.store(2, 4, space=Space.SHARED, wide=False)
    code.op(Op.BAR)
    code.load(5, 3, space=Space.SHARED, wide=False)
    code.indexed(8, 0, 0)
    code.op(Op.SHF, 12, RZ, 1, Imm(7))
    code.op(Op.IADD, 8, 8, 12)
    code.store(8, 5)
    code.op(Op.ISETP, RZ, 0, Imm(24), pdst=0, cond=Cond.GE)
    code.pointer(14, 8)
    code.op(Op.IADD, 14, 14, Imm(96))
    code.op(Op.SHF, 16, RZ, 0, Imm(8))
    code.op(Op.IADD, 14, 14, 16)
    code.op(Op.IADD, 17, 0, Imm(5))
    code.op(Op.LOP3, 17, 17, Imm(7), lut=0xC0)
    code.op(Op.IMUL, 17, 17, Imm(20))
    code.op(Op.LOP3, 17, 17, Imm(127), lut=0xC0)
    code.op(Op.MOV, 18, Imm(0xDEAD))
    code.store(14, 4, guard=0)  # the misses
    code.store(17, 18, guard=0, space=Space.SHARED, wide=False)
    code.op(Op.EXIT)
    program = code.program((8, 8), shared_bytes=128)
    buffers = Buffer("out", np.zeros(64, np.uint32)), Buffer("junk", np.zeros(2560, np.uint32))
    two = Launch((2, 1, 1), (32, 1, 1), buffers)
    expected = execute(program, two, record=False).buffers["out"]
    finished = run(image([Started(program, two)]), Affine.OFF, behind=partial(CachedMemory, lines=64))
    np.testing.assert_array_equal(arrays(finished.image, two)["out"], expected)


# ---------------------------------------------------------------- faults


@pytest.mark.parametrize("affine", [Affine.OFF, Affine.ABM])
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("behind", [IdealMemory, CachedMemory])
def test_faults_stop_a_kernel_and_the_next_launch_works(
    fault: str, affine: Affine, behind: Callable[[Image], Memory]
) -> None:
    cause, op, body = FAULTS[fault]
    program = kernel(body)
    place = BEHIND if cause is Cause.FETCH else next(pc for pc, i in enumerate(program.instructions) if i.op is op)
    finished = run(patched(program), affine, behind=behind)
    assert finished.status == status(cause, place)
    np.testing.assert_array_equal(arrays(finished.image, launch())["out"][:32], WORDS[:32])


@pytest.mark.parametrize("cycles", range(MISS + 1))
def test_a_fault_while_a_shared_load_waits(cycles: int) -> None:
    """Also in the cycle of its answer."""
    engine = Engine(IdealMemory(image([Started(kernel(lambda code: None), launch())])))
    while not (engine.control.is_running and engine.host._port.is_waiting):
        engine.clock()
    for _ in range(cycles):
        engine.clock()
    engine.memory.fault = Fault(Cause.BUS, 5)
    for _ in range(50):
        engine.clock()
    assert engine.host.status == status(Cause.BUS, 5)


@pytest.mark.parametrize("behind", [IdealMemory, CachedMemory])
def test_missing_code_of_the_host_part(behind: Callable[[Image], Memory]) -> None:
    assert run((), behind=behind).status == status(Cause.FETCH, 0)
    assert run((Segment(HOST, encode_program((Instruction(op=Op.MOV, dst=1),))),)).status == status(Cause.FETCH, 1)
    assert run((Segment(HOST, b"\xff" * 16),)).status == status(Cause.ILLEGAL, 0)


# ---------------------------------------------------------------- the checker


@pytest.mark.parametrize(("instruction", "why"), [
    (Instruction(op=Op.DADD), "test.ptx:1: test can't run on the FG-SIMT engine: it has no DADD"),
    (Instruction(op=Op.MUFU), "it has no MUFU"),
    (Instruction(op=Op.MOV, dst=1, pdst=0), "its MOV has no predicate result"),
    (Instruction(op=Op.LD, dst=1, pdst=3), "its LD has no predicate result"),
    (Instruction(op=Op.SHF, dst=1, signed=True), "its SHF to the left has no sign"),
    (Instruction(op=Op.MOV, dst=32), "it has 32 registers of a thread"),
    (Instruction(op=Op.S2R, special=Special.CLOCK_LO), "it has no special register CLOCK_LO"),
    (Instruction(op=Op.ISETP, cond=Cond.LTU), "it has no ISETP LTU"),
    (Instruction(op=Op.CVT, dst_type=DType.F16, src_type=DType.F32), "it does not convert F32 to F16"),
    (Instruction(op=Op.CVT, dst_type=DType.F32, src_type=DType.BF16), "it does not convert BF16 to F32"),
    (Instruction(op=Op.ST, space=Space.CONST), "const memory is read-only"),
])
def test_refused_kernels(instruction: Instruction, why: str) -> None:
    program = Program("test", "test.ptx", (instruction,), (1,), 8)
    with pytest.raises(LaunchError, match=why):
        check(program, launch())


def test_barriers_between_warps_are_refused() -> None:
    program = kernel(lambda code: code.op(Op.BAR))
    check(program, launch(32))
    with pytest.raises(LaunchError, match="blocks of at most 32 threads"):
        check(program, replace(launch(), block=(33, 1, 1)))


@pytest.mark.long
def test_a_second_time_misses_hide_no_gain() -> None:
    """Behind an L1 that is empty the lines of rsort have to be brought, with affine execution as without it. It saves
    more in a second execution."""
    launched = started("rsort")
    behind = partial(CachedMemory, latency=1)
    first, both = ({kind: run(image(each), kind, behind=behind).kernel_cycles for kind in (Affine.OFF, Affine.ABM)}
                   for each in (launched, [*launched, *launched]))
    ideal = {kind: run(image(launched), kind).kernel_cycles for kind in first}
    saved = [cycles[Affine.OFF] - cycles[Affine.ABM] for cycles in (ideal, first, both)]
    print("cycles on the ideal memory, the first time behind the L1, both times:", ideal, first, both)
    assert saved[1] < saved[0] * 3 / 4 and saved[2] - saved[1] > saved[0] * 3 / 4
