"""`Reexecution`: the queue of loads that could not be served (docs/contract/comparators.md, *MASCAR*)."""

from collections import deque
from typing import Generic, TypeVar

Load = TypeVar("Load")
Cause = TypeVar("Cause")


class Reexecution(Generic[Load, Cause]):
    """A queue of `places` loads. Only the oldest is tried again; `cause` is what it waits for."""

    def __init__(self, places: int) -> None:
        self.cause: Cause | None = None
        self.line_came = False
        """A line has come since the last try that failed."""
        self.loads: deque[Load] = deque()
        self._places = places

    @property
    def has_place(self) -> bool:
        """Whether a load may go in."""
        return len(self.loads) < self._places

    def put(self, load: Load, cause: Cause) -> None:
        """A load goes in, which waits for this."""
        if not self.loads:
            self.failed(cause)
        self.loads.append(load)

    def failed(self, cause: Cause) -> None:
        """A try of the oldest load has failed."""
        self.cause, self.line_came = cause, False
