"""`MemoryPipe`: the load/store unit with a path to memory of fixed latency (docs/contract/memory.md).

No later event changes the timing of a transaction, except that results may wait. So all transactions of an instruction
are timed in the cycle in which it leaves the input queue.
"""

import heapq
from collections import deque

from warploom.arch.config import SmConfig
from warploom.arch.isa import Op
from warploom.arch.modifiers import Space
from warploom.arch.program import Program
from warploom.golden_model.front_end.flight import Flight
from warploom.golden_model.mascar.saturation import Saturation
from warploom.golden_model.memory.cache import L1
from warploom.golden_model.memory.off_chip import OffChip
from warploom.golden_model.memory.port import MemoryCounts
from warploom.golden_model.memory.transactions import Transactions
from warploom.golden_model.records import Result

# To look up a member of an enumeration costs as much as three calls.
_LD, _SHFL, _SHARED = Op.LD, Op.SHFL, Space.SHARED
_BEATS = (Op.LATCH, Op.HIGH)


class MemoryPipe:
    """See `LoadStoreUnit`."""

    def __init__(self, config: SmConfig, program: Program) -> None:
        self.counts = MemoryCounts()
        self.l1 = L1(config)
        self.off_chip = OffChip(config.warps) if config.predicts_stalls else None
        self.saturation = Saturation(measures=False)
        self._config = config
        self._transactions = Transactions(config, program)
        self._queue: deque[tuple[int, Flight, Result | None]] = deque()
        self._free_at = 0
        self._results: list[tuple[int, int, Result]] = []  # heap: ready cycle, order, result
        self._done: deque[tuple[int, Flight]] = deque()  # instructions without results, by cycle
        self._order = 0

    def accept(self, cycle: int, flight: Flight, result: Result | None) -> None:
        """See `LoadStoreUnit`."""
        self._queue.append((cycle, flight, result))

    def settle(self, cycle: int) -> tuple[Result | None, Flight | None, bool]:
        """See `LoadStoreUnit`."""
        if not (self._queue or self._results or self._done):
            return None, None, False
        offered = self._results[0][2] if self._results and self._results[0][0] <= cycle else None
        done = self._done.popleft()[1] if self._done and self._done[0][0] <= cycle else None
        takes = bool(self._queue) and self._free_at <= cycle and self._queue[0][0] < cycle
        if takes:
            self._take(cycle)
        return offered, done, takes

    def taken(self) -> None:
        """See `LoadStoreUnit`."""
        heapq.heappop(self._results)

    def next_event(self) -> int | None:
        """See `LoadStoreUnit`."""
        cycles = [queue[0][0] for queue in (self._results, self._done) if queue]
        if self._queue:
            cycles.append(max(self._free_at, self._queue[0][0] + 1))
        if self.off_chip is not None and (event := self.off_chip.next_event()) is not None:
            cycles.append(event)
        return min(cycles, default=None)

    def _take(self, cycle: int) -> None:
        """The oldest instruction leaves the input queue, and its transactions are timed."""
        _, flight, result = self._queue.popleft()
        last, ready = self._time(cycle, flight)
        self._free_at = last + 1
        if result is None:
            self._done.append((last, flight))
        else:
            self._order += 1
            heapq.heappush(self._results, (ready, self._order, result))

    def _time(self, cycle: int, flight: Flight) -> tuple[int, int]:
        """(cycle of the last transaction or pass, cycle in which the result is available)."""
        op = flight.static.op
        if op in _BEATS:
            return cycle, cycle + 1
        if op is _SHFL:
            return cycle, cycle + self._config.shared_latency
        if self._transactions.space(flight) is _SHARED:
            passes = self._transactions.shared_passes(flight)
            self.counts.shared_instructions += 1
            self.counts.shared_passes += passes
            return cycle + passes - 1, cycle + passes - 1 + self._config.shared_latency
        lines = self._transactions.lines(flight)
        if op is _LD:
            return self._load(cycle, lines, flight.warp.slot)
        return self._through(cycle, lines, flight.warp.slot if flight.static.returns else None)

    def _leaves(self, slot: int, made: int, answered: int) -> None:
        """A warp makes a request beyond the L1 cache."""
        if self.off_chip is not None:
            self.off_chip.made(made, slot)
            self.off_chip.answered(answered, slot)

    def _load(self, cycle: int, lines: list[int], slot: int) -> tuple[int, int]:
        start, arrival = cycle, 0
        for line in lines:
            hits = self.l1.hits
            cycle, there = self.l1.load(cycle, line)
            if self.l1.hits == hits:
                self._leaves(slot, cycle, there)
            arrival = max(arrival, there)
            cycle += 1
        self._count(start, cycle, lines)
        self.counts.load_transactions += len(lines)
        return cycle - 1, arrival

    def _through(self, cycle: int, lines: list[int], slot: int | None) -> tuple[int, int]:
        """Stores and atomics: every line waits for its slot of the path to memory. The warp in `slot` waits for an
        answer to each."""
        start, there = cycle, self._config.l1_latency + self._config.memory_latency
        for _ in lines:
            sent = self.l1.send(cycle)
            if slot is not None:
                self._leaves(slot, sent, sent + there)
            cycle = sent + 1
        self._count(start, cycle, lines)
        self.counts.store_transactions += len(lines)
        return cycle - 1, cycle - 1 + there

    def _count(self, start: int, end: int, lines: list[int]) -> None:
        self.counts.stall_cycles += end - start - len(lines)
