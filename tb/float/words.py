"""Operand words for the benches of floating-point units: special values, corner patterns, and operands that fit each
other."""

from itertools import product

import numpy as np

Words = np.ndarray

U32 = np.uint32
SIGN, INFINITY, FRACTION = U32(1 << 31), U32(0xFF << 23), U32((1 << 23) - 1)

POSITIVE = (
    0, 1, 2, 3, 0x400000, 0x7FFFFF,  # zero, subnormal
    0x800000, 0x800001, 0x1000000,  # the smallest normal ones
    0x33800000, 0x34000000, 0x3EFFFFFF, 0x3F000000, 0x3F000001, 0x3F7FFFFF, 0x3F800000, 0x3F800001,  # to one
    0x3FC00000, 0x3FFFFFFF, 0x40000000, 0x40200000, 0x40400000,  # 1.5, 2, 2.5, 3
    0x4AFFFFFF, 0x4B000000, 0x4B000001, 0x4B7FFFFF, 0x4B800000,  # around 2^23 and 2^24
    0x4EFFFFFF, 0x4F000000, 0x4F7FFFFF, 0x4F800000,  # around 2^31 and 2^32
    0x42FE0000, 0x42FF0000, 0x437F0000, 0x437F8000, 0x46FFFE00, 0x477FFF00,  # around the ends of narrow integers
    0x5F800000, 0x7E800000, 0x7F000000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000,  # large, infinity, NaN
)
SPECIAL_FLOATS = np.array([*POSITIVE, *(word | 1 << 31 for word in POSITIVE)], U32)

_POWERS = [1 << bit for bit in (7, 8, 15, 16, 23, 24, 25, 31, 32)]
_AROUND = [sign * power + offset for power in _POWERS for sign in (1, -1) for offset in (-1, 0, 1)]
SPECIAL_INTEGERS = np.array([*range(4), *(value & 0xFFFFFFFF for value in _AROUND),
                     0xAAAAAAAA, 0x55555555, 0x7FFFFFC0, 0x7FFFFF40, 0xFFFFFF80], U32)
"""Integers at the ends of types, and around ties of their conversion."""

SMALLEST = 2.0**-126
"""The smallest normal number: with `ftz` a result that is rounded to it is flushed or not."""


def tuples(values: Words, operands: int) -> list[Words]:
    """All tuples of some values, as columns."""
    return list(np.array(list(product(values, repeat=operands)), U32).T)


def fractions(rng: np.random.Generator, count: int) -> Words:
    """Fractions with few ones, few zeros, one run of ones, or any."""
    one = U32(1) << rng.integers(0, 23, count, dtype=U32)
    other = U32(1) << rng.integers(0, 23, count, dtype=U32)
    kinds = (one, one | other, one ^ FRACTION, (one | other) ^ FRACTION, one - U32(1), np.zeros(count, U32),
             rng.integers(0, 1 << 23, count, dtype=U32), rng.integers(0, 1 << 23, count, dtype=U32))
    return np.choose(rng.integers(0, len(kinds), count), kinds)


def floats(rng: np.random.Generator, count: int, exponents: np.ndarray | None = None) -> Words:
    """Words with any sign and corner fractions. Of exponents, any ones by default, those outside a word become its
    ends; some words are special."""
    if exponents is None:
        exponents = rng.integers(0, 256, count)
    words = rng.integers(0, 2, count, dtype=U32) << U32(31) | np.clip(exponents, 0, 255).astype(U32) << U32(23)
    return np.where(rng.random(count) < 0.05, rng.choice(SPECIAL_FLOATS, count), words | fractions(rng, count))


def exponent(words: Words) -> np.ndarray:
    """Exponents as they stand in the words."""
    return (words >> U32(23) & U32(255)).astype(np.int64)


def near(rng: np.random.Generator, values: np.ndarray) -> Words:
    """Words at most two units from the values, which are rounded to words, and of any sign."""
    words = values.astype(np.float32).view(U32) + rng.integers(-2, 3, len(values)).astype(np.int32).view(U32)
    return words ^ rng.integers(0, 2, len(values), dtype=U32) << U32(31)


def _mixed(rng: np.random.Generator, *kinds: Words) -> Words:
    """For each place one of the kinds."""
    return np.choose(rng.integers(0, len(kinds), len(kinds[0])), kinds)


def sums(rng: np.random.Generator, count: int) -> list[Words]:
    """a and b whose exponents differ by at most 30, or anything; c is unused."""
    a = floats(rng, count)
    b = floats(rng, count, exponent(a) + rng.integers(-30, 31, count))
    return [a, _mixed(rng, b, b, near(rng, a.view(np.float32)), floats(rng, count)), floats(rng, count)]


def products(rng: np.random.Generator, count: int) -> list[Words]:
    """a and b whose product is in range, near its ends, near the smallest normal number, or anything, and c that is
    near the product, within reach of it, or anything."""
    a = floats(rng, count)
    place = _mixed(rng, rng.integers(-30, 30, count), rng.integers(0, 256, count), np.full(count, 255))
    b = _mixed(rng, floats(rng, count, place + 127 - exponent(a)), near(rng, SMALLEST / a.view(np.float32)),
               floats(rng, count))
    product = a.view(np.float32).astype(np.float64) * b.view(np.float32)
    c = floats(rng, count, exponent(product.astype(np.float32).view(U32)) + rng.integers(-54, 30, count))
    return [a, b, _mixed(rng, c, c, near(rng, product), floats(rng, count))]


def cancellations(rng: np.random.Generator, count: int) -> list[Words]:
    """a and b whose product is below the smallest normal number or little above, and c from which it takes so much that
    about this number is left."""
    a = floats(rng, count, rng.integers(1, 100, count))
    b = floats(rng, count, rng.integers(-30, 5, count) + 127 - exponent(a))
    product = a.view(np.float32).astype(np.float64) * b.view(np.float32)
    return [a, b, (product + np.copysign(SMALLEST, product)).astype(np.float32).view(U32) ^ SIGN]


def quotients(rng: np.random.Generator, count: int) -> list[Words]:
    """a and b whose quotient is in range, near its ends, near a short fraction, near the smallest normal number, or
    anything; c is unused."""
    b = floats(rng, count)
    place = _mixed(rng, rng.integers(-30, 30, count), rng.integers(0, 256, count), np.full(count, 255))
    a = floats(rng, count, place - 127 + exponent(b))
    short = near(rng, floats(rng, count).view(np.float32).astype(np.float64) * b.view(np.float32))
    tiny = _mixed(rng, near(rng, b.view(np.float32) * SMALLEST), near(rng, np.full(count, 1 / SMALLEST)))
    return [_mixed(rng, a, short, tiny, floats(rng, count)), b, floats(rng, count)]


def squares(rng: np.random.Generator, count: int) -> list[Words]:
    """a near the square of a number, or of one between two numbers, or anything; b and c are unused. Half of those near
    squares are not negative."""
    root = floats(rng, count).view(np.float32).astype(np.float64)
    between = root * (1 + 2.0 ** -24)
    a = _mixed(rng, near(rng, root * root), near(rng, between * between), floats(rng, count))
    return [np.where(rng.random(count) < 0.5, a & U32(0x7FFFFFFF), a), a, a]


def integers(rng: np.random.Generator, count: int) -> list[Words]:
    """Integers of any length, and at the ends of types."""
    def some() -> Words:
        size = rng.integers(0, 1 << 32, count, dtype=np.uint64).astype(U32) >> rng.integers(0, 32, count, dtype=U32)
        return _mixed(rng, size, U32(0) - size, U32(1) << rng.integers(0, 32, count, dtype=U32),
                      rng.choice(SPECIAL_INTEGERS, count))

    return [some(), some(), some()]


def multiples(rng: np.random.Generator, count: int) -> list[Words]:
    """Integers a and b, of which a is often at most one from a multiple of b; c is unused."""
    a, b, quotient = integers(rng, count)
    return [_mixed(rng, a, b * quotient + rng.integers(-1, 2, count).astype(np.int32).view(U32)), b, quotient]


def reals(rng: np.random.Generator, count: int) -> list[Words]:
    """Floats around the range of integers, and any."""
    def some() -> Words:
        return _mixed(rng, floats(rng, count, rng.integers(120, 162, count)), floats(rng, count))

    return [some(), some(), some()]


def alike(rng: np.random.Generator, count: int) -> list[Words]:
    """Floats, often equal, of opposite sign, or neighbours."""
    a = floats(rng, count)
    return [a, _mixed(rng, floats(rng, count), a, near(rng, a.view(np.float32)), rng.choice(SPECIAL_FLOATS, count)), a]
