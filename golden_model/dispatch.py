"""`Dispatcher`: which ready collector sends its instruction to its pipe (docs/contract/operands.md, *Dispatch*)."""

from collections.abc import Mapping, Sequence
from typing import Any

from golden_model.operands.collector import ALL_SLOTS, Slots
from warploom.arch.config import SmConfig
from warploom.arch.isa import Pipe, TimingClass


class Dispatcher:
    """Keeps the order of issue, the busy time of each pipe, the write-back slots of SP and the credits of SFU and MEM.

    Within a cycle call `select`, then `step` with what it chose and `issued` for the collector that was filled.
    """

    def __init__(self, config: SmConfig) -> None:
        timings = [config.timing_of(timing_class) for timing_class in TimingClass]
        self._latency = [timing.latency for timing in timings]
        self._interval = [timing.interval for timing in timings]
        self.cycle = 0
        self.order: list[int] = []  # busy collectors, oldest instruction first
        self.free_at = [0, 0, 0]  # first cycle in which each pipe takes its next instruction
        self.slots = 0  # bit k: the write-back of SP is taken k cycles ahead
        self.credits = [0, config.sfu_queue, config.memory_queue]

    def select(self, collectors: Sequence[Slots]) -> int | None:
        """The collector that dispatches in this cycle: the oldest eligible one, or `None`."""
        passed = 0  # pipes of the instructions passed over: in-order pipes take none behind them
        for index in self.order:
            collector = collectors[index]
            pipe = collector.fields["pipe"]
            if collector.present == ALL_SLOTS and self.free_at[pipe] <= self.cycle:
                if pipe == Pipe.SP:
                    if not self.slots >> self._latency[collector.fields["timing"]] & 1:
                        return index
                elif self.credits[pipe] and not passed >> pipe & 1:
                    return index
            passed |= 1 << pipe
        return None

    def step(self, index: int | None, fields: Mapping[str, Any], *, credit_sfu: bool, credit_mem: bool) -> None:
        """The end of a cycle: `index` is the selected collector, `fields` its instruction."""
        if index is not None:
            self._left(index)
            pipe, timing = fields["pipe"], fields["timing"]
            self.free_at[pipe] = self.cycle + self._interval[timing]
            if pipe == Pipe.SP:
                self.slots |= 1 << self._latency[timing]
            else:
                self.credits[pipe] -= 1
        self.credits[Pipe.SFU] += credit_sfu
        self.credits[Pipe.MEM] += credit_mem
        self.advance()

    def issued(self, index: int) -> None:
        """The end of a cycle in which collector `index` took an instruction."""
        self.order.append(index)

    def _left(self, index: int) -> None:
        self.order.remove(index)

    @property
    def waits(self) -> bool:
        """An instruction is in a collector, and time may make it eligible."""
        return bool(self.order)

    def next_event(self) -> int | None:
        """When nothing dispatches in this cycle: the next one in which time alone may change that."""
        events = [cycle for cycle in self.free_at if cycle > self.cycle]
        if self.slots:
            events.append(self.cycle + 1)
        return min(events) if events and self.waits else None

    def advance(self, cycles: int = 1) -> None:
        """Time passes."""
        self.cycle += cycles
        self.slots >>= cycles
