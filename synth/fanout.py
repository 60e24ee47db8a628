"""Buffers on the nets between modules. Each module is mapped alone, so its cells are not chosen for what their outputs
drive in other modules, nor for the pins of memory macros: such nets with too large a load get a tree of buffers."""

import math
from collections import defaultdict
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from warploom.synth.liberty import Library
from warploom.synth.netlist import MACRO, Flat
from warploom.synth.sta import net_loads, pin_load

SHARE = 0.25
"""How much of the load that its library allows a cell gets: towards all of it, delay rises steeply."""

DRIVE = 4
"""Drive strength of the buffers, in multiples of the weakest."""


@dataclass(frozen=True)
class _Sink:
    """A pin that a net drives: its element of a table of cells, and its capacitance."""

    table: Any
    row: int
    column: int
    load: float


def buffer(flat: Flat, library: Library) -> None:
    """Put buffers into a netlist, in place."""
    load, limits = net_loads(flat, library).max(axis=1), _limits(flat, library)
    trees = _Trees(flat.nets, library)
    for net, sinks in _sinks(flat, library, set(np.flatnonzero(load > limits).tolist())).items():
        trees.grow(net, sinks, load[net], limits[net])
    if trees.rows:
        cell = library.cells[trees.kind]
        pins = flat.pins.setdefault(trees.kind, [*cell.inputs, *cell.outputs])
        before = flat.gates.get(trees.kind, np.empty((0, len(pins)), np.int64))
        flat.gates[trees.kind] = np.vstack([before, np.array(trees.rows, np.int64)])
        flat.nets = trees.nets


class _Trees:
    """The added buffers: `rows` has input and output net of each; `nets` is the number of nets with theirs."""

    def __init__(self, nets: int, library: Library) -> None:
        self.nets, self.kind, self.rows = nets, library.buffer(DRIVE), list[list[int]]()
        cell = library.cells[self.kind]
        self._limit = SHARE * max(cell.outputs.values())
        self._own = max(pin_load(self.kind, next(iter(cell.inputs)), library))

    def grow(self, net: int, sinks: list[_Sink], load: float, limit: float) -> None:
        """Layers of buffers until a net drives no more than its limit; what is no pin of a cell stays at its root."""
        while load > limit:
            total = sum(sink.load for sink in sinks)
            count = math.ceil(total / self._limit)
            if count * self._own >= total:
                return
            load += count * self._own - total
            sinks = self._layer(net, sinks, total, count)

    def _layer(self, net: int, sinks: list[_Sink], total: float, count: int) -> list[_Sink]:
        """Buffers that share the load of some sinks of a net evenly, and are its sinks instead."""
        first = len(self.rows)
        self.rows += [[net, self.nets + k] for k in range(count)]
        for sink, end in zip(sinks, accumulate(sink.load for sink in sinks), strict=True):
            group = min(int((end - sink.load / 2) * count / total), count - 1)
            sink.table[sink.row][sink.column] = self.nets + group
        self.nets += count
        return [_Sink(self.rows, first + k, 0, self._own) for k in range(count)]


def _limits(flat: Flat, library: Library) -> np.ndarray:
    """The load of every net at which it gets buffers; infinite for nets inside a module."""
    limits = np.full(flat.nets, np.inf)
    nets = _between_modules(flat, library)
    limits[nets] = SHARE * max(library.cells[library.buffer(2)].outputs.values())  # inputs and memories drive like this
    for kind, rows in flat.gates.items():
        for pin, most in library.cells[kind].outputs.items() if kind in library.cells else ():
            driven = rows[:, flat.pins[kind].index(pin)]
            driven = driven[driven >= 0]  # an open output is -1
            driven = driven[np.isfinite(limits[driven])]
            limits[driven] = SHARE * most
    return limits


def _between_modules(flat: Flat, library: Library) -> np.ndarray:
    """Nets between modules, and those of memory macros; without constants and clocks."""
    nets = set(flat.crossing)
    clocks = {0, 1, -1}
    for kind, rows in flat.gates.items():
        if kind.startswith(MACRO):
            nets.update(rows.ravel().tolist())
            clocked = [pin for pin in flat.pins[kind] if "_CLK" in pin]
        else:
            clocked = [arc.source for arc in library.cells[kind].arcs if arc.clocked]
        for pin in {*clocked} & {*flat.pins[kind]}:
            clocks.update(rows[:, flat.pins[kind].index(pin)].tolist())
    return np.array(sorted(nets - clocks), np.int64)


def _sinks(flat: Flat, library: Library, nets: set[int]) -> dict[int, list[_Sink]]:
    """The pins that some nets drive, of each of them."""
    found: dict[int, list[_Sink]] = defaultdict(list)
    for kind, rows in flat.gates.items():
        for column, pin in enumerate(flat.pins[kind]):
            load = max(pin_load(kind, pin, library))
            if load:
                for row in np.flatnonzero(np.isin(rows[:, column], list(nets))):
                    found[int(rows[row, column])].append(_Sink(rows, int(row), column, load))
    return found
