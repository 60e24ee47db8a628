"""`Dispatcher`: selects the ready collectors whose instructions are dispatched (docs/contract/operands.md)."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, Protocol

from warploom.arch.config import SmConfig
from warploom.arch.isa import Pipe
from warploom.golden_model.integer import COPY, COPY_LATENCY
from warploom.golden_model.operands.collector import ALL_SLOTS, Slots
from warploom.golden_model.records import DispatchFields, IssueFields

Chosen = Sequence[tuple[int, int]]
"""The instructions that are dispatched: dispatch port and collector of each, at most one for a port."""

Leaving = Sequence[tuple[int, int, DispatchFields]]
"""What `Chosen` names, with the fields of each instruction."""


class Order(Protocol):
    """The order among collectors whose instruction is ready and whose pipe accepts it."""

    def select(self, pipes: "Dispatcher", collectors: Sequence[Any]) -> Chosen:
        """What is dispatched in this cycle."""

    def issued(self, index: int) -> None:
        """The end of a cycle in which collector `index` took an instruction."""

    def left(self, port: int, index: int) -> None:
        """The end of a cycle in which the instruction of collector `index` was dispatched at a port."""

    @property
    def waits(self) -> bool:
        """Whether an instruction waits that may become eligible by time alone."""


class OldestFirst:
    """The oldest eligible instruction is dispatched; SFU and MEM instructions leave in the order of issue."""

    def __init__(self) -> None:
        self._order: list[int] = []  # busy collectors, oldest instruction first

    def select(self, pipes: "Dispatcher", collectors: Sequence[Slots]) -> Chosen:
        """See `Order`, here and below."""
        if not self._order:
            return ()
        chosen: list[tuple[int, int]] = []
        free_ports = pipes.ports
        for index in self._order:
            collector = collectors[index]
            if collector.present != ALL_SLOTS:
                continue
            fields = collector.fields
            pipe = fields["pipe"]
            if pipes.free_at[pipe] > pipes.cycle:
                continue
            port = pipes.port_of[pipe]
            if free_ports >> port & 1 and (
                pipes.has_slot(pipe, fields["timing"]) if pipe in pipes.sp
                else pipes.credits[pipe] and self._leads(index, pipe, collectors)
            ):
                chosen.append((port, index))
                free_ports ^= 1 << port
                if not free_ports:
                    break
        return chosen

    def _leads(self, index: int, pipe: int, collectors: Sequence[Slots]) -> bool:
        """Whether the instruction of a collector is the oldest one of its pipe."""
        return index == next(older for older in self._order if collectors[older].fields["pipe"] == pipe)

    def issued(self, index: int) -> None:
        self._order.append(index)

    def left(self, port: int, index: int) -> None:
        self._order.remove(index)

    @property
    def waits(self) -> bool:
        return bool(self._order)


class Dispatcher:
    """Tracks the busy time of each pipe, the write-back slots of those of SP and the credits of the others; an `Order`
    chooses among the eligible instructions.

    The datapath sets `queued`: for each pipe, the number of results in its result queue. Within a cycle call `select`,
    then `step` with the instructions that were chosen and `issued` for the collector that was filled. With a dispatch
    delay the operand store sets `chosen`: the instructions that will be dispatched in the next cycle, which pipes
    accept in this one.
    """

    def __init__(self, config: SmConfig, order: Order) -> None:
        timings = [{int(c): pipe.timing_of(c) for c in pipe.timing_classes} for pipe in config.timed_pipes]
        delay = config.dispatch_delay
        self._latency = [{COPY: COPY_LATENCY + delay, **{c: timing.latency + delay for c, timing in of_pipe.items()}}
                         for of_pipe in timings]
        self._interval = [{COPY: 1, **{c: timing.interval for c, timing in of_pipe.items()}} for of_pipe in timings]
        self._order = order
        self.select = partial(order.select, self)
        """What of these collectors is dispatched in this cycle."""
        self.issued, self._left = order.issued, order.left
        """The end of a cycle in which this collector took an instruction."""
        self.cycle = 0
        self.sp = config.numbers(Pipe.SP)
        self.ports = (1 << len(config.dispatch_ports)) - 1
        """The mask of dispatch ports."""
        self.port_of = [pipe.dispatch_port for pipe in config.pipes]
        self._schedulers = config.schedulers
        self._parts = _parts(config)  # by pipe and scheduler
        self._divided = any(config.parts_of(pipe) > 1 for pipe in config.pipes)
        # First cycle in which each part accepts its next instruction; the first part of a pipe has the pipe's number.
        self.free_at = [0] * (1 + max(map(max, self._parts)))
        self.slots = [0] * len(self.sp)  # bit k: the write-back of the pipe is taken k cycles ahead
        self.queued = [0] * len(config.pipes)
        self.chosen: Leaving | None = None
        self.credits = [pipe.credits for pipe in config.pipes]
        # Of so many results one leaves (0: none may), which tells how many stay of a number that comes. If it is 1, no
        # result ever finds its queue full.
        sure, most = 0 if config.tfet_rows else config.rotating_paths, max(map(max, map(dict.values, self._latency)))
        self._staying = [coming - (coming // sure if sure else 0) for coming in range(most + 3)]
        self._queue = [math.inf if sure == 1 else pipe.result_queue for pipe in config.pipes]

    def accepts(self, pipe: int, fields: IssueFields) -> bool:
        """Whether a pipe accepts an instruction for dispatch in this cycle."""
        if self.free_at[self._parts[pipe][fields["warp"] % self._schedulers]] > self.cycle:
            return False
        return self.has_slot(pipe, fields["timing"]) if pipe in self.sp else self.credits[pipe] > 0

    def has_slot(self, pipe: int, timing: int) -> bool:
        """Whether the write-back slot of SP for an instruction of this class is free, and its result will find a free
        entry in the result queue, regardless of other paths."""
        slots = self.slots[pipe]
        if slots >> self._latency[pipe][timing] & 1:
            return False
        return self.queued[pipe] + self._staying[slots.bit_count() + 1] <= self._queue[pipe]

    def step(self, leaving: Leaving, given: int) -> None:
        """The end of a cycle in which these instructions are dispatched; pipes of the mask `given` get a credit
        back."""
        accepted = leaving if self.chosen is None else self.chosen
        if accepted:
            self._accept(accepted)
        if given:
            for pipe in range(len(self.credits)):
                self.credits[pipe] += given >> pipe & 1
        self.cycle += 1
        slots = self.slots
        for pipe in self.sp:
            if slots[pipe]:
                slots[pipe] >>= 1

    def _accept(self, accepted: Leaving) -> None:
        """Instructions leave their collectors, at once or in the next cycle."""
        for port, index, fields in accepted:
            self._left(port, index)
            pipe, timing = fields["pipe"], fields["timing"]
            part = self._parts[pipe][fields["warp"] % self._schedulers] if self._divided else pipe
            self.free_at[part] = self.cycle + self._interval[pipe][timing]
            if pipe in self.sp:
                self.slots[pipe] |= 1 << self._latency[pipe][timing]
            else:
                self.credits[pipe] -= 1

    def next_event(self) -> int | None:
        """If nothing dispatches in this cycle: the next cycle in which time alone may change that."""
        events = [cycle for cycle in self.free_at if cycle > self.cycle]
        if any(self.slots):
            events.append(self.cycle + 1)
        return min(events) if events and self._order.waits else None

    def advance(self, cycles: int = 1) -> None:
        """Let cycles pass."""
        self.cycle += cycles
        for pipe in self.sp:
            self.slots[pipe] >>= cycles


def _parts(config: SmConfig) -> list[list[int]]:
    """By pipe and scheduler, the part of the pipe that the scheduler uses: each its own of a pipe that is shared
    evenly."""
    parts, further = [], len(config.pipes)
    for number, pipe in enumerate(config.pipes):
        own = config.parts_of(pipe) > 1
        parts.append([further + scheduler - 1 if own and scheduler else number
                      for scheduler in range(config.schedulers)])
        further += config.parts_of(pipe) - 1
    return parts
