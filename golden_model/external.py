"""Pipes outside the datapath: SP operations without hardware lanes, and the SFU (docs/contract/pipes.md)."""

from collections import deque
from collections.abc import Sequence

from warploom.arch.pipes import PipeConfig
from warploom.golden_model.front_end.flight import Flight
from warploom.golden_model.records import Result


def latencies(pipe: PipeConfig) -> dict[int, int]:
    """The latency of each timing class of a pipe."""
    return {int(timing_class): pipe.timing_of(timing_class).latency for timing_class in pipe.timing_classes}


class OutsideSp:
    """Results of the SP pipes from outside, valid exactly `latency` cycles after their dispatch."""

    def __init__(self, pipes: Sequence[PipeConfig]) -> None:
        self._latency = [latencies(pipe) for pipe in pipes]
        self.results: dict[int, dict[int, Result]] = {}
        """By cycle, and by the number of the pipe."""

    def accept(self, cycle: int, pipe: int, timing: int, result: Result) -> None:
        """An instruction dispatched in `cycle`."""
        due = self.results.setdefault(cycle + self._latency[pipe][timing], {})
        assert pipe not in due, "two results in one write-back slot"
        due[pipe] = result

    def next_event(self) -> int | None:
        """The next cycle with a result."""
        return min(self.results, default=None)


class Sfu:
    """Special functions, division and double precision: results leave in dispatch order, one a cycle."""

    def __init__(self, pipe: PipeConfig) -> None:
        self._latency = latencies(pipe)
        self.queue: deque[tuple[int, Flight, Result | None]] = deque()
        """Instructions that have not left: the cycle in which each may, and its result."""

    def accept(self, cycle: int, timing: int, flight: Flight, result: Result | None) -> None:
        """An instruction dispatched in `cycle`; `result` is `None` if there is none."""
        self.queue.append((cycle + self._latency[timing], flight, result))

    def settle(self, cycle: int, ready: bool) -> tuple[Result | None, Flight | None]:
        """Call once in each cycle in which it has instructions. Returns (the result on the port, the instruction that
        leaves at the end of the cycle, because it has no result or the latch is `ready`)."""
        earliest, flight, result = self.queue[0]
        if earliest > cycle:
            return None, None
        if result is not None and not ready:
            return result, None
        self.queue.popleft()
        return result, flight

    def next_event(self) -> int | None:
        """The cycle in which the next instruction is done."""
        return self.queue[0][0] if self.queue else None
