"""Planted bugs in the storage of the engine's lanes, and in the lanes as a whole: each bench must catch its own."""

from typing import Any

from amaranth import Cat, Const, Module, Value
from amaranth.lib import wiring

from warploom.arch.config import SmConfig
from warploom.rtl.fg_simt.lanes import Lanes
from warploom.rtl.fg_simt.predicate_masks import PredicateMasks
from warploom.rtl.fg_simt.srf import SimtRegisterFile
from warploom.tb.fg_simt import test_lanes, test_predicate_masks, test_srf
from warploom.tb.fg_simt.issuing_lanes import IssuingLanes
from warploom.tb.l1.mutants import Change, changed
from warploom.tb.mutants import Mutant, Rewire, Tampered, altered


def _registers(bug: str, rewire: Rewire) -> Mutant:
    return Mutant("SimtRegisterFile", test_srf.BENCH, bug, lambda config: Tampered(SimtRegisterFile(), rewire))


def _predicates(bug: str, rewire: Rewire) -> Mutant:
    return Mutant("PredicateMasks", test_predicate_masks.BENCH, bug, lambda config: Tampered(PredicateMasks(), rewire))


def _lanes(bug: str, change: Change) -> Mutant:
    return Mutant("Lanes", test_lanes.BENCH, bug, lambda config: IssuingLanes(changed(Lanes(probe=True), change)))


def _nothing(port: str) -> Rewire:
    return lambda o, m: {port: Const(0, len(Value.cast(getattr(o, port))))}


def _all_lanes(o: Any, m: Module) -> dict[str, Value]:
    return {"results": Cat(altered(m, result, execute=-1) for result in o.results)}


def _any_group(config: SmConfig) -> wiring.Component:
    unit: Any = SimtRegisterFile()
    for part in unit._forwarding:
        part._is_row = lambda result, part=part: result.destination.valid & (
            result.destination.number == part.row.number)
    made: wiring.Component = unit
    return made


def _unguarded(lanes: Any, m: Module) -> None:
    m.d.comb += lanes._access.executing.eq(lanes.sgu.operation.operation.mask.word_select(lanes.sgu.group, 8))


def _straight(lanes: Any, m: Module) -> None:
    """SAU1 does not invert its predicate operand."""
    held, which = lanes._predicates.held[1], lanes.sau[1].operation.payload.pred
    m.d.comb += lanes._saus[1].enter.payload.pred.eq(held[which.number])


MUTANTS = (
    _registers("never forwards results", _nothing("results")),
    _registers("forwards to lanes that do not execute", _all_lanes),
    Mutant("SimtRegisterFile", test_srf.BENCH, "forwards other groups", _any_group),
    _registers("does not write loads", lambda o, m: {"writes": Value.cast(o.writes)[: -len(Value.cast(o.writes[2]))]}),
    _predicates("never forwards results", _nothing("results")),
    _predicates("forwards to lanes that do not execute", _all_lanes),
    _predicates("gives the SGU the predicates of group 0", lambda o, m: {"groups": Value.cast(o.groups)[:-2]}),
    _predicates("has no PT", lambda o, m: {"held": Value.cast(o.inner.held)[:-8]}),
    _lanes("stops no row", lambda lanes, m: m.d.comb.__iadd__(lanes._access.discard.eq(0))),
    _lanes("ignores the guard of accesses", _unguarded),
    _lanes("stores the low address word", lambda lanes, m: m.d.comb.__iadd__(lanes._access.data.eq(lanes._access.low))),
    _lanes("does not invert a predicate operand", _straight),
    _lanes("does not forward loads", lambda lanes, m: m.d.comb.__iadd__(lanes._registers.results[2].eq(0))),
)
