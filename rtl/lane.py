"""Integer lane: one of the 32 that execute `Op.MOV` .. `Op.SEL`."""

from amaranth import Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from rtl.lane_stages import COMPUTED, CONDITIONED, OPERANDS, Compute, Condition, Finish

STAGES = 3
"""Stages of a lane: cycles from its operands to its result."""


class Lane(wiring.Component):
    """One 32-bit lane of three stages, each with a register at its end.

    Stage 1 conditions the operands (complement for subtraction, shift distances, Booth digits), stage 2 computes and
    reduces the product to two words, stage 3 adds these and chooses. Latency three cycles from `operands` to `result`,
    one operation a cycle, no stalls.

    Members
    -------
    operands : control signals (`rtl.lane_control`), operand words and the predicate operand.
    result, verdict : word and predicate of the operation that entered three cycles before, zero where it has none.
    """

    operands: In(OPERANDS)
    result: Out(32)
    verdict: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.condition = condition = Condition()
        m.submodules.compute = compute = Compute()
        m.submodules.finish = finish = Finish()
        conditioned = Signal(CONDITIONED, reset_less=True)
        computed = Signal(COMPUTED, reset_less=True)
        result = Signal(32, reset_less=True)
        verdict = Signal(reset_less=True)
        final_result, final_verdict = self._final(m, finish)
        self._load(m, 0, conditioned.eq(condition.conditioned))
        self._load(m, 1, computed.eq(compute.computed))
        self._load(m, 2, result.eq(final_result), verdict.eq(final_verdict))
        m.d.comb += [
            condition.operands.eq(self.operands),
            compute.conditioned.eq(conditioned),
            finish.computed.eq(computed),
            self.result.eq(result),
            self.verdict.eq(verdict),
        ]
        return m

    def _load(self, m: Module, stage: int, *registers: object) -> None:
        """At the end of the cycle registers of a stage, counted from 0, take new values: `registers` assigns these."""
        m.d.sync += registers

    def _final(self, m: Module, finish: Finish) -> tuple[Value, Value]:
        """Word and predicate for the register of the last stage."""
        return finish.result, finish.verdict
