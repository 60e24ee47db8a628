"""`Samples`: how many TFET rows of an SM are free, now and then (as [TFET], section 4.2.2, looks at them)."""

from collections.abc import Callable

from warploom.golden_model.gpu.limits import Control

INTERVAL = 1024
"""Cycles from one sample to the next."""


class Samples:
    """The control of an SM, or none, which looks at the SM as often as without it. `free` counts the free rows. See
    `Control`."""

    def __init__(self, control: Control | None, free: Callable[[], int]) -> None:
        self._control, self._free = control, free
        self._next = INTERVAL
        self.found: list[int] = []
        """The free rows in the cycles before each multiple of the interval."""

    def look(self, cycle: int) -> bool:
        """See `Control`, here and below."""
        while self._next <= cycle:
            self.found.append(self._free())
            self._next += INTERVAL
        return self._control is not None and self._control.look(cycle)

    def next_event(self) -> int | None:
        return None if self._control is None else self._control.next_event()
