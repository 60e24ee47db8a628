"""`CachedFile`: the register file of the baseline, behind a cache (docs/contract/register_file.md)."""

from collections.abc import Sequence
from dataclasses import dataclass

from warploom.arch.config import SmConfig
from warploom.golden_model.arbiter import Arbiter
from warploom.golden_model.bank import Bank
from warploom.golden_model.cached.cache import Eviction, RegisterFileCache
from warploom.golden_model.operands.collector import SLOTS, plan
from warploom.golden_model.placement import Address
from warploom.golden_model.records import SOURCES, IssueFields, Result
from warploom.golden_model.register_file.asked import Asked
from warploom.golden_model.register_file.ports import Grant, Read, Write
from warploom.golden_model.traffic import Traffic
from warploom.golden_model.words import ALL_LANES, spread
from warploom.golden_model.writeback import Latches

_NONE = (None,) * (len(SLOTS) + 1)


@dataclass
class Counts:
    """Events since reset, in addition to accesses of the register file's banks, where all writes are evictions. An
    operand is *split* when it is read in two parts."""

    cache_reads: int = 0
    cache_writes: int = 0
    split_operands: int = 0


class CachedFile:
    """Results go to the cache, operands come from there or from the register file. Banks from `config.banks` on are
    those of the cache. There is no hardware, and no probe.

    The metadata of a requested read are the missing lanes of its slot, and the executing ones; of a granted read, the
    lanes that it gets. An eviction of the cache waits in a register of the write path of the result that replaces it,
    and is written in the next cycle, before all reads. Of two evictions for one bank, that of the later path waits, and
    its latches with it.
    """

    form = None
    meter = None

    def __init__(self, config: SmConfig) -> None:
        self.banks = [Bank(config.rows) for _ in range(config.banks)]
        self.cache = RegisterFileCache(config)
        self.arbiter = Arbiter(2 * config.banks, config.collectors, config.write_paths, config.rotating_paths)
        self.writeback: Latches[bool] = Latches(config.writers, lambda _, result: True)
        self.counts = Counts()
        self.bank_reads, self.bank_writes = [0] * config.banks, [0] * config.banks  # requests granted
        self.bank_conflicts = self.port_conflicts = 0
        self._operands = 0  # parts of operands that were granted
        self._evictions: list[Eviction | None] = [None] * len(config.write_paths)
        self._asked = Asked()  # slots that wait
        self.request = self._asked.request
        self._warps: dict[Address, int] = {}  # of every register that was a destination
        self._paths = [pipe.write_path for pipe in config.pipes]
        self._first = [config.writers[path[0]] for path in config.write_paths]
        self._nothing = self.arbiter.decide((None,) * len(self._paths), [0] * 2 * config.banks)

    def lookup(self, fields: IssueFields, sources: tuple[Address, ...], destination: Address) -> tuple[None, ...]:
        """Note the reads of an instruction that is issued; there is no metadata."""
        self._warps[destination] = fields["warp"]
        waiting = plan(fields["reads"], *(fields[source] for source in SOURCES)).waiting
        for slot in SLOTS:
            if waiting >> slot & 1:
                self.cache.pending[sources[slot]] += 1
                if fields["last"] >> slot & 1:
                    self.cache.read_last(sources[slot], fields["lanes"])
        return _NONE

    # ------------------------------------------------------------------ wires

    def arbitrate(self) -> None:
        """Compute grants, `done` and `ready`."""
        self._writing = self._evictions_granted()
        writes = self._write_requests()
        self._offers: dict[tuple[int, int], Read] = {}  # by bank and client
        requests = [0] * 2 * len(self.banks)
        for client, reads in self._asked.reads.items():
            self._offer(client, reads, requests)
        self._refused = 0
        for eviction in self._writing:
            if eviction is not None:
                self._refused += requests[eviction.address.bank].bit_count()
                requests[eviction.address.bank] = 0
        busy = self._offers or self.writeback.held
        self.decision = self.arbiter.decide(writes, requests) if busy else self._nothing
        self.done = self.writeback.done(self.decision.writes)
        self.ready = self.writeback.ready(self.decision.writes)

    @property
    def quiet(self) -> bool:
        """Whether nothing is requested, evicted, or in a latch."""
        return not (self.writeback.held or self._offers or any(self._evictions))

    def _write_requests(self) -> list[int | None]:
        """The bank of the cache that each latch would write in this cycle."""
        return [
            self._target_bank(latch) if latch is not None and self._may_write(writer) else None
            for writer, latch in enumerate(self.writeback.latches)
        ]

    def _may_write(self, writer: int) -> bool:
        """Whether a latch holds a result that is written, and no eviction waits in the register of its path."""
        path = self._paths[writer]
        return self.writeback.needs_bank(writer) and self._evictions[path] is self._writing[path]

    def _evictions_granted(self) -> list[Eviction | None]:
        """The evictions that are written in this cycle, by path."""
        writing: list[Eviction | None] = []
        taken = set()
        for eviction in self._evictions:
            granted = eviction is not None and eviction.address.bank not in taken
            writing.append(eviction if granted else None)
            if eviction is not None:
                taken.add(eviction.address.bank)
        return writing

    def _offer(self, client: int, reads: Sequence[Read], requests: list[int]) -> None:
        """Request every bank that has lanes of a waiting slot, for the lowest such slot; the cache before the file."""
        for read in reads:
            (missing, executing), entry = read.metadata, self.cache.find(read.address)
            if entry is not None and entry.held & missing:
                bank, lanes = self._cache_bank(entry.bank), entry.held & missing
            else:
                bank, lanes = read.address.bank, ALL_LANES if missing == executing else missing
            if not requests[bank] >> client & 1:
                requests[bank] |= 1 << client
                self._offers[bank, client] = read._replace(metadata=(lanes, not missing & ~lanes))

    # ------------------------------------------------------------------ the end of a cycle

    def grants(self) -> Sequence[Grant]:
        """The grants of clients, with the words that they get. These requests end."""
        self.bank_conflicts += self.decision.bank_conflicts + self._refused
        self.port_conflicts += self.decision.port_conflicts
        return [self._fetch(bank, client, self._offers[bank, client])
                for bank, client in self.decision.reads]

    def _fetch(self, bank: int, client: int, offer: Read) -> Grant:
        """A slot is granted a bank."""
        self._asked.end(client, offer.key)
        address = offer.address
        if bank < len(self.banks):
            word = self.banks[bank].data[address.row]
            self.bank_reads[bank] += 1
        else:
            entry = self.cache.find(address)
            assert entry is not None
            word = entry.word
            self.counts.cache_reads += 1
        lanes, is_last = offer.metadata
        self._operands += 1
        if is_last:
            self.cache.pending[address] -= 1
        else:
            self.counts.split_operands += 1
        return client, offer._replace(metadata=lanes), word

    def write(self, results: Sequence[Result | None]) -> None:
        """Granted latches and evictions write; results enter."""
        for path, eviction in enumerate(self._writing):
            if eviction is not None:
                self._evictions[path] = None
                self.banks[eviction.address.bank].write(eviction.address.row, eviction.word, eviction.lanes)
                self.bank_writes[eviction.address.bank] += 1
        writeback, grants = self.writeback, self.decision.writes
        for writer, (latch, granted) in enumerate(zip(writeback.latches, grants, strict=True)):
            if granted and latch is not None:
                self._store(self._paths[writer], latch)
        if writeback.held or any(results):
            writeback.step(results, grants)

    def _store(self, path: int, latch: Result) -> None:
        """A granted latch writes the cache; an entry that it displaces will go to the register file."""
        warp, address = self._register(latch)
        for other, eviction in enumerate(self._evictions):
            if eviction is not None and eviction.address == address:  # what is written now is newer
                self._evictions[other] = eviction._replace(lanes=eviction.lanes & ~latch["lanes"])
        evicted = self.cache.write(warp, address, latch["data"], latch["lanes"])
        self.counts.cache_writes += 1
        if evicted is not None:
            self._evictions[path] = evicted

    def _target_bank(self, result: Result) -> int:
        """The bank that a result would be written to in this cycle."""
        return self._cache_bank(self.cache.target(*self._register(result)).bank)

    def _register(self, result: Result) -> tuple[int, Address]:
        """Warp and address of the register that a result writes."""
        address = Address(result["bank"], result["row"], bool(result["left"]), result["group"], result["entry"])
        return self._warps[address], address

    def _cache_bank(self, number: int) -> int:
        """The arbiter's number of a bank of the cache."""
        return len(self.banks) + number

    def traffic(self) -> Traffic:
        """The traffic so far."""
        return Traffic.of_words(sum(self.bank_reads), sum(self.bank_writes), self._operands)

    def writes(self) -> list[Write]:
        """The register writes of this cycle."""
        return [
            Write(self._first[path], *eviction.address[:2], eviction.lanes, eviction.word, 0, eviction.address.left,
                  spread(eviction.lanes))
            for path, eviction in enumerate(self._writing) if eviction is not None
        ]
