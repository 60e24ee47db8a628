# amaranth: UnusedElaboratable=no
"""Planted bugs in the bypassing collector, each in one of its parts."""

from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from operator import or_

from amaranth import Cat, Const, Module, Mux, Value
from amaranth.lib import wiring

from warploom.arch.config import LANES, SmConfig
from warploom.arch.mechanisms import WindowDelay
from warploom.arch.mechanisms.baseline import FAST
from warploom.rtl.bypass.collector import BypassingCollector
from warploom.rtl.bypass.fetch import OperandFetcher
from warploom.tb.mutants import Mutant, Rewire, Tampered, altered

BENCH = "warploom.tb.bypass.test_collector"
SETTINGS = ("bypass=bow_hints", "entries=4")
ROWLESS = ("bypass=bow_hints", "window=2", "entries=8", "transient=on")
QUICK = ("bypass=bow_wr", "window=2", "entries=4", *FAST)
INTERLEAVED = (*SETTINGS, "coalescing=on", "gating=cross_lane", "window_delay=off")
LATE = ("bypass=bow", "entries=4", "coalescing=on")
SELECTED = ("bypass=bow", "window=2", "entries=4", "read_arbiter=pipelined", *FAST)


def _with(part: str, rewire: Rewire) -> Callable[[SmConfig], wiring.Component]:
    """Collectors with wrong connections of the part with this name."""

    def make(config: SmConfig) -> wiring.Component:
        collector = BypassingCollector(config=config, probe=True)
        sound = getattr(collector, part)
        bad = [Tampered(one, rewire) for one in sound] if isinstance(sound, list) else Tampered(sound, rewire)
        setattr(collector, part, bad)
        return collector

    return make


class Impatient(OperandFetcher):
    """Does not wait for an operand that is on its way."""

    def _is_free(self, m: Module) -> Value:
        return Const(1, 1)


def _impatient(config: SmConfig) -> BypassingCollector:
    collector = BypassingCollector(config=config, probe=True)
    collector.fetcher = Impatient(config=config)
    return collector


class Generous(BypassingCollector):
    """A destination without a row may find no entry."""

    def _for_destination(self) -> int:
        return 0


class Stale(BypassingCollector):
    """An operand that arrives is not shown to dispatch, which does not wait for it."""

    def _forwarded(self, word: Value, entries: Value) -> Value:
        return word


def _generous(outer: Tampered, m: Module) -> dict[str, Value]:
    return {"kept": Mux(outer.dispatched, 0, outer.inner.pinned)}


def _pausing(outer: Tampered, m: Module) -> dict[str, Value]:
    return {"wants": Mux(outer.inner.read.grant, 0, outer.wants)}


def _short_sighted(outer: Tampered, m: Module) -> dict[str, Value]:
    return {"kept": reduce(or_, outer.inner.reads[0])}


def _ageless(outer: Tampered, m: Module) -> dict[str, Value]:
    return {"oldest": outer.candidates & (~outer.candidates + 1)}


def _hopeful(outer: Tampered, m: Module) -> dict[str, Value]:
    return {"coming": Cat(altered(m, result, to_collector=1) for result in outer.coming)}


def _mutant(bug: str, part: str, rewire: Rewire, settings: tuple[str, ...] = SETTINGS) -> Mutant:
    return Mutant("BypassingCollector", BENCH, bug, _with(part, rewire), settings)


MUTANTS = (
    Mutant("BypassingCollector", BENCH, "has no entry for a result", lambda c: Generous(config=c, probe=True), ROWLESS),
    Mutant("BypassingCollector", BENCH, "dispatches before the operand", lambda c: Stale(config=c, probe=True), QUICK),
    _mutant("is misled by another warp", "entries", lambda o, m: {"take": o.take | o.issue.first}),
    _mutant("replaces what others read as one leaves", "queue", _generous, QUICK),
    _mutant("holds one instruction too many", "queue", lambda o, m: {"full": Const(0, 1)}, QUICK),
    _mutant("replaces what younger instructions read", "queue", _short_sighted),
    _mutant("lets the lowest entry go, not the oldest", "allocator", _ageless),
    _mutant("keeps what the warp before left", "allocator", lambda o, m: {"issue": altered(m, o.issue, first=0)}),
    _mutant("fetches over dirty lanes", "entries", lambda o, m: {"arriving": Const(-1, LANES)}),
    _mutant("takes a transient value for a lasting one", "entries",
            lambda o, m: {"delivery": altered(m, o.delivery, transient=0)}),
    _mutant("takes a result that is not delivered", "entries",
            lambda o, m: {"delivery": altered(m, o.delivery, valid=1)}),
    _mutant("expects results that go to the register file", "entries", _hopeful),
    _mutant("takes lanes that are on their way for present", "entries", lambda o, m: {"wants": Const(0, 1)}),
    _mutant("evicts lanes that are clean", "entries", lambda o, m: {"dirty": Const(-1, LANES)}),
    _mutant("thinks that an entry's time is over at once", "entries", lambda o, m: {"old": Const(1, 1)}),
    _mutant("takes left registers for right ones", "entries",
            lambda o, m: {"form": altered(m, o.inner.form, left=0)}, INTERLEAVED),
    _mutant("forgets the zero mask of the destination", "queue",
            lambda o, m: {"zero": Const(0, len(o.zero.as_value()))}, INTERLEAVED),
    Mutant("BypassingCollector", BENCH, "requests while an operand is on its way", _impatient, SELECTED),
    _mutant("is ready before an operand arrives", "fetcher", lambda o, m: {"fetching": o.inner.arrives}, SELECTED),
    _mutant("wants lanes again that are on their way", "entries", lambda o, m: {"fetching": o.arrives}, SELECTED),
    _mutant("chooses no request as another one is granted", "fetcher", _pausing, LATE),
    Mutant("BypassingCollector", BENCH, "requests at once",
           lambda c: BypassingCollector(config=replace(c, window_delay=WindowDelay.OFF), probe=True), LATE),
)
