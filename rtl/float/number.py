"""The parts of a single-precision word."""

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import data

EXPONENT, FRACTION = 8, 23
"""Bits of the fields of a word; its sign is above them."""

SIGNIFICAND = FRACTION + 1
BIAS = 127
TOP = (1 << EXPONENT) - 1
"""The exponent of infinity and NaN."""

NUMBER = data.StructLayout({
    "sign": 1, "exponent": EXPONENT, "significand": SIGNIFICAND, "zero": 1, "infinite": 1, "nan": 1,
})
"""A word, whose finite value is significand * 2^(exponent - 150). A subnormal number or zero has the exponent 1, and a
significand without its leading one."""


def unpack(m: Module, word: Value, ftz: Value, name: str) -> data.View:
    """The parts of a word; with `ftz` a subnormal number is zero."""
    number = Signal(NUMBER, name=name)
    fraction, exponent = word[:FRACTION], word[FRACTION : FRACTION + EXPONENT]
    normal, top, empty = exponent.any(), exponent.all(), ~fraction.any()
    m.d.comb += [
        number.sign.eq(word[FRACTION + EXPONENT]),
        number.exponent.eq(Cat(exponent[0] | ~normal, exponent[1:])),
        number.significand.eq(Cat(fraction & (normal | ~ftz).replicate(FRACTION), normal)),
        number.zero.eq(~normal & (empty | ftz)),
        number.infinite.eq(top & empty),
        number.nan.eq(top & ~empty),
    ]
    return number


def magnitude(exponent: int, fraction: int = 0) -> Const:
    """The 31 lower bits of a word."""
    return Const(exponent << FRACTION | fraction, EXPONENT + FRACTION)


ALL_ONES = (1 << FRACTION) - 1
ZERO, ONE, INFINITY = magnitude(0), magnitude(BIAS), magnitude(TOP)
LARGEST, NAN = magnitude(TOP - 1, ALL_ONES), magnitude(TOP, ALL_ONES)
"""Words without their sign; that of NaN is 0."""
