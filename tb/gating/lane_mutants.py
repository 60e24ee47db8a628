"""Planted bugs in the lanes that hold their registers, and in the control of holding."""

from amaranth import Cat, Const, Module, Mux, Value

from warploom.arch.config import LANES
from warploom.arch.interfaces import OUTCOME_BITS, Outcome
from warploom.rtl.gating.lane import GatedLane, HoldingLane
from warploom.rtl.gating.trivial import TrivialDetector
from warploom.rtl.integer import IntegerUnit
from warploom.rtl.lane import Lane
from warploom.tb.gating.test_trivial import DecodedDetector
from warploom.tb.mutants import Mutant, Tampered

ZERO_MASK = ("gating=in_lane",)


class Hollow(GatedLane):
    """An operand that is the result is lost."""

    def _bypass(self, m: Module) -> Value:
        super()._bypass(m)
        return Const(0, 32)


def _restless(outer: Tampered, m: Module) -> dict[str, Value]:
    """All stages always load. A single one would only reload the value of the stage before it, which has no effect."""
    m.submodules.lane = lane = Lane()
    m.d.comb += lane.operands.eq(outer.operands)
    return {"result": lane.result, "verdict": lane.verdict}


def _backwards(outer: Tampered, m: Module) -> dict[str, Value]:
    return {"known": Cat(*reversed(list(outer.known)))}


def _shifted(outer: Tampered, m: Module) -> dict[str, Value]:
    return {"trivial": outer.trivial.rotate_left(OUTCOME_BITS)}


MUTANTS = (
    Mutant("TrivialDetector", "warploom.tb.gating.test_trivial", "does not look for a carry",
           lambda c: DecodedDetector(Tampered(TrivialDetector(), lambda o, m: {"pred": Const(0, LANES)}))),
    Mutant("TrivialDetector", "warploom.tb.gating.test_trivial", "takes slots backwards",
           lambda c: DecodedDetector(Tampered(TrivialDetector(), _backwards))),
    Mutant("TrivialDetector", "warploom.tb.gating.test_trivial", "looks at lanes that do not execute",
           lambda c: DecodedDetector(Tampered(TrivialDetector(), lambda o, m: {"lanes": Const(-1, LANES)}))),
    Mutant("HoldingLane", "warploom.tb.gating.test_lane", "holds nothing",
           lambda c: Tampered(HoldingLane(), _restless)),
    Mutant("GatedLane", "warploom.tb.gating.test_lane", "loses the bypass", lambda c: Hollow()),
    Mutant("GatedLane", "warploom.tb.gating.test_lane", "takes a for c", lambda c: Tampered(GatedLane(), lambda o, m: {
        "outcome": Mux(o.outcome == Outcome.C, Outcome.A, o.outcome)})),
    Mutant("IntegerUnit", "warploom.tb.gating.test_integer", "computes what is trivial",
           lambda c: Tampered(IntegerUnit(config=c, probe=True),
                              lambda o, m: {"trivial": Const(0, OUTCOME_BITS * LANES)}),
           ZERO_MASK),
    Mutant("IntegerUnit", "warploom.tb.gating.test_integer", "gives each outcome to the next lane",
           lambda c: Tampered(IntegerUnit(config=c, probe=True), _shifted), ZERO_MASK),
)
