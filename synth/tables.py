"""Liberty tables as padded arrays: one call looks up a whole level of a netlist."""

import numpy as np

from warploom.synth.liberty import Table


class Tables:
    """Liberty tables padded to one shape, so that a whole level of a netlist is looked up at once."""

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
        """Pad all tables; extrapolation beyond an axis continues its last interval, as Liberty asks."""
        count = len(self._list)
        rows = max((len(t[0]) for t in self._list), default=1)
        columns = max((len(t[1]) for t in self._list), default=1)
        self._x, self._y = np.full((count, rows), np.inf), np.full((count, columns), np.inf)
        self._v = np.zeros((count, rows, columns))
        self._size = np.array([[len(t[0]), len(t[1])] for t in self._list]).reshape(count, 2)
        for k, (x, y, values) in enumerate(self._list):
            self._x[k, :len(x)], self._y[k, :len(y)] = x, y
            self._v[k, :len(x), :len(y)] = values

    def look_up(self, table: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Bilinear interpolation of each numbered table at its own (x, y)."""
        i, fx = self._place(self._x[table], self._size[table, 0], x)
        j, fy = self._place(self._y[table], self._size[table, 1], y)
        i1 = np.minimum(i + 1, self._size[table, 0] - 1)
        j1 = np.minimum(j + 1, self._size[table, 1] - 1)
        v = self._v
        low = v[table, i, j] * (1 - fy) + v[table, i, j1] * fy
        high = v[table, i1, j] * (1 - fy) + v[table, i1, j1] * fy
        return low * (1 - fx) + high * fx

    @staticmethod
    def _place(axis: np.ndarray, size: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows = np.arange(len(at))
        k = np.clip((axis <= at[:, None]).sum(axis=1) - 1, 0, np.maximum(size - 2, 0))
        left, right = axis[rows, k], axis[rows, np.minimum(k + 1, size - 1)]
        span = right - left
        return k, np.where(span > 0, (at - left) / np.where(span > 0, span, 1), 0)
