"""Selection by a mask of which at most one bit is set, and counts in this form."""

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_

from amaranth import Cat, Const, Module, Mux, Signal, Value, ValueLike


def merge(select: Iterable[Value], values: Iterable[ValueLike]) -> Value:
    """The value whose bit is set in `select`, zero if none is."""
    return reduce(or_, (Mux(bit, value, 0) for bit, value in zip(select, values, strict=True)))


def merge_many(select: Value, values: Iterable[ValueLike]) -> Value:
    """`merge` of many values, as a tree."""
    left = [Mux(bit, value, 0) for bit, value in zip(select, values, strict=True)]
    while len(left) > 1:
        left = [reduce(or_, left[first : first + 2]) for first in range(0, len(left), 2)]
    return left[0]


def pick(select: Value, values: Sequence[ValueLike]) -> Value:
    """The value whose bit is set in `select`, the last one if none is."""
    *others, picked = map(Value.cast, values)
    for number, value in reversed(list(enumerate(others))):
        picked = Mux(select[number], value, picked)
    return picked


def lowest(bits: Value) -> Value:
    """The lowest bit that is set, in a mask; each bit by itself, without a carry."""
    return Cat(bit & ~bits[:number].any() for number, bit in enumerate(bits))


def binary(mask: Value) -> Value:
    """The number of the bit that is set, zero if none is."""
    width = (len(mask) - 1).bit_length()
    return Cat(Cat(bit for number, bit in enumerate(mask) if number >> place & 1).any() for place in range(width))


def count(m: Module, bits: Sequence[Value], limit: int, name: str) -> Value:
    """How many bits are set, as a mask: bit n if it is exactly n, no bit if there are more than `limit`. A tree, whose
    logarithmic depth is that of selections instead of adders."""
    if not bits:
        return Const(1, limit + 1)
    if len(bits) == 1:
        return Cat(~bits[0], bits[0], Const(0, limit))[: limit + 1]
    half = len(bits) // 2
    one, other = count(m, bits[:half], limit, name), count(m, bits[half:], limit, name)
    found = Signal(limit + 1, name=f"{name}_of_{len(bits)}")
    for number in range(limit + 1):
        m.d.comb += found[number].eq(reduce(or_, (one[k] & other[number - k] for k in range(number + 1))))
    return found
