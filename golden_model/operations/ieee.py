"""What single and double precision have in common, on bit patterns: formats, minimum and maximum, classification."""

from typing import NamedTuple

import numpy as np

from warploom.arch.isa import Test


class Format(NamedTuple):
    """Bit patterns of one IEEE format, as numpy scalars of its unsigned type; `integer` is the signed type.

    `nan` is the NaN that operations return: PTX fixes it for f32; for f64, where PTX does not, it is the default
    quiet NaN.
    """

    sign: np.generic
    magnitude: np.generic
    infinity: np.generic
    normal: np.generic  # the smallest normal magnitude
    nan: np.generic
    integer: type


SINGLE = Format(*map(np.uint32, (0x80000000, 0x7FFFFFFF, 0x7F800000, 0x00800000, 0x7FFFFFFF)), np.int32)
DOUBLE = Format(*map(np.uint64, (1 << 63, (1 << 63) - 1, 0x7FF << 52, 1 << 52, 0xFFF8 << 48)), np.int64)


def flush(words: np.ndarray) -> np.ndarray:
    """Single-precision subnormals become zeros of their sign."""
    return np.where(words & SINGLE.infinity == 0, words & SINGLE.sign, words)


def extreme(a: np.ndarray, b: np.ndarray, form: Format, *, largest: bool, nan: bool = False) -> np.ndarray:
    """Minimum or maximum of bit patterns: -0 is below +0, and a number beats a NaN unless `nan`."""
    key_a, key_b = (np.where(w & form.sign, w ^ form.magnitude, w).view(form.integer) for w in (a, b))
    nan_a, nan_b = (w & form.magnitude > form.infinity for w in (a, b))
    first = key_a > key_b if largest else key_a < key_b
    chosen = np.where(nan_b | first & ~nan_a, a, b)
    return np.where(nan_a | nan_b if nan else nan_a & nan_b, form.nan, chosen)


def has_property(test: Test, words: np.ndarray, form: Format) -> np.ndarray:
    """TESTP of bit patterns."""
    size = words & form.magnitude
    if test is Test.FINITE:
        return size < form.infinity
    if test is Test.INFINITE:
        return size == form.infinity
    if test is Test.NUMBER:
        return size <= form.infinity
    if test is Test.NOTANUMBER:
        return size > form.infinity
    if test is Test.NORMAL:
        return (size >= form.normal) & (size < form.infinity)
    return (size > 0) & (size < form.normal)
