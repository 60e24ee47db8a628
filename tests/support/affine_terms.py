"""The table of docs/contract/affine.md, as z3 terms: the conditions under which an operation on values base + lane *
stride gives such a value again, and the value.

Words are integers of any size, so that linear terms stay linear: an operation takes them modulo 2^32 if it uses more
than sums. Each condition has a name, by which it can be omitted. A distance of SHF is a number; everything else is
symbolic.
"""

import operator
from collections.abc import Callable, Sequence
from typing import NamedTuple

import z3

from warploom.arch.isa import PT, Instruction, Op
from warploom.arch.modifiers import Cond

BITS, STRIDE_BITS, LAST = 32, 16, 31
"""Bits of a word and of a stride; the last lane."""

WORDS = 1 << BITS

_COMPARE: dict[int, Callable] = {
    Cond.EQ: operator.eq, Cond.NE: operator.ne, Cond.LT: operator.lt, Cond.LE: operator.le, Cond.GT: operator.gt,
    Cond.GE: operator.ge,
}


class Slot(NamedTuple):
    """A compact operand: base of 32 bits, stride of 16, signed."""

    base: z3.ArithRef
    stride: z3.ArithRef

    def at(self, lane: int) -> z3.ArithRef:
        """The word of a lane."""
        return self.base + lane * self.stride

    def uniform(self) -> z3.BoolRef:
        """Whether all lanes are equal."""
        return self.stride == 0

    def exact(self, signed: int) -> z3.BoolRef:
        """Whether it does not wrap."""
        last = read(self.base, signed) + LAST * self.stride
        return z3.And(last >= (-WORDS // 2 if signed else 0), last < (WORDS // 2 if signed else WORDS))


class Answer(NamedTuple):
    """The outputs of a lane: the result, and whether the predicate result holds before `combine`."""

    result: z3.ArithRef
    holds: z3.BoolRef


class Attempt(NamedTuple):
    """The inputs of the affine unit for an instruction: slots, predicate, and the answers of the end lanes.

    `ask(name, condition)` is the condition, or true for the omitted one.
    """

    i: Instruction
    a: Slot
    b: Slot
    c: Slot
    n: int
    p: z3.BoolRef
    first: Answer
    last: Answer
    ask: Callable[[str, z3.BoolRef], z3.BoolRef]


Words = Sequence[z3.ArithRef]
TRUE, FALSE = z3.BoolVal(True), z3.BoolVal(False)
Accepted = tuple[z3.ArithRef, z3.BoolRef]
"""The stride of the result, and the condition."""


def read(word: z3.ArithRef, signed: int) -> z3.ArithRef:
    """A word as the number that it is modulo 2^32."""
    word %= WORDS
    return word - z3.If(word >= WORDS // 2, WORDS, 0) if signed else word


def factors(i: Instruction, a: z3.ArithRef, b: z3.ArithRef) -> z3.ArithRef:
    """The exact product."""
    return read(a, i.signed) * read(b, i.signed)


# ---------------------------------------------------------------- lanes


def _product(i: Instruction, n: int, p: z3.BoolRef, words: Words) -> Answer:
    a, b, c = words
    product, added = factors(i, a, b), c + z3.If(p, 1, 0) if i.op is Op.IMAD else 0
    word = product / WORDS if i.high else product
    carry = read(word, 0) + read(c, 0) + z3.If(p, 1, 0) >= WORDS
    return Answer(((word if i.high else a * b) + added) % WORDS, carry)


def _shift(i: Instruction, n: int, p: z3.BoolRef, words: Words) -> Answer:
    a, b = words[:2]
    if not i.right:
        return Answer((b + read(a, 0) / 2 ** (BITS - n)) % WORDS, FALSE)
    high = 0 if i.signed else b
    return Answer((high + read(a, i.signed) / 2**n) % WORDS, FALSE)


def _extreme(i: Instruction, n: int, p: z3.BoolRef, words: Words) -> Answer:
    x, y = (read(word, i.signed) for word in words[:2])
    return Answer(z3.If(x <= y if i.op is Op.IMIN else x >= y, x, y) % WORDS, FALSE)


def _sum(i: Instruction, n: int, p: z3.BoolRef, words: Words) -> Answer:
    a, b = words[:2]
    sign = 1 if i.op is Op.IADD else -1
    added = sign * z3.If(p, 1, 0)
    exact = read(a, 0) + sign * read(b, 0) + added
    return Answer((a + sign * b + added) % WORDS, z3.Or(exact < 0, exact >= WORDS))


def _compare(i: Instruction, n: int, p: z3.BoolRef, words: Words) -> Answer:
    a, b = (read(word, i.signed) for word in words[:2])
    return Answer(z3.IntVal(0), _COMPARE[i.cond](a, b))


LANES: dict[Op, Callable[..., Answer]] = {
    Op.MOV: lambda i, n, p, words: Answer(words[0] % WORDS, FALSE),
    **dict.fromkeys((Op.IADD, Op.ISUB), _sum),
    **dict.fromkeys((Op.IMUL, Op.IMAD), _product),
    Op.SHF: _shift,
    Op.SEL: lambda i, n, p, words: Answer(z3.If(p, *words[:2]) % WORDS, FALSE),
    **dict.fromkeys((Op.IMIN, Op.IMAX), _extreme),
    Op.ISETP: _compare,
}
"""The result of a lane from the distance n, the predicate operand, and the words a, b, c; for a shift, b is the
contribution of its other word, already shifted."""


def answer(i: Instruction, slots: tuple[Slot, Slot, Slot], lane: int, n: int, p: z3.BoolRef) -> Answer:
    """The result of a lane from the slots."""
    return LANES[i.op](i, n, p, [slot.at(lane) for slot in slots])


# ---------------------------------------------------------------- rows


def _both_exact(t: Attempt, signed: int) -> z3.BoolRef:
    return t.ask("exact", z3.And(t.a.exact(signed), t.b.exact(signed)))


def _sum_row(t: Attempt) -> Accepted:
    return (t.a.stride - t.b.stride if t.i.op is Op.ISUB else t.a.stride + t.b.stride), TRUE


def _constant_high_word(t: Attempt) -> z3.BoolRef:
    """H."""
    ends = [factors(t.i, t.a.at(lane), t.b.at(lane)) / WORDS for lane in (0, LAST)]
    return z3.And(_both_exact(t, t.i.signed), t.ask("high words", ends[0] == ends[1]))


def _product_row(t: Attempt) -> Accepted:
    added = t.c.stride if t.i.op is Op.IMAD else z3.IntVal(0)
    one = t.ask("one affine factor", z3.Or(t.a.uniform(), t.b.uniform()))
    if t.i.high:
        return added, z3.And(one, _constant_high_word(t))
    return t.a.stride * t.b.base + t.a.base * t.b.stride + added, one


def _shift_row(t: Attempt) -> Accepted:
    if not t.i.right:
        stride, free = t.b.stride + (t.a.stride if t.n == BITS else 0), t.n in (0, BITS)
    else:
        multiple = t.ask("multiple", t.a.stride % 2**t.n == 0)
        stride, free = z3.If(multiple, t.a.stride / 2**t.n, 0), t.n == 0
        stride += 0 if t.i.signed else t.b.stride
    ends = t.ask("ends", (t.last.result - t.first.result - LAST * stride) % WORDS == 0)
    exact = t.ask("exact", t.a.exact(t.i.signed))
    return stride, z3.Or(z3.BoolVal(free), t.a.uniform(), z3.And(exact, ends))


def _extreme_row(t: Attempt) -> Accepted:
    is_a, is_b = (z3.And(t.ask("first", t.first.result == read(x.at(0), 0)),
                    t.ask("last", t.last.result == read(x.at(LAST), 0)))
                  for x in (t.a, t.b))
    return z3.If(is_a, t.a.stride, t.b.stride), z3.And(z3.Or(is_a, is_b), _both_exact(t, t.i.signed))


def _order(t: Attempt, lane: int) -> z3.ArithRef:
    """The sign of a - b."""
    a, b = (read(slot.at(lane), t.i.signed) for slot in (t.a, t.b))
    return z3.If(a < b, -1, z3.If(a == b, 0, 1))


def _comparison_row(t: Attempt) -> Accepted:
    equality = t.i.cond in (Cond.EQ, Cond.NE)
    parallel = t.ask("same stride", t.a.stride == t.b.stride) if equality else FALSE
    sign = t.ask("same sign", _order(t, 0) == _order(t, LAST))
    verdict = FALSE if equality else t.ask("same verdict", t.first.holds == t.last.holds)
    return z3.IntVal(0), z3.Or(parallel, z3.And(_both_exact(t, t.i.signed), z3.Or(sign, verdict)))


ROWS: dict[Op, Callable[[Attempt], Accepted]] = {
    Op.MOV: lambda t: (t.a.stride, TRUE),
    **dict.fromkeys((Op.IADD, Op.ISUB), _sum_row),
    **dict.fromkeys((Op.IMUL, Op.IMAD), _product_row),
    Op.SHF: _shift_row,
    Op.SEL: lambda t: (z3.If(t.p, t.a.stride, t.b.stride), TRUE),
    **dict.fromkeys((Op.IMIN, Op.IMAX), _extreme_row),
    Op.ISETP: _comparison_row,
}
"""Rows of the table that take affine slots."""


def _carry(t: Attempt) -> z3.BoolRef:
    """The additional conditions of a carry or borrow."""
    uniform = z3.And(t.a.uniform(), t.b.uniform(), t.c.uniform())
    if t.i.high:
        return t.ask("uniform with carry", uniform)
    same = t.ask("same carry", t.first.holds == t.last.holds)
    if t.i.op is Op.IMAD:
        return z3.Or(uniform, z3.And(_constant_high_word(t), t.ask("exact addend", t.c.exact(0)), same))
    return z3.Or(uniform, z3.And(_both_exact(t, 0), same))


class Rule(NamedTuple):
    """The table's answer for an instruction: the result as a slot, its predicate, and whether it is accepted."""

    result: Slot
    holds: z3.BoolRef
    accepted: z3.BoolRef


def rule(i: Instruction, slots: tuple[Slot, Slot, Slot], n: int, p: z3.BoolRef, without: str = "") -> Rule:
    """The table, applied; `without` one condition. Raises `KeyError` for operations that take no affine slots."""
    first, last = (answer(i, slots, lane, n, p) for lane in (0, LAST))
    attempt = Attempt(i, *slots, n, p, first, last,
                      lambda name, condition: TRUE if name == without else condition)
    stride, accepted = ROWS[i.op](attempt)
    if i.pdst != PT and i.op is not Op.ISETP:
        accepted = z3.And(accepted, _carry(attempt))
    return Rule(Slot(first.result, stride), first.holds, accepted)
