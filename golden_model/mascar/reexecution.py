"""`Reexecution`: the queue of loads that could not be served (docs/contract/comparators.md, *MASCAR*)."""

from collections import deque
from dataclasses import dataclass
from typing import Generic, TypeVar

Load = TypeVar("Load")
Cause = TypeVar("Cause")


@dataclass
class Queued(Generic[Load, Cause]):
    """A load, what it waits for, and whether a line has come since its last try, which failed."""

    load: Load
    cause: Cause
    line_came: bool = False


class Reexecution(Generic[Load, Cause]):
    """A queue of `places` loads. Only the oldest is tried again."""

    def __init__(self, places: int) -> None:
        self.loads: deque[Queued[Load, Cause]] = deque()
        self._places = places

    @property
    def has_place(self) -> bool:
        """Whether a load may go in."""
        return len(self.loads) < self._places

    def put(self, load: Load, cause: Cause) -> None:
        """A load goes in, which waits for this."""
        self.loads.append(Queued(load, cause))

    def failed(self, cause: Cause) -> None:
        """A try of the oldest load has failed."""
        self.loads[0].cause, self.loads[0].line_came = cause, False

    def arrived(self) -> None:
        """A line has come."""
        for queued in self.loads:
            queued.line_came = True
