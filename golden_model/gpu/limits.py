"""How many blocks an SM may hold at once (docs/contract/renaming.md, *Schedulers and blocks*)."""

from collections.abc import Callable
from typing import Protocol

from warploom.golden_model.front_end.residency import Residency
from warploom.golden_model.front_end.stalls import Stalls

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
    """DYNCTA: changes a limit by the cycles in which the schedulers of the SM wait for memory. See `Control`."""

    def __init__(self, limit: Limit, stalls: Stalls) -> None:
        self._limit, self._stalls = limit, stalls
        self._next, self._waited = INTERVAL, 0  # the cycle of the next look, and the cycles until the last one

    def look(self, cycle: int) -> bool:
        """See `Control`, here and below."""
        before = self._limit.blocks
        while self._next <= cycle:
            waited = self._stalls.waited - (cycle - self._next) * self._stalls.waiting
            self._limit.change(falls=4 * (waited - self._waited) > 3 * INTERVAL,
                               rises=4 * (waited - self._waited) < INTERVAL)
            self._waited, self._next = waited, self._next + INTERVAL
        return self._limit.blocks > before

    def next_event(self) -> int | None:
        # In an SM that is stuck this is None at last: its limit cannot rise for ever, and it does not wait for memory.
        return self._next if self._limit.may_rise or self._stalls.waiting else None
