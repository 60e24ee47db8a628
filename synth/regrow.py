"""Fan-out where paths are long, after linking. Mapping buffers each module by itself, and knows neither when its inputs
arrive nor what its outputs drive. Here nets on long paths of the linked netlist get new trees of strong buffers, in
which the pin that is needed first is nearest to the root."""

import heapq
from collections import defaultdict
from itertools import count

import numpy as np

from warploom.synth.liberty import Library
from warploom.synth.netlist import Flat
from warploom.synth.sizing import LIMIT_PS, SHARE, families, strength
from warploom.synth.sta import Timer
from warploom.synth.trees import Buffers, Pin, pins

DRIVE = 8
"""Drive strength of the buffers, in multiples of the weakest."""

DELAY_PS = 35.0
"""About the delay of such a buffer with its share of load."""


def regrow(flat: Flat, library: Library, timer: Timer) -> None:
    """Replace the trees of nets on paths longer than `LIMIT_PS`, in place; `timer` is that of the netlist."""
    late = timer.late(LIMIT_PS)
    if not late:
        return
    old = [kind for kind in library.buffers() if kind in flat.gates]
    root = _roots(flat, library, old)
    budgets = _budgets(flat, library, late, root)
    for net, _ in flat.outputs:
        if root[net] != net:
            budgets.pop(int(root[net]), None)  # a buffer drives an output: the tree stays
    found, required = np.where(np.isin(root, list(budgets)), root, -1), timer.required(LIMIT_PS)
    sinks: dict[int, list[tuple[float, Pin]]] = defaultdict(list)
    for net, kind, pin in pins(flat, library, found, but=old):
        sinks[net].append((float(required[kind][pin.row, pin.column]), pin))
    buffers = Buffers(flat, library, DRIVE, SHARE)
    for net, driven in sinks.items():
        _grow(buffers, net, driven, budgets[net])
    for kind in old:
        flat.gates[kind] = flat.gates[kind][found[_column(flat, kind, _output(library, kind))] < 0]
    buffers.put()


def _grow(buffers: Buffers, net: int, sinks: list[tuple[float, Pin]], budget: float) -> None:
    """Again and again a buffer takes the pins that are needed last, until the root can drive what is left. Each sink
    has the time at which it is needed."""
    total, number = sum(sink.load for _, sink in sinks), count()
    heap = [(-required, next(number), sink) for required, sink in sinks]
    heapq.heapify(heap)
    while total > budget and len(heap) > 1:
        group: list[tuple[float, int, Pin]] = []
        load = 0.0
        while heap and total + buffers.load - load > budget and (
                not group or load + heap[0][2].load <= buffers.most):
            group.append(heapq.heappop(heap))
            load += group[-1][2].load
        if load <= buffers.load:
            heap += group
            break
        total += buffers.load - load
        needed = -group[-1][0] - DELAY_PS  # the last one is the first that is needed
        heapq.heappush(heap, (-needed, next(number), buffers.add(net, [sink for _, _, sink in group])))
    for _, _, sink in heap:
        sink.connect(net)


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
