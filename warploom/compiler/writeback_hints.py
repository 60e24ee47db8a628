"""Hints for bypassing collectors: where each destination's value is needed ([BOW], section IV-B).

Two bits of machine code say whether the collector stores a value (`to_collector`) and whether the register file needs
it (`to_file`). Both depend on the distances between the accesses of the value, in instructions of all kinds and along
every path of the program (docs/contract/operands.md, *Hints*). A value is *transient*, for the collector only, if it
never leaves the window while it may still be read.

Between two instructions of a lane's path, instructions of the other side of a divergent branch may run: after a guarded
branch, for the side that runs second; and where sides join, for the lanes that arrive first
(golden_model/functional/simt.py). The other side may contain a loop, so a value that is live across such a point is not
transient. A guarded EXIT delays no lane. A guard may or may not hold: so a guarded read needs its value in time but
does not renew it, and a guarded write does not end the old value. Any guarded branch counts as divergent, even if its
guard is the same in all lanes.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from heapq import heappop, heappush

import numpy as np

from warploom.arch.isa import RZ, Instruction, Op
from warploom.arch.program import Program, successors
from warploom.compiler.dominators import reversed_edges, whole_postorder

NEVER = 1 << 14
"""A distance longer than any window."""

Transfer = Callable[[Instruction, np.ndarray], np.ndarray]
"""A transfer function: the state before an instruction, for each register (int16), from the state after it."""


class Destination(StrEnum):
    """The destination of a result ([BOW], Fig. 7)."""

    FILE = "register file only"
    COLLECTOR = "collector only"
    BOTH = "both"


def annotate(program: Program, window: int) -> Program:
    """The program with the hints of its results for collectors with a window of `window` instructions.

    A value that is never read goes only to the collector, which drops it. Raises `ValueError` for a window below 2.
    """
    if window < 2:
        raise ValueError(f"window = {window}: must be at least 2")
    flow = _Flow(program)
    latest = flow.solve(_latest(window), waits=0)
    nearest = flow.solve(_nearest, waits=None)
    code = list(program.instructions)
    for pc, instruction in enumerate(code):
        if instruction.dst != RZ:
            transient = bool(latest[pc][instruction.dst] >= 1)
            reused = bool(nearest[pc][instruction.dst] < window - 1)
            code[pc] = replace(instruction, to_collector=transient or reused, to_file=not transient)
    return replace(program, instructions=tuple(code))


def destination(instruction: Instruction) -> Destination | None:
    """The destination that the hints give a result; None for an instruction that writes no register."""
    if instruction.dst == RZ:
        return None
    if not instruction.to_collector:
        return Destination.FILE
    return Destination.BOTH if instruction.to_file else Destination.COLLECTOR


def destination_classes(program: Program, window: int) -> Counter[Destination]:
    """The number of instructions of a program for each destination, each counted once however often it executes."""
    found = map(destination, annotate(program, window).instructions)
    return Counter(place for place in found if place is not None)


def transient_registers(program: Program, window: int) -> frozenset[int]:
    """Registers whose values are all transient. They need no row of the register file, as long as collectors always
    have a free entry: a transient value that is evicted early is written to the file."""
    code = annotate(program, window).instructions
    kept = {instruction.dst for instruction in code if instruction.to_file}
    return frozenset(instruction.dst for instruction in code) - kept - {RZ}


class _Flow:
    """The successors of each instruction, and the edges on which lanes may wait for others."""

    def __init__(self, program: Program) -> None:
        self.code = program.instructions
        diverging = {pc: i for pc, i in enumerate(self.code) if i.op is Op.BRA and i.guarded}
        meeting = {i.reconverge for i in diverging.values()}
        self.successors = successors(self.code)
        self.predecessors = reversed_edges(self.successors)
        self.waiting = [[pc in diverging or after in meeting for after in found]
                        for pc, found in enumerate(self.successors)]

    def solve(self, transfer: Transfer, waits: int | None) -> list[np.ndarray]:
        """The state after each instruction, for each register: the minimum over all successors, `NEVER` without one.

        On edges where lanes may wait, any value except `NEVER` becomes `waits`, if given.
        """
        before = np.full((len(self.code), RZ), NEVER, np.int16)
        order = whole_postorder(self.successors)  # unreachable code has hints too
        place = {pc: index for index, pc in enumerate(order)}
        waiting, queued = list(range(len(order))), [True] * len(self.code)
        while waiting:
            pc = order[heappop(waiting)]
            queued[pc] = False
            found = transfer(self.code[pc], self._after(pc, before, waits))
            if (found != before[pc]).any():
                before[pc] = found
                for predecessor in self.predecessors[pc]:
                    if not queued[predecessor]:
                        queued[predecessor] = True
                        heappush(waiting, place[predecessor])
        return [self._after(pc, before, waits) for pc in range(len(self.code))]

    def _after(self, pc: int, before: np.ndarray, waits: int | None) -> np.ndarray:
        if len(self.successors[pc]) == 1 and not any(self.waiting[pc]):
            return before[self.successors[pc][0]]
        result = np.full(RZ, NEVER, np.int16)
        for successor, waiting in zip(self.successors[pc], self.waiting[pc], strict=True):
            found = before[successor]
            if waiting and waits is not None:
                found = np.where(found == NEVER, found, waits)
            result = np.minimum(result, found)
        return result


def _latest(window: int) -> Transfer:
    """The maximum distance of an instruction from the last certain access of a register at which every later read still
    finds its value in the window. `NEVER` if nothing reads it; 0: always too late."""

    def transfer(i: Instruction, after: np.ndarray) -> np.ndarray:
        before = np.where(after == NEVER, after, np.maximum(after - 1, 0))
        if i.guarded:
            for register in i.sources:
                before[register] = min(before[register], window - 1)
            return before
        for register in i.sources:
            before[register] = window - 1 if after[register] >= 1 else 0
        if i.dst != RZ:
            before[i.dst] = window - 1 if i.dst in i.sources else NEVER
        return before

    return transfer


def _nearest(i: Instruction, after: np.ndarray) -> np.ndarray:
    """The number of instructions before the next one that reads a register, on the shortest path; `NEVER` if none reads
    its value."""
    before = np.minimum(after + 1, NEVER)
    if i.dst != RZ and not i.guarded:
        before[i.dst] = NEVER
    before[list(i.sources)] = 0
    return before
