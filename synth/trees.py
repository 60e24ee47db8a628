"""Trees of buffers in a linked netlist: the pins that they drive, and the buffers that are added."""

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

import numpy as np

from warploom.synth.liberty import Library
from warploom.synth.netlist import MACRO, Flat, is_macro_output
from warploom.synth.sta import pin_load


class Pin(NamedTuple):
    """A pin that a net drives: its element of a table of cells, and its capacitance (fF)."""

    table: Any
    row: int
    column: int
    load: float

    def connect(self, net: int) -> None:
        """Let another net drive the pin."""
        self.table[self.row][self.column] = net


def pins(flat: Flat, library: Library, root: np.ndarray, but: Collection[str] = ()) -> Iterator[tuple[int, str, Pin]]:
    """The pins that trees drive, each with the root of its tree and the type of its cell, which is none of `but`.
    `root`: of each net that of its tree, -1 if it is in none."""
    for kind, rows in flat.gates.items():
        for column, pin in enumerate(flat.pins[kind] if kind not in but else ()):
            if _is_input(kind, pin, library):
                found = np.where(rows[:, column] < 0, -1, root[rows[:, column]])
                for row in np.flatnonzero(found >= 0).tolist():
                    yield int(found[row]), kind, Pin(rows, row, column, max(pin_load(kind, pin, library)))


def _is_input(kind: str, pin: str, library: Library) -> bool:
    return not is_macro_output(pin) if kind.startswith(MACRO) else pin in library.cells[kind].inputs


class Buffers:
    """Buffers of one type, `drive` times as strong as the weakest, that are added to a netlist. `load` is the
    capacitance of their input, and `most` the load that each may drive, a share of what the library allows (fF)."""

    def __init__(self, flat: Flat, library: Library, drive: float, share: float) -> None:
        self._flat, self._kind = flat, library.buffer(drive)
        cell = library.cells[self._kind]
        self._input, = cell.inputs
        self.load = max(pin_load(self._kind, self._input, library))
        self.most = share * max(cell.outputs.values())
        self._pins = flat.pins.get(self._kind, [self._input, *cell.outputs])
        self._rows: list[list[int]] = []

    def add(self, net: int, driven: Collection[Pin]) -> Pin:
        """A buffer from a net to some pins; its own pin."""
        for pin in driven:
            pin.connect(self._flat.nets)
        self._rows.append([net if pin == self._input else self._flat.nets for pin in self._pins])
        self._flat.nets += 1
        return Pin(self._rows, len(self._rows) - 1, self._pins.index(self._input), self.load)

    def put(self) -> None:
        """Put them into the netlist, when all are there."""
        if self._rows:
            self._flat.pins[self._kind] = self._pins
            before = self._flat.gates.get(self._kind, np.empty((0, len(self._pins)), np.int64))
            self._flat.gates[self._kind] = np.vstack([before, np.array(self._rows, np.int64)])
