"""Single precision by MPFR, an implementation of IEEE arithmetic that is not ours: an independent reference, case by
case, for the vectorised arithmetic of the golden model and for hardware. Integers are Python's."""

from collections.abc import Callable, Iterable

import gmpy2
import numpy as np

from warploom.arch.isa import Instruction, Op
from warploom.arch.modifiers import Combine, Cond, DType, Rounding

Words = np.ndarray
U32 = np.uint32

SIGN, INFINITY, NAN = U32(1 << 31), U32(0xFF << 23), U32(0x7FFFFFFF)

MODES = {Rounding.RN: gmpy2.RoundToNearest, Rounding.RZ: gmpy2.RoundToZero, Rounding.RM: gmpy2.RoundDown,
         Rounding.RP: gmpy2.RoundUp}


def single(instruction: Instruction) -> gmpy2.context:
    """A context whose results are those of single precision: with `ftz` of 24 bits also below the smallest normal
    number, which is then known to be reached or not; without it, subnormal ones of fewer bits."""
    least = -400 if instruction.ftz else -148  # products have exponents down to -298
    return gmpy2.context(precision=24, emin=least, emax=128, subnormalize=not instruction.ftz,
                         round=MODES[instruction.rounding])


def flushed(words: Words) -> Words:
    """Subnormal numbers as zeros of their sign."""
    return np.where(words & INFINITY == 0, words & SIGN, words)


def numbers(words: Words) -> list[gmpy2.mpfr]:
    """Words as numbers of MPFR, exactly."""
    with np.errstate(invalid="ignore"):  # a signalling NaN
        values = words.view(np.float32).astype(np.float64)
    return [gmpy2.mpfr(value, 24) for value in values.tolist()]


def words_of(results: Iterable[object], instruction: Instruction) -> Words:
    """Numbers of single precision as words, by the rules of the ISA: saturated, flushed, with its one NaN."""
    exact = np.array([float(result) for result in results])
    if instruction.ftz:
        exact = np.where(np.abs(exact) < 2.0**-126, np.copysign(0, exact), exact)
    floats = exact.astype(np.float32)
    if instruction.sat:
        floats = np.where(np.isnan(floats) | np.signbit(floats), np.float32(0), np.minimum(floats, np.float32(1)))
    return np.where(np.isnan(floats), NAN, floats.view(U32))


ARITHMETIC: dict[Op, Callable[..., object]] = {
    Op.FADD: lambda a, b, c: a + b, Op.FMUL: lambda a, b, c: a * b, Op.FFMA: gmpy2.fma,
    Op.FDIV: lambda a, b, c: a / b, Op.FRCP: lambda a, b, c: 1 / a, Op.FSQRT: lambda a, b, c: gmpy2.sqrt(a),
}


def arithmetic(instruction: Instruction, operands: tuple[Words, ...], pred: np.ndarray) -> Words:
    """FADD, FMUL, FFMA, FDIV, FRCP and FSQRT."""
    columns = [numbers(flushed(words) if instruction.ftz else words) for words in operands]
    with gmpy2.context(single(instruction)):
        compute = ARITHMETIC[instruction.op]
        return words_of([compute(*row) for row in zip(*columns, strict=True)], instruction)


HOLDS: dict[Cond, Callable[..., bool]] = {
    Cond.EQ: lambda a, b: a == b, Cond.NE: lambda a, b: a < b or a > b, Cond.LT: lambda a, b: a < b,
    Cond.LE: lambda a, b: a <= b, Cond.GT: lambda a, b: a > b, Cond.GE: lambda a, b: a >= b,
    Cond.NUM: lambda a, b: not gmpy2.is_unordered(a, b), Cond.NAN: gmpy2.is_unordered,
    Cond.EQU: lambda a, b: gmpy2.is_unordered(a, b) or a == b, Cond.NEU: lambda a, b: a != b,
    Cond.LTU: lambda a, b: not a >= b, Cond.LEU: lambda a, b: not a > b, Cond.GTU: lambda a, b: not a <= b,
    Cond.GEU: lambda a, b: not a < b,
}
COMBINED = {Combine.AND: np.logical_and, Combine.OR: np.logical_or, Combine.XOR: np.logical_xor}


def _larger(a: gmpy2.mpfr, b: gmpy2.mpfr) -> bool:
    """Whether a is the maximum; +0 is larger than -0."""
    return a > b or (a == b and not gmpy2.is_signed(a) and gmpy2.is_signed(b))


def comparison(instruction: Instruction, operands: tuple[Words, ...], pred: np.ndarray) -> Words:
    """FMIN, FMAX; of FSETP the predicate."""
    a, b = (flushed(words) if instruction.ftz else words for words in operands[:2])
    if instruction.xorsign:
        a, b = a & ~SIGN, b & ~SIGN
    rows = [*zip(numbers(a), numbers(b), strict=True)]
    if instruction.op is Op.FSETP:
        holds = np.array([HOLDS[instruction.cond](*row) for row in rows])
        return COMBINED[instruction.combine](holds, pred).astype(U32)
    nan_a, nan_b = (np.array([gmpy2.is_nan(number) for number in column]) for column in zip(*rows, strict=True))
    first = [_larger(*row) if instruction.op is Op.FMAX else _larger(*reversed(row)) for row in rows]
    words = np.where(nan_b | (~nan_a & np.array(first)), a, b)
    if instruction.xorsign:
        words = words | ((operands[0] ^ operands[1]) & SIGN)
    return np.where(nan_a | nan_b if instruction.nan else nan_a & nan_b, NAN, words)


INTEGERS = {DType.U8: (8, False), DType.S8: (8, True), DType.U16: (16, False), DType.S16: (16, True),
            DType.B16: (16, False), DType.U32: (32, False), DType.S32: (32, True)}
"""Bits of each integer type, and whether it is signed."""


def integers(words: Words, kind: DType) -> list[int]:
    """The integers in the low bits of words."""
    bits, signed = INTEGERS[kind]
    low = [word & (1 << bits) - 1 for word in words.tolist()]
    return [value - (1 << bits) if signed and value >> bits - 1 else value for value in low]


def integer_words(values: Iterable[int], kind: DType, clamped: bool) -> Words:
    """Integers as words of a type, clamped or without their high bits."""
    bits, signed = INTEGERS[kind]
    low, high = (-1 << bits - 1, (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    whole = np.array([min(max(value, low), high) & 0xFFFFFFFF if clamped else value & 0xFFFFFFFF for value in values])
    return np.array(integers(whole, kind)).astype(U32)


TO_INTEGRAL = {Rounding.RN: gmpy2.rint, Rounding.RZ: gmpy2.rint_trunc,
               Rounding.RM: gmpy2.rint_floor, Rounding.RP: gmpy2.rint_ceil}


def _whole(number: gmpy2.mpfr) -> int:
    """An integral number, one far outside of all types for an infinity, 0 for NaN."""
    if gmpy2.is_nan(number):
        return 0
    return (-1 if number < 0 else 1) << 64 if gmpy2.is_infinite(number) else int(number)


def conversion(instruction: Instruction, operands: tuple[Words, ...], pred: np.ndarray) -> Words:
    """CVT between types of at most 32 bits."""
    source, target, words = instruction.src_type, instruction.dst_type, operands[0]
    with gmpy2.context(single(instruction)):
        if source is not DType.F32:
            values = integers(words, source)
            if target is DType.F32:
                return words_of([gmpy2.mpfr(value) for value in values], instruction)
            return integer_words(values, target, instruction.sat)
        given = numbers(flushed(words) if instruction.ftz else words)
        if target is DType.F32 and not instruction.integral:
            return words_of(given, instruction)
        integral = [TO_INTEGRAL[instruction.rounding](number) for number in given]
        if target is DType.F32:
            return words_of(integral, instruction)
        return integer_words(map(_whole, integral), target, True)


def division(instruction: Instruction, operands: tuple[Words, ...], pred: np.ndarray) -> Words:
    """FDIV, FRCP and FSQRT; IDIV and IREM by integers of any length; by zero as the ISA says."""
    if instruction.op in ARITHMETIC:
        return arithmetic(instruction, operands, pred)
    kind = DType.S32 if instruction.signed else DType.U32
    compute = gmpy2.t_div if instruction.op is Op.IDIV else gmpy2.t_mod
    of_zero = (lambda a: -1) if instruction.op is Op.IDIV else (lambda a: a)
    rows = zip(*(integers(words, kind) for words in operands[:2]), strict=True)
    return integer_words([int(compute(a, b)) if b else of_zero(a) for a, b in rows], kind, False)
