# amaranth: UnusedElaboratable=no
"""The simple unit of an SAU: operations that execute in one cycle (docs/contract/fg_simt.md, *Lanes*)."""

from amaranth import Module, Mux, Value
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.encoding import modifier_fields
from warploom.arch.fg_simt.sizes import EIGHT_LANES, FIRST_SAU, LATENCY, SECOND_SAU, Sizes
from warploom.arch.isa import Op
from warploom.rtl.fg_simt.lane_unit import LaneUnit
from warploom.rtl.float.compare import COMPARISON, MODIFIERS, Compare
from warploom.rtl.float.compare import OPERANDS as COMPARED
from warploom.rtl.lane_control import CONTROL, decode
from warploom.rtl.lane_stages import Compute, Condition, Finish

SIMPLE = tuple(sorted({*LATENCY} - FIRST_SAU - SECOND_SAU - {Op.S2R}))
"""Operations of the unit; an S2R comes as a MOV."""


class Verdict(enum.Enum, shape=2):
    """The predicate result: of the operation, the lowest bit of its word, or the predicate operand."""

    COMPUTED, WORD, OPERAND = range(3)


SIMPLE_CONTROL = data.StructLayout({
    "integer": CONTROL, "verdict": Verdict, "is_float": 1,
    "compare": data.StructLayout({name: COMPARED[name].shape for name in ("operation", *MODIFIERS)}),
})
"""Control signals of a lane; `is_float` chooses the comparison of floats."""

SIMPLE_OPERANDS = data.StructLayout({"control": SIMPLE_CONTROL, "a": 32, "b": 32, "c": 32, "pred": 1})


def decode_simple(m: Module, op: Value, modifiers: Value, operands: data.View) -> None:
    """Drive the control signals of an operation."""
    control = operands.control
    integer = Mux(op == Op.PLOP3.value, Op.LOP3.value, op)
    m.d.comb += control.integer.eq(decode(m, integer, modifiers))
    with m.Switch(op):
        with m.Case(Op.PLOP3.value):
            m.d.comb += control.verdict.eq(Verdict.WORD)
        with m.Case(Op.MOV.value):
            m.d.comb += control.verdict.eq(Verdict.OPERAND)
        for operation, comparison in COMPARISON.items():
            with m.Case(operation.value):
                m.d.comb += [control.is_float.eq(1), control.compare.operation.eq(comparison)]
                m.d.comb += [control.compare[name].eq(modifiers[offset : offset + bits])
                             for name, offset, bits in modifier_fields(operation)]


class SimpleLane(wiring.Component):
    """One lane of the unit. Combinational: the stages of the integer lane without registers and without its
    multiplier, and the comparison of floats.

    Members
    -------
    operands : control signals, operand words and the predicate operand.
    result, verdict : word and predicate; unspecified if the operation has none.
    """

    operands: In(SIMPLE_OPERANDS)
    result: Out(32)
    verdict: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        given, control = self.operands, self.operands.control
        m.submodules.condition = condition = Condition()
        m.submodules.compute = compute = Compute()
        m.submodules.finish = finish = Finish()
        m.submodules.compare = compare = Compare()
        m.d.comb += [
            *(condition.operands[name].eq(given[name]) for name in ("a", "b", "c", "pred")),
            condition.operands.control.eq(control.integer),
            compute.conditioned.eq(condition.conditioned),
            compute.conditioned.digits.eq(0),
            compute.conditioned.control.accumulate.eq(0),
            finish.computed.eq(compute.computed),
            *(compare.operands[name].eq(control.compare[name]) for name in ("operation", *MODIFIERS)),
            *(compare.operands[name].eq(given[name]) for name in ("a", "b", "pred")),
            self.result.eq(Mux(control.is_float, compare.result, finish.result)),
        ]
        with m.Switch(control.verdict):
            with m.Case(Verdict.WORD):
                m.d.comb += self.verdict.eq(finish.result[0])
            with m.Case(Verdict.OPERAND):
                m.d.comb += self.verdict.eq(given.pred)
            with m.Default():
                m.d.comb += self.verdict.eq(Mux(control.is_float, compare.verdict, finish.verdict))
        return m


class SimpleUnit(LaneUnit):
    """Executes the operations of `SIMPLE` on a group, a thread in each lane: one group in each cycle, no stalls.
    Results are there in the cycle after that in which a group enters, in which they can be forwarded.

    Parameters
    ----------
    sizes : lanes of the engine.
    """

    def __init__(self, *, sizes: Sizes = EIGHT_LANES) -> None:
        super().__init__(name="simple_lane", lane=SimpleLane, decode=decode_simple, sizes=sizes, clocked=False)
