"""Fan-out where paths are long, after linking. Mapping buffers each module by itself, and knows neither when its inputs
arrive nor what its outputs drive. Here nets on long paths of the linked netlist get new trees of strong buffers, in
which the pin that is needed first is nearest to the root."""

import heapq
from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np

from warploom.synth.liberty import Library
from warploom.synth.netlist import Flat
from warploom.synth.sizing import LIMIT_PS, SHARE, families, strength
from warploom.synth.sta import Timer, pin_load

DRIVE = 8
"""Drive strength of the buffers, in multiples of the weakest."""

DELAY_PS = 35.0
"""About the delay of such a buffer with its share of load."""


class _Sink(NamedTuple):
    """A pin of a tree: when it is needed, its capacitance, and its element of a table of cells."""

    required: float
    load: float
    table: Any
    row: int
    column: int


def regrow(flat: Flat, library: Library, timer: Timer) -> None:
    """Replace the trees of nets on paths longer than `LIMIT_PS`, in place; `timer` is that of the netlist."""
    late = timer.late(LIMIT_PS)
    if not late:
        return
    buffers = [kind for kind in library.buffers() if kind in flat.gates]
    root = _roots(flat, library, buffers)
    budgets = _budgets(flat, library, late, root)
    for net, _ in flat.outputs:
        if root[net] != net:
            budgets.pop(int(root[net]), None)  # a buffer drives an output: the tree stays
    found = np.where(np.isin(root, list(budgets)), root, -1)
    grown = _Grown(flat.nets, library)
    for net, sinks in _sinks(flat, library, found, buffers, timer.required(LIMIT_PS)).items():
        grown.grow(net, sinks, budgets[net])
    for kind in buffers:
        flat.gates[kind] = flat.gates[kind][found[_column(flat, kind, _output(library, kind))] < 0]
    grown.add(flat, library)


class _Grown:
    """The new buffers: `rows` has input and output net of each; `nets` is the number of nets with theirs."""

    def __init__(self, nets: int, library: Library) -> None:
        self.nets, self.kind, self.rows = nets, library.buffer(DRIVE), list[list[int]]()
        self._most = SHARE * strength(library, self.kind)
        self._own = max(pin_load(self.kind, _input(library, self.kind), library))

    def grow(self, net: int, sinks: list[_Sink], budget: float) -> None:
        """Again and again a buffer takes the pins that are needed last, until the root can drive what is left."""
        total = sum(sink.load for sink in sinks)
        heap = [(-sink.required, k, sink) for k, sink in enumerate(sinks)]
        heapq.heapify(heap)
        while total > budget and len(heap) > 1:
            group: list[_Sink] = []
            load = 0.0
            while heap and total + self._own - load > budget and (
                    not group or load + heap[0][2].load <= self._most):
                group.append(heapq.heappop(heap)[2])
                load += group[-1].load
            if load <= self._own:
                heap += [(-sink.required, k, sink) for k, sink in enumerate(group)]
                break
            for sink in group:
                sink.table[sink.row][sink.column] = self.nets
            total += self._own - load
            needed = min(sink.required for sink in group) - DELAY_PS
            heapq.heappush(heap, (-needed, len(sinks) + len(self.rows),
                                  _Sink(needed, self._own, self.rows, len(self.rows), 0)))
            self.rows.append([net, self.nets])
            self.nets += 1
        for _, _, sink in heap:
            sink.table[sink.row][sink.column] = net

    def add(self, flat: Flat, library: Library) -> None:
        """Put the buffers into the netlist."""
        if self.rows:
            cell = library.cells[self.kind]
            pins = flat.pins.setdefault(self.kind, [*cell.inputs, *cell.outputs])
            before = flat.gates.get(self.kind, np.empty((0, len(pins)), np.int64))
            order = [(_input(library, self.kind), _output(library, self.kind)).index(pin) for pin in pins]
            flat.gates[self.kind] = np.vstack([before, np.array(self.rows, np.int64)[:, order]])
            flat.nets = self.nets


def _input(library: Library, kind: str) -> str:
    return next(iter(library.cells[kind].inputs))


def _output(library: Library, kind: str) -> str:
    return next(iter(library.cells[kind].outputs))


def _column(flat: Flat, kind: str, pin: str) -> np.ndarray:
    """The nets at a pin of all instances of a cell type."""
    return flat.gates[kind][:, flat.pins[kind].index(pin)]


def _roots(flat: Flat, library: Library, buffers: list[str]) -> np.ndarray:
    """For each net the net in front of all buffers that lead to it."""
    root = np.arange(flat.nets)
    for kind in buffers:
        root[_column(flat, kind, _output(library, kind))] = _column(flat, kind, _input(library, kind))
    while (root[root] != root).any():
        root = root[root]
    return root


def _budgets(flat: Flat, library: Library, late: dict[str, np.ndarray], root: np.ndarray) -> dict[int, float]:
    """The roots of trees with cells on long paths, and the load that each may drive."""
    weak, family = SHARE * strength(library, library.buffer(2)), families(library)
    budgets = {}
    for kind, rows in late.items():
        for pin in library.cells[kind].outputs:
            driven = _column(flat, kind, pin)[rows]
            budgets.update(dict.fromkeys(root[driven[driven > 1]].tolist(), weak))  # such are inputs and memories
    for kind in flat.gates:
        for pin in library.cells[kind].outputs if kind in library.cells else ():
            most = SHARE * strength(library, family[kind][-1])
            budgets.update((net, most) for net in _column(flat, kind, pin).tolist() if net in budgets)
    return budgets


def _sinks(flat: Flat, library: Library, found: np.ndarray, buffers: list[str],
           required: dict[str, np.ndarray]) -> dict[int, list[_Sink]]:
    """The pins that the trees drive, by root, without those of their buffers. `found`: the root of each net, -1 if it
    is none of them."""
    sinks: dict[int, list[_Sink]] = defaultdict(list)
    for kind, rows in flat.gates.items():
        for column, pin in enumerate(flat.pins[kind]):
            load = max(pin_load(kind, pin, library))
            if not load or kind in buffers:
                continue
            of = np.where(rows[:, column] < 0, -1, found[rows[:, column]])
            for row in np.flatnonzero(of >= 0).tolist():
                sinks[int(of[row])].append(_Sink(float(required[kind][row, column]), load, rows, row, column))
    return sinks
