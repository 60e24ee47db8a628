"""Programs and warps for tests of the hints: a notation for programs, random ones, and their execution by one warp.

They have no values: any guard may hold in any lane.
"""

import re
from collections.abc import Iterator
from random import Random

import networkx as nx

from warploom.arch.isa import NO_RECONVERGENCE, RZ, Instruction, Op, Pipe
from warploom.arch.program import Program

LANES = 0xFF
"""The number of lanes: enough for every kind of divergence and reconvergence."""


def program(text: str, registers: int = 8) -> Program:
    """A program from one line for each instruction, or several with semicolons between.

    ``r1 = r2 r3`` writes and reads, ``= r1`` only reads; ``nop``, ``exit``, ``bra L``, ``L:`` is a label. ``@`` is a
    guard; sides of ``@bra L M`` meet at M, of ``@bra L`` at the exit.
    """
    items = [item.strip() for item in re.split(r"[;\n]", text) if item.strip()]
    labels: dict[str, int] = {"": NO_RECONVERGENCE}
    code: list[str] = []
    for item in items:
        if item.endswith(":"):
            labels[item[:-1]] = len(code)
        else:
            code.append(item)
    return of(*(_instruction(item, labels) for item in code), registers=registers)


def of(*instructions: Instruction, registers: int = 8) -> Program:
    """A program of these instructions."""
    return Program("test", "test.ptx", instructions, (1,) * len(instructions), registers)


def _instruction(text: str, labels: dict[str, int]) -> Instruction:
    guarded, text = text.startswith("@"), text.removeprefix("@").strip()
    guard = {"guard": 0} if guarded else {}
    if text in ("exit", "nop", "trap"):
        return Instruction(op=Op[text.upper()], **guard)
    if text.startswith("bra "):
        target, meet = (*text.split()[1:], "")[:2]
        return Instruction(op=Op.BRA, imm=labels[target], reconverge=labels[meet] if guarded else 0, **guard)
    left, right = text.split("=")
    numbers = [int(name[1:]) for name in right.split()]
    return Instruction(op=Op.IMAD if left.strip() else Op.ST, dst=int(left.strip()[1:]) if left.strip() else RZ,
                       src=tuple([*numbers, RZ, RZ, RZ][:3]), **guard)


def random_program(random: Random, registers: int = 5) -> Program:
    """Up to seven blocks of a few instructions on few registers, with branches forwards and loops, whose sides meet at
    their immediate post-dominators."""
    count = random.randrange(1, 8)
    blocks = [[_plain(random, registers) for _ in range(random.randrange(1, 6))] for _ in range(count)]
    starts = [sum(map(len, blocks[:number])) + number for number in range(count + 1)]  # each with one more at its end
    ends = [random.choice(("through", "through", "jump", *["branch"] * 3)) for _ in range(count - 1)] + ["exit"]
    targets = [random.randrange(random.choice((0, number)), count) for number in range(count)]
    meets = _meeting_points(ends, targets)
    code: list[Instruction] = []
    for number, (block, end) in enumerate(zip(blocks, ends, strict=True)):
        code += block
        if end == "through":
            code.append(Instruction(op=Op.NOP))
        elif end == "exit":
            code.append(Instruction(op=Op.EXIT))
        elif end == "jump":
            code.append(Instruction(op=Op.BRA, imm=starts[targets[number]]))
        else:
            meet = meets.get(number, count)
            code.append(Instruction(op=Op.BRA, imm=starts[targets[number]], guard=0, taken_first=random.random() < 0.5,
                                    reconverge=NO_RECONVERGENCE if meet == count else starts[meet]))
    return of(*code, registers=registers)


def _plain(random: Random, registers: int) -> Instruction:
    guard = {"guard": 0} if random.random() < 0.15 else {}
    kind = random.random()
    if kind < 0.3:
        return Instruction(op=Op.NOP, **guard)
    if kind < 0.32:
        return Instruction(op=Op.EXIT, guard=0)
    sources = tuple(random.choice((RZ, RZ, RZ, *range(registers))) for _ in range(3))
    dst = random.choice((RZ, *range(registers), *range(registers)))
    return Instruction(op=Op.ST if dst == RZ else Op.IMAD, dst=dst, src=sources, **guard)


def _meeting_points(ends: list[str], targets: list[int]) -> dict[int, int]:
    """Immediate post-dominators of blocks; the number of blocks stands for the exit."""
    count = len(ends)
    backward = nx.DiGraph([(count, count - 1)])
    for number, end in enumerate(ends):
        following = {"through": [number + 1], "jump": [targets[number]], "exit": [count]}
        ways = following.get(end, [number + 1, targets[number]])
        backward.add_edges_from((way, number) for way in ways)
    return {block: point for block, point in nx.immediate_dominators(backward, count).items() if point is not None}


def run(program: Program, random: Random, limit: int) -> Iterator[tuple[Instruction, int]]:
    """(instruction, executing lanes) of a warp in the order of execution, at most `limit` of them. One side of a branch
    runs until it exits or reaches the join, then the other, then both continue together."""
    yield from (step for step, _ in zip(_walk(program, random, 0, [LANES], None), range(limit), strict=False))


def _walk(program: Program, random: Random, pc: int, lanes: list[int],
          stop: int | None) -> Iterator[tuple[Instruction, int]]:
    """Run from `pc` until `stop`; `lanes` holds one mask, in the end that of the lanes that have arrived."""
    while lanes[0] and pc != stop:
        i = program.instructions[pc]
        guard = random.choice((0, LANES, *(random.getrandbits(8) for _ in range(2)))) if i.guard == 0 else LANES
        executing = lanes[0] & guard
        yield i, executing
        pc += 1
        if i.op is Op.EXIT:
            lanes[0] &= ~executing
        elif i.op is Op.BRA and executing == lanes[0]:
            pc = i.imm
        elif i.op is Op.BRA and executing:
            sides = [(i.imm, [executing]), (pc, [lanes[0] & ~executing])]
            for start, side in sides if i.taken_first else sides[::-1]:
                yield from _walk(program, random, start, side, i.reconverge)
            pc, lanes[0] = i.reconverge, sides[0][1][0] | sides[1][1][0]


class LostValueError(AssertionError):
    """An instruction reads a value that the window has dropped."""


class Window:
    """The values of one warp that a window of `size` instructions drops, at the earliest: all instructions move the
    window, but only those that enter the datapath name registers. Masks are of lanes, by register."""

    def __init__(self, size: int, registers: int) -> None:
        self.size, self.now = size, 0
        self.named = [0] * registers
        self.transient = [0] * registers
        self.lost = [0] * registers

    def issue(self, i: Instruction, executing: int) -> None:
        """The next instruction. Raises `LostValueError` if it reads a dropped value in an executing lane."""
        self.now += 1
        if not executing or (i.pipe is Pipe.CONTROL and i.dst == RZ):
            return
        registers = [*i.sources, *([i.dst] if i.dst != RZ else [])]
        for register in registers:
            if self.now - self.named[register] >= self.size:
                self.lost[register] |= self.transient[register]
            self.named[register] = self.now
        for register in i.sources:
            if self.lost[register] & executing:
                raise LostValueError(f"{i}: R{register}: lanes {self.lost[register] & executing:#x} were dropped")
        if i.dst != RZ:
            self.lost[i.dst] &= ~executing
            self.transient[i.dst] &= ~executing
            if i.to_collector and not i.to_file:
                self.transient[i.dst] |= executing
