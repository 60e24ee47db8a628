"""Pipes served from outside the datapath: SP operations without hardware lanes, and the SFU (docs/timing.md)."""

from collections import deque

from golden_model.blocks import Flight
from golden_model.writeback import Result
from warploom.arch.config import SmConfig
from warploom.arch.isa import TimingClass


class OutsideSp:
    """SP results from outside, valid in exactly the cycle `latency` after their dispatch."""

    def __init__(self, config: SmConfig) -> None:
        self._latency = [config.timing_of(timing_class).latency for timing_class in TimingClass]
        self._results: dict[int, Result] = {}

    def accept(self, cycle: int, timing: int, result: Result) -> None:
        """An instruction dispatched in `cycle`."""
        due = cycle + self._latency[timing]
        assert due not in self._results, "two results in one write-back slot"
        self._results[due] = result

    def result(self, cycle: int) -> Result | None:
        """The result of this cycle."""
        return self._results.pop(cycle, None)

    def next_event(self) -> int | None:
        """The next cycle with a result."""
        return min(self._results, default=None)


class Sfu:
    """Special functions, division and double precision: results leave in dispatch order, one a cycle."""

    def __init__(self, config: SmConfig) -> None:
        self._latency = [config.timing_of(timing_class).latency for timing_class in TimingClass]
        self._queue: deque[tuple[int, Flight, Result | None]] = deque()
        self._after_last = 0  # cycle after the predecessor left

    def accept(self, cycle: int, timing: int, flight: Flight, result: Result | None) -> None:
        """An instruction dispatched in `cycle`; `result` is `None` when nothing comes back."""
        self._queue.append((cycle + self._latency[timing], flight, result))

    def offers(self, cycle: int) -> Result | None:
        """The result on the port in this cycle."""
        return self._queue[0][2] if self._head_at(cycle) else None

    def leaves(self, cycle: int, ready: bool) -> Flight | None:
        """The instruction that leaves at the end of this cycle: taken by the latch, or without a result."""
        if not self._head_at(cycle) or (self._queue[0][2] is not None and not ready):
            return None
        self._after_last = cycle + 1
        return self._queue.popleft()[1]

    def _head_at(self, cycle: int) -> bool:
        return bool(self._queue) and max(self._queue[0][0], self._after_last) <= cycle

    def next_event(self) -> int | None:
        """The cycle in which the next instruction is done."""
        return max(self._queue[0][0], self._after_last) if self._queue else None
