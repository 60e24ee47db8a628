"""Coverage of bypassing collectors: every rule of docs/contract/operands.md."""

from collections.abc import Sequence

from warploom.arch.config import SmConfig
from warploom.golden_model.bypass.collector import BypassingCollector
from warploom.golden_model.bypass.entries import Coming, Delivery, Entry, Events, Taken
from warploom.golden_model.records import SOURCES
from warploom.tb.bench import Coverage

ALWAYS = (
    "hit", "two slots miss one register", "an unused entry is taken", "a source's entry serves the destination",
    "some lanes are missing", "enough lanes are known", "lanes on their way", "an entry lapses",
    "an awaited entry lapses", "a result finds no entry", "a latched result keeps an entry",
    "a first instruction forgets", "the window is full", "dispatched and taken at once", "two write ports at once",
    "several results come", "a result waits for its latch", "all entries are in use",
)

FEW = 6
TIGHT = ("little room", "no entry for the destination")
"""With `FEW` entries or less."""

REPLACED = ("an entry is replaced", "the older of two is replaced", "a source takes the destination's entry")
"""With less than two entries for each instruction in the window."""

WRITE_BACK = ("dirty lanes are overwritten", "results merge", "slid out and evicted", "eviction waits",
              "eviction gives way to issue", "a first instruction ends dirty values")
"""With write-back."""

AGES = ("the older of two leaves",)
"""With write-back and a window of more than two instructions: dirty values of two ages are rare in one of two."""

CROWDED = ("crowded out and evicted",)
"""With write-back, and less than two entries for each instruction in the window."""

PASSES = ("an operand passes its entry",)
"""With `arrival_delay` = 0 and no dispatch delay."""

TURNS = ("a full collector takes as another leaves",)
"""With `turnaround` = 0."""

TURNS_FEW = ("an entry is taken over as its reader leaves",)
"""With `turnaround` = 0, and `FEW` entries or less."""

HINTS = ("dropped", "not worth an entry", "not worth its entry", "delivered to its dirty lanes",
         "a transient result joins a lasting one", "a lasting result joins a transient one")


class WindowCoverage:
    """Observes a model at the end of its cycles."""

    def __init__(self, config: SmConfig) -> None:
        writes_back, crowded = config.writes_back, config.entries < 2 * config.window
        self._config = config
        self._points = {
            *ALWAYS, *(TIGHT if config.entries <= FEW else ()), *(REPLACED if crowded else ()),
            *(WRITE_BACK if writes_back else ()), *(CROWDED if crowded and writes_back else ()),
            *(AGES if writes_back and config.window > 2 else ()),
            *(HINTS if config.has_hints else ()),
            *(PASSES if config.passes_storage else ()), *(() if config.turnaround else TURNS),
            *(TURNS_FEW if config.entries <= FEW and not config.turnaround else ()),
        }
        self._coverage = Coverage(*self._points)

    def finish(self) -> None:
        """Raise `AssertionError` naming the points that were never hit."""
        self._coverage.finish()

    def hit(self, point: str, condition: object = True) -> None:
        """Count a point when its condition holds, if the configuration has it."""
        if point in self._points:
            self._coverage.hit(point, condition)

    def cycle(self, model: BypassingCollector, events: Events) -> None:
        """A cycle of the model is about to end, with these events."""
        take, coming, delivery = events.take, events.coming, events.delivery
        self.hit("the window is full", len(model.held) == self._config.window)
        self.hit("all entries are in use", all(entry.used for entry in model.entries))
        self.hit("dispatched and taken at once", take and events.dispatched)
        if events.dispatched:
            self.hit("an operand passes its entry", any(entry.arriving for entry in model.held[0].entries))
            self.hit("a full collector takes as another leaves", take and len(model.held) == self._config.window)
        self.hit("two write ports at once", events.arriving_word is not None and delivery)
        self.hit("several results come", len(coming) > 1)
        available = model.available(events.dispatched)
        self.hit("little room", take and len(available) < len(SOURCES))
        for result in coming:
            self._comes(model, result)
        if delivery is not None:
            self._delivers(model, delivery)
        self._leaves(model, take, events.evicted)
        if take is not None:
            self._takes(model, take, [model.entries[index] for index in available])
        named = _named(take) if take else []
        self._lapses(model, named, [result.register for result in coming])

    def _comes(self, model: BypassingCollector, result: Coming) -> None:
        entry = model.lookup(result.register)
        self.hit("a result finds no entry", entry is None)
        self.hit("not worth its entry", entry is not None and not result.deliver)
        self.hit("a result waits for its latch", entry is not None and entry.latched)

    def _delivers(self, model: BypassingCollector, result: Delivery) -> None:
        entry = model.lookup(result.register)
        assert entry is not None
        joins = entry.dirty & ~result.lanes
        self.hit("results merge", joins)
        self.hit("a transient result joins a lasting one", joins and result.transient and not entry.transient)
        self.hit("a lasting result joins a transient one", joins and entry.transient and not result.transient)

    def _leaves(self, model: BypassingCollector, take: Taken | None, evicted: bool) -> None:
        leaving = model.leaving()
        if leaving is None:
            return
        entry = model.entries[leaving.entry]
        younger = [other for other in model.entries if other.used and other.dirty and other.age < entry.age]
        self.hit("the older of two leaves", evicted and any(other.index < entry.index for other in younger))
        self.hit("eviction gives way to issue", take)
        self.hit("dropped", not take and leaving.dropped)
        self.hit("slid out and evicted", evicted and leaving.slid)
        self.hit("crowded out and evicted", evicted and not leaving.slid)
        self.hit("eviction waits", not take and not leaving.dropped and not evicted)

    def _lapses(self, model: BypassingCollector, named: Sequence[int], coming: Sequence[int]) -> None:
        read = {entry.index for held in model.held for entry in held.entries}
        for entry in model.entries:
            old = entry.used and entry.age == self._config.window - 1 and entry.index not in read
            if not old or entry.dirty or entry.register in named:
                continue
            latched = entry.latched or entry.register in coming
            self.hit("an entry lapses", not latched)
            self.hit("an awaited entry lapses", entry.awaited and not latched)
            self.hit("a latched result keeps an entry", latched)

    def _takes(self, model: BypassingCollector, take: Taken, available: Sequence[Entry]) -> None:
        fields = take.fields
        dirty = any(entry.used and entry.dirty for entry in model.entries)
        self.hit("a first instruction forgets", fields["first"] and any(entry.used for entry in model.entries))
        self.hit("a first instruction ends dirty values", fields["first"] and dirty)
        if fields["first"]:
            return
        sources = [fields[name] for slot, name in enumerate(SOURCES) if fields["reads"] >> slot & 1]
        missed = [register for register in sources if model.lookup(register) is None]
        self.hit("two slots miss one register", len(missed) > len(set(missed)))
        for register in set(sources) - set(missed):
            self._finds(model.lookup(register), fields["lanes"])
        self._replaces(available, _named(take), len(set(missed)))
        if fields["writes"]:
            free = [entry for entry in available if not entry.used or entry.register not in sources]
            self._writes(model, take, sources, len(free) - len(set(missed)))

    def _finds(self, entry: Entry | None, lanes: int) -> None:
        assert entry is not None
        self.hit("hit")
        self.hit("some lanes are missing", entry.known & lanes and lanes & ~entry.known)
        self.hit("enough lanes are known", not lanes & ~entry.known and entry.known.bit_count() < 32)
        self.hit("lanes on their way", (entry.wanted | entry.arriving) & lanes)

    def _replaces(self, available: Sequence[Entry], named: Sequence[int], missed: int) -> None:
        unused = [entry for entry in available if not entry.used]
        old = [entry for entry in available if entry.used and entry.register not in named]
        self.hit("an unused entry is taken", unused and missed)
        taken = old[: max(0, missed - len(unused))]
        self.hit("an entry is replaced", taken)
        self.hit("an entry is taken over as its reader leaves", any(entry.pins for entry in taken))
        self.hit("the older of two is replaced", any(other.index < entry.index for entry in taken for other in old
                                                      if other.age < entry.age))
        self.hit("a source takes the destination's entry", missed > len(unused) + len(old))

    def _writes(self, model: BypassingCollector, take: Taken, sources: Sequence[int], free: int) -> None:
        fields, entry = take.fields, model.lookup(take.fields["dst"])
        self.hit("a source's entry serves the destination", fields["dst"] in sources)
        self.hit("dirty lanes are overwritten", entry and entry.dirty & fields["lanes"])
        if entry is not None or fields["dst"] in sources:
            return
        self.hit("no entry for the destination", fields.get("to_collector", 1) and free <= 0)
        self.hit("not worth an entry", not fields.get("to_collector", 1) and free > 0)


def _named(take: Taken) -> list[int]:
    """The registers that an instruction names."""
    fields = take.fields
    sources = [fields[name] for slot, name in enumerate(SOURCES) if fields["reads"] >> slot & 1]
    return [*sources, *([fields["dst"]] if fields["writes"] else [])]
