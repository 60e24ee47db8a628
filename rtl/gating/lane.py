"""Lanes that hold their registers if they do not execute, or if the operation is trivial ([RADAIDEH], 4.4)."""

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.interfaces import OUTCOME_BITS, Outcome
from warploom.rtl.lane import STAGES, connect_stages
from warploom.rtl.lane_stages import OPERANDS, Finish


def executed(m: Module, executes: Value) -> Value:
    """For each stage, whether an instruction that the lane executes is at its input."""
    executing = Signal(STAGES - 1)
    m.d.sync += executing.eq(Cat(executes, executing))
    return Cat(executes, executing)


class HoldingLane(wiring.Component):
    """An integer lane whose registers load only for instructions that it executes.

    Members
    -------
    executes : the operands are those of an integer instruction that this lane executes.
    loads : for each stage, its registers load at the end of the cycle; otherwise they hold their values.
    others : `Lane`.
    """

    operands: In(OPERANDS)
    result: Out(32)
    verdict: Out(1)
    executes: In(1)
    loads: Out(STAGES)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        connect_stages(m, self, self.loads)
        m.d.comb += self.loads.eq(executed(m, self.executes))
        return m


class GatedLane(wiring.Component):
    """A holding lane whose first two stages also hold when the operation is trivial.

    If the result is an operand, that goes through a bypass, a register beside each of the two. The last stage takes it,
    or zero, instead of the computed result.

    Members
    -------
    outcome : the `Outcome` of the operation at the operands.
    bypass_loads : for each of the first two stages, the register beside it loads at the end of the cycle.
    others : `HoldingLane`.
    """

    operands: In(OPERANDS)
    result: Out(32)
    verdict: Out(1)
    executes: In(1)
    loads: Out(STAGES)
    outcome: In(OUTCOME_BITS)
    bypass_loads: Out(STAGES - 1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        connect_stages(m, self, self.loads, self._final)
        computing = Signal()
        m.d.sync += computing.eq(self.loads[0])
        last = executed(m, self.executes)[-1]
        m.d.comb += self.loads.eq(Cat(self.executes & (self.outcome == Outcome.COMPUTE), computing, last))
        return m

    def _final(self, m: Module, finish: Finish) -> tuple[Value, Value]:
        from_stages, from_bypass = Signal(), Signal()
        m.d.sync += [from_stages.eq(self.loads[1]), from_bypass.eq(self.bypass_loads[1])]
        result = finish.result & from_stages.replicate(32) | self._bypass(m) & from_bypass.replicate(32)
        return result, finish.verdict & from_stages

    def _bypass(self, m: Module) -> Value:
        """The operand that is the result, for the last stage."""
        operand, passing = Signal(32), Signal()
        beside = Signal(data.ArrayLayout(32, STAGES - 1), reset_less=True)
        with m.Switch(self.outcome):
            for outcome, slot in (Outcome.A, "a"), (Outcome.B, "b"), (Outcome.C, "c"):
                with m.Case(outcome.value):
                    m.d.comb += operand.eq(self.operands[slot])
        m.d.comb += self.bypass_loads.eq(Cat(self.executes & (self.outcome >= Outcome.A), passing))
        m.d.sync += passing.eq(self.bypass_loads[0])
        for stage, word in enumerate((operand, beside[0])):
            with m.If(self.bypass_loads[stage]):
                m.d.sync += beside[stage].eq(word)
        return beside[-1]
