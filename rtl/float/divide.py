# amaranth: UnusedElaboratable=no
"""Division of single precision and of integers, by one radix-4 divider."""

from amaranth import Cat, Const, Module, Mux, ResetSignal, Signal, Value, signed
from amaranth.hdl import Assert
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.isa import Op
from warploom.rtl.float.number import BIAS, FRACTION, ONE, SIGNIFICAND, unpack
from warploom.rtl.float.rounding import EXACT, MODES, Round
from warploom.rtl.lane_stages import leading

OPERANDS = data.StructLayout({
    "is_float": 1, "reciprocal": 1, "remainder": 1, "signed": 1, "rounding": 2, "ftz": 1, "a": 32, "b": 32,
})
"""What is divided, modifiers, and the operand words."""

CONTROL: dict[Op, dict[str, int]] = {
    Op.FDIV: {"is_float": 1}, Op.FRCP: {"is_float": 1, "reciprocal": 1}, Op.IDIV: {}, Op.IREM: {"remainder": 1},
}
"""The instructions of the unit, and their control fields; modifiers pass under their own names."""

EXPONENT = signed(10)
"""An exponent before it is limited to those of words."""

_ABOUT = {
    "is_float": 1, "remainder": 1, "rounding": 2, "ftz": 1, "sign": 1, "exponent": EXPONENT, "zero": 1, "infinite": 1,
    "nan": 1,
}
"""What an operation keeps while it is divided: the sign of its result, and the exponent of a quotient from 1 on."""


PREPARED = data.StructLayout({**_ABOUT, "start": 32, "dividend": 32, "divisor": 32})
"""The division of start * 2^32 + dividend. Of floats the dividend is the significand times 2^31."""


class Prepare(wiring.Component):
    """Magnitudes of integers; normalised significands and special operands of floats. Combinational."""

    operands: In(OPERANDS)
    prepared: Out(PREPARED)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        given, out = self.operands, self.prepared
        m.d.comb += [out[name].eq(given[name]) for name in ("is_float", "remainder", "rounding", "ftz")]
        with m.If(given.is_float):
            self._floats(m)
        with m.Else():
            self._integers(m)
        return m

    def _integers(self, m: Module) -> None:
        given, out = self.operands, self.prepared
        negative_a, negative_b = given.signed & given.a[31], given.signed & given.b[31]
        m.d.comb += [
            out.dividend.eq(Mux(negative_a, -given.a, given.a)),
            out.divisor.eq(Mux(negative_b, -given.b, given.b)),
            out.sign.eq(Mux(given.remainder, negative_a, (negative_a ^ negative_b) & given.b.any())),
        ]

    def _floats(self, m: Module) -> None:
        given, out = self.operands, self.prepared
        words = (Mux(given.reciprocal, ONE, given.a), Mux(given.reciprocal, given.a, given.b))
        a, b = (unpack(m, word, given.ftz, name) for word, name in zip(words, "ab", strict=True))
        (dividend, shift_a), (divisor, shift_b) = _normalised(a.significand), _normalised(b.significand)
        m.d.comb += [
            Cat(out.dividend, out.start).eq(Cat(Const(0, 31), dividend)),
            out.divisor.eq(divisor),
            out.exponent.eq((a.exponent - b.exponent) + (shift_b - shift_a) + BIAS),
            out.sign.eq(a.sign ^ b.sign),
            out.zero.eq(a.zero | b.infinite),
            out.infinite.eq(a.infinite | b.zero),
            out.nan.eq(a.nan | b.nan | (a.zero & b.zero) | (a.infinite & b.infinite)),
        ]


def _normalised(significand: Value) -> tuple[Value, Value]:
    """A significand with its leading one at the top, and the shift."""
    shift = (~leading(Cat(Const(0, 8), significand)))[:5]
    return (significand << shift)[:SIGNIFICAND], shift


class DigitStep(wiring.Component):
    """One step of a restoring division: two bits of the quotient. Combinational.

    The remainder times four, with the next two bits of the dividend, less 0 to 3 times the divisor, is the next
    remainder: the smallest one that is not negative. A divisor of zero gives digits of 3 and leaves the dividend as
    remainder.

    Parameters
    ----------
    width : bits of the operands.

    Members
    -------
    remainder, rest : the remainder, and the bits of the dividend that are still to come, above those of the quotient.
    divisor, triple : the divisor, and three times it.
    next_remainder, next_rest : both after the step; the digit is in the lowest bits of the second.
    """

    def __init__(self, *, width: int) -> None:
        super().__init__({
            "remainder": In(width), "rest": In(width), "divisor": In(width), "triple": In(width + 2),
            "next_remainder": Out(width), "next_rest": Out(width),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        width = len(self.divisor)
        shifted = Cat(self.rest[-2:], self.remainder)
        less = [Signal(width + 3, name=f"less_{times}") for times in range(1, 4)]
        multiples = (self.divisor, Cat(Const(0, 1), self.divisor), self.triple)
        m.d.comb += [difference.eq(shifted - multiple) for difference, multiple in zip(less, multiples, strict=True)]
        one, two, three = (~difference[-1] for difference in less)
        m.d.comb += [
            self.next_remainder.eq(Mux(two, Mux(three, less[2], less[1]), Mux(one, less[0], shifted))),
            self.next_rest.eq(Cat(Mux(two, three, one), two, self.rest[:-2])),
        ]
        return m


class DigitLoop(wiring.Component):
    """Divides by one step in each cycle: `loading` in t, steps in t + 1 to t + width / 2.

    Parameters
    ----------
    width : bits of the operands, even and at least 4.

    Members
    -------
    loading, start, dividend, divisor : a division of start * 2^width + dividend begins; `start` is less than the
        divisor, or 0.
    ready : a division may begin in the next cycle, even if that has the last step of this one.
    last : this is the last step.
    quotient, left : in the cycle after the last step, quotient and remainder.
    """

    def __init__(self, *, width: int) -> None:
        super().__init__({
            "loading": In(1), **{name: In(width) for name in ("start", "dividend", "divisor")},
            "ready": Out(1), "last": Out(1), "quotient": Out(width), "left": Out(width),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        width = len(self.divisor)
        m.submodules.step = step = DigitStep(width=width)
        divisor, triple = Signal(width, reset_less=True), Signal(width + 2, reset_less=True)
        rest, remainder = Signal(width, reset_less=True), Signal(width, reset_less=True)
        quotient, left = Signal(width, reset_less=True), Signal(width, reset_less=True)
        steps = Signal(width // 2)
        m.d.sync += [
            steps.eq(Cat(self.loading, steps)),
            quotient.eq(step.next_rest),
            left.eq(step.next_remainder),
            rest.eq(Mux(self.loading, self.dividend, step.next_rest)),
            remainder.eq(Mux(self.loading, self.start, step.next_remainder)),
        ]
        with m.If(self.loading):
            m.d.sync += [
                divisor.eq(self.divisor),
                triple.eq(self.divisor + Cat(Const(0, 1), self.divisor)),
            ]
        m.d.comb += [
            *(getattr(step, name).eq(value) for name, value in (
                ("remainder", remainder), ("rest", rest), ("divisor", divisor), ("triple", triple))),
            self.ready.eq(~self.loading & ~steps[:-2].any()),
            self.last.eq(steps[-1]),
            self.quotient.eq(quotient),
            self.left.eq(left),
        ]
        return m


DIVIDED = data.StructLayout({**_ABOUT, "quotient": 32, "left": 32})
ALIGNED = data.StructLayout({"is_float": 1, "modes": MODES, "exact": EXACT, "integer": 32})


class Align(wiring.Component):
    """The sign of an integer result; a quotient of floats as an exact result. Combinational.

    The quotient of significands is between 1/2 and 2, and has the weight 2^-31. One that is subnormal is shifted to the
    right.
    """

    divided: In(DIVIDED)
    aligned: Out(ALIGNED)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        given, out = self.divided, self.aligned
        word = Mux(given.remainder, given.left, given.quotient)
        top = given.quotient[31]
        quotient, distance = Mux(top, given.quotient, given.quotient << 1)[:32], Signal(5)
        below = Mux(top, 1 - given.exponent, 2 - given.exponent)
        shifted = Signal(32 + 31)
        m.d.comb += [
            out.is_float.eq(given.is_float),
            out.modes.rounding.eq(given.rounding),
            out.modes.ftz.eq(given.ftz),
            out.integer.eq(Mux(given.sign, -word, word)),
            distance.eq(Mux(below > 0, Mux(below > 31, 31, below), 0)),
            shifted.eq(Cat(Const(0, 31), quotient) >> distance),
            *(out.exact[name].eq(given[name]) for name in ("sign", "infinite", "nan")),
        ]
        guard = 31 + 31 - FRACTION - 1
        with m.If(~given.zero):
            m.d.comb += [
                out.exact.exponent.eq(Mux(below > 0, 0, 1 - below)),
                out.exact.fraction.eq(shifted[guard + 1 :]),
                out.exact.guard.eq(shifted[guard]),
                out.exact.sticky.eq(shifted[:guard].any() | given.left.any()),
            ]
        return m


class Divider(wiring.Component):
    """Executes FDIV, FRCP, IDIV and IREM (docs/contract/float.md). Latency 20 cycles, one operation every 16 cycles.

    Parameters
    ----------
    probe : stop a simulation if an operation enters when the unit is not ready.

    Members
    -------
    ready : an operation may enter.
    valid, operands : an operation enters; only if the unit is ready.
    done, result : the operation that entered 20 cycles before, and its word.
    """

    ready: Out(1)
    valid: In(1)
    operands: In(OPERANDS)
    done: Out(1)
    result: Out(32)

    def __init__(self, *, probe: bool = False) -> None:
        self._probe = probe
        self.parts: dict[str, wiring.Component] = {
            "prepare": Prepare(), "loop": DigitLoop(width=32), "align": Align(), "round": Round()}
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for name, part in self.parts.items():
            m.submodules[name] = part
        prepare, loop, align, rounding = self.parts.values()
        loading = Signal()
        held = Signal(PREPARED, reset_less=True)
        about, ended = (Signal(data.StructLayout(_ABOUT), name=name, reset_less=True) for name in ("about", "ended"))
        aligned, result = Signal(ALIGNED, reset_less=True), Signal(32, reset_less=True)
        divided, settled, done = Signal(), Signal(), Signal()
        m.d.sync += [
            held.eq(prepare.prepared),
            loading.eq(self.valid),
            divided.eq(loop.last),
            ended.eq(about),
            aligned.eq(align.aligned),
            settled.eq(divided),
            result.eq(Mux(aligned.is_float, rounding.word, aligned.integer)),
            done.eq(settled),
        ]
        with m.If(loading):
            m.d.sync += [about[name].eq(held[name]) for name in _ABOUT]
        m.d.comb += [
            prepare.operands.eq(self.operands),
            loop.loading.eq(loading),
            *(getattr(loop, name).eq(held[name]) for name in ("start", "dividend", "divisor")),
            *(align.divided[name].eq(ended[name]) for name in _ABOUT),
            align.divided.quotient.eq(loop.quotient),
            align.divided.left.eq(loop.left),
            rounding.modes.eq(aligned.modes),
            rounding.exact.eq(aligned.exact),
            self.ready.eq(loop.ready),
            self.done.eq(done),
            self.result.eq(result),
        ]
        if self._probe:
            with m.If(self.valid & ~ResetSignal()):
                m.d.sync += Assert(self.ready, "an operation enters, and the divider is not ready\n")
        return m
