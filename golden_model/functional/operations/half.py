"""Half precision (F16) and bfloat16 (BF16) as types of CVT, their only operation: arithmetic on them is that of f32.

Of an operand the low 16 bits are read; a result has 16 bits, extended with zeros, and every NaN result is 0x7fff. `ftz`
flushes operands and results of F16, as `float32` does those of f32. `sat` clamps to [0, 1], NaN to +0.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from warploom.arch.isa import Instruction
from warploom.arch.modifiers import DType, Rounding
from warploom.golden_model.functional.operations.common import Words
from warploom.golden_model.functional.operations.rounding import TO_INTEGRAL, round_to_odd

U16, U32, F16, F32, F64 = np.uint16, np.uint32, np.float16, np.float32, np.float64


class Format(NamedTuple):
    """A 16-bit float: bits of a significand, the exponent of the last place of subnormal numbers, the largest number,
    and its patterns from and to float64."""

    precision: int
    last_place: int
    largest: float
    decode: Callable[[Words], np.ndarray]
    encode: Callable[[np.ndarray], Words]


FORMATS = {
    DType.F16: Format(
        11, -24, 65504.0, lambda words: words.astype(U16).view(F16).astype(F64),
        lambda values: values.astype(F16).view(U16).astype(U32)),
    DType.BF16: Format(
        8, -133, 255 * 2.0**120, lambda words: (words << U32(16)).view(F32).astype(F64),
        lambda values: values.astype(F32).view(U32) >> U32(16)),
}

NAN, SMALLEST, ENDLESS = U32(0x7FFF), 2.0**-14, -1000
"""The NaN that conversions return; the smallest normal F16; a last place below that of any number that matters."""


def reader(i: Instruction) -> Callable[[Words], np.ndarray]:
    """From words to float64."""
    decode = FORMATS[i.src_type].decode
    return (lambda words: _flush(number := decode(words), number)) if _flushes(i, i.src_type) else decode


def writer(i: Instruction) -> Callable[[np.ndarray, np.ndarray], Words]:
    """From exact pairs to words."""
    form, flushes = FORMATS[i.dst_type], _flushes(i, i.dst_type)

    def write(high: np.ndarray, low: np.ndarray) -> Words:
        exact = round_to_odd(high, low)
        result = _limited(_rounded(exact, i.rounding, form.precision, form.last_place), exact, i.rounding, form.largest)
        if flushes:
            result = _flush(result, _rounded(exact, i.rounding, form.precision, ENDLESS))
        if i.sat:
            result = np.where(result > 0, np.minimum(result, 1.0), 0.0)
        return np.where(np.isnan(result), NAN, form.encode(result))

    return write


def _flushes(i: Instruction, kind: DType) -> bool:
    return i.ftz and kind is DType.F16


def _flush(values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Values whose size is below normal F16 become zeros of their sign."""
    return np.where(np.abs(sizes) < SMALLEST, np.copysign(0.0, values), values)


def _rounded(exact: np.ndarray, rounding: Rounding, precision: int, last_place: int) -> np.ndarray:
    """Rounded to a number of bits, of which none is below the last place; exponents have no upper end."""
    _, exponent = np.frexp(exact)  # of infinity and NaN any
    unit = np.ldexp(1.0, np.maximum(exponent - precision, last_place))
    return TO_INTEGRAL[rounding](exact / unit) * unit


def _limited(rounded: np.ndarray, exact: np.ndarray, rounding: Rounding, largest: float) -> np.ndarray:
    """What is rounded to more than the largest number is that, or infinity if the rounding is away from zero there."""
    size = np.abs(exact)
    away = {Rounding.RN: size, Rounding.RZ: -size, Rounding.RM: -exact, Rounding.RP: exact}[rounding] > 0
    beyond = (np.abs(rounded) > largest) & np.isfinite(exact)
    return np.where(beyond, np.copysign(np.where(away, np.inf, largest), rounded), rounded)
