"""The three combinational stages of an integer lane; `warploom.rtl.lane` puts registers between them."""

from amaranth import C, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.modifiers import Combine, Cond
from warploom.rtl.lane_control import CONTROL, Unit, Verdict
from warploom.rtl.multiply import DIGIT, DIGITS, PRODUCT_BITS, booth_digits, compress, partial_products

OPERANDS = data.StructLayout({"control": CONTROL, "a": 32, "b": 32, "c": 32, "pred": 1})
"""Inputs of a lane: control signals, operand words and the predicate operand."""

CONDITIONED = data.StructLayout({
    "control": CONTROL, "a": 32, "b": 32, "c": 32, "pred": 1,
    "addend": 32, "carry": 1,  # of the adder: a + addend + carry
    "sign": 1, "digits": data.ArrayLayout(DIGIT, DIGITS),  # of the multiplication: bits above a, recoded b
    "high": 32, "low": 32, "distance": 6,  # of the shifter: high:low >> distance
})
"""Operands, conditioned for the functional units."""

COMPUTED = data.StructLayout({
    "control": CONTROL, "early": 32, "other": 32, "c": 32, "pred": 1,
    "carry": 1, "less": 1, "equal": 1,  # of the adder
    "partial": data.ArrayLayout(PRODUCT_BITS, 2),  # their sum is the product
})
"""The finished result of most operations (`early`), and the inputs of the last stage for the others."""


class Condition(wiring.Component):
    """Stage 1: complement, shift distance, mask, Booth digits.

    Every shift is one of high:low to the right. A left shift by n is one of b:a by 32 - n; BMSK shifts a word of b
    ones, above zeros, to the left by a.
    """

    operands: In(OPERANDS)
    conditioned: Out(CONDITIONED)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        given, out = self.operands, self.conditioned
        control = given.control

        amount = self._clamp(Mux(control.mask, given.a, given.c), control.wrap)
        ones = self._clamp(given.b, control.wrap)
        mask = Cat(ones > bit for bit in range(32))
        upper = Mux(control.signed, given.a[31].replicate(32), given.b)
        m.d.comb += [
            *(out[name].eq(given[name]) for name in ("control", "a", "b", "c", "pred")),
            out.addend.eq(given.b ^ control.subtract.replicate(32)),
            out.carry.eq((given.pred & control.carry_in) ^ control.subtract),
            out.sign.eq(control.signed & given.a[31]),
            out.digits.eq(booth_digits(given.b, control.signed & given.b[31])),
            out.high.eq(Mux(control.mask, mask, upper)),
            out.low.eq(Mux(control.mask, 0, given.a)),
            out.distance.eq(Mux(control.right, amount, 32 - amount)),
        ]
        return m

    @staticmethod
    def _clamp(value: Value, wrap: Value) -> Value:
        """The shift distance of a word: its five low bits, or the word if it is at most 32, else 32."""
        return Mux(value[5:].any() & ~wrap, C(32, 6), value[:5])


class Compute(wiring.Component):
    """Stage 2: adder, logic, shifter, byte permutation, bit counts, and the carry-save part of the multiplier."""

    conditioned: In(CONDITIONED)
    computed: Out(COMPUTED)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        given, out = self.conditioned, self.computed
        control = given.control

        total = Signal(32)
        carry = Signal()
        m.d.comb += Cat(total, carry).eq(given.a + given.addend + given.carry)
        negative = Mux(given.a[31] ^ given.b[31], given.a[31], ~carry)
        rows = partial_products(given.a, given.sign, given.digits)
        m.d.comb += [
            *(out[name].eq(given[name]) for name in ("control", "pred")),
            out.other.eq(given.b),
            out.c.eq(Mux(control.accumulate, given.c, 0)),
            out.carry.eq(carry),
            out.less.eq(Mux(control.signed, negative, ~carry)),
            out.equal.eq(given.a == given.b),
            *(partial.eq(row) for partial, row in zip(out.partial, compress(m, rows, PRODUCT_BITS), strict=True)),
        ]
        with m.Switch(control.unit):
            for unit, value in {
                Unit.MOVE: given.a,
                Unit.ADD: total,
                Unit.EXTREME: given.a,
                Unit.LOGIC: logic(control.lut, given.a, given.b, given.c),
                Unit.SHIFT: (Cat(given.low, given.high) >> given.distance)[:32],
                Unit.PERMUTE: permute(given.a, given.b, given.c),
                Unit.COUNT: count(given.a),
                Unit.LEADING: Mux(given.a.any(), leading(given.a), C(0xFFFFFFFF, 32)),
                Unit.REVERSE: given.a[::-1],
                Unit.SELECT: Mux(given.pred, given.a, given.b),
            }.items():
                with m.Case(unit):
                    m.d.comb += out.early.eq(value)
        return m


class Finish(wiring.Component):
    """Stage 3: the last addition of the multiplier, the choice of the result, and the predicate.

    For the high word the addend of an IMAD starts at bit 32; its carry in then enters at bit 0 and propagates through
    ones. The carry out of that addition, derived from its top bit, also needs the product alone, which a second adder
    computes.
    """

    computed: In(COMPUTED)
    result: Out(32)
    verdict: Out(1)
    high: Out(32)  # word of the product alone

    def elaborate(self, platform: object) -> Module:
        m = Module()
        given, control = self.computed, self.computed.control

        carry_in = given.pred & control.accumulate
        addend = Mux(control.high, Cat(carry_in.replicate(32), given.c), given.c)
        partial = compress(m, [*given.partial, addend], PRODUCT_BITS)
        product = Signal(PRODUCT_BITS)
        total = Signal(PRODUCT_BITS)
        m.d.comb += [
            product.eq(given.partial[0] + given.partial[1]),
            total.eq(partial[0] + partial[1] + carry_in),
            self.high.eq(product[32:]),
        ]
        product_top, total_top = (Mux(control.high, word[63], word[31]) for word in (product, total))
        product_carry = (product_top & given.c[31]) | ((product_top | given.c[31]) & ~total_top)

        with m.Switch(control.unit):
            with m.Case(Unit.PRODUCT):
                m.d.comb += self.result.eq(Mux(control.high, total[32:], total[:32]))
            with m.Case(Unit.EXTREME):
                m.d.comb += self.result.eq(Mux(given.less ^ control.maximum, given.early, given.other))
            with m.Default():
                m.d.comb += self.result.eq(given.early)
        with m.Switch(control.verdict):
            with m.Case(Verdict.CARRY):
                m.d.comb += self.verdict.eq(given.carry ^ control.subtract)
            with m.Case(Verdict.PRODUCT_CARRY):
                m.d.comb += self.verdict.eq(product_carry)
            with m.Case(Verdict.COMPARISON):
                m.d.comb += self.verdict.eq(self._compare(m))
        return m

    def _compare(self, m: Module) -> Value:
        """(a cond b) combine pred."""
        given, control = self.computed, self.computed.control
        holds = Signal()
        verdict = Signal()
        with m.Switch(control.cond):
            for cond, value in {
                Cond.EQ: given.equal, Cond.NE: ~given.equal, Cond.LT: given.less, Cond.LE: given.less | given.equal,
                Cond.GT: ~(given.less | given.equal), Cond.GE: ~given.less,
            }.items():
                with m.Case(cond.value):
                    m.d.comb += holds.eq(value)
        with m.Switch(control.combine):
            with m.Case(Combine.AND.value):
                m.d.comb += verdict.eq(holds & given.pred)
            with m.Case(Combine.OR.value):
                m.d.comb += verdict.eq(holds | given.pred)
            with m.Case(Combine.XOR.value):
                m.d.comb += verdict.eq(holds ^ given.pred)
        return verdict


def logic(lut: Value, a: Value, b: Value, c: Value) -> Value:
    """Bit (a << 2 | b << 1 | c) of `lut`, for each bit position."""
    terms = C(0, 32)
    for index in range(8):
        bits = [word if index >> place & 1 else ~word for word, place in ((a, 2), (b, 1), (c, 0))]
        terms |= lut[index].replicate(32) & bits[0] & bits[1] & bits[2]
    return terms


def permute(a: Value, b: Value, c: Value) -> Value:
    """Bytes of b:a chosen by the four low nibbles of c; bit 3 of a nibble replicates the sign of its byte."""
    chosen = []
    for i in range(4):
        nibble = c.word_select(i, 4)
        byte = Cat(a, b).word_select(nibble[:3], 8)
        chosen.append(Mux(nibble[3], byte[7].replicate(8), byte))
    return Cat(*chosen)


def count(value: Value) -> Value:
    """Number of ones, by a tree of adders."""
    if len(value) == 1:
        return value
    half = len(value) // 2
    return count(value[:half]) + count(value[half:])


def leading(value: Value) -> Value:
    """Position of the leading one of a word of 2, 4, 8... bits; zero if there is none."""
    if len(value) == 2:
        return value[1]
    half = len(value) // 2
    upper = value[half:]
    return Cat(Mux(upper.any(), leading(upper), leading(value[:half])), upper.any())
