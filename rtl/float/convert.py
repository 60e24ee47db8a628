# amaranth: UnusedElaboratable=no
"""Conversion between integers and single precision, in a pipeline of three stages."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.modifiers import DType
from warploom.rtl.float.number import BIAS, EXPONENT, FRACTION, unpack
from warploom.rtl.float.pipeline import connect_stages
from warploom.rtl.float.rounding import EXACT, MODES, Round, rounds_up
from warploom.rtl.lane_stages import leading

KIND = data.StructLayout({"is_float": 1, "signed": 1, "is_byte": 1, "is_half": 1})
"""A type; an integer that is neither a byte nor a half has 32 bits."""

KINDS = {
    DType.U8: {"is_byte": 1}, DType.S8: {"is_byte": 1, "signed": 1}, DType.U16: {"is_half": 1},
    DType.S16: {"is_half": 1, "signed": 1}, DType.B16: {"is_half": 1},
    DType.U32: {}, DType.S32: {"signed": 1}, DType.F32: {"is_float": 1},
}
"""The types that the unit converts."""

OPERANDS = data.StructLayout({"source": KIND, "target": KIND, "integral": 1, "modes": MODES, "a": 32})
"""Types and modifiers, and the operand word."""

MOST = BIAS + 31
"""The largest exponent of numbers below 2^32."""

FARTHEST = 33
"""Shift by which all of a number is below the guard bit."""

_PASSED = {"source": KIND, "target": KIND, "modes": MODES, "sign": 1, "exponent": EXPONENT, "fraction": FRACTION,
           "infinite": 1, "nan": 1, "passes": 1, "huge": 1}
"""What stages pass on: the parts of a float, whether it is the result, and whether it is at least 2^32."""

PLACED = data.StructLayout({**_PASSED, "whole": 34, "guard": 1, "sticky": 1})
"""The operand as a signed integer, or the magnitude of a float toward zero, and what is below it."""

WHOLE = data.StructLayout({**_PASSED, "whole": 34, "shift": 5})
"""The rounded integer, or a magnitude for a float, and how far its leading one is shifted to bit 31. Bit 32 is then set
if the magnitude became a power of two in this stage."""


def extended(word: Value, kind: data.View) -> Value:
    """The low bits of a word, extended to 32 by a type."""
    low = Cat(word[:8], Mux(kind.is_byte, (kind.signed & word[7]).replicate(8), word[8:16]))
    return Cat(low, Mux(kind.is_byte | kind.is_half, (kind.signed & low[15]).replicate(16), word[16:]))


class Place(wiring.Component):
    """Stage 1: extends an integer, or shifts a float so that its integer part is in place."""

    operands: In(OPERANDS)
    placed: Out(PLACED)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        given, out = self.operands, self.placed
        number = unpack(m, given.a, given.modes.ftz, "number")
        integer = extended(given.a, given.source)
        negative = given.source.signed & integer[31]
        distance, shifted = Signal(6), Signal(32 + FARTHEST)
        farther = (MOST - number.exponent)[:EXPONENT]
        huge = number.exponent > MOST
        m.d.comb += [
            *(out[name].eq(given[name]) for name in ("source", "target", "modes")),
            *(out[name].eq(number[name] & given.source.is_float) for name in ("infinite", "nan")),
            out.sign.eq(Mux(given.source.is_float, number.sign, negative)),
            out.exponent.eq(number.exponent & number.significand[FRACTION].replicate(EXPONENT)),
            out.fraction.eq(number.significand[:FRACTION]),
            out.huge.eq(given.source.is_float & huge),
            out.passes.eq(given.source.is_float & (huge | ~given.integral)),
            distance.eq(Mux(farther > FARTHEST, FARTHEST, farther)),
            shifted.eq(Cat(Const(0, FARTHEST + 8), number.significand) >> distance),
        ]
        with m.If(given.source.is_float):
            m.d.comb += Cat(out.sticky, out.guard, out.whole).eq(Cat(shifted[: FARTHEST - 1].any(),
                                                                    shifted[FARTHEST - 1 :]))
        with m.Else():
            m.d.comb += out.whole.eq(Cat(integer, negative.replicate(2)))
        return m


class Integral(wiring.Component):
    """Stage 2: rounds the magnitude of a float to an integer, with its sign for an integer result; takes the magnitude
    of an integer for a float result."""

    placed: In(PLACED)
    whole: Out(WHOLE)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        given, out = self.placed, self.whole
        up = rounds_up(given.modes.rounding, given.sign, given.whole[0], given.guard, given.sticky)
        inverts = given.sign & (given.source.is_float ^ given.target.is_float)
        start = Signal(34)
        m.d.comb += [
            *(out[name].eq(given[name]) for name in _PASSED),
            start.eq(given.whole ^ inverts.replicate(34)),
            out.whole.eq(start + (inverts ^ up)),
            out.shift.eq(~leading(start[:32])),
        ]
        return m


class Settle(wiring.Component):
    """Stage 3: clamps an integer result to its type; normalises and rounds a float."""

    whole: In(WHOLE)
    result: Out(32)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.round = rounding = Round()
        given, exact, shifted = self.whole, Signal(EXACT), Signal(33)
        m.d.comb += [
            shifted.eq(given.whole[:33] << given.shift),
            *(exact[name].eq(given[name]) for name in ("sign", "infinite", "nan")),
            rounding.modes.eq(given.modes),
            rounding.exact.eq(exact),
            self.result.eq(Mux(given.target.is_float, rounding.word, self._integer(m))),
        ]
        with m.If(given.passes):
            m.d.comb += [exact.exponent.eq(given.exponent), exact.fraction.eq(given.fraction)]
        with m.Else():
            place = (MOST - given.shift + shifted[32])[:EXPONENT]
            m.d.comb += [
                exact.exponent.eq(Mux(shifted[31:].any(), place, 0)),
                Cat(exact.below, exact.guard, exact.fraction).eq(shifted[6:31]),
                exact.sticky.eq(shifted[:6].any()),
            ]
        return m

    def _integer(self, m: Module) -> Value:
        """The integer result: an end of the type for what does not fit, except for integers without `sat`."""
        given, kind = self.whole, self.whole.target
        top = Mux(kind.is_byte, 1 << 7, Mux(kind.is_half, 1 << 15, 1 << 31))
        fits, negative, body = Signal(), Signal(), Signal(32)
        for narrow, bits in ((kind.is_byte, 8), (kind.is_half, 16), (~(kind.is_byte | kind.is_half), 32)):
            above = given.whole[bits:]
            with m.If(narrow):
                m.d.comb += fits.eq(~above.any() & ~(kind.signed & given.whole[bits - 1])
                                    | (kind.signed & above.all() & given.whole[bits - 1]))
        m.d.comb += [
            negative.eq(Mux(given.huge, given.sign, given.whole[33])),
            body.eq(given.whole),
        ]
        with m.If(given.nan):
            m.d.comb += body.eq(0)
        with m.Elif(given.huge | (~fits & (given.source.is_float | given.modes.sat))):
            m.d.comb += body.eq(negative.replicate(32) ^ ~(top & kind.signed.replicate(32)))
            with m.If(negative & ~kind.signed):
                m.d.comb += body.eq(0)
        return extended(body, kind)


class Converter(wiring.Component):
    """Executes CVT between types of at most 32 bits (docs/contract/float.md). Latency three cycles, one operation a
    cycle, no stalls.

    Members
    -------
    valid, operands : an operation enters.
    done, result : the operation that entered three cycles before, and its word.
    """

    valid: In(1)
    operands: In(OPERANDS)
    done: Out(1)
    result: Out(32)

    def __init__(self) -> None:
        self.parts: dict[str, wiring.Component] = {"place": Place(), "integral": Integral(), "settle": Settle()}
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        connect_stages(m, self, self.parts)
        return m
