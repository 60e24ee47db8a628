"""`Micro`: what the control processor sends to the issue unit."""

from collections.abc import Sequence
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from warploom.arch.fg_simt.sizes import DIVISIONS, FIRST_SAU, LATENCY, REGISTERS, SECOND_SAU
from warploom.arch.isa import PT, RZ, Instruction, Op
from warploom.golden_model.functional.operations import Function, Outcome, prepare
from warploom.golden_model.functional.operations.common import Operands


class Register(NamedTuple):
    """An operand from the SRF."""

    number: int


class Predicate(NamedTuple):
    """A mask of lanes from the predicate registers."""

    number: int
    inverted: bool


Source = Register | Predicate | np.ndarray
"""An operand; an array is a constant, of all lanes or of each."""


class Kind(IntEnum):
    """What the lanes do: arithmetic, a mask for the control processor, an access, or a vector load."""

    COMPUTE, COLLECT, ACCESS, VECTOR = range(4)


class Unit(IntEnum):
    """Which unit executes: either SAU, SAU0, SAU1, the divider of SAU1, or the SGU."""

    EITHER, FIRST, SECOND, DIVIDE, SGU = range(5)


class Micro(NamedTuple):
    """An operation for the lanes `mask`. `guard` and `pred` (its predicate operand) are masks, or constants. `function`
    computes the results from the operands. `reads` and `writes` are resources: registers, and behind them
    predicates."""

    kind: Kind
    unit: Unit
    latency: int
    pc: int
    mask: int
    instruction: Instruction
    operands: tuple[Source, ...]
    guard: Source
    pred: Source
    function: Function | None
    reads: tuple[int, ...]
    writes: tuple[int, ...]


TRUE, FALSE = np.ones(1, bool), np.zeros(1, bool)
ZERO = np.zeros(1, np.uint32)
CARRYING = frozenset({Op.IADD, Op.ISUB, Op.IMAD})


@lru_cache(maxsize=1 << 12)
def constant(word: int) -> np.ndarray:
    """A word, the same in all lanes."""
    return np.array([word], np.uint32)


def predicate(number: int, inverted: bool) -> Source:
    """A predicate as an operand; PT is true."""
    return (FALSE if inverted else TRUE) if number >= PT else Predicate(number, inverted)


def predicate_operand(i: Instruction) -> Source:
    """The predicate operand. For a carry PT means that there is none."""
    return FALSE if i.psrc == PT and i.op in CARRYING else predicate(i.psrc, i.psrc_not)


def resources(sources: Sequence[Source]) -> tuple[int, ...]:
    """What operands read of the SRF and the predicates."""
    found = {source.number if isinstance(source, Register) else REGISTERS + source.number
             for source in sources if not isinstance(source, np.ndarray)}
    return tuple(sorted(found))


def written(i: Instruction) -> tuple[int, ...]:
    """The resources that an instruction writes."""
    return (*((i.dst,) if i.dst != RZ else ()), *((REGISTERS + i.pdst,) if i.pdst != PT else ()))


def unit_of(op: Op) -> Unit:
    """The unit that executes an operation."""
    if op not in LATENCY:
        return Unit.SGU
    if op in DIVISIONS:
        return Unit.DIVIDE
    return Unit.FIRST if op in FIRST_SAU else Unit.SECOND if op in SECOND_SAU else Unit.EITHER


@lru_cache(maxsize=1 << 12)
def function_of(i: Instruction) -> Function | None:
    """What an arithmetic unit computes; None for accesses, and for S2R, which is a MOV of a constant."""
    if i.op not in LATENCY:
        return None
    if i.op is Op.PLOP3:  # the truth tables of words also work for bools
        table = prepare(Instruction(op=Op.LOP3, lut=i.lut))
        return lambda x: Outcome(pred=table(x).result)
    return prepare(Instruction(op=Op.MOV) if i.op is Op.S2R else i)


def micro(
    pc: int, mask: int, i: Instruction, *, operands: tuple[Source, ...], guard: Source, pred: Source, kind: Kind,
) -> Micro:
    """The operation of an instruction with its operands."""
    return Micro(kind, unit_of(i.op), LATENCY.get(i.op, 1), pc, mask, i, operands, guard, pred, function_of(i),
                 resources((*operands, guard, pred)), written(i))


def collect(pc: int, mask: int, holds: Source) -> Micro:
    """The mask of lanes in which a predicate holds, for the control processor."""
    return Micro(Kind.COLLECT, Unit.EITHER, 1, pc, mask, Instruction(op=Op.BRA), (), holds, TRUE, None,
                 resources((holds,)), ())


def give(
    pc: int, mask: int, i: Instruction, *, guard: Source, word: np.ndarray | None, holds: bool | None
) -> Micro:
    """Known results for the destinations of an instruction: a word of each lane, a predicate; None if it has none."""

    def function(x: Operands) -> Outcome:
        return Outcome(word, pred=None if holds is None else np.array([holds]))

    return Micro(Kind.COMPUTE, Unit.EITHER, 1, pc, mask, i, (), guard, TRUE, function, resources((guard,)), written(i))
