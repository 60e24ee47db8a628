"""How many blocks an SM may hold at once (docs/contract/renaming.md, *Schedulers and blocks*)."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from warploom.arch.isa import Pipe
from warploom.golden_model.front_end.residency import Residency
from warploom.golden_model.front_end.stalls import Stall
from warploom.golden_model.sm import Sm

FEW, MANY = 15, 40
"""Free TFET rows, in percent: below the first one the limit falls, above the second one it rises ([TFET], 4.2.2)."""

INTERVAL = 2048
"""Cycles after which stall time is looked at; of these a quarter is little, and three quarters are much."""


class Limit:
    """A limit of 1 to `most` resident blocks, at first `most`."""

    def __init__(self, most: int) -> None:
        self.blocks = self._most = most

    @property
    def may_rise(self) -> bool:
        """Whether it is less than `most`."""
        return self.blocks < self._most

    def change(self, *, falls: bool, rises: bool) -> None:
        """Fall or rise by one, if it can."""
        self.blocks = min(max(self.blocks - falls + rises, 1), self._most)


class Control(Protocol):
    """What changes the limit of an SM."""

    def look(self, cycle: int) -> bool:
        """Before the SM steps to this cycle; the cycles since its last step are equal to that one, and counted. Returns
        whether a block may be dispatched though none has ended."""

    def next_event(self) -> int | None:
        """A cycle at which `look` must be called."""


class ByFreeRows:
    """TUBA: changes a limit when a block ends, by how many TFET rows of the SM are `free`, of all its `rows` of that
    kind. See `Control`."""

    def __init__(self, limit: Limit, residency: Residency, rows: int, free: Callable[[], int]) -> None:
        self._limit, self._residency, self._rows, self._free = limit, residency, rows, free
        self._ended = 0

    def look(self, cycle: int) -> bool:
        """See `Control`, here and below."""
        ended, self._ended = self._residency.ended - self._ended, self._residency.ended
        for _ in range(ended):
            free = 100 * self._free()
            self._limit.change(falls=free < FEW * self._rows, rises=free > MANY * self._rows)
        return False

    def next_event(self) -> int | None:
        return None


class ByWaiting:
    """DYNCTA: changes a limit by the cycles in which the SM waits for memory; `waits` says whether it does so in the
    last cycle that was simulated. See `Control`."""

    def __init__(self, limit: Limit, waits: Callable[[], bool]) -> None:
        self._limit, self._waits = limit, waits
        self._cycle, self._next, self._waited = 0, INTERVAL, 0  # of the last look; of the next change; since the last

    def look(self, cycle: int) -> bool:
        """See `Control`, here and below."""
        before, waits = self._limit.blocks, self._waits()
        while self._next <= cycle:
            self._pass(self._next, waits)
            self._limit.change(falls=4 * self._waited > 3 * INTERVAL, rises=4 * self._waited < INTERVAL)
            self._waited, self._next = 0, self._next + INTERVAL
        self._pass(cycle, waits)
        return self._limit.blocks > before

    def _pass(self, cycle: int, waits: bool) -> None:
        """The cycles before this one are over."""
        self._waited += (cycle - self._cycle) * waits
        self._cycle = cycle

    def next_event(self) -> int | None:
        # In an SM that is stuck this is None at last: its limit cannot rise for ever, and it does not wait for memory.
        return self._next if self._limit.may_rise or self._waits() else None


class MemoryWaits:
    """Whether all schedulers of an SM wait for memory in the last cycle that was simulated: for a result of it, or for
    a collector while each collector has an instruction for MEM."""

    def __init__(self, sm: Sm) -> None:
        self._stalls, self._schedulers = sm.front_end.stalls, sm.config.schedulers
        self._has_window = sm.config.has_window
        self._collectors, self._memory = sm.datapath.operands.collectors, sm.config.numbers(Pipe.MEM)

    def __call__(self) -> bool:
        causes = self._stalls.now
        if len(causes) < self._schedulers or not set(causes) <= {Stall.MEMORY, Stall.COLLECTOR}:
            return False
        return Stall.COLLECTOR not in causes or self._full()

    def _full(self) -> bool:
        return all(any(one.fields["pipe"] in self._memory for one in self._held(each)) for each in self._collectors)

    def _held(self, collector: Any) -> Sequence[Any]:
        """What waits in a collector: with a window its instructions, else one, if it is busy."""
        held: Sequence[Any] = collector.held if self._has_window else [collector] * collector.busy
        return held
