"""Barriers: the warps that they wait for, votes, and barriers that can never complete; also in the cycle model."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from support.assembler import Assembler, Imm

from warploom.arch.config import SmConfig
from warploom.arch.errors import ExecutionError
from warploom.arch.isa import RZ, Op
from warploom.arch.launch import Buffer, Launch, Scalar
from warploom.arch.modifiers import Cond, Special, Vote
from warploom.compiler.compile import compile_ptx
from warploom.compiler.truth import AND
from warploom.golden_model.functional.executor import Execution, execute
from warploom.golden_model.simulate import simulate
from warploom.golden_model.sm import Sm
from warploom.kernels.launchfile import load
from warploom.running import run

SMALL = SmConfig.preset("small")
FIXTURES = Path(__file__).parents[1] / "ptx"


def block(threads: int, **fields) -> Launch:
    """Two blocks of this number of threads."""
    return Launch((2, 1, 1), (threads, 1, 1), **fields)


def complete(asm: Assembler, launch: Launch) -> Execution:
    """Runs to its end in functional execution, and with the same instructions in the cycle model."""
    execution = execute(asm.program(), launch)
    for scheduler in ("lrr", "two_level"):
        config = SMALL.with_settings([f"scheduler={scheduler}"])
        found = simulate(config, execution.trace, check=True, max_cycles=20_000)
        assert found.statistics.warp_instructions == execution.warp_instructions
    return execution


def fails(asm: Assembler, launch: Launch) -> str:
    with pytest.raises(ExecutionError) as caught:
        execute(asm.program(), launch)
    return str(caught.value)


def early(asm: Assembler, cond: Cond, threads: int, *, exits: bool = True) -> None:
    """Threads for whose number the comparison with `threads` holds go to `end`, or exit at once."""
    asm.op(Op.S2R, 0, special=Special.TID_X)
    asm.op(Op.ISETP, RZ, 0, Imm(threads), cond=cond, pdst=1)
    if exits:
        asm.op(Op.EXIT, guard=1)
    else:
        asm.branch("end", guard=1, reconverge="end")


@pytest.mark.parametrize(("vote", "limit", "expected"), [
    (Vote.ALL, 64, 1), (Vote.ALL, 63, 0), (Vote.ANY, 1, 1), (Vote.ANY, 0, 0), (Vote.POPC, 37, 37),
])
def test_barrier_with_vote(vote, limit, expected):
    asm = Assembler()
    asm.op(Op.S2R, 0, special=Special.TID_X)
    asm.op(Op.ISETP, RZ, 0, Imm(limit), cond=Cond.LT, pdst=1)
    if vote is Vote.POPC:
        asm.op(Op.BARRED, 3, vote=vote, psrc=1)
    else:
        asm.op(Op.BARRED, RZ, vote=vote, psrc=1, pdst=2)
        asm.op(Op.SEL, 3, RZ, Imm(1), psrc=2, psrc_not=True)
    asm.op(Op.EXIT)
    execution = execute(asm.program(), Launch((2, 1, 1), (64, 1, 1)))
    for block, warp in np.ndindex(2, 2):
        assert (execution.final_registers(block, warp)[3] == expected).all()
        assert execution.trace.warps[2 * block + warp].pc.tolist() == list(range(len(asm.code)))


def test_partial_barrier_counts_threads():
    """Half of the block meets at a separate barrier."""
    asm = Assembler()
    asm.op(Op.S2R, 0, special=Special.TID_X)
    asm.op(Op.ISETP, RZ, 0, Imm(64), cond=Cond.GE, pdst=1)
    asm.branch("end", guard=1, reconverge="end")
    asm.op(Op.BAR, imm=1, count=64)
    asm.op(Op.MOV, 5, Imm(9))
    asm.label("end")
    asm.op(Op.EXIT)
    execution = complete(asm, block(128))
    assert [int(execution.final_registers(0, warp)[5, 0]) for warp in range(4)] == [9, 9, 0, 0]


def test_a_warp_that_arrives_and_goes_on():
    """In each round warps of one kind arrive at its first barrier and wait at its second, the others the other way
    round. If a warp waited where it arrives, none could go on."""
    asm = Assembler()
    asm.op(Op.S2R, 0, special=Special.TID_X)
    asm.op(Op.LOP3, 1, 0, Imm(32), lut=AND)
    asm.op(Op.ISETP, RZ, 1, Imm(0), cond=Cond.NE, pdst=1)
    asm.branch("1", guard=1, reconverge="end")
    for kind in (0, 1):
        asm.label(str(kind))
        for first in range(0, 16, 2):
            asm.op(Op.BAR, imm=first + kind, count=128, arrive=True)
            asm.op(Op.BAR, imm=first + 1 - kind, count=128)
            asm.op(Op.IADD, 5, 5, Imm(1))
        asm.branch("end")
    asm.label("end")
    asm.op(Op.EXIT)
    execution = complete(asm, block(128))
    assert [int(execution.final_registers(*divmod(number, 4))[5, 0]) for number in range(8)] == [8] * 8


PRODUCER = """.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out) {
.reg .b32 %r<9>; .reg .b64 %rd<3>; .reg .pred %p; .shared .b32 s[32];
mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; shl.b32 %r3, %r2, 2; mov.u32 %r4, s; add.u32 %r3, %r3, %r4;
mov.u32 %r5, 0; mov.u32 %r6, 0;
setp.lt.u32 %p, %r1, 32;
@%p bra PRODUCE;
CONSUME: barrier.cta.arrive 1, 64; barrier.cta.sync 2, 64; ld.shared.u32 %r7, [%r3]; mad.lo.u32 %r6, %r6, 3, %r7;
add.u32 %r5, %r5, 1; setp.lt.u32 %p, %r5, 20; @%p bra CONSUME;
ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r6;
ret;
PRODUCE: bar.sync 1, 64; mad.lo.u32 %r7, %r5, 100, %r2; st.shared.u32 [%r3], %r7; membar.cta; bar.arrive 2, 64;
add.u32 %r5, %r5, 1; setp.lt.u32 %p, %r5, 20; @%p bra PRODUCE;
ret;
}"""


def test_a_warp_that_produces_for_another():
    program = compile_ptx(PRODUCER, "k.ptx")
    launch = Launch((1, 1, 1), (64, 1, 1), (Buffer("out", np.zeros(32, np.uint32)),))
    execution = execute(program, launch)
    expected = np.zeros(32, np.uint32)
    for phase in range(20):
        expected = expected * 3 + np.arange(100 * phase, 100 * phase + 32, dtype=np.uint32)
    assert execution.buffers["out"].tolist() == expected.tolist()
    found = simulate(SMALL, execution.trace, check=True, max_cycles=20_000)
    assert found.statistics.warp_instructions == execution.warp_instructions


NUMBERED = """.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 first) {
.reg .b32 %r<9>; .reg .b64 %rd<3>; .reg .pred %p<3>;
mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 32; shr.u32 %r3, %r2, 5; ld.param.u32 %r4, [first]; add.u32 %r4, %r4, %r3;
setp.lt.u32 %p1, %r1, 64; setp.eq.u32 %p2, %r4, 3;
@!%p2 bar.sync %r4, 64;
barrier.red.popc.u32 %r5, %r4, 64, %p1;
ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r5;
ret;
}"""


def test_numbers_of_barriers_in_a_register():
    """Warps 0 and 2 meet at one barrier, 1 and 3 at the next one."""
    program = compile_ptx(NUMBERED, "k.ptx")
    for first in (0, 2, 7, 14):
        arguments = Buffer("out", np.zeros(128, np.uint32)), Scalar("u32", bytes([first, 0, 0, 0]))
        launch = Launch((2, 1, 1), (128, 1, 1), arguments)
        execution = execute(program, launch)
        assert execution.buffers["out"].tolist() == [32] * 128
        found = simulate(SMALL, execution.trace, check=True, max_cycles=20_000)
        assert found.statistics.warp_instructions == execution.warp_instructions
    launch = dataclasses.replace(launch, arguments=(launch.arguments[0], Scalar("u32", bytes([15, 0, 0, 0]))))
    with pytest.raises(ExecutionError, match=r"k\.ptx:8: .*: the barrier number must be from 0 to 15"):
        execute(program, launch)


def test_those_that_have_gone_on_are_counted_in_the_error():
    asm = Assembler()
    early(asm, Cond.LT, 64, exits=False)
    asm.op(Op.BAR, imm=3, count=128)
    asm.label("end")
    asm.op(Op.BAR, imm=3, count=128, arrive=True)
    asm.op(Op.EXIT)
    assert "barrier 3: only part (3 of 4 warps)" in fails(asm, block(96))


@pytest.mark.parametrize("exits", [True, False], ids=["exit", "branch to exit"])
@pytest.mark.parametrize("threads", [32, 40, 64, 70, 127])
@pytest.mark.parametrize("cond", [Cond.LT, Cond.GE])
def test_a_barrier_does_not_wait_for_exited_threads(cond, threads, exits):
    """Whole warps, parts of warps, and both; the lower ones and the upper ones."""
    asm = Assembler()
    early(asm, cond, threads, exits=exits)
    asm.op(Op.BAR)
    asm.op(Op.MOV, 5, Imm(9))
    asm.op(Op.BAR)
    asm.label("end")
    asm.op(Op.EXIT)
    execution = complete(asm, block(128))
    stays = np.arange(128) >= threads if cond is Cond.LT else np.arange(128) < threads
    found = [execution.final_registers(*divmod(number, 4))[5] for number in range(8)]
    assert np.concatenate(found).tolist() == np.tile(np.where(stays, 9, 0), 2).tolist()


@pytest.mark.parametrize("vote", [Vote.ALL, Vote.ANY, Vote.POPC])
@pytest.mark.parametrize("exits", [True, False])
def test_the_last_exit_opens_the_barrier_and_the_vote_counts_arrivals(vote, exits):
    """Warps 0 and 1 wait; warps 2 and 3, and ten lanes of warp 1, exit much later."""
    asm = Assembler()
    asm.op(Op.S2R, 0, special=Special.TID_X)
    asm.op(Op.ISETP, RZ, 0, Imm(54), cond=Cond.GE, pdst=1)
    asm.op(Op.ISETP, RZ, 0, Imm(3), cond=Cond.GE, pdst=2)
    asm.branch("late", guard=1, reconverge="end", taken_first=True)
    asm.op(Op.BARRED, 3 if vote is Vote.POPC else RZ, vote=vote, psrc=2, pdst=7 if vote is Vote.POPC else 3)
    asm.op(Op.SEL, 4, RZ, Imm(1), psrc=3, psrc_not=True)
    asm.branch("end")
    asm.label("late")
    for _ in range(40):
        asm.op(Op.IADD, 6, 6, Imm(1))
    if exits:
        asm.op(Op.EXIT)
    asm.label("end")
    asm.op(Op.EXIT)
    execution = complete(asm, block(128))
    found = execution.final_registers(1, 0)[3 if vote is Vote.POPC else 4]
    assert set(found.tolist()) == {{Vote.POPC: 51, Vote.ALL: 0}.get(vote, 1)}
    assert not execution.final_registers(1, 1)[3:5, 22:].any()
    assert (execution.final_registers(1, 1)[3:5, :22] == execution.final_registers(1, 0)[3:5, :22]).all()


def test_exit_after_waiting():
    """Each warp exits after a number of barriers equal to its own number."""
    asm = Assembler()
    asm.op(Op.S2R, 0, special=Special.WARPID)
    for number in range(4):
        asm.op(Op.ISETP, RZ, 0, Imm(number), cond=Cond.EQ, pdst=1)
        asm.op(Op.MOV, 5, Imm(number))
        asm.op(Op.EXIT, guard=1)
        asm.op(Op.BAR, imm=number % 2)
    asm.op(Op.EXIT)
    execution = complete(asm, block(128))
    assert [int(execution.final_registers(1, warp)[5, 7]) for warp in range(4)] == [0, 1, 2, 3]
    bars = [(execution.trace.warps[4 + warp].pc % 4 == 0).sum() - 1 for warp in range(4)]
    assert bars == [0, 1, 2, 3]


def test_the_exit_of_a_warp_opens_several_barriers():
    """Warps 0 and 1 wait at barrier 1, which counts them, warp 2 at barrier 0, until warp 3 exits."""
    asm = Assembler()
    asm.op(Op.S2R, 0, special=Special.WARPID)
    asm.op(Op.ISETP, RZ, 0, Imm(2), cond=Cond.LT, pdst=1)
    asm.op(Op.ISETP, RZ, 0, Imm(3), cond=Cond.EQ, pdst=2)
    asm.op(Op.BAR, imm=1, count=64, guard=1)
    asm.op(Op.EXIT, guard=1)
    asm.op(Op.EXIT, guard=2)
    asm.op(Op.BAR)
    asm.op(Op.MOV, 5, Imm(9))
    asm.op(Op.EXIT)
    assert (complete(asm, block(128)).final_registers(0, 2)[5] == 9).all()


@pytest.mark.parametrize("last", [Op.EXIT, Op.BAR])
def test_the_cycle_in_which_a_barrier_opens(last):
    """A waiting warp issues in the cycle after the EXIT, or the BAR, of the last warp for which it waited."""
    asm = Assembler()
    asm.op(Op.S2R, 0, special=Special.WARPID)
    asm.op(Op.ISETP, RZ, 0, Imm(3), cond=Cond.EQ, pdst=1)
    for _ in range(20):
        asm.op(Op.MOV, 4, Imm(1), guard=1)
    if last is Op.EXIT:
        asm.op(Op.EXIT, guard=1)
    asm.op(Op.BAR)
    asm.op(Op.MOV, 5, Imm(9))
    asm.op(Op.EXIT)
    sm, issues = Sm(SMALL, execute(asm.program(), Launch((1, 1, 1), (128, 1, 1))).trace, check=True), []
    issued = sm.front_end.issued

    def note(warp):
        issues.append((sm.cycle, warp.slot, warp.next.op, warp.walk.lanes != 0))
        issued(warp)

    sm.front_end.issued = note
    while not sm.finished and sm.cycle < 1000:
        sm.step()
    opens, = (cycle for cycle, slot, op, lanes in issues if slot == 3 and op is last and lanes)
    behind = {slot: min(cycle for cycle, who, op, lanes in issues if who == slot and op is Op.MOV and lanes)
              for slot in range(3)}
    assert min(behind.values()) == opens + 1
    assert max(cycle for cycle, slot, op, _ in issues if op is Op.BAR and slot < 3) < opens - 20


def lanes_elsewhere() -> Assembler:
    """Lanes below 20 skip the barrier and execute further instructions."""
    asm = Assembler()
    early(asm, Cond.LT, 20, exits=False)
    asm.op(Op.BAR, imm=3)
    asm.label("end")
    asm.op(Op.MOV, 5, Imm(9))
    asm.op(Op.EXIT)
    return asm


def other_barriers(op: Op = Op.BAR, threads: int = 32) -> Assembler:
    """Threads below a number meet at barrier 1, the others at barrier 3."""
    asm = Assembler()
    asm.op(Op.S2R, 0, special=Special.TID_X)
    asm.op(Op.ISETP, RZ, 0, Imm(threads), cond=Cond.LT, pdst=1)
    asm.branch("other", guard=1, reconverge="end")
    asm.op(op, imm=3)
    asm.branch("end")
    asm.label("other")
    asm.op(op, imm=1)
    asm.label("end")
    asm.op(Op.EXIT)
    return asm


def counted(threads: int) -> Assembler:
    """A barrier that counts 128 threads, from which the first threads stay away."""
    asm = Assembler()
    early(asm, Cond.LT, threads)
    asm.op(Op.BAR, imm=3, count=128)
    asm.op(Op.EXIT)
    return asm


NEVER = {
    "part of a warp, the rest has more to do": (lanes_elsewhere(), 4, 3, "part of warp 0"),
    "parts of a warp at two barriers": (other_barriers(threads=20), 4, 3, "part of warp 0"),
    "warps at two barriers": (other_barriers(), 6, 1, "part (1 of 4 warps)"),
    "a count that is never reached": (counted(32), 4, 3, "part (3 of 4 warps)"),
}


@pytest.mark.parametrize(("asm", "line", "number", "who"), NEVER.values(), ids=NEVER)
def test_a_barrier_that_never_completes(asm, line, number, who):
    message = fails(asm, block(128))
    assert message == (f"test.ptx:{line}: barrier {number}: only {who} of block (0, 0, 0) reaches it, the others never "
                       "will: every thread that a barrier counts must execute it")


def test_a_count_is_of_warps_of_which_some_lanes_may_have_exited():
    complete(counted(20), block(128))


def test_a_barrier_with_a_count_starts_anew_for_each_set_of_warps():
    """Warp 3 comes long after the three others, of which one waits for it."""
    asm = Assembler()
    asm.op(Op.S2R, 0, special=Special.WARPID)
    asm.op(Op.ISETP, RZ, 0, Imm(3), cond=Cond.EQ, pdst=1)
    asm.branch("late", guard=1, reconverge="meet")
    asm.label("meet")
    asm.op(Op.BAR, imm=1, count=64)
    asm.op(Op.MOV, 5, Imm(9))
    asm.op(Op.EXIT)
    asm.label("late")
    for _ in range(20):
        asm.op(Op.MOV, 4, Imm(1))
    asm.branch("meet")
    execution = complete(asm, block(128))
    assert all((execution.final_registers(number, warp)[5] == 9).all() for number, warp in np.ndindex(2, 4))


@pytest.mark.parametrize("count", [32, 64, 96, 192])
@pytest.mark.parametrize("vote", [Vote.ALL, Vote.ANY, Vote.POPC])
def test_a_vote_is_over_the_threads_of_one_count(count, vote):
    """Six warps of a block, of which the first, alone, votes true in all threads; sets are of adjacent warps."""
    asm = Assembler()
    asm.op(Op.S2R, 0, special=Special.TID_X)
    asm.op(Op.ISETP, RZ, 0, Imm(32), cond=Cond.LT, pdst=1)
    asm.op(Op.BARRED, 3 if vote is Vote.POPC else RZ, imm=2, count=count, vote=vote, psrc=1,
           pdst=7 if vote is Vote.POPC else 2)
    asm.op(Op.SEL, 4, RZ, Imm(1), psrc=2, psrc_not=True)
    asm.op(Op.EXIT)
    execution = complete(asm, block(192))
    register, first = (3, 32) if vote is Vote.POPC else (4, vote is Vote.ANY or count == 32)
    for number, warp in np.ndindex(2, 6):
        expected = first if warp < count // 32 else 0
        assert (execution.final_registers(number, warp)[register] == expected).all()


@pytest.mark.parametrize("counts", [(0, 64), (64, 0)])
def test_of_different_counts_at_one_barrier_the_largest_holds(counts):
    """Warps 0 and 1 meet there; the two others wait for them elsewhere."""
    asm = Assembler()
    asm.op(Op.S2R, 0, special=Special.WARPID)
    for warp, count in enumerate(counts):
        asm.op(Op.ISETP, RZ, 0, Imm(warp), cond=Cond.EQ, pdst=warp)
        asm.op(Op.BAR, imm=1, count=count, guard=warp)
    asm.op(Op.BAR)
    asm.op(Op.EXIT)
    complete(asm, block(128))


@pytest.mark.parametrize("threads", [20, 32])
def test_strict_barriers_wait_for_everyone(threads):
    who = "part of warp 0" if threads == 20 else "part (3 of 4 warps)"
    for exits in (True, False):
        asm = Assembler()
        early(asm, Cond.LT, threads, exits=exits)
        asm.op(Op.BAR)
        asm.label("end")
        asm.op(Op.EXIT)
        assert f"only {who} of block (0, 0, 0)" in fails(asm, block(128, strict_barriers=True))


# ---------------------------------------------------------------- compiled kernels

PTX = """.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out) {{
.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>; .shared .b32 sum;
ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
setp.lt.u32 %p1, %r1, 40;
{}
}}"""

AFTER = "bar.sync 0; red.shared.add.u32 [sum], 1; bar.sync 0; ld.shared.u32 %r2, [sum]; st.global.u32 [%rd3], %r2;"
BEFORE = "mov.u32 %r3, 7; st.global.u32 [%rd3], %r3;"

RETURNS = {
    "return": f"@%p1 ret; {AFTER} ret;",
    "to the return": f"@%p1 bra R; {AFTER} R: ret;",
    "to another return": f"@%p1 bra S; {AFTER} ret; S: ret;",
    "through a jump": f"@%p1 bra S; {AFTER} bra R; S: bra.uni R; R: ret;",
    "after work": f"@!%p1 bra S; {BEFORE} bra.uni R; S: {AFTER} R: ret;",
    "after work out of the way": f"@%p1 bra S; {AFTER} bra.uni R; S: {BEFORE} R: ret;",
    "after work and a return": f"@%p1 bra S; {AFTER} ret; S: {BEFORE} ret;",
    "from a loop": "mov.u32 %r4, 0; L: @%p1 bra R; bar.sync 1; add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 3; "
                   f"@%p2 bra L; {AFTER} R: ret;",
}


@pytest.mark.parametrize("body", RETURNS.values(), ids=RETURNS)
def test_an_early_return_in_ptx(body):
    launch = Launch((1, 1, 1), (100, 1, 1), (Buffer("out", np.zeros(100, np.uint32)),))
    program = compile_ptx(PTX.format(body), "k.ptx")
    execution = execute(program, launch)
    assert execution.buffers["out"].tolist() == [7 * (BEFORE in body)] * 40 + [60] * 60
    simulate(SMALL, execution.trace, check=True)
    with pytest.raises(ExecutionError, match=r"k.ptx:8: barrier .: only part of warp 1 of block"):
        execute(program, dataclasses.replace(launch, strict_barriers=True))


@pytest.mark.parametrize(("inner", "result"), [
    ("@%p1 bra R;", 0), ("L: @%p1 bra R; add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 3; @%p2 bra L;", 0),
    (f"@!%p1 bra J; {BEFORE} ret;", 7),
    (f"@%p1 bra A; add.u32 %r5, %r1, 1; @!%p1 bra J; A: {BEFORE} bra.uni R;", 7)],
    ids=["at once", "from a loop", "after work", "after work of several returns"])
def test_an_early_return_in_one_side_of_a_branch(inner, result):
    """Of the odd threads those below 40 return; the others meet the even ones before the barrier."""
    body = f"and.b32 %r4, %r1, 1; setp.eq.u32 %p2, %r4, 0; @%p2 bra J; {inner} J: {AFTER} R: ret;"
    launch = Launch((1, 1, 1), (100, 1, 1), (Buffer("out", np.zeros(100, np.uint32)),))
    execution = execute(compile_ptx(PTX.format(body), "k.ptx"), launch)
    assert execution.buffers["out"].tolist() == [80, result] * 20 + [80] * 60
    simulate(SMALL, execution.trace, check=True)


def test_a_loop_that_only_returns_leave():
    """Its threads leave it in turn, and the others meet at each barrier."""
    body = """mov.u32 %r2, 0; L: and.b32 %r4, %r1, 1; setp.eq.u32 %p2, %r4, 1; @%p2 bra A; add.u32 %r2, %r2, 1;
        st.global.u32 [%rd3], %r2; add.u32 %r2, %r2, 1; A: bar.sync 0; st.global.u32 [%rd3], %r2; shr.u32 %r5, %r1, 2;
        setp.ge.u32 %p2, %r2, %r5; @%p2 ret; add.u32 %r2, %r2, 1; bra L;"""
    launch = Launch((1, 1, 1), (64, 1, 1), (Buffer("out", np.zeros(64, np.uint32)),))
    execution = execute(compile_ptx(PTX.format(body), "k.ptx"), launch)

    def last(thread: int) -> int:
        step, value = (1, 0) if thread % 2 else (3, 2)
        while value < thread // 4:
            value += step
        return value

    assert execution.buffers["out"].tolist() == [last(thread) for thread in range(64)]


def test_a_kernel_that_returns_early():
    execution = run(load(FIXTURES / "early.toml"), SMALL).execution
    blocks = np.split(execution.buffers["in"][:300], [128, 256])
    sums = [block[i:].sum() for block in blocks for i in range(len(block))]
    assert execution.buffers["out"].tolist() == sums + [-1] * 84
    assert execution.buffers["votes"].tolist() == [(block % 2).sum() for block in blocks]
    simulate(SMALL, execution.trace, check=True)
