"""Planted bugs in the units for single precision and division: each bench must catch its own."""

from typing import Any

from amaranth import Const, Module, Mux, Signal, Value

from warploom.arch.modifiers import Cond, Rounding
from warploom.rtl.float.compare import FloatCompare
from warploom.rtl.float.convert import Converter
from warploom.rtl.float.divide import Divider
from warploom.rtl.float.fused import FusedMultiplyAdd
from warploom.tb.mutants import Mutant, Rewire, Tampered


def changed(m: Module, fields: Any, **values: Any) -> Value:
    """A struct with other values of some fields."""
    copy = Signal(fields.shape())
    m.d.comb += [copy.eq(fields), *(copy[name].eq(value) for name, value in values.items())]
    return copy.as_value()


def _in_part(kind: Any, bench: str, part: str, bug: str, rewire: Rewire) -> Mutant:
    """A bug in one part of a unit."""
    def make(config: object) -> Any:
        unit = kind()
        unit.parts[part] = Tampered(unit.parts[part], rewire)
        return unit

    return Mutant(kind.__name__, f"warploom.tb.float.{bench}::random_operations", bug, make)


def _fused(stage: str, bug: str, rewire: Rewire) -> Mutant:
    return _in_part(FusedMultiplyAdd, "test_fused", stage, bug, rewire)


def _compare(bug: str, rewire: Rewire) -> Mutant:
    return Mutant("FloatCompare", "warploom.tb.float.test_compare", bug, lambda c: Tampered(FloatCompare(), rewire))


def _convert(stage: str, bug: str, rewire: Rewire) -> Mutant:
    return _in_part(Converter, "test_convert", stage, bug, rewire)


def _divide(part: str, bug: str, rewire: Rewire) -> Mutant:
    return _in_part(Divider, "test_divide", part, bug, rewire)


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
    return {"prepared": changed(m, found, sign=found.sign | (by_zero & outer.operands.signed & outer.operands.a[31]))}


def _one_less(outer: Tampered, m: Module) -> dict[str, Value]:
    """The first adder's difference, which is one too small if it is positive."""
    added = outer.inner.added
    return {"added": changed(m, added, total=added.total - (added.subtract & (added.sign == outer.aligned.sign)))}


def _late(ftz: Value, word: Value) -> Value:
    """Flushes what is subnormal in a word, so not what was rounded up to the smallest normal number."""
    return Mux(ftz & ~word[23:31].any(), word & (1 << 31), word)


MUTANTS = (
    _fused("prepare", "does not flush operands", lambda o, m: _modes(o, m, "operands", ftz=0)),
    _fused("prepare", "sees no product of zero and infinity", lambda o, m: {"prepared": changed(
        m, o.inner.prepared, nan=o.inner.prepared.nan & ~o.inner.prepared.infinite)}),
    _fused("prepare", "moves an addend that stays at the top", lambda o, m: {"prepared": changed(
        m, o.inner.prepared, distance=o.inner.prepared.distance | (o.inner.prepared.distance == 0))}),
    _fused("align", "loses what is below the window", lambda o, m: {"aligned": changed(
        m, o.inner.aligned, addend=o.inner.aligned.addend & ~1)}),
    _fused("align", "never borrows", lambda o, m: {"aligned": changed(m, o.inner.aligned, borrow=0)}),
    _fused("add", "is one too small", _one_less),
    _fused("add", "lets subnormal results have a leading one", lambda o, m: {"added": changed(
        m, o.inner.added, stop=0)}),
    _fused("normalise", "gives every exact zero a plus", lambda o, m: _modes(o, m, "added", rounding=Rounding.RN)),
    _fused("normalise", "loses the lowest bits", lambda o, m: {"normalised": changed(
        m, o.inner.normalised, sticky=0)}),
    _fused("finish", "rounds toward plus infinity only to nearest", lambda o, m: _modes(
        o, m, "normalised", rounding=o.normalised.modes.rounding
        & ~(o.normalised.modes.rounding == Rounding.RP).replicate(2))),
    _fused("finish", "does not saturate", lambda o, m: _modes(o, m, "normalised", sat=0)),
    _fused("finish", "does not flush results", lambda o, m: _modes(o, m, "normalised", ftz=0)),
    _fused("finish", "flushes only subnormal words", lambda o, m: {
        **_modes(o, m, "normalised", ftz=0), "result": _late(o.normalised.modes.ftz, o.inner.result)}),
    _fused("normalise", "keeps one bit too few", lambda o, m: {"normalised": changed(
        m, o.inner.normalised, kept=o.inner.normalised.kept & ~1,
        sticky=o.inner.normalised.sticky | o.inner.normalised.kept[0])}),
    _compare("does not flush", lambda o, m: {"operands": changed(m, o.operands, ftz=0)}),
    _compare("prefers numbers to NaN", lambda o, m: {"operands": changed(m, o.operands, nan=0)}),
    _compare("leaves the sign", lambda o, m: {"operands": changed(m, o.operands, xorsign=0)}),
    _compare("takes LE for LT", lambda o, m: {"operands": changed(
        m, o.operands, cond=o.operands.cond - (o.operands.cond == Cond.LE))}),
    _compare("does not combine", lambda o, m: {"operands": changed(m, o.operands, combine=0)}),
    _compare("is a cycle early", lambda o, m: {"done": o.valid}),
    _convert("place", "takes every integer as unsigned", lambda o, m: {"operands": changed(
        m, o.operands, source=changed(m, o.operands.source, signed=0))}),
    _convert("place", "does not flush", lambda o, m: _modes(o, m, "operands", ftz=0)),
    _convert("place", "loses the guard bit", lambda o, m: {"placed": changed(m, o.inner.placed, guard=0)}),
    _convert("integral", "rounds a negative number as a positive one", lambda o, m: {"placed": changed(
        m, o.placed, sign=o.placed.sign & ~(o.placed.source.is_float & o.placed.target.is_float))}),
    _convert("integral", "loses the carry into bit 32", lambda o, m: {"whole": changed(
        m, o.inner.whole, whole=o.inner.whole.whole & ~(1 << 32))}),
    _convert("settle", "wraps instead of clamping", lambda o, m: {"whole": changed(
        m, o.whole, source=changed(m, o.whole.source, is_float=0))}),
    _convert("settle", "clamps NaN", lambda o, m: {"whole": changed(m, o.whole, nan=0)}),
    _convert("settle", "rounds to nearest only", lambda o, m: _modes(o, m, "whole", rounding=Rounding.RN)),
    _divide("prepare", "takes every integer as unsigned", lambda o, m: {"operands": changed(m, o.operands, signed=0)}),
    _divide("prepare", "does not flush", lambda o, m: {"operands": changed(m, o.operands, ftz=0)}),
    _divide("prepare", "gives a quotient by zero a sign", _negated),
    _divide("prepare", "takes roots of negative numbers", lambda o, m: {"prepared": changed(
        m, o.inner.prepared, nan=o.inner.prepared.nan & ~(o.operands.root & ~o.operands.a[:23].any()))}),
    _divide("prepare", "halves odd exponents like even ones", lambda o, m: {"prepared": changed(
        m, o.inner.prepared, dividend=Mux(o.operands.root & o.inner.prepared.dividend[31],
                                          o.inner.prepared.dividend >> 1, o.inner.prepared.dividend))}),
    _divide("loop", "divides instead of a root", lambda o, m: {"is_root": Const(0, 1)}),
    _divide("loop", "is always ready", lambda o, m: {"ready": Const(1, 1)}),
    _divide("align", "does not see that a quotient is inexact", lambda o, m: {"divided": changed(
        m, o.divided, left=Mux(o.divided.is_float, 0, o.divided.left))}),
    _divide("align", "has no subnormal quotients", lambda o, m: {"divided": changed(
        m, o.divided, exponent=Mux(o.divided.exponent < 2, 2, o.divided.exponent))}),
    _divide("round", "rounds to nearest only", lambda o, m: {"modes": changed(m, o.modes, rounding=Rounding.RN)}),
    _divide("round", "flushes only subnormal words", lambda o, m: {
        "modes": changed(m, o.modes, ftz=0), "word": _late(o.modes.ftz, o.inner.word)}),
)
