"""`Dispatcher`: which ready collector sends its instruction to its pipe (docs/contract/operands.md, *Dispatch*)."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from warploom.arch.config import SmConfig
from warploom.arch.isa import Pipe, TimingClass
from warploom.golden_model.operands.collector import ALL_SLOTS, Slots


class Order(Protocol):
    """Which of the collectors goes whose instruction is ready and whose pipe takes it."""

    def select(self, pipes: "Dispatcher", collectors: Sequence[Any]) -> int | None:
        """The collector that dispatches in this cycle, or `None`."""

    def issued(self, index: int) -> None:
        """The end of a cycle in which collector `index` took an instruction."""

    def left(self, index: int) -> None:
        """The end of a cycle in which the instruction of collector `index` was dispatched."""

    @property
    def waits(self) -> bool:
        """An instruction is there that time may make eligible."""


class OldestFirst:
    """The oldest eligible instruction goes; SFU and MEM instructions leave in the order of issue."""

    def __init__(self) -> None:
        self._order: list[int] = []  # busy collectors, oldest instruction first

    def select(self, pipes: "Dispatcher", collectors: Sequence[Slots]) -> int | None:
        """See `Order`, here and below."""
        passed = 0  # pipes of the instructions passed over: in-order pipes take none behind them
        for index in self._order:
            collector = collectors[index]
            pipe = collector.fields["pipe"]
            if collector.present == ALL_SLOTS and pipes.free_at[pipe] <= pipes.cycle:
                if pipe == Pipe.SP:
                    if pipes.has_slot(collector.fields["timing"]):
                        return index
                elif pipes.credits[pipe] and not passed >> pipe & 1:
                    return index
            passed |= 1 << pipe
        return None

    def issued(self, index: int) -> None:
        self._order.append(index)

    def left(self, index: int) -> None:
        self._order.remove(index)

    @property
    def waits(self) -> bool:
        return bool(self._order)


class Dispatcher:
    """Keeps the busy time of each pipe, the write-back slots of SP and the credits of SFU and MEM; an order says who
    goes of those that may.

    Within a cycle call `select`, then `step` with what it chose and `issued` for the collector that was filled.
    """

    def __init__(self, config: SmConfig, order: Order) -> None:
        timings = [config.timing_of(timing_class) for timing_class in TimingClass]
        self._latency = [timing.latency for timing in timings]
        self._interval = [timing.interval for timing in timings]
        self._order = order
        self.cycle = 0
        self.free_at = [0] * len(config.pipes)  # first cycle in which each pipe takes its next instruction
        self.slots = 0  # bit k: the write-back of SP is taken k cycles ahead
        self.credits = [pipe.credits for pipe in config.pipes]

    def has_slot(self, timing: int) -> bool:
        """The write-back slot of SP that an instruction of this class needs is not taken."""
        return not self.slots >> self._latency[timing] & 1

    def select(self, collectors: Sequence[Any]) -> int | None:
        """The collector that dispatches in this cycle, or `None`."""
        return self._order.select(self, collectors)

    def step(self, index: int | None, fields: Mapping[str, Any], given: int) -> None:
        """The end of a cycle: `index` is the selected collector, `fields` its instruction; pipes of the mask `given`
        get a credit back."""
        if index is not None:
            self._order.left(index)
            pipe, timing = fields["pipe"], fields["timing"]
            self.free_at[pipe] = self.cycle + self._interval[timing]
            if pipe == Pipe.SP:
                self.slots |= 1 << self._latency[timing]
            else:
                self.credits[pipe] -= 1
        if given:
            for pipe in range(len(self.credits)):
                self.credits[pipe] += given >> pipe & 1
        self.advance()

    def issued(self, index: int) -> None:
        """The end of a cycle in which collector `index` took an instruction."""
        self._order.issued(index)

    def next_event(self) -> int | None:
        """When nothing dispatches in this cycle: the next one in which time alone may change that."""
        events = [cycle for cycle in self.free_at if cycle > self.cycle]
        if self.slots:
            events.append(self.cycle + 1)
        return min(events) if events and self._order.waits else None

    def advance(self, cycles: int = 1) -> None:
        """Time passes."""
        self.cycle += cycles
        self.slots >>= cycles
