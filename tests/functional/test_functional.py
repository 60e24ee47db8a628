"""Functional execution: divergence, scheduling, barriers, errors, and the trace."""

import tracemalloc

import numpy as np
import pytest
from support.assembler import Assembler, Imm, Param
from support.thread_interpreter import RandomProgram, run_thread

from warploom.arch.errors import ExecutionError, LaunchError
from warploom.arch.isa import RZ, Op
from warploom.arch.launch import Buffer, Launch, Scalar
from warploom.arch.modifiers import Access, Atom, Cond, DType, Space, Special
from warploom.golden_model.functional.executor import Execution, execute
from warploom.golden_model.trace import NONE


def thread_pcs(execution: Execution, block: int, thread: int) -> list[int]:
    """The instructions that one thread executed, by the trace."""
    warp = execution.trace.warps[block * execution.trace.launch.warps_per_block + thread // 32]
    return warp.pc[warp.lanes >> thread % 32 & 1 == 1].tolist()


@pytest.mark.sample(20)
@pytest.mark.parametrize("meet", [True, False])
@pytest.mark.parametrize("seed", range(30))
def test_divergence_equals_one_thread_at_a_time(seed, meet):
    program = RandomProgram(seed, meet=meet).program()
    launch = Launch((3, 1, 1), (70, 1, 1))
    execution = execute(program, launch)
    total = 0
    for block in range(3):
        for thread in range(0, 70, 3 if seed else 1):
            alone = run_thread(program, thread, block)
            registers = execution.final_registers(block, thread // 32)[:, thread % 32]
            assert registers.tolist() == alone.registers
            assert thread_pcs(execution, block, thread) == alone.pcs
            total += len(alone.pcs)
    if not seed:
        assert total == execution.thread_instructions == execution.trace.thread_instructions


@pytest.mark.parametrize("seed", range(5))
def test_reconvergence_keeps_lanes_together(seed):
    """A warp that reconverges executes fewer instructions than one whose sides run to the end separately."""
    launch = Launch((1, 1, 1), (64, 1, 1))
    together, apart = (execute(RandomProgram(seed, meet=meet).program(), launch) for meet in (True, False))
    assert together.thread_instructions == apart.thread_instructions
    assert together.warp_instructions <= apart.warp_instructions


def test_recording_changes_nothing():
    program, launch = RandomProgram(4, meet=True).program(), Launch((40, 1, 1), (70, 1, 1))
    with_trace, without = execute(program, launch), execute(program, launch, record=False)
    assert without.trace is None
    assert without.warp_instructions == with_trace.warp_instructions == with_trace.trace.warp_instructions
    assert without.thread_instructions == with_trace.thread_instructions


def test_trace_of_a_straight_line():
    asm = Assembler()
    asm.op(Op.S2R, 0, special=Special.TID_X)
    asm.op(Op.ISETP, RZ, 0, Imm(33), cond=Cond.LT, pdst=1)
    asm.op(Op.IADD, 2, 0, Imm(-1), guard=1, pdst=2)
    asm.op(Op.SEL, 3, 0, Imm(7), psrc=2, psrc_not=True)
    asm.op(Op.EXIT)
    trace = execute(asm.program(), Launch((1, 1, 1), (40, 1, 1))).trace
    first, second = trace.warps
    assert (first.live, second.live) == (0xFFFFFFFF, 0xFF)
    assert second.pc.tolist() == [0, 1, 2, 3, 4]
    assert second.lanes.tolist() == [0xFF, 0xFF, 1, 0xFF, 0xFF]
    assert second.pred_out.tolist() == [0, 1, 1, 0, 0]
    assert (first.pred_in[2], first.pred_in[3]) == (0, 1), "an absent carry; P2 inverted: thread 0 had no carry"
    assert [row == NONE for row in second.result] == [False, True, False, False, True]
    assert trace.results[second.result[2]].tolist() == [31] + [0] * 31
    assert trace.results[first.result[3]].tolist() == [0] + [7] * 31
    assert (first.address == NONE).all() and not len(trace.addresses)


def test_trace_holds_a_carry_that_its_instruction_overwrites():
    """The carry of lane 0, then the one that the addition makes of it, in the same predicate."""
    asm = Assembler()
    asm.op(Op.S2R, 0, special=Special.LANEID)
    asm.op(Op.ISETP, RZ, 0, Imm(1), cond=Cond.LT, pdst=0)
    asm.op(Op.IADD, 1, 0, Imm(0xFFFFFFFE), psrc=0, pdst=0)
    asm.op(Op.EXIT)
    warp = execute(asm.program(), Launch((1, 1, 1), (32, 1, 1))).trace.warps[0]
    assert (warp.pred_in[2], warp.pred_out[2]) == (1, 0xFFFFFFFC)


def block_reduction() -> Assembler:
    """Each thread adds its number to a shared counter; behind a barrier all threads store its value."""
    asm = Assembler()
    asm.op(Op.S2R, 0, special=Special.TID_X)
    asm.op(Op.S2R, 1, special=Special.CTAID_X)
    asm.op(Op.S2R, 2, special=Special.NTID_X)
    asm.op(Op.RED, RZ, RZ, RZ, 0, space=Space.SHARED, atom=Atom.ADD, dst_type=DType.U32)
    asm.op(Op.BAR)
    asm.load(4, RZ, space=Space.SHARED, wide=False)
    asm.op(Op.IMAD, 0, 1, 2, 0)
    asm.indexed(8, 0, 0)
    asm.store(8, 4)
    asm.op(Op.EXIT)
    return asm


@pytest.mark.parametrize(("blocks", "threads"), [(5, 96), (70, 256), (3, 50)])
def test_barrier_and_shared_memory(blocks, threads):
    """More blocks than run together: shared memory is reset for each."""
    launch = Launch((blocks, 1, 1), (threads, 1, 1), (Buffer("out", np.zeros(blocks * threads, np.uint32)),))
    out = execute(block_reduction().program((8,), shared_bytes=4), launch, record=False).buffers["out"]
    assert (out == threads * (threads - 1) // 2).all()


def test_warps_that_spin_do_not_starve_the_one_they_wait_for():
    """Warp 0 spins at a low pc until warp 1, whose pc is higher, stores a flag."""
    asm = Assembler()
    asm.pointer(4, 0)
    asm.op(Op.S2R, 0, special=Special.TID_X)
    asm.op(Op.ISETP, RZ, 0, Imm(32), cond=Cond.GE, pdst=1)
    asm.branch("writer", guard=1)
    asm.label("spin")
    asm.load(2, 4)
    asm.op(Op.ISETP, RZ, 2, RZ, cond=Cond.EQ, pdst=2)
    asm.branch("spin", guard=2, reconverge="end")
    asm.label("end")
    asm.op(Op.EXIT)
    asm.label("writer")
    asm.op(Op.MOV, 3, Imm(1))
    asm.store(4, 3)
    asm.op(Op.EXIT)
    launch = Launch((1, 1, 1), (64, 1, 1), (Buffer("flag", np.zeros(1, np.uint32)),), limit=10_000)
    assert execute(asm.program((8,)), launch).buffers["flag"][0] == 1


def locked(atom: Atom) -> Assembler:
    """One lane of each warp takes the lock (word 0), runs eight basic blocks, adds 1 to word 1 and releases the
    lock."""
    asm = Assembler()
    asm.pointer(4, 0)
    asm.op(Op.S2R, 0, special=Special.LANEID)
    asm.op(Op.ISETP, RZ, 0, RZ, cond=Cond.NE, pdst=1)
    asm.branch("end", guard=1, reconverge="end")
    asm.op(Op.MOV, 1, Imm(1))
    given = {"space": Space.GLOBAL, "wide": True, "dst_type": DType.U32}
    asm.label("try")
    if atom is Atom.CAS:
        asm.op(Op.LATCH, RZ, 4, 5, RZ, memory=True)
    asm.op(Op.ATOM, 2, *((1,) if atom is Atom.CAS else (4, 5, 1)), atom=atom, **given)
    asm.op(Op.ISETP, RZ, 2, RZ, cond=Cond.NE, pdst=2)
    asm.branch("try", guard=2, reconverge="work")
    asm.label("work")
    asm.op(Op.MOV, 3, Imm(8))
    asm.load(6, 4, imm=4)
    asm.label("loop")
    asm.op(Op.ISUB, 3, 3, 1)
    asm.op(Op.ISETP, RZ, 3, RZ, cond=Cond.NE, pdst=3)
    asm.branch("loop", guard=3, reconverge="done")
    asm.label("done")
    asm.op(Op.IADD, 6, 6, 1)
    asm.store(4, 6, imm=4)
    asm.op(Op.ATOM, 2, 4, 5, RZ, atom=Atom.EXCH, **given)
    asm.label("end")
    asm.op(Op.EXIT)
    return asm


@pytest.mark.parametrize("atom", [Atom.CAS, Atom.EXCH])
def test_warps_that_spin_at_a_lock_let_its_holder_go_first(atom):
    """Each of 32 warps tries only once or twice while another one has the lock."""
    launch = Launch((8, 1, 1), (128, 1, 1), (Buffer("words", np.zeros(2, np.uint32)),))
    execution = execute(locked(atom).program((8,)), launch, record=False)
    assert execution.buffers["words"].tolist() == [0, 32]
    useful, tries = 32 * 43, 32 * 31 // 2
    assert useful < execution.warp_instructions < useful + 2 * 4 * tries


def test_a_spinning_thread_goes_on_when_all_others_wait_at_a_barrier():
    """Every warp except the first finds the value that it tries to write, so it counts as spinning when it tries
    again."""
    asm = Assembler()
    asm.pointer(4, 0)
    asm.op(Op.MOV, 1, Imm(1))
    asm.op(Op.MOV, 3, Imm(2))
    asm.label("try")
    asm.op(Op.ATOM, 2, 4, 5, 1, atom=Atom.EXCH, space=Space.GLOBAL, wide=True, dst_type=DType.U32)
    asm.op(Op.ISUB, 3, 3, 1)
    asm.op(Op.ISETP, RZ, 3, RZ, cond=Cond.NE, pdst=1)
    asm.branch("try", guard=1, reconverge="meet")
    asm.label("meet")
    asm.op(Op.BAR)
    asm.op(Op.EXIT)
    launch = Launch((1, 1, 1), (64, 1, 1), (Buffer("word", np.zeros(1, np.uint32)),), limit=10_000)
    execution = execute(asm.program((8,)), launch)
    assert [len(warp) for warp in execution.trace.warps] == [14, 14]


def fails(asm: Assembler, launch: Launch, **fields) -> str:
    with pytest.raises(ExecutionError) as caught:
        execute(asm.program(tuple(8 for _ in launch.arguments), **fields), launch)
    return str(caught.value)


def test_endless_loop_names_its_line():
    asm = Assembler()
    asm.op(Op.MOV, 1, Imm(1))
    asm.label("top")
    asm.branch("top")
    message = fails(asm, Launch((1, 1, 1), (32, 1, 1), limit=1000))
    assert message.startswith("test.ptx:2: test has not ended after ")


def test_trap():
    asm = Assembler()
    asm.op(Op.TRAP)
    assert "test.ptx:1" in fails(asm, Launch((1, 1, 1), (32, 1, 1)))


def test_launch_must_fit_the_program():
    asm = Assembler()
    asm.op(Op.EXIT)
    with pytest.raises(LaunchError, match="takes 0 arguments"):
        execute(asm.program(), Launch((1, 1, 1), (32, 1, 1), (Scalar("u32", b"1234"),)))


def test_special_registers():
    launch = Launch((2, 3, 2), (5, 4, 3), dynamic_shared=12)
    values = {
        Special.TID_X: lambda t, b: t % 5, Special.TID_Y: lambda t, b: t // 5 % 4, Special.TID_Z: lambda t, b: t // 20,
        Special.CTAID_X: lambda t, b: b % 2, Special.CTAID_Y: lambda t, b: b // 2 % 3,
        Special.CTAID_Z: lambda t, b: b // 6, Special.NTID_Y: lambda t, b: 4, Special.NCTAID_Y: lambda t, b: 3,
        Special.LANEID: lambda t, b: t % 32, Special.WARPID: lambda t, b: t // 32, Special.NWARPID: lambda t, b: 2,
        Special.LANEMASK_LE: lambda t, b: (2 << t % 32) - 1, Special.LANEMASK_GT: lambda t, b: -(2 << t % 32),
        Special.ACTIVEMASK: lambda t, b: -1 if t < 32 else 0xFFFFFFF, Special.TOTAL_SMEM: lambda t, b: 112,
        Special.DYNAMIC_SMEM: lambda t, b: 12,
    }
    asm = Assembler()
    for register, special in enumerate(values):
        asm.op(Op.S2R, register, special=special)
    asm.op(Op.EXIT)
    execution = execute(asm.program(shared_bytes=100), launch)
    for block in (0, 5, 11):
        for thread in range(60):
            got = execution.final_registers(block, thread // 32)[: len(values), thread % 32].tolist()
            assert got == [f(thread, block) & 0xFFFFFFFF for f in values.values()]


def test_clocks_count_warp_instructions():
    asm = Assembler()
    for register, special in enumerate([Special.CLOCK_LO, Special.CLOCK_HI, Special.GLOBALTIMER_LO]):
        asm.op(Op.S2R, register, special=special)
        asm.op(Op.NOP)
    asm.op(Op.EXIT)
    registers = execute(asm.program(), Launch((1, 1, 1), (32, 1, 1))).final_registers(0, 0)
    assert registers[:3, 5].tolist() == [0, 0, 4]


def test_a_grid_with_much_local_memory_needs_that_of_few_blocks(monkeypatch):
    monkeypatch.setattr("warploom.golden_model.functional.executor.RESIDENT_LOCAL", 4 << 20)
    asm = Assembler()
    asm.op(Op.S2R, 0, special=Special.CTAID_X)
    asm.op(Op.MOV, 1, Imm(1 << 13))
    asm.store(1, 0, space=Space.LOCAL, access=Access.B32, wide=False)
    asm.load(2, 1, space=Space.LOCAL, access=Access.B32, wide=False)
    asm.op(Op.EXIT)
    program = asm.program(local_bytes=1 << 14)
    tracemalloc.start()
    try:
        execution = execute(program, Launch((64, 1, 1), (64, 1, 1)))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 16 << 20 < 64 * 64 * program.local_bytes
    assert [execution.final_registers(block, 1)[2, 3] for block in range(64)] == [*range(64)]


def test_long_arithmetic_goes_through_latch_and_high():
    asm = Assembler()
    asm.op(Op.MOV, 0, Param(0))
    asm.op(Op.MOV, 1, Param(4))
    asm.op(Op.LATCH, RZ, 0, 1)
    asm.op(Op.DADD, 2, 0, 1)
    asm.op(Op.HIGH, 3)
    asm.op(Op.EXIT)
    launch = Launch((1, 1, 1), (32, 1, 1), (Scalar("f64", np.float64(1.25).tobytes()),))
    registers = execute(asm.program((8,)), launch).final_registers(0, 0)
    assert np.array([registers[2, 9], registers[3, 9]]).view(np.float64)[0] == 2.5


def test_local_memory_is_private_to_a_thread():
    asm = Assembler()
    asm.op(Op.S2R, 0, special=Special.TID_X)
    for address in (0, 4, 9):
        asm.op(Op.MOV, 1, Imm(address))
        asm.store(1, 0, space=Space.LOCAL, access=Access.U8 if address == 9 else Access.B32, wide=False)
    asm.load(2, 1, space=Space.LOCAL, access=Access.U8, wide=False)
    asm.op(Op.EXIT)
    execution = execute(asm.program(local_bytes=10), Launch((2, 1, 1), (64, 1, 1)))
    assert execution.final_registers(1, 1)[2].tolist() == list(range(32, 64))
