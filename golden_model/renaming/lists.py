"""`Lists`: the free rows of each bank, by kind (docs/contract/renaming.md, *What is where*; [TFET], section 4.1.2)."""

from collections import deque
from collections.abc import Callable, Sequence
from enum import IntEnum

from warploom.arch.config import SmConfig

DELAY = 2
"""Cycles from the one in which a row is released to the first one in which it can be taken."""


class Kind(IntEnum):
    """The transistors of a row."""

    CMOS = 0
    TFET = 1


def _unseen(_: Kind, __: int) -> None:
    """Nobody looks."""


class Lists:
    """For each bank a list of each kind. Of CMOS rows the first `powered` ones are used, of TFET rows all.

    `take` and `release` belong to the end of a cycle, before `clock`. A row that is released in p is shown from p + 2
    on. `changes` is told the kind of each row that is taken, with 1, or released, with -1; experiments replace it.
    Raises `AssertionError` if a row is released that is free already, or two rows into one queue in a cycle.
    """

    def __init__(self, config: SmConfig, powered: int) -> None:
        self.changes: Callable[[Kind, int], object] = _unseen
        self._cycle = 0
        self._changed = -DELAY  # the last cycle in which a row was released
        self._cmos_rows = config.cmos_rows
        self._lists = [(_List(0, powered), _List(config.cmos_rows, config.rows)) for _ in range(config.banks)]
        self.observed = tuple(f"{kind.name.lower()}_given_{bank}" for bank in range(config.banks) for kind in Kind)

    def shows(self, bank: int, kind: int) -> int | None:
        """The row that a list gives in this cycle, if it has one that can be taken."""
        return self._lists[bank][kind].shows(self._cycle)

    def take(self, bank: int, kind: int) -> None:
        """The row that the list shows is taken."""
        self._lists[bank][kind].take(self._cycle)
        self.changes(Kind(kind), 1)

    def release(self, bank: int, row: int, side: int) -> None:
        """A row is released into the queue of its side: 0 (right) or 1."""
        kind = Kind(row >= self._cmos_rows)
        self._lists[bank][kind].release(row, side, self._cycle + DELAY)
        self.changes(kind, -1)
        self._changed = self._cycle

    def rows(self, bank: int) -> set[int]:
        """The rows in both lists of a bank, shown or not, and the never used ones."""
        cmos, tfet = self._lists[bank]
        return cmos.free | tfet.free

    @property
    def tfet_free(self) -> int:
        """The number of TFET rows in all lists."""
        return sum(len(of_bank[Kind.TFET].free) for of_bank in self._lists)

    @property
    def quiet(self) -> bool:
        """Whether no list shows another row by time alone."""
        return self._cycle >= self._changed + DELAY

    def clock(self, cycles: int = 1) -> None:
        """The end of a cycle, or of several ones."""
        self._cycle += cycles

    def observe(self) -> Sequence[int]:
        """The number of rows that each list has given and not got back."""
        return [found.size - len(found.free) for of_bank in self._lists for found in of_bank]


class _List:
    """Never used rows, `first` to before `end`; then released ones, in a queue for each side, each with the cycle from
    which on it can be taken. `free` are all of them."""

    def __init__(self, first: int, end: int) -> None:
        self.size = end - first
        self.free = set(range(first, end))
        self._unused, self._end = first, end
        self._queues: tuple[deque[tuple[int, int]], ...] = (deque(), deque())

    def _queue(self, cycle: int) -> deque[tuple[int, int]] | None:
        """The queue that gives a row."""
        return next((queue for queue in self._queues if queue and queue[0][0] <= cycle), None)

    def shows(self, cycle: int) -> int | None:
        """See `Lists`, here and below."""
        if self._unused < self._end:
            return self._unused
        queue = self._queue(cycle)
        return None if queue is None else queue[0][1]

    def take(self, cycle: int) -> None:
        row = self._unused
        if row < self._end:
            self._unused += 1
        else:
            queue = self._queue(cycle)
            assert queue is not None, "a row is taken from an empty list"
            _, row = queue.popleft()
        self.free.remove(row)

    def release(self, row: int, side: int, cycle: int) -> None:
        assert row not in self.free, f"row {row} is released, and free already"
        queue = self._queues[side]
        assert not queue or queue[-1][0] < cycle, "two rows are released into a queue in one cycle"
        queue.append((cycle, row))
        self.free.add(row)
