"""Integer lane: one of the 32 that execute `Op.MOV` .. `Op.SEL`."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from amaranth import Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.rtl.lane_stages import COMPUTED, CONDITIONED, OPERANDS, Compute, Condition, Finish

STAGES = 3
"""Stages of a lane: cycles from its operands to its result."""


class Lane(wiring.Component):
    """One 32-bit lane of three stages, each with a register at its end.

    Stage 1 conditions the operands (complement for subtraction, shift distances, Booth digits), stage 2 computes and
    reduces the product to two words, stage 3 adds these and selects the result. Latency three cycles from `operands` to
    `result`, one operation a cycle, no stalls.

    Members
    -------
    operands : control signals (`warploom.rtl.lane_control`), operand words and the predicate operand.
    result, verdict : word and predicate of the operation that entered three cycles before, zero if it has none.
    """

    operands: In(OPERANDS)
    result: Out(32)
    verdict: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        connect_stages(m, self)
        return m


Final = Callable[[Module, Finish], tuple[Value, Value]]
"""Word and predicate for the register of the last stage, from the outputs of that stage."""


def _as_computed(m: Module, finish: Finish) -> tuple[Value, Value]:
    return finish.result, finish.verdict


def connect_stages(m: Module, lane: Any, loads: Value | None = None, final: Final = _as_computed) -> None:
    """Connect the stages between the ports `operands`, `result` and `verdict` of a lane. The registers of a stage load
    if its bit of `loads` is set, otherwise they hold their values; without `loads` they always load."""
    m.submodules.condition = condition = Condition()
    m.submodules.compute = compute = Compute()
    m.submodules.finish = finish = Finish()
    conditioned = Signal(CONDITIONED, reset_less=True)
    computed = Signal(COMPUTED, reset_less=True)
    result = Signal(32, reset_less=True)
    verdict = Signal(reset_less=True)
    final_result, final_verdict = final(m, finish)
    registers = ([conditioned.eq(condition.conditioned)], [computed.eq(compute.computed)],
                 [result.eq(final_result), verdict.eq(final_verdict)])
    for stage, taking in enumerate(registers):
        with nullcontext() if loads is None else m.If(loads[stage]):
            m.d.sync += taking
    m.d.comb += [
        condition.operands.eq(lane.operands),
        compute.conditioned.eq(conditioned),
        finish.computed.eq(computed),
        lane.result.eq(result),
        lane.verdict.eq(verdict),
    ]
