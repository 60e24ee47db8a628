"""`CachedDatapath`: the baseline with a register file cache (docs/timing.md, section 12)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from golden_model.abstract_datapath import SOURCES, AbstractDatapath, Results, Write
from golden_model.arbiter import Arbiter
from golden_model.bank import Bank
from golden_model.cached.cache import Eviction, RegisterFileCache
from golden_model.cached.collector import CachedCollector
from golden_model.placement import Place
from golden_model.traffic import Traffic
from golden_model.words import ALL_LANES, spread
from golden_model.writeback import Latches, Result
from warploom.arch.interfaces import WRITE_PATHS, WRITERS

PATHS = [next(path for path, writers in enumerate(WRITE_PATHS) if writer in writers) for writer in WRITERS]
"""The write path of each writer."""


@dataclass
class Counts:
    """Events since reset, beside reads and writes of the banks of the register file; all of the latter are evictions.
    An operand is *split* when it is read in two parts."""

    cache_reads: int = 0
    cache_writes: int = 0
    split_operands: int = 0


class CachedWriteback(Latches[int]):
    """Latches that request the cache bank of the entry that they would write in this cycle; `bank` tells."""

    def __init__(self, bank: Callable[[Result], int]) -> None:
        super().__init__()
        self._bank = bank

    def requests(self) -> list[int | None]:
        return [self._bank(latch) if latch is not None and latch["writes"] else None for latch in self.latches]

    def _request(self, writer: int, result: Result) -> int:
        return self._bank(result)


class _Offer(NamedTuple):
    """A slot that requests a bank, and the lanes that it would take from there."""

    slot: int
    lanes: int


class CachedDatapath(AbstractDatapath):
    """Results go to the cache, operands come from there or from the register file. Banks from `config.banks` on are
    those of the cache. There is no hardware, and no probe.

    What the cache evicts waits in a register of the write path through which its successor came, and is written in the
    next cycle, before all reads; of two for one bank, that of MEM waits, and its latch with it.
    """

    arbiter: Arbiter
    collectors: list[CachedCollector]
    writeback: CachedWriteback

    def _build(self) -> None:
        config = self.config
        self.banks = [Bank(config.rows) for _ in range(config.banks)]
        self.cache = RegisterFileCache(config)
        self.collectors = [self._collector(index) for index in range(config.collectors)]
        self.arbiter = Arbiter(2 * config.banks, config.collectors)
        self.writeback = CachedWriteback(self._target_bank)
        self.counts = Counts()
        self.collector_writes = 0
        self._evictions: list[Eviction | None] = [None] * len(WRITE_PATHS)
        self._arriving: list[tuple[CachedCollector, int, int, int]] = []  # collector, slot, word, lanes
        self._warps: dict[Place, int] = {}  # of every register that was a destination
        self._nothing = self.arbiter.decide((None,) * len(WRITERS), [0] * 2 * config.banks)

    def _collector(self, index: int) -> CachedCollector:
        return CachedCollector(index)

    def _take(self, index: int, fields: Mapping[str, Any], sources: Sequence[Place], destination: Place) -> None:
        collector, cache = self.collectors[index], self.cache
        collector.issue(fields, sources, destination)
        self._warps[destination] = fields["warp"]
        for slot in collector.waiting_slots():
            cache.pending[sources[slot]] += 1
            if fields["last"] >> slot & 1:
                cache.read_last(sources[slot], fields["lanes"])

    def _arbitrate(self) -> None:
        self._writing = self._evictions_granted()
        writes = self.writeback.requests() if self.writeback.held else [None] * len(WRITERS)
        if self._evictions[1] is not self._writing[1]:
            writes[WRITERS.index("mem")] = None
        self._offers: dict[tuple[int, int], _Offer] = {}  # by bank and collector
        requests = [0] * 2 * self.config.banks
        for index in self.dispatcher.order:
            if self.collectors[index].waiting:
                self._offer(self.collectors[index], requests)
        self._refused = 0
        for eviction in self._writing:
            if eviction is not None:
                self._refused += requests[eviction.place.bank].bit_count()
                requests[eviction.place.bank] = 0
        busy = self._offers or self.writeback.held
        self.decision = self.arbiter.decide(writes, requests) if busy else self._nothing
        self.done = self.writeback.done(self.decision.writes)
        self.ready = self.writeback.ready(self.decision.writes)

    def _evictions_granted(self) -> list[Eviction | None]:
        """The evictions that are written in this cycle, by path."""
        first, second = self._evictions
        if first is not None and second is not None and first.place.bank == second.place.bank:
            second = None
        return [first, second]

    def _offer(self, collector: CachedCollector, requests: list[int]) -> None:
        """Request every bank that has lanes of a waiting slot, for the lowest such slot; the cache before the file."""
        for slot in collector.waiting_slots():
            place, missing = collector.sources[slot], collector.missing[slot]
            entry = self.cache.find(place)
            if entry is not None and entry.held & missing:
                bank, offer = self._cache_bank(entry.bank), _Offer(slot, entry.held & missing)
            else:
                bank, offer = place.bank, _Offer(slot, ALL_LANES if missing == collector.fields["lanes"] else missing)
            if not requests[bank] >> collector.index & 1:
                requests[bank] |= 1 << collector.index
                self._offers[bank, collector.index] = offer

    def _reads_nothing(self) -> bool:
        return not self._arriving and not self._offers and self._evictions == [None] * len(WRITE_PATHS)

    def _read(self) -> None:
        for collector, slot, word, lanes in self._arriving:
            collector.capture(slot, word, lanes)
            self.collector_writes += 1
        self._arriving, self.granted = [], []
        self.bank_conflicts += self.decision.bank_conflicts + self._refused
        self.port_conflicts += self.decision.port_conflicts
        for bank, index in enumerate(self.decision.reads):
            if index is not None:
                self._fetch(bank, self.collectors[index], self._offers[bank, index])

    def _fetch(self, bank: int, collector: CachedCollector, offer: _Offer) -> None:
        """A slot is granted a bank."""
        place = collector.sources[offer.slot]
        if bank < self.config.banks:
            word = self.banks[bank].data[place.row]
            self.bank_reads[bank] += 1
        else:
            entry = self.cache.find(place)
            assert entry is not None
            word = entry.word
            self.counts.cache_reads += 1
        self._arriving.append((collector, offer.slot, word, offer.lanes))
        if collector.grant(offer.slot, offer.lanes):
            self.cache.pending[place] -= 1
            self.granted.append((collector.fields["warp"], collector.fields[SOURCES[offer.slot]]))
        else:
            self.counts.split_operands += 1

    def _write(self, results: Results) -> None:
        for path, eviction in enumerate(self._writing):
            if eviction is not None:
                self._evictions[path] = None
                self.banks[eviction.place.bank].write(eviction.place.row, eviction.word, eviction.lanes)
                self.bank_writes[eviction.place.bank] += 1
        writeback, grants = self.writeback, self.decision.writes
        for writer, (latch, granted) in enumerate(zip(writeback.latches, grants, strict=True)):
            if granted and latch is not None:
                self._store(PATHS[writer], latch)
        if writeback.held or results != (None, None, None):
            writeback.step(results, grants)

    def _store(self, path: int, latch: Result) -> None:
        """A granted latch writes the cache; what it displaces will go to the register file."""
        warp, place = self._register(latch)
        for other, eviction in enumerate(self._evictions):
            if eviction is not None and eviction.place == place:  # what is written now is newer
                self._evictions[other] = eviction._replace(lanes=eviction.lanes & ~latch["lanes"])
        evicted = self.cache.write(warp, place, latch["data"], latch["lanes"])
        self.counts.cache_writes += 1
        if evicted is not None:
            self._evictions[path] = evicted

    def _target_bank(self, result: Result) -> int:
        """The bank that a result would be written to in this cycle."""
        return self._cache_bank(self.cache.target(*self._register(result)).bank)

    def _register(self, result: Result) -> tuple[int, Place]:
        """Warp and place of the register that a result writes."""
        place = Place(result["bank"], result["row"], result["left"])
        return self._warps[place], place

    def _cache_bank(self, number: int) -> int:
        """A bank of the cache as the arbiter counts them."""
        return self.config.banks + number

    def traffic(self) -> Traffic:
        return Traffic.of_words(sum(self.bank_reads), sum(self.bank_writes), self.collector_writes)

    def writes(self) -> list[Write]:
        return [
            Write(WRITE_PATHS[path][0], *eviction.place[:2], eviction.lanes, eviction.word, 0, eviction.place.left,
                  spread(eviction.lanes))
            for path, eviction in enumerate(self._writing) if eviction is not None
        ]  # fmt: skip

    def _probe_register_file(self) -> dict[str, int]:
        return {}
