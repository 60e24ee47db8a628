"""Minimum, maximum and comparison of single precision, in one cycle."""

from amaranth import C, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.isa import Op
from warploom.arch.modifiers import MODIFIER_KINDS, Combine, Cond
from warploom.rtl.float.number import NAN, unpack


class Comparison(enum.Enum, shape=2):
    """The operations: the smaller, the larger, a predicate."""

    MINIMUM, MAXIMUM, SET = range(3)


COMPARISON = {Op.FMIN: Comparison.MINIMUM.value, Op.FMAX: Comparison.MAXIMUM.value, Op.FSETP: Comparison.SET.value}
"""The instructions of the unit, and their operation."""

MODIFIERS = ("ftz", "nan", "xorsign", "cond", "combine")

OPERANDS = data.StructLayout({
    "operation": Comparison, **{name: MODIFIER_KINDS[name].bits for name in MODIFIERS}, "a": 32, "b": 32, "pred": 1,
})
"""Operation, its modifiers, operand words and the predicate operand."""

EQUAL, LESS, GREATER, UNORDERED = 1, 2, 4, 8
HOLDS = {
    Cond.EQ: EQUAL, Cond.NE: LESS | GREATER, Cond.LT: LESS, Cond.LE: LESS | EQUAL, Cond.GT: GREATER,
    Cond.GE: GREATER | EQUAL, Cond.NUM: EQUAL | LESS | GREATER, Cond.NAN: UNORDERED, Cond.EQU: EQUAL | UNORDERED,
    Cond.NEU: LESS | GREATER | UNORDERED, Cond.LTU: LESS | UNORDERED, Cond.LEU: LESS | EQUAL | UNORDERED,
    Cond.GTU: GREATER | UNORDERED, Cond.GEU: GREATER | EQUAL | UNORDERED,
}
"""Relations of a to b for which a condition holds."""


class Compare(wiring.Component):
    """FMIN, FMAX and FSETP of two words. Combinational.

    Members
    -------
    operands : operation, its modifiers and operands.
    result, verdict : its word (0 for FSETP) and its predicate (0 for others).
    """

    operands: In(OPERANDS)
    result: Out(32)
    verdict: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        given = self.operands
        sets, plain = given.operation == Comparison.SET, ~(given.xorsign & (given.operation != Comparison.SET))
        a, b = (unpack(m, Cat(word[:31], word[31] & plain), given.ftz, name)
                for word, name in ((given.a, "number_a"), (given.b, "number_b")))
        one, other = (Cat(number.significand[:23], given[name][23:31], number.sign)
                      for number, name in ((a, "a"), (b, "b")))
        less, same = Signal(), Signal()
        m.d.comb += [
            same.eq(one == other),
            less.eq(Mux(a.sign ^ b.sign, a.sign, ((one[:31] < other[:31]) ^ a.sign) & ~same)),
        ]
        first = Mux(given.operation == Comparison.MAXIMUM, ~less & ~same, less)
        chosen = self._settle(a, b, Mux(b.nan | (first & ~a.nan), one, other))
        m.d.comb += [
            self.result.eq(Mux(sets, 0, chosen)),
            self.verdict.eq(sets & self._holds(m, a, b, less, same)),
        ]
        return m

    def _settle(self, a: data.View, b: data.View, chosen: Value) -> Value:
        """The operand that is the minimum or maximum, where -0 is less than +0, with its sign; or NaN."""
        given = self.operands
        sign = Mux(given.xorsign, given.a[31] ^ given.b[31], chosen[31])
        none = Mux(given.nan, a.nan | b.nan, a.nan & b.nan)
        return Mux(none, NAN, Cat(chosen[:31], sign))

    def _holds(self, m: Module, a: data.View, b: data.View, less: Value, same: Value) -> Value:
        """(a cond b) combine pred; -0 equals +0."""
        given, unordered = self.operands, a.nan | b.nan
        equal = same | (a.zero & b.zero)
        relation = Mux(unordered, UNORDERED, Mux(equal, EQUAL, Mux(less, LESS, GREATER)))
        wanted, verdict = Signal(4), Signal()
        with m.Switch(given.cond):
            for cond, relations in HOLDS.items():
                with m.Case(cond.value):
                    m.d.comb += wanted.eq(C(relations, 4))
        test = (relation & wanted).any()
        with m.Switch(given.combine):
            for combine, value in ((Combine.AND, test & given.pred), (Combine.OR, test | given.pred),
                                   (Combine.XOR, test ^ given.pred)):
                with m.Case(combine.value):
                    m.d.comb += verdict.eq(value)
        return verdict


class FloatCompare(wiring.Component):
    """Executes FMIN, FMAX and FSETP (docs/contract/float.md). Latency one cycle, one operation a cycle, no stalls.

    Members
    -------
    valid, operands : an operation enters.
    done, result, verdict : the operation of the cycle before, its word (0 for FSETP) and its predicate (0 for others).
    """

    valid: In(1)
    operands: In(OPERANDS)
    done: Out(1)
    result: Out(32)
    verdict: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.compare = compare = Compare()
        valid = Signal()
        result, verdict = Signal(32, reset_less=True), Signal(reset_less=True)
        m.d.sync += [valid.eq(self.valid), result.eq(compare.result), verdict.eq(compare.verdict)]
        m.d.comb += [
            compare.operands.eq(self.operands),
            self.done.eq(valid),
            self.result.eq(result),
            self.verdict.eq(verdict),
        ]
        return m
