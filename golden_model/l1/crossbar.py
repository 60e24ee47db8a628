"""The parts of the crossbars between ports and banks (docs/contract/l1.md, *Crossbars*)."""

from collections import deque
from collections.abc import Collection

from warploom.arch.l1 import SLOTS
from warploom.golden_model.l1.bank import Response


class RoundRobin:
    """Chooses the first one behind the one that was served last."""

    def __init__(self, count: int) -> None:
        self._count, self._last = count, count - 1

    def choose(self, asking: Collection[int]) -> int | None:
        """The choice among some numbers; None if there are none."""
        return min(asking, key=lambda number: (number - self._last - 1) % self._count, default=None)

    def serve(self, number: int) -> None:
        """The end of a cycle in which this one is served."""
        self._last = number


class ReorderBuffer:
    """Answers enter in any order, and leave in the order in which their slots were taken."""

    def __init__(self) -> None:
        self._taken: deque[int] = deque()  # slots in use, the oldest first
        self._answers: dict[int, Response] = {}
        self.slot = 0
        """The next slot."""

    @property
    def free(self) -> bool:
        """Whether the next slot is free."""
        return len(self._taken) < SLOTS

    @property
    def response(self) -> Response | None:
        """The answer of the oldest slot, if it is there."""
        return self._answers.get(self._taken[0]) if self._taken else None

    def take(self) -> None:
        """A request takes the next slot."""
        self._taken.append(self.slot)
        self.slot = (self.slot + 1) % SLOTS

    def fill(self, slot: int, response: Response) -> None:
        """An answer enters."""
        self._answers[slot] = response

    def leave(self) -> None:
        """The oldest answer leaves."""
        del self._answers[self._taken.popleft()]
