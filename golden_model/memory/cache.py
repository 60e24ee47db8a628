"""`L1`: the first-level data cache, its MSHRs, and the path to memory (docs/contract/memory.md, *L1*)."""

from collections import deque

from warploom.arch.config import SmConfig
from warploom.golden_model.memory.cache_set import CacheSet


class L1:
    """Set-associative; the least recently used line is evicted; stores do not allocate.

    Requests to memory leave in order, at most one line every `memory_interval` cycles, so the cycle in which a line
    arrives is known when it is requested.
    """

    def __init__(self, config: SmConfig) -> None:
        self.hits = self.misses = self.merges = 0
        self._config = config
        self._sets = [CacheSet(config.l1_ways) for _ in range(config.l1_sets)]
        self._coming: dict[int, int] = {}  # line to its cycle of arrival
        self._merged: dict[int, int] = {}  # line to number of loads that wait for it
        self._arrivals: deque[tuple[int, int]] = deque()  # (cycle, line), in order
        self._next_slot = 0

    def load(self, cycle: int, line: int) -> tuple[int, int]:
        """Look a line up, at `cycle` or as soon as an MSHR is free. Returns (cycle of look-up, cycle of arrival)."""
        while True:
            self._fill(cycle)
            lines = self._sets[line % self._config.l1_sets]
            if line in lines:
                self.hits += 1
                lines.use(line)
                return cycle, cycle + self._config.l1_latency
            if line in self._coming:
                if self._merged[line] < self._config.mshr_merges:
                    self.merges += 1
                    self._merged[line] += 1
                    return cycle, self._coming[line]
                cycle = self._coming[line]
            elif len(self._coming) < self._config.mshrs:
                return cycle, self._miss(cycle, line)
            else:
                cycle = self._arrivals[0][0]

    def send(self, cycle: int) -> int:
        """Take the next free slot of the path to memory. Returns its cycle."""
        slot = max(cycle, self._next_slot)
        self._next_slot = slot + self._config.memory_interval
        return slot

    def _miss(self, cycle: int, line: int) -> int:
        self.misses += 1
        arrival = self.send(cycle) + self._config.l1_latency + self._config.memory_latency
        self._coming[line] = arrival
        self._merged[line] = 1
        self._arrivals.append((arrival, line))
        return arrival

    def _fill(self, cycle: int) -> None:
        """Lines that have arrived by the start of `cycle` enter the cache, and their MSHRs become free."""
        while self._arrivals and self._arrivals[0][0] <= cycle:
            _, line = self._arrivals.popleft()
            del self._coming[line], self._merged[line]
            self._sets[line % self._config.l1_sets].enter(line)
