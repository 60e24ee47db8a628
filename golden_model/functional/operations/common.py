"""The types that all operations share, and helpers for 32-bit words and 64-bit pairs.

Words are numpy uint32 arrays of one shape, or of shapes that broadcast to it (a uniform operand may have shape (1, 1)).
For operations that read across lanes the last axis is the lane.
"""

import operator
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from warploom.arch.isa import PT, Instruction
from warploom.arch.modifiers import Combine, Cond

Words = np.ndarray
Mask = np.ndarray


class Operands(NamedTuple):
    """The operands: words in slots a, b, c; `pred`, the predicate operand as bools; `lanes`, the executing lanes as
    bools (..., 32), used only by operations across lanes; `latch`, the three words of the LATCH before a latched
    instruction."""

    a: Words
    b: Words
    c: Words
    pred: Mask = np.ones((1, 1), bool)
    lanes: Mask = np.ones((1, 32), bool)
    latch: tuple[Words, Words, Words] = (np.zeros((1, 1), np.uint32),) * 3


class Outcome(NamedTuple):
    """The results: the result word, the high word of a 64-bit result (read by HIGH), and the predicate result as bools;
    None if the operation has no such result."""

    result: Words | None = None
    high: Words | None = None
    pred: Mask | None = None


Function = Callable[[Operands], Outcome]
Builder = Callable[[Instruction], Function]


def value(function: Callable[[Words, Words, Words], Words]) -> Function:
    """An operation whose only result is a word, computed from a, b and c."""
    return lambda x: Outcome(function(x.a, x.b, x.c))


def join(low: Words, high: Words) -> np.ndarray:
    """uint64 of two words."""
    return low.astype(np.uint64) | high.astype(np.uint64) << np.uint64(32)


def split(pair: np.ndarray) -> Outcome:
    """A 64-bit result as its two words; `pair` has 64-bit items of any type."""
    bits = pair.view(np.uint64)
    return Outcome(bits.astype(np.uint32), (bits >> np.uint64(32)).astype(np.uint32))


Comparison = Callable[[np.ndarray, np.ndarray], Mask]

_INTEGER_TESTS: dict[Cond, Comparison] = {
    Cond.EQ: operator.eq, Cond.NE: operator.ne, Cond.LT: operator.lt, Cond.LE: operator.le, Cond.GT: operator.gt,
    Cond.GE: operator.ge,
}
_FLOAT_TESTS: dict[Cond, Comparison] = _INTEGER_TESTS | {
    Cond.NE: lambda x, y: (x < y) | (x > y), Cond.NUM: lambda x, y: ~(np.isnan(x) | np.isnan(y)),
    Cond.NAN: lambda x, y: np.isnan(x) | np.isnan(y), Cond.EQU: lambda x, y: ~((x < y) | (x > y)),
    Cond.NEU: operator.ne, Cond.LTU: lambda x, y: ~(x >= y), Cond.LEU: lambda x, y: ~(x > y),
    Cond.GTU: lambda x, y: ~(x <= y), Cond.GEU: lambda x, y: ~(x < y),
}


def comparison(cond: Cond, floats: bool) -> Comparison:
    """The test of a `Cond` on two arrays; integers have only the ordered conditions."""
    return (_FLOAT_TESTS if floats else _INTEGER_TESTS)[cond]


def combined(i: Instruction) -> Callable[[Mask, Mask], Mask]:
    """How a SETP combines its test with the predicate operand."""
    if i.psrc == PT and not i.psrc_not and i.combine is Combine.AND:
        return lambda test, pred: test
    join_masks = {Combine.AND: operator.and_, Combine.OR: operator.or_, Combine.XOR: operator.xor}[i.combine]
    if i.psrc == PT:
        return lambda test, pred: join_masks(test, np.bool_(not i.psrc_not))
    return join_masks
