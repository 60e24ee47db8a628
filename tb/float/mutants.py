"""Planted bugs in the units for single precision and division: each bench must catch its own."""

from typing import Any

from amaranth import Const, Module, Mux, Signal, Value

from warploom.arch.modifiers import Cond, Rounding
from warploom.rtl.float import convert, divide, fused
from warploom.rtl.float.compare import Compare, FloatCompare
from warploom.rtl.float.rounding import Round
from warploom.tb.l1 import mutants as l1
from warploom.tb.mutants import Mutant, Part, Rewire, Tampered, altered


def _in_part(kind: Any, bench: str, part: Part, bug: str, rewire: Rewire) -> Mutant:
    """A bug in one part of a unit."""
    def make(config: object) -> Any:
        unit = kind()
        name = next(name for name, of in unit.parts.items() if isinstance(of, part))
        unit.parts[name] = Tampered(unit.parts[name], rewire)
        return unit

    return Mutant(kind.__name__, f"warploom.tb.float.{bench}::random_operations", bug, make, part=part)


def _fused(part: Part, bug: str, rewire: Rewire) -> Mutant:
    return _in_part(fused.FusedMultiplyAdd, "test_fused", part, bug, rewire)


def _compare(bug: str, rewire: Rewire) -> Mutant:
    return Mutant("FloatCompare", "warploom.tb.float.test_compare", bug, lambda c: Tampered(FloatCompare(), rewire))


def _positive(config: object) -> Any:
    """The comparison gives no negative word."""
    return l1.changed(FloatCompare(), l1.in_part("compare", lambda compare, m: m.d.comb.__iadd__(
        compare.result[-1].eq(0))))


def _even(config: object) -> Any:
    """The digits of roots have one bit."""
    unit = divide.Divider()
    l1.changed(unit.parts["loop"], l1.in_part("step", lambda step, m: m.d.comb.__iadd__(step.next_divisor[0].eq(0))))
    return unit


def _convert(part: Part, bug: str, rewire: Rewire) -> Mutant:
    return _in_part(convert.Converter, "test_convert", part, bug, rewire)


def _divide(part: Part, bug: str, rewire: Rewire) -> Mutant:
    return _in_part(divide.Divider, "test_divide", part, bug, rewire)


def _modes(outer: Tampered, m: Module, port: str, **values: Any) -> dict[str, Value]:
    """Other modifiers on an input of a stage."""
    given = getattr(outer, port)
    copy = Signal(given.shape())
    m.d.comb += [copy.eq(given), *(copy.modes[name].eq(value) for name, value in values.items())]
    return {port: copy.as_value()}


def _negated(outer: Tampered, m: Module) -> dict[str, Value]:
    """A quotient by zero has a sign."""
    found = outer.inner.prepared
    by_zero = ~found.is_float & ~found.remainder & (found.divisor == 0)
    return {"prepared": altered(m, found, sign=found.sign | (by_zero & outer.operands.signed & outer.operands.a[31]))}


def _one_less(outer: Tampered, m: Module) -> dict[str, Value]:
    """The first adder's difference, which is one too small if it is positive."""
    added = outer.inner.added
    return {"added": altered(m, added, total=added.total - (added.subtract & (added.sign == outer.aligned.sign)))}


def _late(ftz: Value, word: Value) -> Value:
    """Flushes what is subnormal in a word, so not what was rounded up to the smallest normal number."""
    return Mux(ftz & ~word[23:31].any(), word & (1 << 31), word)


MUTANTS = (
    _fused(fused.Prepare, "does not flush operands", lambda o, m: _modes(o, m, "operands", ftz=0)),
    _fused(fused.Prepare, "sees no product of zero and infinity", lambda o, m: {"prepared": altered(
        m, o.inner.prepared, nan=o.inner.prepared.nan & ~o.inner.prepared.infinite)}),
    _fused(fused.Prepare, "moves an addend that stays at the top", lambda o, m: {"prepared": altered(
        m, o.inner.prepared, distance=o.inner.prepared.distance | (o.inner.prepared.distance == 0))}),
    _fused(fused.Align, "loses what is below the window", lambda o, m: {"aligned": altered(
        m, o.inner.aligned, addend=o.inner.aligned.addend & ~1)}),
    _fused(fused.Align, "never borrows", lambda o, m: {"aligned": altered(m, o.inner.aligned, borrow=0)}),
    _fused(fused.Add, "is one too small", _one_less),
    _fused(fused.Add, "lets subnormal results have a leading one", lambda o, m: {"added": altered(
        m, o.inner.added, stop=0)}),
    _fused(fused.Normalise, "gives every exact zero a plus", lambda o, m: _modes(o, m, "added", rounding=Rounding.RN)),
    _fused(fused.Normalise, "loses the lowest bits", lambda o, m: {"normalised": altered(
        m, o.inner.normalised, sticky=0)}),
    _fused(fused.Finish, "rounds toward plus infinity only to nearest", lambda o, m: _modes(
        o, m, "normalised", rounding=o.normalised.modes.rounding
        & ~(o.normalised.modes.rounding == Rounding.RP).replicate(2))),
    _fused(fused.Finish, "does not saturate", lambda o, m: _modes(o, m, "normalised", sat=0)),
    _fused(fused.Finish, "does not flush results", lambda o, m: _modes(o, m, "normalised", ftz=0)),
    _fused(fused.Finish, "flushes only subnormal words", lambda o, m: {
        **_modes(o, m, "normalised", ftz=0), "result": _late(o.normalised.modes.ftz, o.inner.result)}),
    _fused(fused.Normalise, "keeps one bit too few", lambda o, m: {"normalised": altered(
        m, o.inner.normalised, kept=o.inner.normalised.kept & ~1,
        sticky=o.inner.normalised.sticky | o.inner.normalised.kept[0])}),
    _compare("does not flush", lambda o, m: {"operands": altered(m, o.operands, ftz=0)}),
    _compare("prefers numbers to NaN", lambda o, m: {"operands": altered(m, o.operands, nan=0)}),
    _compare("leaves the sign", lambda o, m: {"operands": altered(m, o.operands, xorsign=0)}),
    _compare("takes LE for LT", lambda o, m: {"operands": altered(
        m, o.operands, cond=o.operands.cond - (o.operands.cond == Cond.LE))}),
    _compare("does not combine", lambda o, m: {"operands": altered(m, o.operands, combine=0)}),
    Mutant("FloatCompare", "warploom.tb.float.test_compare", "gives no negative minimum", _positive, part=Compare),
    _compare("is a cycle early", lambda o, m: {"done": o.valid}),
    _convert(convert.Place, "takes every integer as unsigned", lambda o, m: {"operands": altered(
        m, o.operands, source=altered(m, o.operands.source, signed=0))}),
    _convert(convert.Place, "does not flush", lambda o, m: _modes(o, m, "operands", ftz=0)),
    _convert(convert.Place, "loses the guard bit", lambda o, m: {"placed": altered(m, o.inner.placed, guard=0)}),
    _convert(convert.Integral, "rounds a negative number as a positive one", lambda o, m: {"placed": altered(
        m, o.placed, sign=o.placed.sign & ~(o.placed.source.is_float & o.placed.target.is_float))}),
    _convert(convert.Integral, "loses the carry into bit 32", lambda o, m: {"whole": altered(
        m, o.inner.whole, whole=o.inner.whole.whole & ~(1 << 32))}),
    _convert(convert.Settle, "wraps instead of clamping", lambda o, m: {"whole": altered(
        m, o.whole, source=altered(m, o.whole.source, is_float=0))}),
    _convert(convert.Settle, "clamps NaN", lambda o, m: {"whole": altered(m, o.whole, nan=0)}),
    _convert(convert.Settle, "rounds to nearest only", lambda o, m: _modes(o, m, "whole", rounding=Rounding.RN)),
    _divide(divide.Prepare, "takes every integer as unsigned", lambda o, m: {
        "operands": altered(m, o.operands, signed=0)}),
    _divide(divide.Prepare, "does not flush", lambda o, m: {"operands": altered(m, o.operands, ftz=0)}),
    _divide(divide.Prepare, "gives a quotient by zero a sign", _negated),
    _divide(divide.Prepare, "takes roots of negative numbers", lambda o, m: {"prepared": altered(
        m, o.inner.prepared, nan=o.inner.prepared.nan & ~(o.operands.root & ~o.operands.a[:23].any()))}),
    _divide(divide.Prepare, "halves odd exponents like even ones", lambda o, m: {"prepared": altered(
        m, o.inner.prepared, dividend=Mux(o.operands.root & o.inner.prepared.dividend[31],
                                          o.inner.prepared.dividend >> 1, o.inner.prepared.dividend))}),
    _divide(divide.DigitLoop, "divides instead of a root", lambda o, m: {"is_root": Const(0, 1)}),
    Mutant("Divider", "warploom.tb.float.test_divide::random_operations", "loses a bit of each digit", _even,
           part=divide.DigitStep),
    _divide(divide.DigitLoop, "is always ready", lambda o, m: {"ready": Const(1, 1)}),
    _divide(divide.Align, "does not see that a quotient is inexact", lambda o, m: {"divided": altered(
        m, o.divided, left=Mux(o.divided.is_float, 0, o.divided.left))}),
    _divide(divide.Align, "has no subnormal quotients", lambda o, m: {"divided": altered(
        m, o.divided, exponent=Mux(o.divided.exponent < 2, 2, o.divided.exponent))}),
    _divide(Round, "rounds to nearest only", lambda o, m: {"modes": altered(m, o.modes, rounding=Rounding.RN)}),
    _divide(Round, "flushes only subnormal words", lambda o, m: {
        "modes": altered(m, o.modes, ftz=0), "word": _late(o.modes.ftz, o.inner.word)}),
)
