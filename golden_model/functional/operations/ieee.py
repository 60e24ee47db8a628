"""Parts that single and double precision share, on bit patterns: formats, minimum and maximum, classification."""

from typing import Any, NamedTuple

import numpy as np

from warploom.arch.modifiers import Test


class Format(NamedTuple):
    """Bit patterns of one IEEE format, as numpy scalars of its unsigned type; `integer` is the signed type.

    `nan` is the NaN that operations return. PTX defines it for f32; for f64 it is the default quiet NaN.
    """

    sign: Any
    magnitude: Any
    infinity: Any
    normal: Any  # the smallest normal magnitude
    nan: Any
    integer: type[np.signedinteger[Any]]


U32, U64 = np.uint32, np.uint64
SINGLE = Format(U32(1 << 31), U32((1 << 31) - 1), U32(0xFF << 23), U32(1 << 23), U32(0x7FFFFFFF), np.int32)
DOUBLE = Format(U64(1 << 63), U64((1 << 63) - 1), U64(0x7FF << 52), U64(1 << 52), U64(0xFFF8 << 48), np.int64)


def flush(words: np.ndarray) -> np.ndarray:
    """Single-precision subnormals become zeros with their sign."""
    return np.where(words & SINGLE.infinity == 0, words & SINGLE.sign, words)


def extreme(a: np.ndarray, b: np.ndarray, form: Format, *, largest: bool, nan: bool = False) -> np.ndarray:
    """Minimum or maximum of bit patterns: -0 is below +0, and a number beats a NaN unless `nan`."""
    key_a, key_b = [np.where(w & form.sign, w ^ form.magnitude, w).view(form.integer) for w in (a, b)]
    nan_a, nan_b = (w & form.magnitude > form.infinity for w in (a, b))
    first = key_a > key_b if largest else key_a < key_b
    chosen = np.where(nan_b | first & ~nan_a, a, b)
    return np.where(nan_a | nan_b if nan else nan_a & nan_b, form.nan, chosen)


def has_property(test: Test, words: np.ndarray, form: Format) -> np.ndarray:
    """TESTP of bit patterns. Zeros are normal numbers, as PTX says."""
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
        return (size == 0) | (size >= form.normal) & (size < form.infinity)
    return (size > 0) & (size < form.normal)
