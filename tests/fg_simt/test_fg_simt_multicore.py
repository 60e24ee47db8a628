"""Eight scalar cores: cycles by hand, and paths of threads."""

from collections import Counter
from itertools import chain

import pytest
from support.fg_simt_kernels import launch, loading

from warploom.arch.isa import Instruction, Op
from warploom.fg_simt.programs import started
from warploom.golden_model.fg_simt.multicore import Core, Step, cycles, path
from warploom.golden_model.functional.executor import execute
from warploom.golden_model.trace import NONE

ADD = Instruction(op=Op.IADD, dst=1, src=(1, 2, 255))
OTHER = Instruction(op=Op.IADD, dst=3, src=(4, 4, 255))
FLOAT = Instruction(op=Op.FADD, dst=1, src=(2, 2, 255))
LOAD = Instruction(op=Op.LD, dst=1, src=(4, 5, 255))
DIVIDE = Instruction(op=Op.FDIV, dst=6, src=(7, 7, 255))
BRANCH = Instruction(op=Op.BRA)


def step(i: Instruction, address: int = NONE, *, executes: bool = True, jumps: bool = False) -> Step:
    return Step(i, executes, address, jumps)


def issues(*steps: Step, banks: list[int] | None = None) -> list[int]:
    """The cycles in which the instructions of a core issue, and behind them the end."""
    core, found = Core(iter(steps), banks or [0] * 8), []
    while core.next is not None:
        found.append(core.issues)
        core.step()
    return [*found, core.ends]


@pytest.mark.parametrize(("steps", "expected"), [
    ([step(ADD), step(ADD), step(OTHER)], [0, 1, 2, 3]),  # a result of one cycle is forwarded
    ([step(FLOAT), step(OTHER), step(ADD)], [0, 1, 5, 6]),
    ([step(FLOAT), step(ADD, executes=False), step(OTHER)], [0, 5, 6, 7]),  # the guard is looked at with the operands
    ([step(LOAD, 0), step(OTHER), step(ADD)], [0, 1, 5, 6]),  # request in 1, answer in 5
    ([step(LOAD, 0), step(LOAD, 32)], [0, 5, 10]),  # one register: in order
    ([step(BRANCH, jumps=True), step(OTHER)], [0, 3, 4]),
    ([step(DIVIDE), step(OTHER), step(DIVIDE)], [0, 1, 16, 36]),
    ([step(FLOAT), step(Instruction(op=Op.MOV, dst=1, src=(2, 255, 255)))], [0, 5, 6]),  # not before the older result
])
def test_a_core(steps: list[Step], expected: list[int]) -> None:
    assert issues(*steps) == expected


def test_a_busy_bank_delays_the_answer() -> None:
    assert issues(step(LOAD, 96), step(ADD), banks=[0, 0, 0, 7, 0, 0, 0, 0]) == [0, 11, 12]
    assert issues(step(LOAD, 64), step(ADD), banks=[0, 0, 0, 7, 0, 0, 0, 0]) == [0, 5, 6]


def test_paths_have_all_that_executes() -> None:
    (program, launch), *_ = started("bfs")
    trace = execute(program, launch).trace
    assert trace is not None
    found: Counter[Op] = Counter()
    skipped = 0
    for warp in trace.warps:
        for lane in range(32):
            if warp.live >> lane & 1:
                steps = list(path(trace, warp, lane))
                found.update(one.instruction.op for one in steps if one.executes)
                skipped += sum(not one.executes for one in steps)
                assert steps[-1].instruction.op is Op.EXIT
    expected: Counter[Op] = Counter()
    for warp in trace.warps:
        for pc, lanes in zip(warp.pc.tolist(), warp.lanes.tolist(), strict=True):
            expected[program.instructions[pc].op] += lanes.bit_count()
    assert found == +expected and skipped > 0


def test_a_launch_is_shared_out() -> None:
    """Each core takes its time alone, and no more than what it waits for busy banks."""
    (program, launch), *_ = started("cmult")
    trace = execute(program, launch).trace
    assert trace is not None
    threads = [list(path(trace, warp, lane)) for warp in trace.warps for lane in range(32) if warp.live >> lane & 1]
    share = -(-len(threads) // 8)
    alone = [issues(*chain(*threads[first : first + share]))[-1] for first in range(0, len(threads), share)]
    assert len(alone) == 8
    assert max(alone) <= cycles(program, launch) < 1.5 * max(alone)


def test_a_part_of_a_share_is_a_share() -> None:
    """Nine threads are two on each of four cores and one on a fifth: as long as sixteen."""
    program = loading(0)
    eight, nine, sixteen = (cycles(program, launch(threads)) for threads in (8, 9, 16))
    assert eight < nine == sixteen
