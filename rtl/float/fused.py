# amaranth: UnusedElaboratable=no
"""Fused multiply-add: the additions and products of a lane, in one pipeline of five stages."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.isa import Op
from warploom.rtl.float.number import BIAS, FRACTION, ONE, SIGNIFICAND, unpack
from warploom.rtl.float.pipeline import connect_stages
from warploom.rtl.float.rounding import EXACT, EXACT_EXPONENT, MODES, Round
from warploom.rtl.lane_stages import leading
from warploom.rtl.multiply import DIGIT, booth_digits, compress, partial_products


class Arithmetic(enum.Enum, shape=2):
    """The operations: a + b, a * b, a * b + c."""

    ADD, MULTIPLY, FUSED = range(3)


ARITHMETIC = {Op.FADD: Arithmetic.ADD.value, Op.FMUL: Arithmetic.MULTIPLY.value, Op.FFMA: Arithmetic.FUSED.value}
"""The instructions of the unit, and their operation."""

OPERANDS = data.StructLayout({"operation": Arithmetic, "modes": MODES, "a": 32, "b": 32, "c": 32})
"""Operation, its modifiers, operand words."""

PRODUCT = 2 * SIGNIFICAND
BELOW = 3
"""Bits of the window below the product: two that the addend may shift into, and the sticky one."""

WINDOW = SIGNIFICAND + 2 + PRODUCT + BELOW
"""Bits of the window in which product and addend are added. The product is in its place; the addend starts at the top,
two bits above the product, and is shifted to the right."""

FARTHEST = WINDOW - 1
"""Shift by which all of the addend is sticky."""

NEAREST = 100
"""The addend is shifted by the sum of the factors' exponents, less its own exponent and this number."""

DIGITS = SIGNIFICAND // 2 + 1
FINE = 4
"""Bits of the normalising shift that are left to the last stage."""

KEPT = SIGNIFICAND + 2 + (1 << FINE) - 1
"""Bits of the window that may become significand, guard or the bit below after the coarse shift."""

_PASSED = {"modes": MODES, "sign": 1, "other": 1, "subtract": 1, "infinite": 1, "nan": 1, "exponent": EXACT_EXPONENT}
"""What stages pass on: the sign of the product and that of the addend, whether they differ, the kind of the result, and
the exponent that it would have if the top of the window were its leading one."""

PREPARED = data.StructLayout({
    **_PASSED, "multiplicand": SIGNIFICAND, "digits": data.ArrayLayout(DIGIT, DIGITS), "addend": SIGNIFICAND,
    "distance": range(FARTHEST + 1),
})
ALIGNED = data.StructLayout({
    **_PASSED, "partial": data.ArrayLayout(PRODUCT, 2), "borrow": 1, "addend": WINDOW,
})
"""The product is the sum of the partial words, less 2^PRODUCT if `borrow` is set."""

ADDED = data.StructLayout({**_PASSED, "total": WINDOW, "stop": WINDOW})
"""`stop` has a one in the place to which a leading one must be shifted at most: a result further below is subnormal."""

NORMALISED = data.StructLayout({
    **_PASSED, "shift": 7, "kept": KEPT, "sticky": 1,
})


class Prepare(wiring.Component):
    """Stage 1: special operands, the Booth digits of a factor, and the place of the addend.

    An addition is a * 1 + b. A product gets an addend of zero with its own sign.
    """

    operands: In(OPERANDS)
    prepared: Out(PREPARED)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        given, out = self.operands, self.prepared
        adds, multiplies = given.operation == Arithmetic.ADD, given.operation == Arithmetic.MULTIPLY
        nothing = Cat(Const(0, 31), given.a[31] ^ given.b[31])
        words = (given.a, Mux(adds, ONE, given.b), Mux(multiplies, nothing, Mux(adds, given.b, given.c)))
        a, b, c = (unpack(m, word, given.modes.ftz, name) for word, name in zip(words, "abc", strict=True))

        sign, opposite, no_product = a.sign ^ b.sign, Signal(), a.zero | b.zero
        product_infinite = a.infinite | b.infinite
        infinite = Signal()
        m.d.comb += [
            opposite.eq(sign ^ c.sign),
            infinite.eq(product_infinite | c.infinite),
            out.modes.eq(given.modes),
            out.sign.eq(Mux(product_infinite | ~c.infinite, sign, c.sign)),
            out.other.eq(c.sign),
            out.subtract.eq(opposite & ~infinite),
            out.infinite.eq(infinite),
            out.nan.eq(a.nan | b.nan | c.nan | (product_infinite & (no_product | (c.infinite & opposite)))),
            out.multiplicand.eq(a.significand),
            out.digits.eq(booth_digits(b.significand, Const(0, 1))),
            out.addend.eq(c.significand),
        ]
        self._place(m, a, b, c, no_product)
        return m

    def _place(self, m: Module, a: data.View, b: data.View, c: data.View, no_product: Value) -> None:
        """How far the addend is shifted. One that is so large that it would be shifted to the left stays at the top: of
        such a sum the product only makes a difference in rounding."""
        out, product, distance = self.prepared, Signal(10), Signal(11)
        m.d.comb += [product.eq(a.exponent + b.exponent), distance.eq(product - c.exponent - NEAREST)]
        above = distance[-1] | no_product
        m.d.comb += [
            out.exponent.eq(Mux(above, c.exponent, product - NEAREST)),
            out.distance.eq(Mux(above, 0, Mux(distance[:-1] > FARTHEST, FARTHEST, distance))),
        ]


class Align(wiring.Component):
    """Stage 2: the product as two words, and the addend in its place; what is shifted out is sticky.

    The sum of the words is the product modulo twice its range. So if it is not the product itself, their two bits above
    the range tell: bits without a carry are equal, and with one, which leaves the range, they differ.
    """

    prepared: In(PREPARED)
    aligned: Out(ALIGNED)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        given, out = self.prepared, self.aligned
        rows = partial_products(given.multiplicand, Const(0, 1), given.digits, PRODUCT + 1)
        words = compress(m, rows, PRODUCT + 1)
        shifted = Signal(WINDOW + SIGNIFICAND - 1)
        m.d.comb += [
            *(out[name].eq(given[name]) for name in _PASSED),
            *(partial.eq(word) for partial, word in zip(out.partial, words, strict=True)),
            out.borrow.eq(words[0][PRODUCT] ^ words[1][PRODUCT]),
            shifted.eq(Cat(Const(0, WINDOW - 1), given.addend) >> given.distance),
            out.addend.eq(Cat(shifted[:SIGNIFICAND].any(), shifted[SIGNIFICAND:])),
        ]
        return m


class Add(wiring.Component):
    """Stage 3: the magnitude of the sum or difference, and its sign.

    Of a difference, product - addend - 1 is negative if the addend is not smaller; its complement is then the
    magnitude. A second adder has the difference itself.
    """

    aligned: In(ALIGNED)
    added: Out(ADDED)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        given, out = self.aligned, self.added
        addend = Cat(given.addend ^ given.subtract.replicate(WINDOW), given.subtract)
        above = given.borrow.replicate(len(addend) - BELOW - PRODUCT)
        one, other = (Cat(Const(0, BELOW), word) for word in given.partial)
        words = compress(m, [Cat(one, above), other, addend], WINDOW + 1)
        total, more = Signal(WINDOW + 1), Signal(WINDOW + 1)
        negative = given.subtract & total[WINDOW]
        m.d.comb += [
            *(out[name].eq(given[name]) for name in _PASSED),
            total.eq(words[0] + words[1]),
            more.eq(words[0] + words[1] + 1),
            out.total.eq(Mux(negative, ~total[:WINDOW], Mux(given.subtract, more, total)[:WINDOW])),
            out.sign.eq(Mux(negative, given.other, given.sign)),
            out.stop.eq((Const(1 << WINDOW, WINDOW + 1) >> given.exponent)[:WINDOW]),
        ]
        return m


class Normalise(wiring.Component):
    """Stage 4: the distance of the leading one from the top, and the shift by its multiples of 2^FINE."""

    added: In(ADDED)
    normalised: Out(NORMALISED)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        given, out = self.added, self.normalised
        places = 1 << len(out.shift)
        stops = Cat(Const(1, 1), given.total[1:]) | given.stop
        shifted = Signal(WINDOW)
        zero = ~given.total.any()
        m.d.comb += [
            *(out[name].eq(given[name]) for name in _PASSED),
            out.sign.eq(Mux(zero & given.subtract, given.modes.rounding == 2, given.sign)),
            out.shift.eq(~leading(Cat(Const(0, places - WINDOW), stops))),
            shifted.eq(given.total << Cat(Const(0, FINE), out.shift[FINE:])),
            out.kept.eq(shifted[WINDOW - KEPT :]),
            out.sticky.eq(shifted[: WINDOW - KEPT].any()),
        ]
        return m


class Finish(wiring.Component):
    """Stage 5: the rest of the shift, and rounding."""

    normalised: In(NORMALISED)
    result: Out(32)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.round = rounding = Round()
        given, exact = self.normalised, Signal(EXACT)
        shifted = Signal(KEPT)
        *_, guard = range(KEPT - SIGNIFICAND)
        m.d.comb += [
            shifted.eq(given.kept << given.shift[:FINE]),
            *(exact[name].eq(given[name]) for name in ("sign", "infinite", "nan")),
            exact.exponent.eq(Mux(shifted[-1], given.exponent - given.shift, 0)),
            exact.fraction.eq(shifted[guard + 1 :]),
            exact.guard.eq(shifted[guard]),
            exact.below.eq(shifted[guard - 1]),
            exact.sticky.eq(shifted[: guard - 1].any() | given.sticky),
            rounding.modes.eq(given.modes),
            rounding.exact.eq(exact),
            self.result.eq(rounding.word),
        ]
        return m


class FusedMultiplyAdd(wiring.Component):
    """Executes FADD, FMUL and FFMA, correctly rounded (docs/contract/float.md). Latency five cycles, one operation a
    cycle, no stalls.

    Members
    -------
    valid, operands : an operation enters.
    done, result : the operation that entered five cycles before, and its word.
    """

    valid: In(1)
    operands: In(OPERANDS)
    done: Out(1)
    result: Out(32)

    def __init__(self) -> None:
        self.parts: dict[str, wiring.Component] = {
            "prepare": Prepare(), "align": Align(), "add": Add(), "normalise": Normalise(), "finish": Finish()}
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        connect_stages(m, self, self.parts)
        return m


assert NEAREST == 2 * BIAS + 2 * FRACTION - (WINDOW - SIGNIFICAND - BELOW) - (BIAS + FRACTION)
