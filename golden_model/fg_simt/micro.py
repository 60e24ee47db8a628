"""`Micro`: what the control processor sends to the issue unit (docs/contract/fg_simt.md, *Micro-operations*)."""

from functools import lru_cache
from typing import NamedTuple

from warploom.arch.encoding import encode_modifiers, typed_modifiers
from warploom.arch.fg_simt.code import CARRYING
from warploom.arch.fg_simt.micro import Kind, Unit
from warploom.arch.fg_simt.sizes import DIVISIONS, FIRST_SAU, LATENCY, REGISTERS, SECOND_SAU
from warploom.arch.isa import PT, RZ, Instruction, Op
from warploom.golden_model.compact import Compact


class Register(NamedTuple):
    """An operand from the SRF."""

    number: int


class Predicate(NamedTuple):
    """A mask of lanes from the predicate registers, or its complement; PT is true in all lanes."""

    number: int
    inverted: bool

    @property
    def is_constant(self) -> bool:
        """Whether it is the same in all lanes of each warp."""
        return self.number == PT

    @property
    def holds(self) -> bool:
        """The value of a constant."""
        return not self.inverted


class Position(NamedTuple):
    """A coordinate of each thread in its block: 0, 1 or 2 for x, y or z."""

    axis: int


Operand = Register | Predicate | Compact | Position
"""Where an operand is; a `Compact` is a constant."""

Operands = tuple[Operand, Operand, Operand]

TRUE, FALSE = Predicate(PT, False), Predicate(PT, True)
ZERO = Compact(0)


class Micro(NamedTuple):
    """An operation for the lanes `mask`. `modifiers` are encoded; `offset` is that of an access. `dst` is RZ and `pdst`
    PT if there is no such result."""

    kind: Kind
    unit: Unit
    latency: int
    pc: int
    mask: int
    op: Op
    modifiers: int
    offset: int
    dst: int
    pdst: int
    guard: Predicate
    pred: Predicate
    operands: Operands

    @property
    def instruction(self) -> Instruction:
        """Operation and modifiers, with the offset as `imm`."""
        return decoded(self.op, self.modifiers, self.offset)

    @property
    def loads(self) -> bool:
        """Whether data come back from memory."""
        return self.op in (Op.LD, Op.ATOM)

    @property
    def reads(self) -> tuple[int, ...]:
        """What it reads: registers, and behind them predicates."""
        found = {operand.number if isinstance(operand, Register) else REGISTERS + operand.number
                 for operand in (*self.operands, self.guard, self.pred)
                 if isinstance(operand, Register) or (isinstance(operand, Predicate) and not operand.is_constant)}
        return tuple(sorted(found))

    @property
    def writes(self) -> tuple[int, ...]:
        """What it writes."""
        return (*((self.dst,) if self.dst != RZ else ()), *((REGISTERS + self.pdst,) if self.pdst != PT else ()))


@lru_cache(maxsize=1 << 12)
def decoded(op: Op, modifiers: int, offset: int) -> Instruction:
    """An operation with its modifiers by name."""
    return Instruction(op=op, imm=offset, **typed_modifiers(op, modifiers))


def predicate_operand(i: Instruction) -> Predicate:
    """The predicate operand. For a carry PT means that there is none."""
    return FALSE if i.psrc == PT and i.op in CARRYING else Predicate(i.psrc, i.psrc_not)


def unit_of(op: Op) -> Unit:
    """The unit that executes an operation."""
    if op not in LATENCY:
        return Unit.SGU
    if op in DIVISIONS:
        return Unit.DIVIDE
    return Unit.FIRST if op in FIRST_SAU else Unit.SECOND if op in SECOND_SAU else Unit.EITHER


def micro(
    pc: int, mask: int, i: Instruction, *, operands: Operands, guard: Predicate, pred: Predicate, kind: Kind,
) -> Micro:
    """The operation of an instruction with its operands. S2R is a MOV."""
    unit, op = unit_of(i.op), Op.MOV if i.op is Op.S2R else i.op
    return Micro(kind, unit, LATENCY.get(i.op, 1), pc, mask, op, 0 if i.op is Op.S2R else encode_modifiers(i),
                 i.imm if unit is Unit.SGU else 0, i.dst, i.pdst, guard, pred, operands)


def collect(pc: int, mask: int, holds: Predicate) -> Micro:
    """The mask of lanes in which a predicate holds, for the control processor."""
    return Micro(Kind.COLLECT, Unit.EITHER, 1, pc, mask, Op.MOV, 0, 0, RZ, PT, holds, TRUE, (ZERO, ZERO, ZERO))


def give(
    pc: int, mask: int, i: Instruction, *, guard: Predicate, word: Compact | None, holds: bool | None
) -> Micro:
    """Known results for the destinations of an instruction: a word of each lane, a predicate; None if it has none."""
    given = word if word is not None and i.dst != RZ else ZERO
    return Micro(Kind.COMPUTE, Unit.EITHER, 1, pc, mask, Op.MOV, 0, 0, i.dst, i.pdst, guard,
                 Predicate(PT, not holds or i.pdst == PT), (given, ZERO, ZERO))
