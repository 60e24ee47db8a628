"""Rules for when the results of both ends give those of all lanes: the table of docs/contract/affine.md."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.compact import STRIDE_BITS
from warploom.arch.encoding import modifier_fields
from warploom.arch.isa import Op
from warploom.arch.mechanisms import Affine
from warploom.arch.modifiers import Cond
from warploom.rtl.interfaces import SOURCES
from warploom.rtl.lane_stages import COMPUTED, CONDITIONED


class Kind(enum.Enum, shape=3):
    """The row of the table for an operation; NONE is not executed."""

    NONE, UNIFORM, LINEAR, PRODUCT, SHIFT, EXTREME, COMPARISON = range(7)


RULE = data.StructLayout({
    "kind": Kind, "affine": len(SOURCES), "outside": 1, "predicate": 1, "carry": 1, "combined": 1,
    "signed": 1, "high": 1, "right": 1, "cond": 4, "combine": 2,
})
"""The properties of an operation. `affine`: slots that may be affine. `outside`: for the uniform unit. `predicate`: the
predicate operand must be the same in all executing lanes. `carry`: the predicate result is a carry. `combined`: the
predicate result is combined with the predicate operand. The others are modifiers."""

_A, _AB, _ABC = 0b001, 0b011, 0b111
_ARITHMETIC: tuple[tuple[tuple[Op, ...], dict[str, int]], ...] = (
    ((Op.MOV, Op.S2R), {"kind": Kind.LINEAR, "affine": _A}),
    ((Op.IADD, Op.ISUB), {"kind": Kind.LINEAR, "affine": _AB, "predicate": 1, "carry": 1}),
    ((Op.SEL,), {"kind": Kind.LINEAR, "affine": _AB, "predicate": 1}),
    ((Op.IMUL,), {"kind": Kind.PRODUCT, "affine": _AB}),
    ((Op.IMAD,), {"kind": Kind.PRODUCT, "affine": _ABC, "predicate": 1, "carry": 1}),
    ((Op.SHF,), {"kind": Kind.SHIFT, "affine": _AB}),
    ((Op.IMIN, Op.IMAX), {"kind": Kind.EXTREME, "affine": _AB}),
    ((Op.LOP3, Op.PRMT, Op.BMSK, Op.POPC, Op.FLO, Op.BREV), {"kind": Kind.UNIFORM}),
    ((Op.FADD, Op.FMUL, Op.FFMA, Op.FMIN, Op.FMAX, Op.CVT, Op.LD), {"kind": Kind.UNIFORM, "outside": 1}),
)
_COMPARISONS: tuple[tuple[tuple[Op, ...], dict[str, int]], ...] = (
    ((Op.ISETP,), {"kind": Kind.COMPARISON, "affine": _AB, "combined": 1}),
    ((Op.FSETP,), {"kind": Kind.UNIFORM, "outside": 1, "combined": 1}),
    ((Op.TESTP,), {"kind": Kind.UNIFORM, "outside": 1}),
)


def decode_rule(m: Module, affine: Affine, op: Value, modifiers: Value) -> data.View:
    """The rule of an instruction, with the operations that `affine` makes eligible."""
    fields = {name: Signal(RULE[name].shape, name=f"rule_{name}") for name in RULE.members}  # some may never be set
    with m.Switch(op):
        for operations, values in _ARITHMETIC + (_COMPARISONS if affine.has_branches else ()):
            for operation in operations:
                with m.Case(operation.value):
                    m.d.comb += [fields[name].eq(value) for name, value in values.items()]
                    m.d.comb += [
                        fields[name].eq(modifiers[offset : offset + bits])
                        for name, offset, bits in modifier_fields(operation)
                        if name in RULE.members
                    ]
    rule = Signal(RULE, name="rule")
    m.d.comb += [rule[name].eq(field) for name, field in fields.items()]
    return rule


SLOT = data.StructLayout({"affine": 1, "stride": STRIDE_BITS, "wraps": 1, "wraps_signed": 1})
"""State of a slot; see `warploom.rtl.affine.ends.ENDS`."""

ANSWER = data.StructLayout({"verdict": 1, "high": 32})
"""Outputs of a lane beside its result."""

STATE = data.StructLayout({
    "possible": 1,  # no condition so far refuses it
    "bounded": 1, "some_wraps": 1, "carry_wraps": 1,  # a and b must not wrap; one does; an operand of a carry does
    "alike": 1, "same_high": 1,  # predicate results, or high words of products, must be the same in both lanes
    "shift": 1, "extreme": 1, "comparison": 1,  # later stages must check it
    "right": 1, "signed": 1, "distance": 6, "differs": 32,  # of a shift; the bits in which a differs in both lanes
    "equality": 1, "wraps": 1, "affine": 1, "stride": STRIDE_BITS,  # EQ or NE; these of a
})
"""An attempt in a stage of the rules."""


class Rules(wiring.Component):
    """Decides about an attempt, in parallel with the two lanes that compute it; each stage checks the lanes' outputs.

    Strides are needed only for shifts and comparisons: the stride of the result follows from its ends
    (`warploom.rtl.affine.stride`), and that it fits is one more condition.

    Members
    -------
    rule, possible, writes_predicate, slots : in the first cycle of an attempt: its rule, that nothing refuses it so
        far, that its predicate result is used, and the slots.
    conditioned, computed, answers : of both lanes, in the second, third and fourth cycle.
    holds : in the fourth cycle, the rule of the operation holds.
    """

    rule: In(RULE)
    possible: In(1)
    writes_predicate: In(1)
    slots: In(data.ArrayLayout(SLOT, len(SOURCES)))
    conditioned: In(data.ArrayLayout(CONDITIONED, 2))
    computed: In(data.ArrayLayout(COMPUTED, 2))
    answers: In(data.ArrayLayout(ANSWER, 2))
    holds: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        begun, shifted, compared = (
            Signal(STATE, name=name, reset_less=True) for name in ("begun", "shifted", "compared"))
        m.d.sync += [shifted.eq(begun), compared.eq(shifted)]
        for state, news in (
            (begun, self._begin()), (shifted, self._shift(begun)), (compared, self._compare(shifted)),
        ):
            m.d.sync += [state[name].eq(value) for name, value in news.items()]
        first, last = self.answers
        m.d.comb += self.holds.eq(
            compared.possible
            & (~compared.alike | (first.verdict == last.verdict))
            & (~compared.same_high | (first.high == last.high))
        )
        return m

    def _begin(self) -> dict[str, Value]:
        """Everything that follows from the slots alone. That they wrap is late, and counts in the next stage."""
        rule, (a, b, c) = self.rule, self.slots
        affine = Cat(slot.affine for slot in self.slots)
        product, shift, extreme, comparison = (
            rule.kind == kind for kind in (Kind.PRODUCT, Kind.SHIFT, Kind.EXTREME, Kind.COMPARISON))
        allowed = (
            (rule.kind != Kind.NONE) & ~(affine & ~rule.affine).any() & ~(product & a.affine & b.affine)
            & ~(shift & rule.signed & ~rule.right)
        )
        a_wraps, b_wraps = (Mux(rule.signed, slot.wraps_signed, slot.wraps) for slot in (a, b))
        carry = rule.carry & self.writes_predicate & affine.any()
        carry_wraps = Mux(product, c.wraps, a.wraps | b.wraps)
        same_high = product & affine.any() & (rule.high | carry)
        equality = (rule.cond == Cond.EQ) | (rule.cond == Cond.NE)
        compares = comparison & ~(equality & (a.stride == b.stride))
        return {
            "possible": self.possible & allowed & ~(carry & rule.high), "bounded": same_high | extreme | compares,
            "some_wraps": a_wraps | b_wraps, "carry_wraps": carry_wraps, "alike": carry, "same_high": same_high,
            "shift": shift, "extreme": extreme, "comparison": compares, "equality": equality, "wraps": a_wraps,
            "affine": a.affine, "stride": a.stride,
        }

    def _shift(self, state: data.View) -> dict[str, Value]:
        """Operands do not wrap where they must not. The distance of a shift is known, late."""
        first, last = self.conditioned
        wraps = (state.alike & state.carry_wraps) | (state.bounded & state.some_wraps)
        return {
            "possible": state.possible & ~wraps, "right": first.control.right, "signed": first.control.signed,
            "distance": first.distance, "differs": first.a ^ last.a,
        }

    def _follows(self, state: data.View) -> Value:
        """Whether the part of an affine a in the result of a shift is linear (the stride loses no bits), or is the same
        in all lanes. This part is a, shifted to the right by `distance`, for left shifts too."""
        cut = Cat(state.distance > bit for bit in range(33))
        same = ~(Cat(state.differs, state.differs[31] & state.signed) & ~cut).any()
        exact = state.right & ~(state.stride & cut).any()
        whole = (state.distance == 0) | (~state.right & (state.distance == 32))
        return ~state.affine | whole | (~state.wraps & (exact | same))

    def _compare(self, state: data.View) -> dict[str, Value]:
        """The result of a shift follows. The same operand is chosen in both lanes; a - b has the same sign in both, or
        the comparison does not depend on it."""
        first, last = self.computed
        below, at_least = first.less & last.less, ~(first.less | last.less)
        at_most = Cat(lane.less | lane.equal for lane in self.computed).all()
        same_sign = below | (at_least & (first.equal == last.equal))
        open_ = state.comparison & ~same_sign
        return {
            "possible": (state.possible & (~state.shift | self._follows(state)) & (~state.extreme | at_most | at_least)
                         & ~(open_ & state.equality)),
            "alike": state.alike | open_,
        }
