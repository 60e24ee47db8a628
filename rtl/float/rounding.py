"""The end of every operation with a single-precision result: rounding, overflow, flushing, saturation."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.modifiers import MODIFIER_KINDS, Rounding
from warploom.rtl.float.number import BIAS, FRACTION, INFINITY, LARGEST, NAN, ONE, TOP, ZERO

MODES = data.StructLayout({name: MODIFIER_KINDS[name].bits for name in ("rounding", "ftz", "sat")})
"""Modifiers of arithmetic."""

EXACT_EXPONENT = 10
"""Bits of an exponent that may be above those of a word."""

EXACT = data.StructLayout({
    "sign": 1, "exponent": EXACT_EXPONENT, "fraction": FRACTION, "guard": 1, "below": 1, "sticky": 1, "infinite": 1,
    "nan": 1,
})
"""A result before it is rounded. `exponent` and `fraction` are those of the word toward zero (0 is that of a subnormal
number or zero); `guard` is the bit below the fraction, `below` the one below that, and `sticky` is set if any one
further below is."""


def rounds_up(rounding: Value, sign: Value, odd: Value, guard: Value, sticky: Value) -> Value:
    """Whether a magnitude is rounded up: `odd` is its last bit."""
    inexact = guard | sticky
    return Mux(rounding[1], inexact & (sign ^ rounding[0]), ~rounding[0] & guard & (odd | sticky))


class Round(wiring.Component):
    """Rounds a result to a word, combinational.

    Members
    -------
    modes : modifiers of the operation.
    exact : the result; other fields of an infinite one or NaN are not used, except the sign.
    word : the rounded word.
    """

    modes: In(MODES)
    exact: In(EXACT)
    word: Out(32)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        exact, modes = self.exact, self.modes
        toward_zero = Cat(exact.fraction, exact.exponent)
        up, tiny, rounded = Signal(), Signal(), Signal.like(toward_zero)
        # A subnormal result has one bit more, the guard, where it is rounded as if exponents had no end.
        to_normal = exact.fraction.all() & exact.guard & rounds_up(
            modes.rounding, exact.sign, exact.guard, exact.below, exact.sticky)
        m.d.comb += [
            up.eq(rounds_up(modes.rounding, exact.sign, exact.fraction[0], exact.guard, exact.below | exact.sticky)),
            rounded.eq(Mux(up, toward_zero + 1, toward_zero)),
            tiny.eq((exact.exponent == 0) & ~to_normal),
        ]
        exponent = rounded[FRACTION:]
        to_infinity = Mux(modes.rounding[1], exact.sign ^ modes.rounding[0], ~modes.rounding[0])
        large = Mux(exact.infinite | to_infinity, INFINITY, LARGEST)
        sign, size = Signal(), Signal(31)
        with m.If(exact.nan):
            m.d.comb += size.eq(Mux(modes.sat, ZERO, NAN))
        with m.Elif(modes.sat):
            m.d.comb += size.eq(Mux(exact.sign, ZERO, Mux(exact.infinite | (exponent >= BIAS), ONE, rounded)))
            with m.If(modes.ftz & ~exact.infinite & tiny):
                m.d.comb += size.eq(ZERO)
        with m.Else():
            m.d.comb += sign.eq(exact.sign)
            with m.If(exact.infinite | (exponent >= TOP)):
                m.d.comb += size.eq(large)
            with m.Elif(~(modes.ftz & tiny)):
                m.d.comb += size.eq(rounded)
        m.d.comb += self.word.eq(Cat(size, sign))
        return m


assert [*Rounding] == [Rounding.RN, Rounding.RZ, Rounding.RM, Rounding.RP]  # `rounds_up` reads their bits
