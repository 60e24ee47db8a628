"""Correct rounding in float64 arithmetic: exact pairs (high, low), rounded once to float32 or float64.

A *pair* represents the real number high + low, where high is the sum rounded to nearest even. For a single rounding
only the sign of low matters. TwoSum is by Knuth, the product split by Veltkamp and Dekker, rounding to odd by Boldo and
Melquiond. Callers silence numpy's floating-point warnings.
"""

import sys
from fractions import Fraction
from math import isqrt

import numpy as np

from warploom.arch.modifiers import Rounding

TO_INTEGRAL = {Rounding.RN: np.rint, Rounding.RZ: np.trunc, Rounding.RM: np.floor, Rounding.RP: np.ceil}
"""Rounds floats to integral values."""

SPLITTER = 134217729.0  # 2**27 + 1
SAFE_LOW, SAFE_HIGH = 2.0**-400, 2.0**400
"""Between these magnitudes no error term of a product, quotient or square root underflows or overflows."""


def two_sum(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """x + y as a pair, exactly."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def two_product(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """x * y as a pair, exactly where magnitudes are safe."""
    product = x * y
    xs, ys = SPLITTER * x, SPLITTER * y
    x_high, y_high = xs - (xs - x), ys - (ys - y)
    x_low, y_low = x - x_high, y - y_high
    return product, ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low


def round_to_odd(high: np.ndarray, low: np.ndarray) -> np.ndarray:
    """The pair as one float64 whose last bit is sticky: rounded to fewer bits, it gives the same as the exact value."""
    bits = high.view(np.int64)
    move = (np.abs(low) > 0) & (bits & 1 == 0)  # false where low is NaN: high is then infinite or NaN
    step = np.where((low > 0) == (high > 0), 1, -1)
    return np.where(move, bits + step, bits).view(np.float64)


def narrow(high: np.ndarray, low: np.ndarray | None, rounding: Rounding) -> np.ndarray:
    """The pair (low None for an exact high) rounded to float32."""
    exact = high if low is None else round_to_odd(high, low)
    nearest = exact.astype(np.float32)
    if rounding is Rounding.RN:
        return nearest
    return _directed(nearest, exact - nearest, rounding)


SCALE, SMALLEST = 2.0**32, 2.0**-126


def is_tiny(high: np.ndarray, low: np.ndarray | None, rounding: Rounding) -> np.ndarray:
    """Whether the pair, rounded to the 24 bits of float32 as if exponents had no end, is below 2^-126. Multiplied by
    `SCALE` it is rounded so, because such results are then far from the end."""
    scaled = narrow(high * SCALE, None if low is None else low * SCALE, rounding)
    return np.abs(scaled) < SMALLEST * SCALE


def settle(high: np.ndarray, low: np.ndarray, rounding: Rounding) -> np.ndarray:
    """The pair rounded to float64."""
    if rounding is Rounding.RN:
        return high
    return _directed(high, low, rounding)


def _directed(nearest: np.ndarray, error: np.ndarray, rounding: Rounding) -> np.ndarray:
    """`nearest`, replaced by its neighbour if it is on the wrong side of the exact value, nearest + error."""
    kind = nearest.dtype.type
    if rounding is Rounding.RZ:
        outward = np.where(error > 0, nearest < 0, (error < 0) & (nearest > 0))
        return np.where(outward, np.nextafter(nearest, kind(0)), nearest)
    if rounding is Rounding.RM:
        return np.where(error < 0, np.nextafter(nearest, kind(-np.inf)), nearest)
    return np.where(error > 0, np.nextafter(nearest, kind(np.inf)), nearest)


def signed_zero(total: np.ndarray, x: np.ndarray, y: np.ndarray, rounding: Rounding) -> np.ndarray:
    """x + y with the sign of an exact zero: toward minus infinity it is +0 only for two positive zeros."""
    if rounding is not Rounding.RM:
        return total
    return np.where((total == 0) & (np.signbit(x) | np.signbit(y)), total.dtype.type(-0.0), total)


def is_ordinary(*operands: np.ndarray) -> np.ndarray:
    """True where every operand is zero or of safe magnitude."""
    sizes = [np.abs(x) for x in operands]
    return np.logical_and.reduce([(size == 0) | (size > SAFE_LOW) & (size < SAFE_HIGH) for size in sizes])


def round_fraction(exact: Fraction, rounding: Rounding) -> float:
    """A rational, not zero, rounded to float64."""
    size = abs(exact)
    exponent = max(size.numerator.bit_length() - size.denominator.bit_length() - 1, -1022)
    if size >= Fraction(2) ** (exponent + 1):
        exponent += 1
    scaled = size / Fraction(2) ** (exponent - 52)
    whole, rest = divmod(scaled.numerator, scaled.denominator)
    away = (rounding is Rounding.RP and exact > 0) or (rounding is Rounding.RM and exact < 0)
    if rounding is Rounding.RN:
        twice = 2 * rest
        whole += twice > scaled.denominator or (twice == scaled.denominator and whole & 1)
    elif away:
        whole += rest > 0
    if whole.bit_length() + exponent - 52 > 1024:
        to_infinity = away or rounding is Rounding.RN
        limit = np.inf if to_infinity else sys.float_info.max
        return limit if exact > 0 else -limit
    rounded = float(Fraction(whole) * Fraction(2) ** (exponent - 52))
    return rounded if exact > 0 else -rounded


def root_fraction(x: Fraction) -> Fraction:
    """A rational near the square root of x that is rounded to the same value as the root."""
    scale = 1300  # x * 4**scale is an integer with far more than enough bits
    square = x * 4**scale
    root = isqrt(square.numerator)
    return Fraction(2 * root + (root * root != square), 2 ** (scale + 1))
