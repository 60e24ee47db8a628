"""Planted bugs in the storage of the engine's lanes, and in the lanes as a whole: each bench must catch its own."""

from itertools import chain
from typing import Any

from amaranth import Cat, Module, Value
from amaranth.lib import wiring

from warploom.arch.config import SmConfig
from warploom.rtl.fg_simt.lanes import Lanes
from warploom.rtl.fg_simt.predicate_masks import PredicateMasks
from warploom.rtl.fg_simt.register_bank import RegisterBank
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


def _all_lanes(o: Any, m: Module) -> dict[str, Value]:
    return {"writes": Cat(altered(m, result, execute=-1) for result in o.writes)}


def _stale(config: SmConfig) -> wiring.Component:
    """The first read port has no forwarding."""
    def stale(bank: Any, m: Module) -> None:
        read = bank._stored.read_port(domain="comb")
        m.d.comb += [read.addr.eq(bank.numbers[0]), bank.words[0].eq(read.data)]

    unit = SimtRegisterFile()
    for bank in chain(*unit._banks):
        changed(bank, stale)
    return unit


def _one_number(config: SmConfig) -> wiring.Component:
    """All ports of a thread read the first register."""
    unit = SimtRegisterFile()
    for bank in chain(*unit._banks):
        changed(bank, lambda bank, m: m.d.comb.__iadd__(bank.words[1].eq(bank.words[0])))
    return unit


def _late(config: SmConfig) -> wiring.Component:
    """Predicates have no forwarding."""
    unit: Any = PredicateMasks()
    unit._forwarded = lambda number, group, mask: mask
    made: wiring.Component = unit
    return made


def _unguarded(lanes: Any, m: Module) -> None:
    m.d.comb += lanes._access.executing.eq(lanes.sgu.operation.operation.mask.word_select(lanes.sgu.group, 8))


def _straight(lanes: Any, m: Module) -> None:
    """SAU1 does not invert its predicate operand."""
    held, which = lanes._predicates.held[1], lanes.sau[1].operation.payload.pred
    m.d.comb += lanes._saus[1].enter.payload.pred.eq(held[which.number])


MUTANTS = (
    Mutant("SimtRegisterFile", test_srf.BENCH, "does not forward to a port", _stale, part=RegisterBank),
    Mutant("SimtRegisterFile", test_srf.BENCH, "reads one register at two ports", _one_number, part=RegisterBank),
    _registers("writes lanes that do not execute", _all_lanes),
    _registers("does not write loads", lambda o, m: {"writes": Value.cast(o.writes)[: -len(Value.cast(o.writes[2]))]}),
    Mutant("PredicateMasks", test_predicate_masks.BENCH, "never forwards results", _late),
    _predicates("writes lanes that do not execute", _all_lanes),
    _predicates("gives the SGU the predicates of group 0", lambda o, m: {"groups": Value.cast(o.groups)[:-2]}),
    _predicates("has no PT", lambda o, m: {"held": Value.cast(o.inner.held)[:-8]}),
    _lanes("stops no row", lambda lanes, m: m.d.comb.__iadd__(lanes._access.discard.eq(0))),
    _lanes("ignores the guard of accesses", _unguarded),
    _lanes("stores the low address word", lambda lanes, m: m.d.comb.__iadd__(lanes._access.data.eq(lanes._access.low))),
    _lanes("does not invert a predicate operand", _straight),
    _lanes("does not write loads", lambda lanes, m: m.d.comb.__iadd__(lanes._registers.writes[2].eq(0))),
)
