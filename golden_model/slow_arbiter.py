"""`SlowArbiter`: rows of two access times, and banks with two ports (docs/contract/renaming.md; [TFET])."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from warploom.arch.config import SmConfig
from warploom.arch.pipes import WritePaths
from warploom.golden_model.arbiter import Decision, Turns, Wave, share_paths, shares_of, wavefront, waves_of
from warploom.golden_model.traffic import SlowCounts


class Opened(NamedTuple):
    """Accesses that are opened in the same cycle."""

    writes: Mapping[int, int]  # bank by writer
    reads: Mapping[int, int]  # collector by bank


_NOTHING = Opened({}, {})


class SlowArbiter:
    """An `Arbiter` that opens an access of a slow row in one cycle, and grants it in the next one. A requester keeps
    its request until it is granted.

    `writes_slowly` tells of a writer, and `reads_slowly` of a bank and a collector, whether the request of this cycle
    is for a slow row.
    """

    def __init__(
        self, config: SmConfig, writes_slowly: Callable[[int], bool], reads_slowly: Callable[[int, int], bool],
    ) -> None:
        self.size = max(config.banks, config.collectors)
        self.slow = SlowCounts()
        self._turns = Turns(self.size, config.write_paths, config.rotating_paths)
        self._writes_slowly, self._reads_slowly = writes_slowly, reads_slowly
        self._two_ports = config.bank_ports == 2
        self._open = self._opening = _NOTHING  # of the cycle before, and of this one
        shown = ("open_reads", "open_writes") if self._two_ports else ("open",)
        self._shown = shown if config.tfet_rows else ()
        self.observed = (*self._turns.observed, *self._shown)

    @property
    def diagonal(self) -> int:
        """The diagonal that has priority."""
        return self._turns.diagonal

    @property
    def order(self) -> WritePaths:
        """The write paths in the order of this cycle."""
        return self._turns.order

    def decide(self, writes: Sequence[int | None], reads: Sequence[int]) -> Decision:
        """Decide about this cycle's requests, as `Arbiter.decide`. What is opened is neither granted nor a conflict."""
        was_open = self._open
        served, written, refused = self._share(writes)
        wave = self._wave(reads, () if self._two_ports else written)
        opened = self._opening = Opened(
            {writer: bank for writer, bank in enumerate(writes)
             if bank is not None and served[writer] and self._writes_slowly(writer)},
            {bank: collector for bank, collector in wave.grants if self._reads_slowly(bank, collector)})
        granted = [pair for pair in wave.grants if pair[0] not in opened.reads]
        return Decision(
            tuple(writer in was_open.writes or (new and writer not in opened.writes)
                  for writer, new in enumerate(served)),
            tuple(sorted([*was_open.reads.items(), *granted])),
            not refused and not opened.writes, refused + wave.bank_conflicts, wave.port_conflicts)

    def _share(self, writes: Sequence[int | None]) -> tuple[Sequence[bool], Iterable[int], int]:
        """The writes that are granted or opened in this cycle, without those that are open; the banks that are taken
        then; and the number of writes refused."""
        order, (open_writes, open_reads) = self._turns.order, self._open
        busy = [*open_writes.values(), *(() if self._two_ports else open_reads)]
        if not busy:
            return shares_of(order)[tuple(writes)]
        free = tuple(path for path in order if open_writes.keys().isdisjoint(path))
        return share_paths(free, [None if writer in open_writes else bank for writer, bank in enumerate(writes)], busy)

    def _wave(self, requests: Sequence[int], written: Iterable[int]) -> Wave:
        """The wave of the reads that are not open, without the banks that are `written` or open, and without the
        collectors of open reads."""
        left, conflicts, open_reads = list(requests), 0, self._open.reads
        for bank, collector in open_reads.items():
            left[bank] &= ~(1 << collector)
        for bank in {*written, *open_reads}:
            conflicts += left[bank].bit_count()
            left[bank] = 0
        busy = sum(1 << collector for collector in open_reads.values())
        wave = waves_of(wavefront, self.diagonal, self.size)[tuple([mask & ~busy for mask in left])]
        late = {bank: (mask & busy).bit_count() for bank, mask in enumerate(left)} if busy else {}
        conflicts += sum(late.pop(bank, 0) for bank, _ in wave.grants)
        return Wave(wave.grants, wave.bank_conflicts + conflicts, wave.port_conflicts + sum(late.values()))

    def advance(self, cycles: int = 1) -> None:
        """The end of a cycle, or of several cycles without requests: the priority moves on."""
        self._turns.advance(cycles)
        self.slow.reads += len(self._opening.reads)
        self.slow.writes += len(self._opening.writes)
        self._open, self._opening = self._opening, _NOTHING

    def observe(self) -> Sequence[int]:
        """The diagonal, the write path with priority, and the banks that are open."""
        reads = sum(1 << bank for bank in self._open.reads)
        writes = sum(1 << bank for bank in self._open.writes.values())
        opened = (reads, writes) if self._two_ports else (reads | writes,)
        return (*self._turns.observe(), *(opened if self._shown else ()))
