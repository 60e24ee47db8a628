"""The timing arcs of a netlist as arrays, in an order in which one pass leads from the starts of paths to their ends.

Nodes are (net, edge) pairs: node 2n is the rising, 2n + 1 the falling edge of net n.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from warploom.arch.errors import ToolError
from warploom.synth.liberty import Arc, Library
from warploom.synth.netlist import MACRO, Flat
from warploom.synth.tables import Cut, Tables

CLOCK = 0
"""Stands for the ideal clock edge: constant net 0, which never switches itself, and its first node."""

_EDGES = {"positive_unate": [(0, 0), (1, 1)], "negative_unate": [(1, 0), (0, 1)]}
_ANY_EDGE = [(0, 0), (0, 1), (1, 0), (1, 1)]


class Group(NamedTuple):
    """What some arcs have in common: cell type, number of its input pin, numbers of the tables of delay and slew."""

    kind: str
    pin: int
    delay: int
    slew: int


@dataclass(frozen=True)
class Arcs:
    """All arcs: nodes at both ends, instance of the cell type, number of the group, delay and slew at the load of the
    target. Arcs to one node are neighbours, in a later level than all that lead to their sources.

    `levels` has the arcs of each level, and the first arc of each target, counted from the start of the level.
    """

    groups: list[Group]
    source: np.ndarray
    target: np.ndarray
    row: np.ndarray
    group: np.ndarray
    delay: Cut
    slew: Cut
    levels: list[tuple[slice, np.ndarray]]


class _Hop(NamedTuple):
    """An arc of a cell type with the nets at both ends of it in each instance `row`."""

    kind: str
    arc: Arc
    source: np.ndarray
    target: np.ndarray
    row: np.ndarray


def arcs_of(flat: Flat, library: Library, load: np.ndarray, tables: Tables) -> Arcs:
    """The arcs of a netlist, with the load of each node, fF. Freezes the tables. Raises `ToolError` on a combinational
    loop."""
    hops = [hop for kind in flat.gates if not kind.startswith(MACRO) for hop in _hops(flat, library, kind)]
    found = [one for hop in hops for one in _arcs_of(hop, flat.pins[hop.kind], tables)]
    tables.freeze()
    groups, parts = [group for group, _ in found], [arcs for _, arcs in found]
    source, target, row = np.hstack([np.zeros((3, 0), np.int32), *parts])
    group = np.repeat(np.arange(len(found), dtype=np.int32), [arcs.shape[1] for arcs in parts])
    delay = _joined([tables.cut(group.delay, load[arcs[1]]) for group, arcs in found])
    slew = _joined([tables.cut(group.slew, load[arcs[1]]) for group, arcs in found])
    level = _levels(hops, flat.nets)[target // 2]
    order = order_of(level * np.int64(len(load)) + target)
    source, target = source[order], target[order]
    return Arcs(groups, source, target, row[order], group[order], delay[order], slew[order],
                _slices(level[order], target))


def order_of(keys: np.ndarray) -> np.ndarray:
    """The numbers of the keys, smallest key first; equal ones stay in their order. No key is negative. It takes a third
    of the time of `np.argsort`, since numpy sorts values with vector instructions."""
    packed = keys * np.int64(len(keys)) + np.arange(len(keys))
    packed.sort()
    return packed % max(len(keys), 1)


def _hops(flat: Flat, library: Library, kind: str) -> Iterator[_Hop]:
    """The hops of all instances of a cell type."""
    pins, rows = flat.pins[kind], flat.gates[kind]
    for arc in library.cells[kind].arcs:
        if arc.source in pins and arc.target in pins:
            source, target = rows[:, pins.index(arc.source)], rows[:, pins.index(arc.target)]
            row = np.flatnonzero((source > 1) & (target > 1))  # unconnected pins and constants do not switch
            source = np.full(len(row), CLOCK) if arc.clocked else source[row]
            yield _Hop(kind, arc, source.astype(np.int32), target[row].astype(np.int32), row.astype(np.int32))


def _arcs_of(hop: _Hop, pins: list[str], tables: Tables) -> Iterator[tuple[Group, np.ndarray]]:
    """The arcs of a hop by group: source and target node, and instance."""
    for edge_in, edge_out in _EDGES.get(hop.arc.sense, _ANY_EDGE):
        edges = (hop.arc.rise, hop.arc.fall)[edge_out]
        if edges is not None:
            group = Group(hop.kind, pins.index(hop.arc.source), *map(tables.index, edges))
            source = hop.source if hop.arc.clocked else 2 * hop.source + edge_in
            yield group, np.stack([source, 2 * hop.target + edge_out, hop.row])


def _joined(cuts: list[Cut]) -> Cut:
    none = Cut(np.zeros(0, np.int32), np.zeros(0))
    return Cut(*(np.concatenate([getattr(cut, name) for cut in [none, *cuts]]) for name in ("place", "share")))


def _levels(hops: list[_Hop], nets: int) -> np.ndarray:
    """For each net the number of hops on the longest way to it."""
    source, target = np.hstack([np.zeros((2, 0), np.int32), *([hop.source, hop.target] for hop in hops)])
    ends = target[order_of(source)]
    first = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=nets))])
    waiting = np.bincount(target, minlength=nets)
    level, last = np.zeros(nets, np.int32), np.zeros(nets, np.int32)
    ready = np.flatnonzero(waiting == 0)
    depth, done = 0, 0
    while len(ready):
        done += len(ready)
        counts = first[ready + 1] - first[ready]
        offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        reached = ends[np.repeat(first[ready], counts) + offsets]
        np.subtract.at(waiting, reached, 1)
        reached = reached[waiting[reached] == 0]
        last[reached] = np.arange(len(reached))
        ready = reached[last[reached] == np.arange(len(reached))]  # each once
        depth += 1
        level[ready] = depth
    if done < nets:
        raise ToolError("timing: the netlist has a combinational loop; break it with a register")
    return level


def _slices(level: np.ndarray, target: np.ndarray) -> list[tuple[slice, np.ndarray]]:
    """The arcs of each level, and the first of each target in it; arcs are in order of both."""
    starts = np.flatnonzero(np.diff(level, prepend=-1))
    firsts = np.flatnonzero(np.diff(target, prepend=-1))
    return [(slice(start, stop), firsts[np.searchsorted(firsts, start):np.searchsorted(firsts, stop)] - start)
            for start, stop in pairwise([*starts, len(level)])]
