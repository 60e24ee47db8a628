"""A multiplication in parts that fit a pipeline stage: Booth recoding, selection, carry-save addition.

The product of two numbers of n bits (n even) that are both signed or both unsigned is the sum of n / 2 + 1 multiples of
the multiplicand (radix-4 Booth) and one word of corrections, modulo a power of two; a tree of 3:2 compressors leaves
two words.
"""

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import data

PRODUCT_BITS = 64
DIGITS = 17
"""Radix-4 digits of a 32-bit number with two more bits of sign or zeros."""

DIGIT = data.StructLayout({"one": 1, "two": 1, "negate": 1})
"""A Booth digit in -2 .. 2: add the multiplicand, its double, or nothing; negated."""


def booth_digits(multiplier: Value, sign: Value) -> Value:
    """The digits of a multiplier whose higher bits are all `sign`, lowest first."""
    bits = Cat(Const(0, 1), multiplier, sign, sign)
    digits = []
    for i in range(len(multiplier) // 2 + 1):
        low, middle, high = bits[2 * i], bits[2 * i + 1], bits[2 * i + 2]
        one = low ^ middle
        two = (high ^ middle) & ~one
        digits.append(Cat(one, two, high))
    return Cat(*digits)


def partial_products(multiplicand: Value, sign: Value, digits: data.View, width: int = PRODUCT_BITS) -> list[Value]:
    """Words whose sum is the product modulo 2^width. `sign` is above the bits of `multiplicand`.

    A multiple with sign s at bit n is its lower bits + (1 - s) * 2^n - 2^n. The last term is constant and goes into the
    word of corrections, as does the term that completes a two's complement negation.
    """
    sign_bit = len(multiplicand) + 1  # of a multiple: it may be the double of a signed number of one bit less
    single = Cat(multiplicand, sign, sign)
    double = Cat(Const(0, 1), multiplicand, sign)
    rows, negations = [], []
    for i, digit in enumerate(digits):
        bits = len(single)
        chosen = (single & digit.one.replicate(bits)) | (double & digit.two.replicate(bits))
        multiple = chosen ^ digit.negate.replicate(bits)
        row = Cat(Const(0, 2 * i), multiple[:sign_bit], ~multiple[sign_bit])
        rows.append(row[:width])
        negations += [digit.negate, Const(0, 1)]
    correction = -sum(1 << sign_bit + 2 * i for i in range(len(rows))) % (1 << width)
    rows.append(Cat(*negations)[:sign_bit] | Const(correction, width))
    return rows


def compress(m: Module, rows: list[Value], width: int, name: str = "row") -> list[Value]:
    """Two words with the same sum modulo 2^width, by a tree of 3:2 compressors."""
    level = 0
    while len(rows) > 2:
        left = len(rows) % 3
        reduced = rows[len(rows) - left :]
        for i in range(0, len(rows) - left, 3):
            total = Signal(width, name=f"{name}_{level}_sum_{i // 3}")
            carry = Signal(width, name=f"{name}_{level}_carry_{i // 3}")
            a, b, c = rows[i : i + 3]
            m.d.comb += [total.eq(a ^ b ^ c), carry.eq(((a & b) | (a & c) | (b & c)) << 1)]
            reduced += [total, carry]
        rows, level = reduced, level + 1
    return rows
