# amaranth: UnusedElaboratable=no
"""What the control processor computes for all lanes at once (docs/contract/fg_simt.md, *Affine execution*)."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.micro import Source
from warploom.arch.isa import PT, Op
from warploom.arch.mechanisms import Affine
from warploom.arch.modifiers import Combine
from warploom.rtl.affine.ends import EndLane, Ends
from warploom.rtl.affine.linear import LinearSum
from warploom.rtl.affine.rules import RULE, Kind, Rules, decode_rule
from warploom.rtl.affine.stride import StrideFinder
from warploom.rtl.fg_simt.micro import HOLDS, OPERAND, modifier
from warploom.rtl.interfaces import COMPACT, SLOTS
from warploom.rtl.lane_control import CONTROL, decode
from warploom.rtl.shared import share

OPERANDS = data.ArrayLayout(OPERAND, SLOTS)
"""Where the operands a, b and c are."""

KNOWN = data.StructLayout({"valid": 1, "word": COMPACT, "holds": 1})
"""Results for all lanes: a word and a predicate, each unspecified for an instruction that has none."""

PLAN = data.StructLayout({"rule": RULE, "control": CONTROL, "adds": 1, "subtracts": 1, "selects": 1, "logic": 1,
                          "table": 8})
"""What an operation asks for: its rule; what the lanes of both ends do; which linear operation it is, if not a copy;
that it is a PLOP3, and its truth table."""

LANES = ("first", "last")


def plan_of(m: Module, affine: Affine, op: Value, modifiers: Value) -> data.View:
    """What an operation asks for."""
    plan = Signal(PLAN, name="plan")
    m.d.comb += [
        plan.rule.eq(decode_rule(m, affine, op, modifiers)),
        plan.control.eq(decode(m, Mux(op == Op.S2R, Op.MOV, op), modifiers)), plan.control.combine.eq(Combine.XOR),
        plan.adds.eq(op == Op.IADD), plan.subtracts.eq(op == Op.ISUB), plan.selects.eq(op == Op.SEL),
        plan.logic.eq((op == Op.PLOP3) & affine.has_branches), plan.table.eq(modifier(Op.PLOP3, "lut", modifiers)),
    ]
    return plan


class Attempt(wiring.Component):
    """Computes an instruction in the first and the last lane, and decides whether this gives all lanes.

    Linear operations without predicate result, and logic of predicates, are computed in the cycle of the inputs. Other
    attempts need the rules: `late` says so at once, and `known` follows in the fourth cycle with the same inputs if all
    operands are `uniform`, otherwise in the fifth one.

    Members
    -------
    plan : what the operation asks for.
    operands, resolved : its operands, compact registers as constants; uniform predicates, too.
    uniform : all its operands are the same in all lanes.
    pred : its predicate operand, resolved.
    predicate : its predicate result is used.
    late : it needs the rules.
    known : its results; valid if they are those of all lanes. Unspecified before if `late`.
    """

    plan: In(PLAN)
    operands: In(OPERANDS)
    resolved: In(OPERANDS)
    uniform: In(1)
    pred: In(HOLDS)
    predicate: In(1)
    late: Out(1)
    known: Out(KNOWN)

    def __init__(self) -> None:
        self._possible, self._linear = Signal(name="possible"), Signal(name="linear")
        super().__init__()
        self.rules, self.stride_finder, self.linear_sum = Rules(), StrideFinder(), LinearSum()
        self.lanes = [EndLane() for _ in LANES]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.rules, m.submodules.stride_finder = self.rules, self.stride_finder
        m.submodules.linear_sum = self.linear_sum
        for end, lane in zip(LANES, self.lanes, strict=True):
            m.submodules[f"{end}_lane"] = share(platform, "end_lane", lane)
        rule = self.plan.rule
        self._give_operands(m)
        self._give_rules(m, rule)
        self._add(m)
        for lane in self.lanes:
            m.d.comb += [lane.operands.control.eq(self.plan.control),
                         lane.operands.pred.eq(~self.pred.inverted & ~rule.combined)]
        self._answer(m, rule)
        return m

    def _give_operands(self, m: Module) -> None:
        """Both ends of each slot."""
        for number, name in enumerate("abc"):
            m.submodules[f"ends_{name}"] = ends = Ends()
            operand, slot = self.operands[number], self.rules.slots[number]
            m.d.comb += [
                *(ends.value[field].eq(operand[field]) for field in ("base", "stride")),
                slot.affine.eq(ends.value.stride.any()),
                slot.stride.eq(ends.value.stride),
                *(slot[field].eq(ends.ends[field]) for field in ("wraps", "wraps_signed")),
                *(lane.operands[name].eq(ends.ends[end]) for lane, end in zip(self.lanes, LANES, strict=True)),
            ]

    def _give_rules(self, m: Module, rule: data.View) -> None:
        rules, lanes = self.rules, self.lanes
        compact = Cat(operand.source == Source.CONSTANT for operand in self.operands).all()
        m.d.comb += [
            self._possible.eq(compact & (self.pred.number == PT) & (rule.kind != Kind.NONE) & ~rule.outside),
            self._linear.eq((rule.kind == Kind.LINEAR) & ~self.predicate),
            self.late.eq(self._possible & ~self._linear),
            rules.rule.eq(rule),
            rules.possible.eq(self._possible),
            rules.writes_predicate.eq(self.predicate),
            *(rules.conditioned[number].eq(lane.conditioned) for number, lane in enumerate(lanes)),
            *(rules.computed[number].eq(lane.computed) for number, lane in enumerate(lanes)),
            *(rules.answers[number][name].eq(getattr(lane, name)) for number, lane in enumerate(lanes)
              for name in ("verdict", "high")),
        ]

    def _add(self, m: Module) -> None:
        """A linear operation; its predicate operand chooses or is a carry."""
        linear, holds = self.linear_sum, ~self.pred.inverted
        adds, subtracts, selects = self.plan.adds, self.plan.subtracts, self.plan.selects
        m.d.comb += [
            *(getattr(linear, name)[part].eq(operand[part]) for name, operand in zip("ab", self.operands, strict=False)
              for part in ("base", "stride")),
            linear.take_a.eq(~selects | holds), linear.take_b.eq(adds | subtracts | (selects & ~holds)),
            linear.minus.eq(subtracts), linear.carry.eq(((adds | subtracts) & holds) ^ subtracts),
        ]

    def _answer(self, m: Module, rule: data.View) -> None:
        """The results of the lanes, of a sum, or of PLOP3."""
        first, last = self.lanes
        refused = Cat(slot.affine for slot in self.rules.slots) & ~rule.affine
        difference = Signal(32, reset_less=True)  # in the fifth cycle; the lanes' results stay the same
        m.d.sync += difference.eq(first.result - last.result)
        m.d.comb += [
            self.stride_finder.first.eq(difference),
            self.stride_finder.last.eq(0),
            self.known.word.base.eq(first.result),
            self.known.word.stride.eq(Mux(self.uniform, 0, self.stride_finder.stride)),
            self.known.valid.eq(self._possible & self.rules.holds & (self.uniform | self.stride_finder.fits)),
            self.known.holds.eq(Mux(rule.combined, self._combined(m, rule.combine, first.verdict), first.verdict)),
        ]
        with m.If(self._linear):
            m.d.comb += [self.known.valid.eq(self._possible & ~refused.any() & self.linear_sum.fits),
                         self.known.word.eq(self.linear_sum.result)]
        with m.If(self.plan.logic):
            m.d.comb += [self.known.valid.eq(self._all_uniform()), self.known.holds.eq(self._logic())]

    def _combined(self, m: Module, combine: Value, test: Value) -> Value:
        """A comparison, combined with the predicate operand."""
        holds, pred = Signal(name="combined"), ~self.pred.inverted
        with m.Switch(combine):
            for name, value in {Combine.AND: test & pred, Combine.OR: test | pred, Combine.XOR: test ^ pred}.items():
                with m.Case(name.value):
                    m.d.comb += holds.eq(value)
        return holds

    def _all_uniform(self) -> Value:
        """The operands of a PLOP3 are constants."""
        return Cat((operand.source == Source.PREDICATE) & (operand.base[:3] == PT) for operand in self.resolved).all()

    def _logic(self) -> Value:
        """The bit of the truth table for the constants a, b and c."""
        row = Cat(~operand.stride[0] for operand in reversed(self.resolved))
        return self.plan.table.bit_select(row, 1)
