"""IEEE arithmetic in rationals, slow and simple, as an independent reference for the model's vectorised arithmetic."""

import math
from dataclasses import dataclass
from fractions import Fraction

from warploom.arch.modifiers import Rounding


@dataclass(frozen=True)
class Form:
    """An IEEE format: exponent and fraction bits."""

    exponent: int
    fraction: int

    @property
    def bits(self) -> int:
        return 1 + self.exponent + self.fraction

    @property
    def infinity(self) -> int:
        return ((1 << self.exponent) - 1) << self.fraction

    @property
    def bias(self) -> int:
        return (1 << (self.exponent - 1)) - 1


F32, F64, F16, BF16 = Form(8, 23), Form(11, 52), Form(5, 10), Form(8, 7)
NAN = "nan"


@dataclass(frozen=True)
class Real:
    """A decoded float: a sign and a magnitude, which is a rational, infinity or NaN."""

    negative: bool
    size: Fraction | float | str

    @property
    def is_nan(self) -> bool:
        return self.size == NAN

    @property
    def is_infinite(self) -> bool:
        return self.size == math.inf

    @property
    def signed(self) -> Fraction | float:
        return -self.size if self.negative else self.size


def decode(word: int, form: Form, flush: bool = False) -> Real:
    """The float of a bit pattern."""
    negative, size = bool(word >> (form.bits - 1)), word & ((1 << (form.bits - 1)) - 1)
    if size >= form.infinity:
        return Real(negative, math.inf if size == form.infinity else NAN)
    exponent, fraction = size >> form.fraction, size & ((1 << form.fraction) - 1)
    if not exponent:
        value = Fraction(0 if flush else fraction, 1 << (form.bias - 1 + form.fraction))
    else:
        value = Fraction(fraction | 1 << form.fraction) * Fraction(2) ** (exponent - form.bias - form.fraction)
    return Real(negative, value)


def encode(value: Fraction, form: Form, rounding: Rounding, *, negative_zero: bool = False, flush: bool = False) -> int:
    """The bit pattern of a rational, rounded; the nearest candidates are found by walking down from its exponent."""
    negative = value < 0 or (value == 0 and negative_zero)
    sign, size = int(negative) << (form.bits - 1), abs(value)
    exponent = 1 - form.bias
    while size >= Fraction(2) ** (exponent + 1):
        exponent += max(1, size.numerator.bit_length() - size.denominator.bit_length() - exponent - 1)
    upward = {Rounding.RN: None, Rounding.RZ: False, Rounding.RM: negative, Rounding.RP: not negative}[rounding]
    if flush and _whole(size * 2 ** (form.bias + form.fraction), upward) < 2 << form.fraction:
        return sign  # below the smallest normal number, also if half its last place is rounded to
    word = _whole(size / Fraction(2) ** (exponent - form.fraction), upward)
    word += (exponent + form.bias - 1) << form.fraction
    if word >= form.infinity:
        word = form.infinity - (upward is False)
    return sign | word


def _whole(units: Fraction, upward: bool | None) -> int:
    """An integer, the next one upward or downward, or (None) the nearest one, to even."""
    return round(units) if upward is None else math.ceil(units) if upward else math.floor(units)


def fused(factors: tuple[Real, Real], z: Real, form: Form, rounding: Rounding, *, flush: bool = False) -> int | str:
    """x * y + z, rounded once; addition and multiplication are its special cases."""
    x, y = factors
    negative = x.negative != y.negative
    if NAN in (x.size, y.size, z.size) or {x.size, y.size} == {0, math.inf}:
        return NAN
    if math.inf in (x.size, y.size):
        if z.is_infinite and z.negative != negative:
            return NAN
        return int(negative) << (form.bits - 1) | form.infinity
    if z.is_infinite:
        return int(z.negative) << (form.bits - 1) | form.infinity
    product = x.signed * y.signed
    if product == 0 and z.size == 0:
        minus = negative and z.negative if negative == z.negative else rounding is Rounding.RM
    else:
        minus = rounding is Rounding.RM
    return encode(product + z.signed, form, rounding, negative_zero=minus, flush=flush)


def quotient(x: Real, y: Real, form: Form, rounding: Rounding, *, flush: bool = False) -> int | str:
    """x / y."""
    negative = x.negative != y.negative
    if x.is_nan or y.is_nan or (x.size == y.size and x.size in (0, math.inf)):
        return NAN
    if x.is_infinite or y.size == 0:
        return int(negative) << (form.bits - 1) | form.infinity
    value = Fraction(0) if y.is_infinite else x.signed / y.signed
    return encode(value, form, rounding, negative_zero=negative, flush=flush)


def root(x: Real, form: Form, rounding: Rounding, *, flush: bool = False) -> int | str:
    """The square root: correctly rounded because the integer root carries a sticky bit far below."""
    if x.is_nan or (x.negative and x.size != 0):
        return NAN
    if x.is_infinite:
        return form.infinity
    scaled = x.size * 4**1200
    whole = math.isqrt(scaled.numerator)
    value = Fraction(2 * whole + (whole * whole != scaled.numerator), 2**1201)
    return encode(value, form, rounding, negative_zero=x.negative, flush=flush)
