"""`Windows`: what collectors that belong to warps change in a datapath (docs/timing.md, section 11)."""

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from golden_model.abstract_datapath import NO_INPUTS, AbstractDatapath, Inputs, Results
from golden_model.bypass.collector import BypassingCollector
from golden_model.bypass.counts import Counts
from golden_model.bypass.dispatch import RoundRobinDispatcher
from golden_model.bypass.entries import Coming, Delivery, Request, Taken
from golden_model.bypass.eviction import EvictionUnit
from golden_model.bypass.probe import WindowProbe
from golden_model.bypass.wires import Wires
from golden_model.placement import Place
from golden_model.schedulers import lowest
from golden_model.writeback import Result
from warploom.arch.interfaces import WRITERS

_SP, _SFU, _MEM = range(len(WRITERS))
_NO_RESULTS = (None,) * len(WRITERS)


class Windows(AbstractDatapath):
    """Bypassing collectors on any register file, of which there is a subclass each (`golden_model.bypass.datapaths`).

    A collector costs nothing in a cycle in which nothing happens to it. `room` is a wire, by warp. `counts` are events
    of all collectors.
    """

    collectors: Any  # list[BypassingCollector], where other datapaths have collectors of another kind
    decision: Any
    dispatcher: RoundRobinDispatcher

    def _build(self) -> None:
        config = self.config
        self._counted = Counts()
        super()._build()  # type: ignore[safe-super]
        self.dispatcher = RoundRobinDispatcher(config)
        self.evictions = EvictionUnit()
        self._wires, self._probe = Wires(config), WindowProbe(config)
        self.room, self.roomy, self._probe_fields = self._wires.room, self._wires.roomy, self._probe.others
        self._events: defaultdict[int, dict[str, Any]] = defaultdict(dict)  # of this cycle, by collector
        self._words: list[tuple[int, int]] = []  # collector and word of what was granted one cycle before
        self._delivers = [False] * len(WRITERS)  # what each latch holds goes to the collector of its warp
        self._hinted, self._writes_back = config.bypass.has_hints, config.bypass.writes_back
        self._blocked = self._taking = 0  # masks of collectors: an eviction is on its way, an instruction is taken
        self._used = [(0, 0)] * config.warps  # by collector: entries in use, and since when
        for warp in range(config.warps):
            self._observe(warp)
        self._free = self.roomy[0]

    def _collector(self, index: int) -> Any:
        return BypassingCollector(self.config, index, self._counted)

    # ------------------------------------------------------------------ what a register file does

    @abstractmethod
    def _stored(
        self, fields: Mapping[str, Any], sources: Sequence[Place], destination: Place
    ) -> Sequence[Mapping[str, int]]:
        """How the registers of an instruction are stored: sources and, last, destination (`Taken`)."""

    @abstractmethod
    def _request(self, index: int, request: Request | None) -> None:
        """What a collector requests from the next cycle on."""

    @abstractmethod
    def _collectors_granted(self) -> list[int]:
        """The collectors that are granted their requests in this cycle; called once at its end."""

    @abstractmethod
    def _fetch(self, request: Request) -> int:
        """The word that a granted request reads, as plain lanes."""

    # ------------------------------------------------------------------ wires

    def _arbitrate(self) -> None:
        writeback = self.writeback
        writeback.held_back = self._held_back() if writeback.held > 1 else 0
        super()._arbitrate()  # type: ignore[safe-super]
        if writeback.held_back:
            grants = self.decision.writes
            self.done, self.ready = writeback.done(grants), writeback.ready(grants)
        if self.evictions.latched and self.done[_MEM] is not None:
            self.done = [*self.done[:_MEM], None]

    def _held_back(self) -> int:
        """The mask of latches that wait for others: SFU for the path of SP, MEM for the result port of a collector."""
        sp, sfu, mem = self.writeback.latches
        mask, first = 0, _SFU
        if sp is not None and sp["writes"]:
            first = _SP
            if sfu is not None and sfu["writes"]:
                mask |= 1 << _SFU
        if self._delivers[first] and self._delivers[_MEM]:
            other = self.writeback.latches[first]
            assert other is not None and mem is not None
            if other["warp"] == mem["warp"]:
                mask |= 1 << _MEM
        return mask

    def _choose(self) -> int | None:
        return self.dispatcher.choose(self._wires.ready, self.collectors)

    def _reads_nothing(self) -> bool:
        return not (self._words or self._wires.requests)

    @property
    def quiet(self) -> bool:
        wires = self._wires
        return super().quiet and not (wires.evicting or wires.restless or self.evictions.held)

    @property
    def counts(self) -> Counts:
        """Events since reset."""
        for index in range(len(self.collectors)):
            self._count_entries(index)
        return self._counted

    # ------------------------------------------------------------------ the end of a cycle

    def clock(self, inputs: Inputs = NO_INPUTS) -> None:
        super().clock(inputs)
        wires, events, blocked = self._wires, self._events, self.evictions.blocked
        changing = wires.restless | blocked ^ self._blocked
        while changing:
            events[lowest(changing)]  # nothing from outside
            changing &= changing - 1
        self._blocked = blocked
        if events:
            for index, happens in events.items():
                self.collectors[index].clock(**happens)
                self._observe(index)
            events.clear()
            self._taking = 0
            self._free = self.roomy[0]

    def _observe(self, index: int) -> None:
        """A collector has changed."""
        collector, wires = self.collectors[index], self._wires
        wires.observe(collector, bool(self._blocked >> index & 1))
        request = collector.request()
        if request is not None:
            wires.requests[index] = request
            self._request(index, request)
        elif wires.requests.pop(index, None) is not None:
            self._request(index, None)
        self._probe.changed(index)
        if collector.entries_used != self._used[index][0]:
            self._count_entries(index)

    def _count_entries(self, index: int) -> None:
        used, since = self._used[index]
        self._counted.occupancy[used] += self.dispatcher.cycle - since
        self._used[index] = self.collectors[index].entries_used, self.dispatcher.cycle

    def _issue(self, fields: Mapping[str, Any]) -> None:
        places = self._places_of(fields)
        self._taking = 1 << fields["warp"]
        self._events[fields["warp"]]["take"] = Taken(fields, *places, self._stored(fields, *places))

    def _release(self, index: int) -> None:
        self._events[index]["dispatched"] = True

    def _read(self) -> None:
        for index, word in self._words:
            self._events[index]["arriving_word"] = word
        self._words = []
        if not (self._wires.requests or self.writeback.held):
            return
        self.bank_conflicts += self.decision.bank_conflicts + self.writeback.held_back.bit_count()
        self.port_conflicts += self.decision.port_conflicts
        for index in self._collectors_granted():
            request = self._wires.requests[index]
            self._words.append((index, self._fetch(request)))
            self.bank_reads[request.place.bank] += 1
            self._events[index]["granted"] = True

    def _write(self, results: Results) -> None:
        self._deliver()
        evicted = self._evict(results[_MEM])
        self._look_up(results)
        super()._write((results[_SP], results[_SFU], evicted or results[_MEM]))  # type: ignore[safe-super]

    def _deliver(self) -> None:
        """Results that complete reach their collectors."""
        for writer, result in enumerate(self.done):
            if result is not None and self._delivers[writer]:
                self._delivers[writer] = False
                self._events[result["warp"]]["delivery"] = Delivery(
                    result["dst"], result["data"], result["lanes"], bool(result["full"]),
                    self._hinted and not result["to_file"])  # fmt: skip

    def _look_up(self, results: Results) -> None:
        """Results enter their latches: where will they go?"""
        self.writeback.unwritten = 0
        if results == _NO_RESULTS:
            return
        for writer, result in enumerate(results):
            if result is not None and result["writes"]:
                collector = self.collectors[result["warp"]]
                delivers = collector.delivers(result["dst"], bool(result.get("to_collector", 1)))
                if collector.lookup(result["dst"]) is not None:
                    coming = self._events[result["warp"]].setdefault("coming", [])
                    coming.append(Coming(result["dst"], delivers))
                self._delivers[writer] = delivers
                if delivers and self._writes_back:
                    self.writeback.unwritten |= 1 << writer
                self._counted.enters(delivers, written=not (delivers and self._writes_back))

    def _evict(self, mem: Result | None) -> Result | None:
        """Evictions go on; the one that enters the latch of MEM, unless `mem` does."""
        unit, requests = self.evictions, self._wires.evicting & ~self._taking
        if not (requests or unit.blocked):
            return None
        ready = self.ready[_MEM]
        entering = unit.enters(ready, mem is not None)
        evicted = unit.held if entering else None
        selected = unit.select(requests, entering)
        unit.step(selected, None if selected is None else self._eviction(selected), entering=entering, ready=ready)
        return evicted

    def _eviction(self, index: int) -> Result:
        """A collector gives up the entry that is leaving: what is to be written, in the form of a result."""
        collector = self.collectors[index]
        leaving = collector.leaving()
        assert leaving is not None
        self._events[index]["evicted"] = True
        entry = collector.entries[leaving.entry]
        return {
            "tag": 0, "writes": 1, "warp": index, "dst": entry.register, **entry.place._asdict(), **entry.stored,
            "lanes": entry.dirty, "full": int(entry.full), "pred": 0, "data": entry.word,
        }  # fmt: skip

    # ------------------------------------------------------------------ probe

    def probe(self) -> int:
        return self._probe.insert(super().probe(), self.collectors, self.evictions)

    def _probe_collectors(self, values: dict[str, int]) -> None:
        """They are in the part that is inserted."""
