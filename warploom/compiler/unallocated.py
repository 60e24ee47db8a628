"""Transient values get registers without a row in the register file ([BOW], section IV-B).

Machine code names at most 255 registers of a thread, and a value that never leaves the window needs a name but no row.
So the *values* of a program are coloured anew: those that need a row from R0 upwards, all others from the first number
behind these. A value is here all writes of a register that one read may see, with all these reads.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush

from warploom.arch.isa import RZ, Instruction, Op, Pipe
from warploom.arch.modifiers import Space
from warploom.arch.program import Hints, Program, successors
from warploom.compiler.dataflow import union
from warploom.compiler.pending import REGISTERS, live

MOST_NAMES = RZ
"""Registers that machine code can name."""


def without_rows(program: Program, *, compact: bool) -> Program:
    """An annotated program in which values that only collectors need have registers from `registers` upwards, and the
    others fewer rows. `compact`: registers may be compact. If that saves no row, or takes more registers than code can
    name, it is the program as it is.
    """
    values = _Values(program.instructions)
    filed = _barred(program.instructions).union(pc for pc, i in enumerate(program.instructions) if i.to_file)
    rowless = {value for value, writes in values.writes.items() if filed.isdisjoint(writes)} - values.undefined
    if compact:
        rowless -= _maybe_compact(values)
    rows, names = (_colour(values, group) for group in (values.all - rowless, rowless))
    registers = max(rows.values(), default=0) + 1
    count = max(names.values(), default=-1) + 1
    if registers >= program.registers or registers + count > MOST_NAMES:
        return program
    places = rows | {value: registers + name for value, name in names.items()}
    return replace(program, instructions=values.renamed(places), registers=registers, unallocated=count, hints=Hints())


def _barred(code: Sequence[Instruction]) -> set[int]:
    """Instructions whose results always have a row: results of memory and of barriers, of latched operations, and of
    64 bits."""
    found, high = set(), False
    for pc in range(len(code) - 1, -1, -1):
        instruction = code[pc]
        is_half = instruction.op is Op.HIGH or (high and instruction.pipe is Pipe.SFU)
        if is_half or instruction.latched or instruction.pipe in (Pipe.MEM, Pipe.CONTROL):
            found.add(pc)
        if instruction.pipe is Pipe.SFU:
            high = instruction.op is Op.HIGH  # the instruction of this pipe before it has the low half
    return found


def _may_start_compact(instruction: Instruction) -> bool:
    """Whether the affine unit may execute an instruction if all its registers are compact: at most those of the integer
    and floating-point lanes, loads of constants, and the MOV that writes what a barrier has counted."""
    if instruction.op is Op.LD:
        return instruction.space in (Space.CONST, Space.PARAM)
    return instruction.pipe is Pipe.SP or instruction.op is Op.BARRED


def _maybe_compact(values: "_Values") -> set[int]:
    """Values that the affine unit may compute: at least one write reads nothing else."""
    found = set(values.undefined)  # by a previous warp
    readers: dict[int, set[int]] = {}
    for pc, read in enumerate(values.read):
        for value in read.values():
            readers.setdefault(value, set()).add(pc)
    waiting = list(range(len(values.code)))
    while waiting:
        pc = waiting.pop()
        written = values.written[pc]
        if written is None or written in found or not _may_start_compact(values.code[pc]):
            continue
        if found.issuperset(values.read[pc].values()):
            found.add(written)
            waiting += readers.get(written, ())
    return found


@dataclass
class _Web:
    """Points of a program where registers hold values, joined where the value is the same."""

    parents: dict[int, int] = field(default_factory=dict)

    def find(self, point: int) -> int:
        """The representative of a point's value."""
        parents = self.parents
        root = point
        while (above := parents.setdefault(root, root)) != root:
            root = above
        while parents[point] != root:
            parents[point], point = root, parents[point]
        return root

    def join(self, first: int, second: int) -> None:
        """Two points hold the same value."""
        self.parents[self.find(first)] = self.find(second)


class _Values:
    """The values of a program, by number. `written[pc]` is that which an instruction writes, and `read[pc]` those in
    the registers that it reads; `writes` are the instructions that write a value. `undefined` values may be read
    without having been written. `near` are those that may not share a register."""

    def __init__(self, code: Sequence[Instruction]) -> None:
        self.code = code
        before, after = _liveness(code)
        web = self._join(before, after)
        self.written = [None if i.dst == RZ else web.find(_after(pc, i.dst)) for pc, i in enumerate(code)]
        self.read = [{register: web.find(_before(pc, register)) for register in i.sources}
                     for pc, i in enumerate(code)]
        self.writes: dict[int, list[int]] = {}
        for pc, value in enumerate(self.written):
            if value is not None:
                self.writes.setdefault(value, []).append(pc)
        live_at_start = [web.find(_before(0, register)) for register in _bits(before[0])]
        self.undefined = {*live_at_start, *(value for read in self.read for value in read.values()
                                            if value not in self.writes)}
        self.all = {*self.writes, *self.undefined}
        self.near: dict[int, set[int]] = {value: set() for value in self.all}
        self._add_edges(live_at_start)
        for pc, value in enumerate(self.written):
            if value is not None:
                others = {web.find(_after(pc, register)) for register in _bits(after[pc])} - {value}
                self.near[value] |= others
                for other in others:
                    self.near[other].add(value)

    def _join(self, before: Sequence[int], after: Sequence[int]) -> _Web:
        web = _Web()
        for pc, (instruction, following) in enumerate(zip(self.code, successors(self.code), strict=True)):
            for register in _bits(after[pc] & ~_ended(instruction)):
                web.join(_before(pc, register), _after(pc, register))
            for successor in following:
                for register in _bits(before[successor]):
                    web.join(_after(pc, register), _before(successor, register))
        return web

    def _add_edges(self, together: Iterable[int]) -> None:
        """Values of different registers that are live together."""
        group = set(together)
        for value in group:
            self.near[value] |= group - {value}

    def renamed(self, places: dict[int, int]) -> tuple[Instruction, ...]:
        """The code with a register for each value."""
        code = []
        for pc, instruction in enumerate(self.code):
            read, written = self.read[pc], self.written[pc]
            a, b, c = (places[read[register]] if register in read else register for register in instruction.src)
            destination = RZ if written is None else places[written]
            code.append(replace(instruction, dst=destination, src=(a, b, c)))
        return tuple(code)


def _before(pc: int, register: int) -> int:
    """The point in front of an instruction."""
    return pc << 9 | register


def _after(pc: int, register: int) -> int:
    """The point behind it."""
    return pc << 9 | 0x100 | register


def _ended(instruction: Instruction) -> int:
    """The register, as a bit, whose old value no lane has after an instruction."""
    return 0 if instruction.guarded or instruction.dst == RZ else 1 << instruction.dst


def _liveness(code: Sequence[Instruction]) -> tuple[list[int], list[int]]:
    """The registers, as bits, whose values may be read later, before and after each instruction."""
    before = [mask & REGISTERS for mask in live(code)]
    return before, [union(before, following) for following in successors(code)]


def _bits(mask: int) -> list[int]:
    """The positions of the bits of a mask."""
    found = []
    while mask:
        lowest = mask & -mask
        found.append(lowest.bit_length() - 1)
        mask ^= lowest
    return found


def _colour(values: _Values, group: set[int]) -> dict[int, int]:
    """A number for each value of a group, such that no two neighbours have the same: the lowest free one, in the
    reverse of the order in which the value with the fewest neighbours left is removed."""
    near = {value: values.near[value] & group for value in group}
    left = {value: len(others) for value, others in near.items()}
    waiting = [(count, value) for value, count in left.items()]  # with entries of counts that are lower by now
    heapify(waiting)
    order = []
    while waiting:
        count, value = heappop(waiting)
        if left.get(value) != count:
            continue
        order.append(value)
        del left[value]
        for other in near[value]:
            if other in left:
                left[other] -= 1
                heappush(waiting, (left[other], other))
    places: dict[int, int] = {}
    for value in reversed(order):
        taken = {places[other] for other in near[value] if other in places}
        places[value] = next(number for number in range(len(group)) if number not in taken)
    return places
