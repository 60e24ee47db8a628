"""Single precision, correctly rounded: arithmetic, minimum and maximum, comparison, classification.

`ftz` flushes subnormal operands, and results that are tiny after rounding, to zeros with their sign. Every NaN result
is 0x7fffffff. `sat` clamps to [0, 1], NaN to +0.
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
from warploom.golden_model.functional.operations.rounding import (
    is_tiny,
    narrow,
    round_to_odd,
    signed_zero,
    two_product,
    two_sum,
)

U32, F32, F64 = np.uint32, np.float32, np.float64

Pair = tuple[np.ndarray, np.ndarray | None]
"""An exact result in float64; the second part is None if the first one is exact."""


def reader(i: Instruction) -> Callable[[Words], np.ndarray]:
    """From words to float32; with `ftz` operands are flushed."""
    return (lambda words: flush(words).view(F32)) if i.ftz else (lambda words: words.view(F32))


def writer(i: Instruction) -> Callable[[np.ndarray, Callable[[], Pair]], Words]:
    """From float32 results to words: saturation, flushing, the canonical NaN. `exact` gives the results before they
    were rounded; it is called only if they decide what is flushed."""

    def flushed(words: Words, exact: Callable[[], Pair]) -> Words:
        words = flush(words)
        smallest = words & SINGLE.magnitude == SINGLE.normal  # may be tiny: rounded up in a larger step than of 24 bits
        if not smallest.any():
            return words
        return np.where(smallest & is_tiny(*exact(), i.rounding), words & SINGLE.sign, words)

    def write(floats: np.ndarray, exact: Callable[[], Pair]) -> Words:
        if i.sat:
            floats = np.where(floats > 0, np.minimum(floats, F32(1)), F32(0))
        words = flushed(floats.view(U32), exact) if i.ftz else floats.view(U32)
        nan = np.isnan(floats)
        return np.where(nan, SINGLE.nan, words) if nan.any() else words

    return write


def _arithmetic(
    nearest: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray],
    exact: Callable[[np.ndarray, np.ndarray, np.ndarray, Rounding], Pair],
) -> Builder:
    """`nearest(a, b, c)` in float32, or `exact(a, b, c, rounding)` in float64, then rounded."""

    def build(i: Instruction) -> Function:
        read, write = reader(i), writer(i)

        def pair(a: Words, b: Words, c: Words) -> Pair:
            return exact(read(a).astype(F64), read(b).astype(F64), read(c).astype(F64), i.rounding)

        def directed(a: Words, b: Words, c: Words) -> Words:
            result = pair(a, b, c)
            return write(narrow(*result, i.rounding), lambda: result)

        if i.rounding is Rounding.RN:
            return value(lambda a, b, c: write(nearest(read(a), read(b), read(c)), lambda: pair(a, b, c)))
        return value(directed)

    return build


def _add(a: np.ndarray, b: np.ndarray, c: np.ndarray, rounding: Rounding) -> Pair:
    high, low = two_sum(a, b)
    return signed_zero(high, a, b, rounding), low


def _multiply(a: np.ndarray, b: np.ndarray, c: np.ndarray, rounding: Rounding) -> Pair:
    return a * b, None  # 48 bits: exact


def _fused(a: np.ndarray, b: np.ndarray, c: np.ndarray, rounding: Rounding) -> Pair:
    return _add(a * b, c, c, rounding)


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


def _divide(a: np.ndarray, b: np.ndarray, c: np.ndarray, rounding: Rounding) -> Pair:
    quotient = a / b
    product, error = two_product(quotient, b)
    return quotient, ((a - product) - error) / b


def _reciprocal(a: np.ndarray, b: np.ndarray, c: np.ndarray, rounding: Rounding) -> Pair:
    return _divide(np.ones_like(a), a, c, rounding)


def _root(a: np.ndarray, b: np.ndarray, c: np.ndarray, rounding: Rounding) -> Pair:
    root = np.sqrt(a)
    product, error = two_product(root, root)
    return root, (a - product) - error


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
