"""`L1`: an SM's first-level cache before memory that answers late (docs/contract/gpu.md, *L1*)."""

from collections import Counter
from enum import Enum, auto

from warploom.arch.config import SmConfig
from warploom.golden_model.memory.cache_set import CacheSet

HISTOGRAM = 50
"""Cycles of latency that a bucket of the histogram takes together."""


class Look(Enum):
    """What a look-up found, or why it must wait."""

    HIT = auto()
    MERGED = auto()
    MISSED = auto()
    NO_MSHR = auto()
    NO_MERGE = auto()


class L1:
    """Set-associative; the least recently used line is evicted; stores do not allocate."""

    def __init__(self, config: SmConfig) -> None:
        self.hits = self.misses = self.merges = 0
        self.occupied = 0
        """MSHRs in use, summed over the cycles."""
        self.loads_per_entry: Counter[int] = Counter()
        self.latencies: Counter[int] = Counter()
        """Requests by cycles from the look-up to the arrival of the line, in buckets of `HISTOGRAM`."""
        self._config = config
        self._sets = [CacheSet(config.l1_ways) for _ in range(config.l1_sets)]
        self._missing: dict[int, tuple[int, int]] = {}  # line to (cycle of its first look-up, loads that wait)

    @property
    def is_full(self) -> bool:
        """Whether no MSHR is free."""
        return len(self._missing) >= self._config.mshrs

    def look(self, line: int) -> Look:
        """Look a line up. `MISSED` only says that an MSHR is free: `miss` takes it."""
        lines = self._sets[line % self._config.l1_sets]
        if line in lines:
            self.hits += 1
            lines.use(line)
            return Look.HIT
        if line in self._missing:
            first, loads = self._missing[line]
            if loads >= self._config.mshr_merges:
                return Look.NO_MERGE
            self.merges += 1
            self._missing[line] = first, loads + 1
            return Look.MERGED
        return Look.NO_MSHR if self.is_full else Look.MISSED

    def miss(self, cycle: int, line: int) -> None:
        """A request for the line is sent."""
        self.misses += 1
        self._missing[line] = cycle, 1

    def fill(self, cycle: int, line: int) -> None:
        """The line has come: it enters the cache, and its MSHR is free."""
        first, loads = self._missing.pop(line)
        self.occupied += cycle - first
        self.loads_per_entry[loads] += 1
        self.latencies[(cycle - first) // HISTOGRAM] += 1
        self._sets[line % self._config.l1_sets].enter(line)
