"""Selection by a mask of which at most one bit is set."""

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_

from amaranth import Mux, Value, ValueLike


def merge(select: Value, values: Iterable[ValueLike]) -> Value:
    """The value whose bit is set in `select`, zero if none is."""
    return reduce(or_, (Mux(bit, value, 0) for bit, value in zip(select, values, strict=True)))


def pick(select: Value, values: Sequence[ValueLike]) -> Value:
    """The value whose bit is set in `select`, the last one if none is."""
    *others, picked = map(Value.cast, values)
    for number, value in reversed(list(enumerate(others))):
        picked = Mux(select[number], value, picked)
    return picked
