"""A front end for the order by hints, whose instructions take random times: random programs with more turns, of several
warps in one cycle, than kernels have."""

import random
from collections.abc import Iterator, Sequence

import numpy as np

from warploom.arch.isa import PT, RZ, Instruction, Op
from warploom.arch.launch import Launch
from warploom.arch.modifiers import Space
from warploom.arch.program import Program
from warploom.compiler.hints import hinted
from warploom.golden_model.front_end.decode import Static, decode
from warploom.golden_model.front_end.hazards import Hazards
from warploom.golden_model.front_end.scoreboard import Scoreboard
from warploom.golden_model.front_end.simt import Walk
from warploom.golden_model.front_end.stalls import READY
from warploom.golden_model.front_end.warps import Block, Warp
from warploom.golden_model.hints.order import HintCounts, HintOrder
from warploom.golden_model.hints.stack import SimtStack
from warploom.golden_model.trace import NONE, Trace, WarpTrace
from warploom.tb.hints.recorder import Recorder, Step

LIVE = 0xFFFFFFFF
CONSTANT, PREDICATES = 200, 2
REGISTERS = range(0, CONSTANT, 13)
"""Those of random programs: their numbers differ in all bits."""

LONGEST, BATCH = 150, 16
"""Cycles of a memory instruction, at most; memory answers in cycles that are multiples of the second number."""

FAR = 230
"""Instructions between a stall point and its group, almost as many as an offset permits."""

RESIDENT = 8
"""Warps at a time: of more, one may nearly always issue."""


class Machine:
    """One scheduler with `warps` slots, some of them in use, one cycle after the other.

    All warps execute one program. One that ends makes room for another one, which takes another path. At most `pipes`
    instructions are done in a cycle.
    """

    def __init__(self, code: Sequence[Instruction], rng: random.Random, *, warps: int, pipes: int) -> None:
        code = tuple(code)
        program = hinted(Program("random", "<random>", code, (1,) * len(code), CONSTANT + 1))
        self._rng, self._pipes, self._trace = rng, pipes, trace_of(program, [])
        self._statics = decode(self._trace)
        self._hinted = HintOrder(program, self._statics, 1)
        self._order = Recorder(self._hinted, program, self._statics, schedulers=1, pipes=pipes, rng=rng)
        self._scoreboard = Scoreboard(warps, tracks_reads=False)
        self._flying: list[tuple[int, int, Hazards]] = []  # the cycle in which an instruction is done, its warp
        self._count = warps
        self._warps = {slot: self._new(slot) for slot in rng.sample(range(warps), min(warps, RESIDENT))}

    @property
    def steps(self) -> list[Step]:
        """Those of the hint unit."""
        return self._order.steps[0]

    def run(self, cycles: int) -> list[Step]:
        """Some cycles. Returns the steps so far."""
        for cycle in range(cycles):
            ready = [slot for slot in self._warps if self._state(slot) == READY]
            if ready and self._rng.random() < 0.9:
                self._issue(self._rng.choice(ready), cycle)
            self._finish(cycle)
            states = [self._state(slot) if slot in self._warps else None for slot in range(self._count)]
            for warp, static in self._order.turns(self._scoreboard, states):
                warp.next = static
                states[warp.slot] = self._state(warp.slot)
        return self.steps

    @property
    def counts(self) -> HintCounts:
        """What the hints did."""
        return self._hinted.counts

    def _state(self, slot: int) -> int:
        return self._scoreboard.look(slot, self._warps[slot].next.needs)

    def _new(self, slot: int) -> Warp:
        instructions = self._trace.program.instructions
        walked = trace_of(self._trace.program, list(random_path(instructions, self._rng)))
        exits = np.array([instruction.op is Op.EXIT for instruction in instructions])
        warp = Warp(Walk(walked.warps[0], exits), slot, slot, Block([slot]), walked)
        warp.next = self._order.first(warp)
        return warp

    def _issue(self, slot: int, cycle: int) -> None:
        warp = self._warps[slot]
        static: Static = warp.next
        if not static.control:
            self._scoreboard.issue(slot, static.hazards, (), memory=static.memory)
            latency = self._rng.randint(1, LONGEST) if static.memory else self._rng.choice((1, 4, LONGEST // 3))
            done = cycle + latency
            self._flying.append((done + -done % BATCH if static.memory else done, slot, static.hazards))
        following = self._order.following(warp)
        if following is None:
            self._warps[slot] = self._new(slot)
        else:
            warp.next = following

    def _finish(self, cycle: int) -> None:
        for each in [each for each in self._flying if each[0] <= cycle][: self._pipes]:
            self._flying.remove(each)
            self._scoreboard.done(each[1], each[2])


def lopsided_code() -> list[Instruction]:
    """A load, an instruction that needs it, and a group that is longer than a result collection unit if a branch is not
    taken: the compiler counts the entries of the shorter side. Two results of the group are for one register, which the
    stall point reads too, so that both are renamed."""
    sums = [_sum(2, CONSTANT), _sum(2, 2), *(_sum(dst, 2) for dst in range(3, 11))]
    return [_load(0), _sum(1, 0, 2), Instruction(op=Op.BRA, imm=9, reconverge=9, guard=0), *sums,
            Instruction(op=Op.EXIT)]


def joining_code(skipped: int) -> list[Instruction]:
    """A load and its group on one side of a branch; the group goes on behind the point at which the sides join, and
    behind some instructions that need the load."""
    end = 5 + skipped
    return [Instruction(op=Op.BRA, imm=end, reconverge=end, guard=0), _load(0), _sum(1, 0), _sum(2, CONSTANT),
            _sum(3, CONSTANT), *[_sum(1, 1, 0)] * skipped, _sum(4, CONSTANT), _sum(5, CONSTANT),
            Instruction(op=Op.EXIT)]


def joining_before_code() -> list[Instruction]:
    """A load and its group on both sides of a branch, which join before it."""
    side = [_load(0), _sum(1, 0), _sum(2, CONSTANT), _sum(3, CONSTANT), Instruction(op=Op.BRA, imm=1, reconverge=1)]
    return [Instruction(op=Op.BRA, imm=3, reconverge=3), _sum(4, CONSTANT), Instruction(op=Op.EXIT),
            Instruction(op=Op.BRA, imm=9, reconverge=1, guard=0), *side, *side]


def sides_code(taken_first: bool) -> list[Instruction]:
    """A load and its group on both sides of a branch. The groups come to the point at which the sides join: by a branch
    on one side, on the other one by a sum."""
    return [Instruction(op=Op.BRA, imm=5, reconverge=9, guard=0, taken_first=taken_first),
            _load(0), _sum(1, 0), _sum(2, CONSTANT), Instruction(op=Op.BRA, imm=9, reconverge=9),
            _load(0), _sum(1, 0), _sum(2, CONSTANT), _sum(3, CONSTANT), _sum(4, CONSTANT), Instruction(op=Op.EXIT)]


def far_code() -> list[Instruction]:
    """A load and its group, and many instructions between them that need the load."""
    return [_load(0), *[_sum(1, 1, 0)] * FAR, *(_sum(dst, CONSTANT) for dst in range(2, 8)), Instruction(op=Op.EXIT)]


def loop_code() -> list[Instruction]:
    """A loop that is entered near its end, where there are a load and what needs it: the group is in the next
    iteration, far before."""
    sums = [*(_sum(dst, CONSTANT) for dst in range(2, 8)), *[_sum(8, 8)] * FAR]
    enter, end = 1 + len(sums), 4 + len(sums)
    return [Instruction(op=Op.BRA, imm=enter, reconverge=enter), *sums, _load(0), _sum(1, 0),
            Instruction(op=Op.BRA, imm=1, reconverge=end, guard=0), Instruction(op=Op.EXIT)]


def _load(dst: int) -> Instruction:
    return Instruction(op=Op.LD, dst=dst, src=(CONSTANT, RZ, RZ), space=Space.GLOBAL)


def _sum(dst: int, first: int, second: int = CONSTANT) -> Instruction:
    return Instruction(op=Op.IADD, dst=dst, src=(first, second, RZ))


def random_code(rng: random.Random) -> list[Instruction]:
    """Loads, sums and comparisons of few registers, with branches over some of them."""
    code: list[Instruction] = []
    for _ in range(rng.randint(10, 40)):
        if rng.random() < 0.15:
            body = [_simple(rng) for _ in range(rng.randint(1, 3))]
            end = len(code) + len(body) + 1
            guard = rng.choice((PT, *range(PREDICATES), *range(PREDICATES)))
            code += [Instruction(op=Op.BRA, imm=end, reconverge=end, guard=guard), *body]
        code.append(_simple(rng))
    return [*code, Instruction(op=Op.EXIT)]


def _simple(rng: random.Random) -> Instruction:
    dst, first, second = (rng.choice(REGISTERS) for _ in range(3))
    guard, kind = rng.choice((*[PT] * 8, *range(PREDICATES))), rng.random()
    if kind < 0.2:
        return Instruction(op=Op.LD, dst=dst, src=(first, RZ, RZ), space=Space.GLOBAL, guard=guard)
    if kind < 0.3:
        return Instruction(op=Op.ISETP, pdst=rng.randrange(PREDICATES), src=(first, second, RZ), guard=guard)
    if kind < 0.35:
        return Instruction(op=Op.ST, src=(first, RZ, second), space=Space.SHARED, guard=guard)
    return Instruction(op=Op.IADD, dst=dst, src=(first, second, RZ), guard=guard)


def random_path(code: Sequence[Instruction], rng: random.Random) -> Iterator[tuple[int, int]]:
    """The pcs and lanes of a warp: a branch is taken by all active lanes, by none, or by some."""
    stack = SimtStack(LIVE)
    while code[stack.pc].op is not Op.EXIT:
        instruction, lanes = code[stack.pc], stack.active
        if instruction.op is Op.BRA and instruction.guarded:
            lanes = rng.choice((0, 0, lanes, lanes & rng.getrandbits(32)))
        elif instruction.guarded:
            lanes &= rng.getrandbits(32)
        yield stack.pc, lanes
        stack.step(instruction, lanes)
    yield stack.pc, stack.active


def trace_of(program: Program, path: Sequence[tuple[int, int]]) -> Trace:
    """One warp that takes a path."""
    pc, lanes = (np.array([step[part] for step in path], kind) for part, kind in ((0, np.int32), (1, np.uint32)))
    none = np.full(len(pc), NONE, np.int32)
    warp = WarpTrace(0, 0, LIVE, pc, lanes, lanes, lanes, none, none)
    return Trace(program, Launch((1, 1, 1), (32, 1, 1), ()), (warp,), np.zeros((0, 32), np.uint32),
                 np.zeros((0, 32), np.uint64), np.zeros(0, np.uint8))
