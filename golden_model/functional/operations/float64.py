"""Double precision, correctly rounded. Operands are pairs of words; the first ones come from the latch.

Ordinary magnitudes are rounded from exact pairs. The few lanes with extreme exponents are computed with rationals.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from warploom.arch.isa import Instruction, Op
from warploom.arch.modifiers import Rounding
from warploom.golden_model.functional.operations.common import (
    Builder,
    Function,
    Operands,
    Outcome,
    combined,
    comparison,
    join,
    split,
)
from warploom.golden_model.functional.operations.ieee import DOUBLE, SINGLE, extreme, has_property
from warploom.golden_model.functional.operations.rounding import (
    is_ordinary,
    root_fraction,
    round_fraction,
    round_to_odd,
    settle,
    signed_zero,
    two_product,
    two_sum,
)

Doubles = tuple[np.ndarray, ...]


def pair_of(x: Operands) -> np.ndarray:
    """The float64 in b:a."""
    return join(x.a, x.b).view(np.float64)


def _latched(x: Operands) -> Doubles:
    return join(x.latch[0], x.latch[1]).view(np.float64), pair_of(x)


def _latched_three(x: Operands) -> Doubles:
    """DFMA: a and the low word of b are in the latch."""
    a, b, c = join(x.latch[0], x.latch[1]), join(x.latch[2], x.a), join(x.b, x.c)
    return a.view(np.float64), b.view(np.float64), c.view(np.float64)


def write_double(values: np.ndarray) -> Outcome:
    """A float64 result with the canonical NaN."""
    return split(np.where(np.isnan(values), DOUBLE.nan, values.view(np.uint64)))


def _fused_plain(rounding: Rounding, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """a * b + c rounded twice: correct if the result is infinite, NaN or zero."""
    finite_product = np.isfinite(a) & np.isfinite(b)
    return np.where(finite_product & np.isinf(c), c, signed_zero(a * b + c, a * b, c, rounding))


def _fused_pair(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> Doubles:
    """Boldo and Melquiond: the low parts are summed and rounded to odd."""
    product, error = two_product(a, b)
    inner, inner_error = two_sum(c, error)
    outer, outer_error = two_sum(product, inner)
    return two_sum(outer, round_to_odd(*two_sum(inner_error, outer_error)))


def _quotient_pair(a: np.ndarray, b: np.ndarray) -> Doubles:
    quotient = a / b
    product, error = two_product(quotient, b)
    return quotient, ((a - product) - error) / b


def _root_pair(a: np.ndarray) -> Doubles:
    root = np.sqrt(a)
    product, error = two_product(root, root)
    return root, (a - product) - error


def _rounded(
    operands: Callable[[Operands], Doubles], plain: Callable[..., np.ndarray], pair: Callable[..., Doubles],
    exact: Callable[..., Fraction], *, once: bool = True,
) -> Builder:
    """An operation in its three forms. `plain(rounding, ...)` is correct if the result is zero or special; if it rounds
    `once`, also to nearest. `pair` is exact for ordinary magnitudes. `exact` works on rationals."""

    def build(i: Instruction) -> Function:
        def compute(x: Operands) -> Outcome:
            given = np.broadcast_arrays(*operands(x))  # a constant operand has one lane
            result = plain(i.rounding, *given)
            if once and i.rounding is Rounding.RN:
                return write_double(result)
            ordinary = is_ordinary(*given)
            high, low = pair(*given)
            result = np.where(ordinary & (high != 0) & ~np.isnan(high), settle(high, low, i.rounding), result)
            finite = np.logical_and.reduce([np.isfinite(g) for g in given])
            _settle_rationals(result, finite & ~ordinary, given, exact, i.rounding)
            return write_double(result)

        return compute

    return build


def _settle_rationals(
    result: np.ndarray, where: np.ndarray, given: Doubles, exact: Callable[..., Fraction], rounding: Rounding
) -> None:
    """Replace results at `where` by exactly computed ones; zeros, infinities and NaNs stay as they are."""
    for place in zip(*np.nonzero(where), strict=True):
        try:
            value = exact(*(Fraction(float(g[place])) for g in given))
        except (ZeroDivisionError, ValueError):  # x / 0, or the root of a negative number
            continue
        if value:
            result[place] = round_fraction(value, rounding)


def _extreme(largest: bool) -> Builder:
    def choose(x: Operands) -> Outcome:
        a, b = _latched(x)
        return split(extreme(a.view(np.uint64), b.view(np.uint64), DOUBLE, largest=largest))

    return lambda i: choose


def _set_predicate(i: Instruction) -> Function:
    test, combine = comparison(i.cond, floats=True), combined(i)
    return lambda x: Outcome(pred=combine(test(*_latched(x)), x.pred))


def _classify(i: Instruction) -> Function:
    if i.double:
        return lambda x: Outcome(pred=has_property(i.test, join(x.a, x.b), DOUBLE))
    return lambda x: Outcome(pred=has_property(i.test, x.a, SINGLE))


OPERATIONS: dict[Op, Builder] = {
    Op.DADD: _rounded(_latched, lambda mode, a, b: signed_zero(a + b, a, b, mode), two_sum, lambda a, b: a + b),
    Op.DMUL: _rounded(_latched, lambda mode, a, b: a * b, two_product, lambda a, b: a * b),
    Op.DFMA: _rounded(_latched_three, _fused_plain, _fused_pair, lambda a, b, c: a * b + c, once=False),
    Op.DDIV: _rounded(_latched, lambda mode, a, b: a / b, _quotient_pair, lambda a, b: a / b),
    Op.DRCP: _rounded(lambda x: (pair_of(x),), lambda mode, a: 1 / a, lambda a: _quotient_pair(np.ones_like(a), a),
                      lambda a: 1 / a),
    Op.DSQRT: _rounded(lambda x: (pair_of(x),), lambda mode, a: np.sqrt(a), _root_pair, root_fraction),
    Op.DMIN: _extreme(False), Op.DMAX: _extreme(True), Op.DSETP: _set_predicate, Op.TESTP: _classify,
}
"""Makes the function of each double-precision instruction, and of TESTP in either precision."""
