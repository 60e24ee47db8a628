"""Cycles of a launch on eight scalar cores, the source's point of comparison (docs/fg_simt.md, *Eight cores*; [AFFINE],
section 5.2)."""

import heapq
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from warploom.arch.config import LANES
from warploom.arch.fg_simt.sizes import DIVIDE_INTERVAL, DIVISIONS, LATENCY, LINE
from warploom.arch.isa import PT, RZ, Instruction, Op
from warploom.arch.launch import Launch
from warploom.arch.program import Program
from warploom.golden_model.fg_simt.memory import BANKS, DATA_LATENCY
from warploom.golden_model.functional.executor import execute
from warploom.golden_model.trace import NONE, Trace, WarpTrace

CORES = 8
REDIRECT = 3
"""Cycles from a taken branch to the next instruction: one fewer than in the engine's control processor."""


class Step(NamedTuple):
    """An instruction of a thread. `executes` if its guard holds; `address` of an access, `NONE` otherwise."""

    instruction: Instruction
    executes: bool
    address: int
    jumps: bool


def cycles(program: Program, launch: Launch) -> int:
    """Cycles from the first instruction to the last answer. Raises what `execute` does."""
    trace = execute(program, launch).trace
    assert trace is not None
    threads = [(warp, lane) for warp in trace.warps for lane in range(LANES) if warp.live >> lane & 1]
    share = -(-len(threads) // CORES)
    banks = [0] * BANKS
    cores = [Core(_shared(trace, threads[first : first + share]), banks) for first in range(0, len(threads), share)]
    waiting = [(core.issues, number) for number, core in enumerate(cores) if core.next is not None]
    heapq.heapify(waiting)
    while waiting:  # the earliest first: banks serve in the order in which requests come
        _, number = heapq.heappop(waiting)
        core = cores[number]
        core.step()
        if core.next is not None:
            heapq.heappush(waiting, (core.issues, number))
    return max(core.ends for core in cores)


class Core:
    """In order, one instruction a cycle, one thread after the other. `next` issues in cycle `issues`; `ends` is the
    first cycle in which nothing is left to do. `banks` are the cycles in which the banks of memory are free."""

    def __init__(self, steps: Iterator[Step], banks: list[int]) -> None:
        self._steps, self._banks = steps, banks
        self._earliest = self.issues = self.ends = self._divider = 0
        self._ready: defaultdict[tuple[str, int], int] = defaultdict(int)  # of each register: when it can be read
        self.next = next(steps, None)
        self._wait()

    def step(self) -> None:
        """Issue `next`."""
        assert self.next is not None
        step, cycle = self.next, self.issues
        if step.executes:
            self._execute(step, cycle)
        self._earliest = cycle + (REDIRECT if step.jumps else 1)
        self.ends = max(self.ends, self._earliest)
        self.next = next(self._steps, None)
        self._wait()

    def _execute(self, step: Step, cycle: int) -> None:
        i = step.instruction
        if step.address == NONE:
            ready = cycle + LATENCY.get(i.op, 1)
        else:
            bank = step.address // LINE % BANKS
            served = max(cycle + 1, self._banks[bank])
            self._banks[bank] = served + 1
            ready = served + DATA_LATENCY
        if i.op in DIVISIONS:
            self._divider = cycle + DIVIDE_INTERVAL
        for written in _written(i):
            self._ready[written] = ready
        self.ends = max(self.ends, ready)

    def _wait(self) -> None:
        """The next instruction issues when its operands are there, and its result comes after an older one of its
        register."""
        self.issues = self._earliest
        if self.next is None:
            return
        i = self.next.instruction
        found = [self._ready[read] for read in _read(i)]
        found += [self._ready[written] - LATENCY.get(i.op, 1) + 1 for written in _written(i)]
        if i.op in DIVISIONS:
            found.append(self._divider)
        self.issues = max([self._earliest, *found])


def _read(i: Instruction) -> list[tuple[str, int]]:
    return [*(("register", number) for number in i.sources), *(("predicate", number) for number in i.predicates_read)]


def _written(i: Instruction) -> list[tuple[str, int]]:
    return [*([("register", i.dst)] if i.dst != RZ else []), *([("predicate", i.pdst)] if i.pdst != PT else [])]


def _shared(trace: Trace, threads: list[tuple[WarpTrace, int]]) -> Iterator[Step]:
    """The instructions of a core's threads."""
    for warp, lane in threads:
        yield from path(trace, warp, lane)


def path(trace: Trace, warp: WarpTrace, lane: int) -> Iterator[Step]:
    """The instructions of a thread in order. The trace has those that execute; what is between them are instructions
    whose guard does not hold."""
    pc, code = 0, trace.program.instructions
    executed = (warp.lanes >> lane & 1).astype(bool)
    for found, row in zip(warp.pc[executed].tolist(), warp.address[executed].tolist(), strict=True):
        while pc != found:
            yield Step(code[pc], False, NONE, False)
            pc += 1
        i = code[pc]
        address = NONE if row == NONE else int(trace.addresses[row, lane])
        pc = i.imm if i.op is Op.BRA else pc + 1
        yield Step(i, True, address, pc != found + 1)
