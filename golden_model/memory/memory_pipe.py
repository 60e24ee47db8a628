"""`MemoryPipe`: the load/store unit: coalescer, shared memory, L1 and the path to memory (docs/contract/memory.md).

No later event changes the timing of a transaction, except that results may wait. So all transactions of an instruction
are timed in the cycle in which it leaves the input queue.
"""

import heapq
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress

import numpy as np

from warploom.arch.config import LANES, SmConfig
from warploom.arch.isa import Op
from warploom.arch.memory_map import CONST_WINDOW, LOCAL_WINDOW, PARAM_WINDOW
from warploom.arch.modifiers import Space
from warploom.arch.program import Program
from warploom.golden_model.front_end.flight import Flight
from warploom.golden_model.memory.cache import L1
from warploom.golden_model.writeback import Result

_WINDOW = {Space.GLOBAL: 0, Space.CONST: CONST_WINDOW, Space.PARAM: PARAM_WINDOW}
_ATOMICS = (Op.ATOM, Op.RED)


@dataclass
class MemoryCounts:
    """Counts of the unit: instructions by kind, and cycles of stalls for an MSHR or for the path to memory."""

    load_transactions: int = 0
    store_transactions: int = 0
    shared_instructions: int = 0
    shared_passes: int = 0
    stall_cycles: int = 0


class MemoryPipe:
    """Takes memory instructions in order. Results leave in the order in which they become available, one a cycle."""

    def __init__(self, config: SmConfig, program: Program) -> None:
        self.counts = MemoryCounts()
        self.l1 = L1(config)
        self._config = config
        self._line_shift = config.line_bytes.bit_length() - 1
        self._local_bytes = -(-program.local_bytes // 4) * 4 * LANES
        self._queue: deque[tuple[int, Flight, Result | None]] = deque()
        self._free_at = 0
        self._results: list[tuple[int, int, Result]] = []  # heap: ready cycle, order, result
        self._done: deque[tuple[int, Flight]] = deque()  # instructions without results, by cycle
        self._order = 0

    def accept(self, cycle: int, flight: Flight, result: Result | None) -> None:
        """An instruction dispatched in `cycle`; `result` is `None` when nothing comes back."""
        self._queue.append((cycle, flight, result))

    def settle(self, cycle: int) -> tuple[Result | None, Flight | None, bool]:
        """Call once a cycle. Returns (the result on the port, the instruction without a result that is done, whether an
        instruction leaves the input queue and so returns a credit)."""
        offered = self._results[0][2] if self._results and self._results[0][0] <= cycle else None
        done = self._done.popleft()[1] if self._done and self._done[0][0] <= cycle else None
        takes = bool(self._queue) and self._free_at <= cycle and self._queue[0][0] < cycle
        if takes:
            self._take(cycle)
        return offered, done, takes

    def taken(self) -> None:
        """The result on the port was taken."""
        heapq.heappop(self._results)

    def next_event(self) -> int | None:
        """The next cycle in which the unit is active."""
        cycles = [queue[0][0] for queue in (self._results, self._done) if queue]
        if self._queue:
            cycles.append(max(self._free_at, self._queue[0][0] + 1))
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
        if op in (Op.LATCH, Op.HIGH):
            return cycle, cycle + 1
        if op is Op.SHFL:
            return cycle, cycle + self._config.shared_latency
        space = Space(flight.warp.trace.spaces[flight.address])
        if space is Space.SHARED:
            last = cycle + self._shared_passes(flight) - 1
            return last, last + self._config.shared_latency
        lines = self._lines(flight, space)
        time = self._load if op is Op.LD else self._through
        return time(cycle, lines)

    def _addresses(self, flight: Flight) -> list[int]:
        """Byte addresses of the executing lanes."""
        return list(compress(flight.warp.trace.addresses[flight.address].tolist(), _bits(flight.lanes)))

    def _lines(self, flight: Flight, space: Space) -> list[int]:
        """Distinct lines, in order of the lowest lane; for a vector request all lines from the first to the last."""
        shift = self._line_shift
        if space is Space.LOCAL:  # word k of all lanes is contiguous
            base = LOCAL_WINDOW + flight.warp.number * self._local_bytes
            row = flight.warp.trace.addresses[flight.address].tolist()
            interleaved = [base + (address >> 2) * 4 * LANES + 4 * lane for lane, address in enumerate(row)]
            return list(dict.fromkeys(address >> shift for address in compress(interleaved, _bits(flight.lanes))))
        window = _WINDOW[space]
        if flight.vector:
            addresses, size = self._addresses(flight), flight.static.instruction.access.size
            return list(range(window + addresses[0] >> shift, (window + addresses[-1] + size - 1 >> shift) + 1))
        return list(dict.fromkeys([window + address >> shift for address in self._addresses(flight)]))

    def _shared_passes(self, flight: Flight) -> int:
        addresses = flight.warp.trace.addresses[flight.address].tobytes()
        if flight.static.op in _ATOMICS:
            passes = _atomic_passes(addresses, flight.lanes)
        else:
            passes = _passes(addresses, flight.lanes, self._config.shared_banks)
        self.counts.shared_instructions += 1
        self.counts.shared_passes += passes
        return passes

    def _load(self, cycle: int, lines: list[int]) -> tuple[int, int]:
        start, arrival = cycle, 0
        for line in lines:
            cycle, there = self.l1.load(cycle, line)
            arrival = max(arrival, there)
            cycle += 1
        self._count(start, cycle, lines)
        self.counts.load_transactions += len(lines)
        return cycle - 1, arrival

    def _through(self, cycle: int, lines: list[int]) -> tuple[int, int]:
        """Stores and atomics: every line waits for its slot of the path to memory."""
        start = cycle
        for _ in lines:
            cycle = self.l1.send(cycle) + 1
        self._count(start, cycle, lines)
        self.counts.store_transactions += len(lines)
        return cycle - 1, cycle - 1 + self._config.l1_latency + self._config.memory_latency

    def _count(self, start: int, end: int, lines: list[int]) -> None:
        self.counts.stall_cycles += end - start - len(lines)


@lru_cache(maxsize=1 << 14)
def _passes(addresses: bytes, lanes: int, banks: int) -> int:
    """How often the bank is accessed that has the most distinct words. Cached, since patterns recur."""
    return max(Counter([word % banks for word in set(_words(addresses, lanes))]).values())


@lru_cache(maxsize=1 << 14)
def _atomic_passes(addresses: bytes, lanes: int) -> int:
    """How often the word is accessed that has the most accesses."""
    return max(Counter(_words(addresses, lanes)).values())


def _words(addresses: bytes, lanes: int) -> list[int]:
    """The words that the executing lanes access; `addresses` is a row of `Trace.addresses`."""
    return [address >> 2 for address in compress(np.frombuffer(addresses, np.uint64).tolist(), _bits(lanes))]


@lru_cache(maxsize=1 << 12)
def _bits(lanes: int) -> Sequence[int]:
    """A lane mask as bits, lane 0 first."""
    return [lanes >> lane & 1 for lane in range(LANES)]
