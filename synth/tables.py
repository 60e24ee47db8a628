"""Liberty tables in one array: one call looks up a whole level of a netlist."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from warploom.synth.liberty import Table


@dataclass(frozen=True)
class Cut:
    """Tables at a known y each, functions of x alone: the place of the first value of the left one of the two columns
    beside y, and the share of the right one."""

    place: np.ndarray
    share: np.ndarray

    def __getitem__(self, some: slice | np.ndarray) -> "Cut":
        return Cut(self.place[some], self.share[some])


class Tables:
    """Liberty tables, numbered and padded to one shape. Interpolation is bilinear; beyond an axis its last interval
    continues, as Liberty asks."""

    def __init__(self) -> None:
        self._list: list[Table] = []
        self._known: dict[int, int] = {}

    def index(self, table: Table) -> int:
        """The number of a table."""
        if id(table) not in self._known:
            self._known[id(table)] = len(self._list)
            self._list.append(table)
        return self._known[id(table)]

    def freeze(self) -> None:
        """Pad all tables. Each has one more row and column than it has values, so that the last ones have a next."""
        rows = 1 + max((len(t[0]) for t in self._list), default=1)
        self._columns = 1 + max((len(t[1]) for t in self._list), default=1)
        values = np.zeros((len(self._list), rows, self._columns))
        for k, (x, y, table) in enumerate(self._list):
            values[k, :len(x), :len(y)] = table
        self._values, self._size = values.ravel(), rows * self._columns
        axes = [tuple(x) for x, _, _ in self._list]
        self._axes = [*dict.fromkeys(axes)]
        self._axis = np.array([self._axes.index(axis) for axis in axes], np.int64)

    def cut(self, number: int, y: np.ndarray) -> Cut:
        """A table at some y."""
        column, share = _placed(self._list[number][1], y)
        return Cut((number * self._size + column).astype(np.int32), share)

    def look_up(self, number: int, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """A table at some points."""
        return self.along(self.cut(number, y), x)

    def along(self, cut: Cut, x: np.ndarray) -> np.ndarray:
        """Each cut at its own x."""
        row, fx = self._rows(cut.place, x)
        at, fy, v = cut.place + row * self._columns, cut.share, self._values
        low = v[at] * (1 - fy) + v[at + 1] * fy
        at += self._columns
        high = v[at] * (1 - fy) + v[at + 1] * fy
        return low * (1 - fx) + high * fx

    def _rows(self, place: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The row in front of each x in the table that a place is in, and the share of the next row."""
        if len(self._axes) == 1:
            return _placed(self._axes[0], x)
        axis, row, share = self._axis[place // self._size], np.zeros(len(x), np.int64), np.zeros(len(x))
        for number, points in enumerate(self._axes):
            here = axis == number
            row[here], share[here] = _placed(points, x[here])
        return row, share


def _placed(axis: Sequence[float], at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The interval of an axis that each value is in, or nearest to, and where in it: 0 at its start, 1 at its end."""
    if len(axis) == 1:
        return np.zeros(len(at), np.int64), np.zeros(len(at))
    points = np.array(axis)
    k = np.clip(np.searchsorted(points, at, side="right") - 1, 0, len(axis) - 2)
    span = np.diff(points)
    span[span <= 0] = np.inf
    return k, (at - points[k]) / span[k]
