"""Buffers on the nets between modules. Each module is mapped alone, so its cells are not chosen for what their outputs
drive in other modules, nor for the pins of memory macros: such nets with too large a load get a tree of buffers."""

import math
from collections import defaultdict
from itertools import accumulate

import numpy as np

from warploom.synth.liberty import Library
from warploom.synth.netlist import MACRO, Flat
from warploom.synth.sta import net_loads
from warploom.synth.trees import Buffers, Pin, pins

SHARE = 0.25
"""How much of the load that its library allows a cell gets: towards all of it, delay rises steeply."""

DRIVE = 4
"""Drive strength of the buffers, in multiples of the weakest."""


def buffer(flat: Flat, library: Library) -> None:
    """Put buffers into a netlist, in place."""
    load, limits = net_loads(flat, library).max(axis=1), _limits(flat, library)
    sinks: dict[int, list[Pin]] = defaultdict(list)
    for net, _, pin in pins(flat, library, np.where(load > limits, np.arange(flat.nets), -1)):
        sinks[net].append(pin)
    buffers = Buffers(flat, library, DRIVE, SHARE)
    for net, driven in sinks.items():
        _grow(buffers, net, driven, load[net], limits[net])
    buffers.put()


def _grow(buffers: Buffers, net: int, sinks: list[Pin], load: float, limit: float) -> None:
    """Layers of buffers until a net drives no more than its limit; what is no pin of a cell stays at its root."""
    while load > limit:
        total = sum(sink.load for sink in sinks)
        count = math.ceil(total / buffers.most)
        if count * buffers.load >= total:
            return
        sinks = _layer(buffers, net, sinks, total, count)
        load += len(sinks) * buffers.load - total


def _layer(buffers: Buffers, net: int, sinks: list[Pin], total: float, count: int) -> list[Pin]:
    """Buffers that share the load of some sinks of a net evenly, and are its sinks instead; none without a sink."""
    groups: list[list[Pin]] = [[] for _ in range(count)]
    for sink, end in zip(sinks, accumulate(sink.load for sink in sinks), strict=True):
        groups[min(int((end - sink.load / 2) * count / total), count - 1)].append(sink)
    return [buffers.add(net, group) for group in groups if group]


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
