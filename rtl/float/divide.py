# amaranth: UnusedElaboratable=no
"""Division of single precision and of integers, and the square root, by one loop of radix 4."""

from amaranth import Cat, Const, Module, Mux, ResetSignal, Signal, Value, signed
from amaranth.hdl import Assert
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.isa import Op
from warploom.rtl.float.number import BIAS, FRACTION, ONE, SIGNIFICAND, unpack
from warploom.rtl.float.rounding import EXACT, MODES, Round
from warploom.rtl.lane_stages import leading
from warploom.rtl.multiply import compress

OPERANDS = data.StructLayout({
    "is_float": 1, "reciprocal": 1, "root": 1, "remainder": 1, "signed": 1, "rounding": 2, "ftz": 1, "a": 32, "b": 32,
})
"""What is divided, modifiers, and the operand words."""

CONTROL: dict[Op, dict[str, int]] = {
    Op.FDIV: {"is_float": 1}, Op.FRCP: {"is_float": 1, "reciprocal": 1}, Op.FSQRT: {"is_float": 1, "root": 1},
    Op.IDIV: {}, Op.IREM: {"remainder": 1},
}
"""The instructions of the unit, and their control fields; modifiers pass under their own names."""

EXPONENT = signed(10)
"""An exponent before it is limited to those of words."""

_ABOUT = {
    "is_float": 1, "remainder": 1, "rounding": 2, "ftz": 1, "sign": 1, "exponent": EXPONENT, "zero": 1, "infinite": 1,
    "nan": 1,
}
"""What an operation keeps while it is divided: the sign of its result, and the exponent of a quotient from 1 on."""


PREPARED = data.StructLayout({**_ABOUT, "root": 1, "start": 32, "dividend": 32, "divisor": 32})
"""The division of start * 2^32 + dividend, or the root of dividend * 2^32. Of floats the dividend is the significand
times 2^31; of a root that times 2^39, or twice that if the exponent is odd."""


class Prepare(wiring.Component):
    """Magnitudes of integers; normalised significands and special operands of floats. Combinational."""

    operands: In(OPERANDS)
    prepared: Out(PREPARED)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        given, out = self.operands, self.prepared
        m.d.comb += [out[name].eq(given[name]) for name in ("is_float", "remainder", "rounding", "ftz", "root")]
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
        words = (Mux(given.reciprocal, ONE, given.a), Mux(given.reciprocal, given.a, Mux(given.root, ONE, given.b)))
        a, b = (unpack(m, word, given.ftz, name) for word, name in zip(words, "ab", strict=True))
        (dividend, shift_a), (divisor, shift_b) = _normalised(a.significand), _normalised(b.significand)
        of_root, quotient = Signal(EXPONENT), Signal(64)
        m.d.comb += [
            of_root.eq(a.exponent - shift_a + BIAS),  # twice that of the result; the BIAS is odd
            quotient.eq(Cat(Const(0, 31), dividend)),
            out.dividend.eq(Mux(given.root, Cat(Const(0, 7), Mux(of_root[0], dividend << 1, dividend)), quotient[:32])),
            out.start.eq(Mux(given.root, 0, quotient[32:])),
            out.divisor.eq(Mux(given.root, 0, divisor)),
            out.exponent.eq(Mux(given.root, of_root >> 1,
                                (a.exponent - b.exponent) + (shift_b - shift_a) + BIAS)),
            out.sign.eq(a.sign ^ b.sign),
            out.zero.eq(a.zero | b.infinite),
            out.infinite.eq(a.infinite | b.zero),
            out.nan.eq(a.nan | b.nan | (a.zero & b.zero) | (a.infinite & b.infinite) | (given.root & a.sign & ~a.zero)),
        ]


def _normalised(significand: Value) -> tuple[Value, Value]:
    """A significand with its leading one at the top, and the shift."""
    shift = (~leading(Cat(Const(0, 8), significand)))[:5]
    return (significand << shift)[:SIGNIFICAND], shift


class DigitStep(wiring.Component):
    """One step of a restoring division, or of a restoring root: two bits of the result. Combinational.

    Division: the remainder times four, with the next two bits of the dividend, less 0 to 3 times the divisor, is the
    next remainder: the smallest one that is not negative. A divisor of zero gives digits of 3 and leaves the dividend
    as remainder. Root: the remainder times 16, with the next four bits, less d * (8 * root + d), is the next one, if d
    is the largest digit for which it is not negative. The root so far is in the place of the divisor.

    Parameters
    ----------
    width : bits of the operands.

    Members
    -------
    is_root : it is a root.
    remainder, rest : the remainder, and the bits of the dividend that are still to come, of a division above those of
        the quotient.
    divisor, triple : the divisor, and three times it; or the root.
    next_remainder, next_rest, next_divisor : after the step; the digit is in the lowest bits of the second one, or of
        the third.
    """

    def __init__(self, *, width: int) -> None:
        super().__init__({
            "is_root": In(1), "remainder": In(width), "rest": In(width), "divisor": In(width), "triple": In(width + 2),
            "next_remainder": Out(width + 1), "next_rest": Out(width), "next_divisor": Out(width),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        width, root, rest = len(self.divisor), self.divisor, self.rest
        shifted, less = Signal(width + 4), [Signal(width + 4, name=f"less_{times}") for times in range(1, 4)]
        one, two = (Signal(width + 4, name=f"times_{times}") for times in (1, 2))
        three = Signal(width + 4, name="times_3"), Signal(width + 4, name="and_more")  # their sum
        for multiple, of_root, of_divisor in (
                (one, Cat(Const(1, 3), root), self.divisor), (two, Cat(Const(4, 4), root), self.divisor << 1),
                (three[0], Cat(Const(8, 4), root), self.triple), (three[1], Cat(Const(1, 3), root), Const(0))):
            m.d.comb += multiple.eq(Mux(self.is_root, of_root, of_divisor))
        bits, carries = compress(m, [shifted, ~three[0], ~three[1]], width + 4)
        m.d.comb += [
            shifted.eq(Mux(self.is_root, Cat(rest[-4:], self.remainder), Cat(rest[-2:], self.remainder))),
            less[0].eq(shifted - one), less[1].eq(shifted - two),
            less[2].eq(bits - ~(carries | 1)),  # two complements: 1 in the place of the first carry, and 1 more
        ]
        fits = [~difference[-1] for difference in less]
        digit = Cat(Mux(fits[1], fits[2], fits[0]), fits[1])
        m.d.comb += [
            self.next_remainder.eq(Mux(fits[1], Mux(fits[2], less[2], less[1]), Mux(fits[0], less[0], shifted))),
            self.next_rest.eq(Mux(self.is_root, rest << 4, Cat(digit, rest[:-2]))),
            self.next_divisor.eq(Mux(self.is_root, Cat(digit, root[:-2]), self.divisor)),
        ]
        return m


class DigitLoop(wiring.Component):
    """Divides, or takes a root, by one step in each cycle: `loading` in t, steps in t + 1 to t + width / 2.

    Parameters
    ----------
    width : bits of the operands, even and at least 4.

    Members
    -------
    loading, start, dividend, divisor : a division of start * 2^width + dividend begins; `start` is less than the
        divisor, or 0.
    is_root : instead the root of dividend * 2^width; start and divisor are 0.
    ready : an operation may begin in the next cycle, even if that has the last step of this one.
    last : this is the last step.
    quotient, left : in the cycle after the last step, quotient or root, and remainder.
    """

    def __init__(self, *, width: int) -> None:
        super().__init__({
            "loading": In(1), "is_root": In(1), **{name: In(width) for name in ("start", "dividend", "divisor")},
            "ready": Out(1), "last": Out(1), "quotient": Out(width), "left": Out(width + 1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        width = len(self.divisor)
        m.submodules.step = step = DigitStep(width=width)
        divisor, triple = Signal(width, reset_less=True), Signal(width + 2, reset_less=True)
        rest, remainder = Signal(width, reset_less=True), Signal(width, reset_less=True)
        quotient, left = Signal(width, reset_less=True), Signal(width + 1, reset_less=True)
        steps, is_root = Signal(width // 2), Signal(reset_less=True)
        m.d.sync += [
            steps.eq(Cat(self.loading, steps)),
            quotient.eq(Mux(is_root, step.next_divisor, step.next_rest)),
            left.eq(step.next_remainder),
            rest.eq(Mux(self.loading, self.dividend, step.next_rest)),
            remainder.eq(Mux(self.loading, self.start, step.next_remainder)),
            divisor.eq(Mux(self.loading, self.divisor, step.next_divisor)),
        ]
        with m.If(self.loading):
            m.d.sync += [is_root.eq(self.is_root), triple.eq(self.divisor + Cat(Const(0, 1), self.divisor))]
        m.d.comb += [
            *(getattr(step, name).eq(value) for name, value in (
                ("is_root", is_root), ("remainder", remainder), ("rest", rest), ("divisor", divisor),
                ("triple", triple))),
            self.ready.eq(~self.loading & ~steps[:-2].any()),
            self.last.eq(steps[-1]),
            self.quotient.eq(quotient),
            self.left.eq(left),
        ]
        return m


DIVIDED = data.StructLayout({**_ABOUT, "quotient": 32, "left": 33})
ALIGNED = data.StructLayout({"is_float": 1, "modes": MODES, "exact": EXACT, "integer": 32})


class Align(wiring.Component):
    """The sign of an integer result; a quotient or root of floats as an exact result. Combinational.

    The quotient of significands is between 1/2 and 2, the root from 1 on, and has the weight 2^-31. One that is
    subnormal is shifted to the right; a root never is.
    """

    divided: In(DIVIDED)
    aligned: Out(ALIGNED)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        given, out = self.divided, self.aligned
        word = Mux(given.remainder, given.left[:32], given.quotient)
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
                out.exact.below.eq(shifted[guard - 1]),
                out.exact.sticky.eq(shifted[: guard - 1].any() | given.left.any()),
            ]
        return m


class Divider(wiring.Component):
    """Executes FDIV, FRCP, FSQRT, IDIV and IREM (docs/contract/float.md). Latency 20 cycles, one operation every 16
    cycles.

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
            loop.loading.eq(loading), loop.is_root.eq(held.root),
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
