"""CVT: between integers of 8 to 64 bits and floats.

Integer results are sign- or zero-extended to 32 bits, by the destination type. A float out of range saturates. NaN
gives 0, but from f64 or to 64 bits it gives only the top bit (PTX ISA 9.0, cvt). From f64 to f32 a NaN keeps its sign
and the top of its payload, as on an H200 (docs/silicon.md); PTX leaves it open. `half` has the 16-bit floats.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from warploom.arch.isa import Instruction, Op
from warploom.arch.modifiers import DType
from warploom.golden_model.functional.operations import half
from warploom.golden_model.functional.operations.common import Function, Operands, Outcome, join, split
from warploom.golden_model.functional.operations.float32 import reader, writer
from warploom.golden_model.functional.operations.float64 import pair_of, write_double
from warploom.golden_model.functional.operations.ieee import SINGLE
from warploom.golden_model.functional.operations.rounding import TO_INTEGRAL, narrow, settle, two_sum

INTEGERS: dict[DType, Any] = {
    DType.U8: np.uint8, DType.S8: np.int8, DType.U16: np.uint16, DType.S16: np.int16, DType.U32: np.uint32,
    DType.S32: np.int32, DType.U64: np.uint64, DType.S64: np.int64, DType.B16: np.uint16,
}
"""The numpy type of each integer type."""


def _integers(kind: Any) -> Callable[[Operands], np.ndarray]:
    """Reads the integer operand."""
    if kind(0).itemsize == 8:
        return lambda x: join(x.a, x.b).view(kind)
    return lambda x: x.a.astype(kind)


def write_integers(values: np.ndarray) -> Outcome:
    """Integers of any type as one word, extended to 32 bits, or two."""
    if values.itemsize == 8:
        return split(values)
    return Outcome(values.astype(np.int32).view(np.uint32) if values.itemsize < 4 else values.view(np.uint32))


def _between_integers(i: Instruction) -> Function:
    read, kind, source = _integers(INTEGERS[i.src_type]), INTEGERS[i.dst_type], np.iinfo(INTEGERS[i.src_type])
    limits = np.iinfo(kind)
    low, high = max(limits.min, source.min), min(limits.max, source.max)
    if i.sat:
        return lambda x: write_integers(np.clip(read(x), source.dtype.type(low), source.dtype.type(high)).astype(kind))
    return lambda x: write_integers(read(x).astype(kind))


def _integer_pair(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """An integer as an exact pair of float64."""
    if values.itemsize < 8:
        return values.astype(np.float64), np.zeros(values.shape)
    upper = values >> values.dtype.type(32)
    lower = values & values.dtype.type(0xFFFFFFFF)
    return two_sum(upper.astype(np.float64) * 2.0**32, lower.astype(np.float64))


def _floats(i: Instruction) -> Callable[[Operands], np.ndarray]:
    """Reads the float operand as float64."""
    if i.src_type is DType.F64:
        return pair_of
    if i.src_type.is_half:
        read_half = half.reader(i)
        return lambda x: read_half(x.a)
    read = reader(i)
    return lambda x: read(x.a).astype(np.float64)


def _write_pair(i: Instruction) -> Callable[[np.ndarray, np.ndarray], Outcome]:
    """Rounds an exact pair to the destination float."""
    if i.dst_type.is_half:
        write_half = half.writer(i)
        return lambda high, low: Outcome(write_half(high, low))
    if i.dst_type is DType.F32:
        write = writer(i)
        return lambda high, low: Outcome(write(narrow(high, low, i.rounding), lambda: (high, low)))

    def write_wide(high: np.ndarray, low: np.ndarray) -> Outcome:
        result = settle(high, low, i.rounding)
        return write_double(np.where(result > 0, np.minimum(result, 1.0), 0.0) if i.sat else result)

    return write_wide


def _to_integer(i: Instruction) -> Function:
    read, integral, kind = _floats(i), TO_INTEGRAL[i.rounding], INTEGERS[i.dst_type]
    limits, bits = np.iinfo(kind), 8 * kind(0).itemsize
    past_end = 2.0 ** (bits - (limits.min < 0))
    of_nan = (limits.min or 1 << bits - 1) if i.src_type is DType.F64 or bits == 64 else 0

    def convert(x: Operands) -> Outcome:
        values = read(x)
        nan, whole = np.isnan(values), integral(values)
        outside = nan | (whole >= past_end) | (whole < limits.min)
        inside = np.where(outside, 0, whole).astype(np.int64 if bits < 64 else kind).astype(kind)
        edge = np.where(whole > 0, kind(limits.max), kind(limits.min))
        low, high, _ = write_integers(np.where(outside, edge, inside))
        low = None if low is None else np.where(nan, np.uint32(of_nan & 0xFFFFFFFF), low)
        return Outcome(low, None if high is None else np.where(nan, np.uint32(of_nan >> 32 & 0xFFFFFFFF), high))

    return convert


def _with_nan(convert: Function) -> Function:
    """The function from f64 to f32 that makes a NaN quiet, and keeps its sign and the top of its payload."""

    def function(x: Operands) -> Outcome:
        payload = x.b << np.uint32(3) | x.a >> np.uint32(29)
        nan = x.b & SINGLE.sign | np.uint32(0x7FC00000) | payload & np.uint32(0x3FFFFF)
        number = convert(x).result
        assert number is not None
        return Outcome(np.where(np.isnan(pair_of(x)), nan, number))

    return function


def _convert(i: Instruction) -> Function:
    from_float, to_float = (t not in INTEGERS for t in (i.src_type, i.dst_type))
    if not from_float and not to_float:
        return _between_integers(i)
    if not to_float:
        return _to_integer(i)
    write = _write_pair(i)
    if not from_float:
        read_integers = _integers(INTEGERS[i.src_type])
        return lambda x: write(*_integer_pair(read_integers(x)))
    read, integral = _floats(i), TO_INTEGRAL[i.rounding] if i.integral else np.positive

    def convert(x: Operands) -> Outcome:
        values = integral(read(x))
        return write(values, np.zeros(values.shape))

    return _with_nan(convert) if i.src_type is DType.F64 and i.dst_type is DType.F32 and not i.sat else convert


OPERATIONS = {Op.CVT: _convert}
"""Makes the function of a conversion."""
