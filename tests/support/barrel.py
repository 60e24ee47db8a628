"""The ideal machine of [HAWS], Fig. 5.3, with the model's scoreboard and order: one warp is tried in each cycle, in
turn, and issues or waits. Results of arithmetic are there one cycle later, those of memory after its latency."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from warploom.arch.isa import RZ, Instruction, Op
from warploom.arch.launch import Launch
from warploom.arch.modifiers import Space
from warploom.arch.program import Program
from warploom.golden_model.front_end.decode import decode
from warploom.golden_model.front_end.order import Order, ProgramOrder
from warploom.golden_model.front_end.scoreboard import Scoreboard
from warploom.golden_model.front_end.simt import Walk
from warploom.golden_model.front_end.warps import Block, Warp
from warploom.golden_model.hints.order import HintOrder
from warploom.golden_model.preexecution.order import SearchOrder
from warploom.golden_model.trace import NONE, Trace, WarpTrace

LIVE = 0xFFFFFFFF

HALF, REST = 0xFFFF, 0xFFFF0000
"""Executing lanes of the two sides of a branch."""


class Try(NamedTuple):
    """A warp is tried: the cycle, its number, the pc at which it stands, and what issues, if anything."""

    cycle: int
    warp: int
    pc: int
    issued: Instruction | None


def load(dst: int, address: int) -> Instruction:
    """A load of a word from global memory, whose address is in two registers."""
    return Instruction(op=Op.LD, dst=dst, src=(address, RZ, RZ), space=Space.GLOBAL)


def add(dst: int, *sources: int) -> Instruction:
    """A sum of up to three registers."""
    return Instruction(op=Op.IADD, dst=dst, src=(*sources, RZ, RZ, RZ)[:3])


def program_of(*code: Instruction, registers: int = 32) -> Program:
    """A program that ends behind these instructions."""
    instructions = (*code, Instruction(op=Op.EXIT))
    return Program("figure", "<figure>", instructions, (1,) * len(instructions), registers)


def trace_of(program: Program, pcs: Sequence[int] | None = None) -> Trace:
    """One warp that executes the program in all lanes: these instructions, or all in order."""
    pc = np.array(range(len(program.instructions)) if pcs is None else pcs, np.int32)
    lanes, none = np.full(len(pc), LIVE, np.uint32), np.full(len(pc), NONE, np.int32)
    warp = WarpTrace(0, 0, LIVE, pc, lanes, lanes, lanes, none, none)
    return Trace(program, Launch((1, 1, 1), (32, 1, 1), ()), (warp,), np.zeros((0, 32), np.uint32),
                 np.zeros((0, 32), np.uint64), np.zeros(0, np.uint8))


def in_lanes(trace: Trace, lanes: dict[int, int]) -> Trace:
    """The trace with these executing lanes of some dynamic instructions, by their index."""
    found = trace.warps[0].lanes.copy()
    found[list(lanes)] = list(lanes.values())
    return replace(trace, warps=(replace(trace.warps[0], lanes=found),))


class Barrel:
    """`warps` warps that execute one trace. Memory takes `latency` cycles; an instruction keeps the machine busy for
    `busy` cycles. `order` is by the program's hints, if it has any, or by search, if the machine `searches`."""

    def __init__(self, trace: Trace, *, warps: int, latency: int, busy: int = 1, searches: bool = False) -> None:
        statics = decode(trace)
        exits = np.array([instruction.op is Op.EXIT for instruction in trace.program.instructions])
        hinted = HintOrder(trace.program, statics, warps) if trace.program.order_hints else None
        searching = SearchOrder(trace.program, statics, warps) if searches else None
        self.order: Order = hinted or searching or ProgramOrder(statics)
        self.hinted = hinted
        self.statics, self.warps = statics, warps
        self._latency, self._busy = latency, busy
        self._scoreboard = Scoreboard(warps, tracks_reads=False)
        self._coming: list[tuple[int, int, object]] = []  # results: cycle, warp, hazards
        self._standing = [Warp(Walk(trace.warps[0], exits), slot, slot, Block([slot]), trace) for slot in range(warps)]
        for warp in self._standing:
            warp.next = self.order.first(warp)

    def run(self) -> Iterator[Try]:
        """All tries until every warp comes to its EXIT."""
        cycle = 1
        while any(warp.next.op is not Op.EXIT for warp in self._standing):
            slot = (cycle - 1) % self.warps
            warp = self._standing[slot]
            self._arrive(cycle)
            state = self._scoreboard.look(slot, warp.next.needs)
            may_issue = warp.next.op is not Op.EXIT and self._scoreboard.permits(slot, warp.next.needs)
            yield Try(cycle, slot, warp.walk.pc, warp.next.instruction if may_issue else None)
            last = cycle + (self._busy - 1 if may_issue else 0)
            if may_issue:
                self._issue(warp, cycle)
            self._arrive(last + 1)
            if may_issue:
                state = self._scoreboard.look(slot, warp.next.needs)
            states = [state if other == slot else None for other in range(self.warps)]
            for turned, static in self.order.turns(self._scoreboard, states):
                turned.next = static
            cycle = last + 1

    def _issue(self, warp: Warp, cycle: int) -> None:
        """The warp's next instruction issues."""
        static = warp.next
        self._scoreboard.issue(warp.slot, static.hazards, (), memory=static.memory)
        latency = self._latency if static.memory else self._busy
        self._coming.append((cycle + latency, warp.slot, static.hazards))
        following = self.order.following(warp)
        assert following is not None
        warp.next = following

    def _arrive(self, cycle: int) -> None:
        """Results that are there in a cycle."""
        for each in [each for each in self._coming if each[0] <= cycle]:
            self._coming.remove(each)
            self._scoreboard.done(each[1], each[2])
