"""Single precision, correctly rounded: arithmetic, minimum and maximum, comparison, classification.

`ftz` flushes subnormal operands, and results that are subnormal after rounding, to zeros with their sign. Every NaN
result is 0x7fffffff. `sat` clamps to [0, 1], NaN to +0.
"""

from collections.abc import Callable

import numpy as np

from warploom.arch.isa import Instruction, Op
from warploom.arch.modifiers import Rounding
from warploom.golden_model.functional.operations.common import (
    Builder,
    Function,
    Outcome,
    Words,
    combined,
    comparison,
    value,
)
from warploom.golden_model.functional.operations.ieee import SINGLE, extreme, flush
from warploom.golden_model.functional.operations.rounding import narrow, round_to_odd, signed_zero, two_product, two_sum

U32, F32, F64 = np.uint32, np.float32, np.float64


def reader(i: Instruction) -> Callable[[Words], np.ndarray]:
    """From words to float32; with `ftz` operands are flushed."""
    return (lambda words: flush(words).view(F32)) if i.ftz else (lambda words: words.view(F32))


def writer(i: Instruction) -> Callable[[np.ndarray], Words]:
    """From float32 results to words: saturation, flushing, the canonical NaN."""

    def write(floats: np.ndarray) -> Words:
        if i.sat:
            floats = np.where(floats > 0, np.minimum(floats, F32(1)), F32(0))
        words = flush(floats.view(U32)) if i.ftz else floats.view(U32)
        nan = np.isnan(floats)
        return np.where(nan, SINGLE.nan, words) if nan.any() else words

    return write


def _arithmetic(
    nearest: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray],
    directed: Callable[[np.ndarray, np.ndarray, np.ndarray, Rounding], np.ndarray],
) -> Builder:
    """`nearest(a, b, c)` in float32, or `directed(a, b, c, rounding)` in float64."""

    def build(i: Instruction) -> Function:
        read, write = reader(i), writer(i)

        def wide(words: Words) -> np.ndarray:
            return read(words).astype(F64)

        if i.rounding is Rounding.RN:
            return value(lambda a, b, c: write(nearest(read(a), read(b), read(c))))
        return value(lambda a, b, c: write(directed(wide(a), wide(b), wide(c), i.rounding)))

    return build


def _add(a: np.ndarray, b: np.ndarray, c: np.ndarray, rounding: Rounding) -> np.ndarray:
    high, low = two_sum(a, b)
    return narrow(signed_zero(high, a, b, rounding), low, rounding)


def _multiply(a: np.ndarray, b: np.ndarray, c: np.ndarray, rounding: Rounding) -> np.ndarray:
    return narrow(a * b, None, rounding)  # 48 bits: exact


def _fused(a: np.ndarray, b: np.ndarray, c: np.ndarray, rounding: Rounding) -> np.ndarray:
    product = a * b
    high, low = two_sum(product, c)
    return narrow(signed_zero(high, product, c, rounding), low, rounding)


HALF_ULP, ULP_BITS = 1 << 28, (1 << 29) - 1


def fused_nearest(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """a * b + c in float32, rounded once. The float64 sum rounds correctly to float32 unless it is a tie or
    subnormal."""
    product, addend = a.astype(F64) * b, c.astype(F64)
    total = product + addend
    result = total.astype(F32)
    tie = total.view(np.int64) & ULP_BITS == HALF_ULP
    if not (tie | (np.abs(result) < F32(2.0**-125)) & (total != 0)).any():
        return result
    high, low = two_sum(product, addend)
    return round_to_odd(high, low).astype(F32)


def _divide(a: np.ndarray, b: np.ndarray, c: np.ndarray, rounding: Rounding) -> np.ndarray:
    quotient = a / b
    product, error = two_product(quotient, b)
    return narrow(quotient, ((a - product) - error) / b, rounding)


def _reciprocal(a: np.ndarray, b: np.ndarray, c: np.ndarray, rounding: Rounding) -> np.ndarray:
    return _divide(np.ones_like(a), a, c, rounding)


def _root(a: np.ndarray, b: np.ndarray, c: np.ndarray, rounding: Rounding) -> np.ndarray:
    root = np.sqrt(a)
    product, error = two_product(root, root)
    return narrow(root, (a - product) - error, rounding)


def _extreme(largest: bool) -> Builder:
    def build(i: Instruction) -> Function:
        def choose(a: Words, b: Words, c: Words) -> Words:
            if i.ftz:
                a, b = flush(a), flush(b)
            return extreme(a, b, SINGLE, largest=largest, nan=i.nan)

        def choose_magnitude(a: Words, b: Words, c: Words) -> Words:
            chosen = choose(a & SINGLE.magnitude, b & SINGLE.magnitude, c)
            return np.where(chosen > SINGLE.infinity, chosen, chosen ^ (a ^ b) & SINGLE.sign)

        return value(choose_magnitude if i.xorsign else choose)

    return build


def _set_predicate(i: Instruction) -> Function:
    read, test, combine = reader(i), comparison(i.cond, floats=True), combined(i)
    return lambda x: Outcome(pred=combine(test(read(x.a), read(x.b)), x.pred))


OPERATIONS: dict[Op, Builder] = {
    Op.FADD: _arithmetic(lambda a, b, c: a + b, _add), Op.FMUL: _arithmetic(lambda a, b, c: a * b, _multiply),
    Op.FFMA: _arithmetic(fused_nearest, _fused), Op.FDIV: _arithmetic(lambda a, b, c: a / b, _divide),
    Op.FRCP: _arithmetic(lambda a, b, c: F32(1) / a, _reciprocal),
    Op.FSQRT: _arithmetic(lambda a, b, c: np.sqrt(a), _root), Op.FMIN: _extreme(False), Op.FMAX: _extreme(True),
    Op.FSETP: _set_predicate,
}
"""Makes the function of each single-precision instruction. TESTP is in `float64`, in both precisions."""
