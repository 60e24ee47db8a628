"""Drive strengths after linking. Mapping sees one module: it makes cells weak where its own part of a path is short,
though the path may go on through other modules. Here cells on long paths of the linked netlist become stronger."""

from collections import defaultdict

import numpy as np

from warploom.synth.liberty import Cell, Library
from warploom.synth.netlist import Flat
from warploom.synth.sta import Timer, net_loads

LIMIT_PS = 900
"""Cells on paths longer than this become stronger: 1 GHz, and a margin for wires."""

SHARE = 0.125
"""How much of the load that its library allows such a cell gets: about four inputs of its own size."""

ROUNDS = 6
"""How often at most: a stronger cell loads those before it more."""


def resize(flat: Flat, library: Library) -> Timer:
    """Make cells on paths longer than `LIMIT_PS` stronger, in place, until that changes nothing. Returns the timer of
    the netlist that results."""
    stronger = families(library)
    for _ in range(ROUNDS):
        loads = net_loads(flat, library).max(axis=1)
        loads[:2] = 0.0  # nets of constants; an open output counts as one
        moves, timer = {}, Timer(flat, library)
        for kind, rows in timer.late(LIMIT_PS).items():
            outputs = [flat.pins[kind].index(pin) for pin in library.cells[kind].outputs]
            driven = np.maximum(flat.gates[kind][rows][:, outputs], 0)
            moves[kind] = _moves(library, kind, rows, loads[driven].max(axis=1), stronger[kind])
        if not any(moves.values()):
            return timer
        del timer  # before the next one: it is large
        for kind, targets in moves.items():
            _move(flat, kind, targets)
    return Timer(flat, library)


def families(library: Library) -> dict[str, list[str]]:
    """For each cell type those that do the same, weakest first."""
    families: dict[str, list[str]] = defaultdict(list)
    for name, cell in library.cells.items():
        families[_does(cell)].append(name)
    return {name: sorted(families[_does(cell)], key=lambda other: (strength(library, other), other))
            for name, cell in library.cells.items() if cell.outputs}


def _does(cell: Cell) -> str:
    arcs = sorted((arc.source, arc.target, arc.sense, arc.clocked) for arc in cell.arcs)
    return repr((sorted(cell.inputs), sorted(cell.function.items()), cell.state, arcs))


def strength(library: Library, kind: str) -> float:
    return max(library.cells[kind].outputs.values(), default=0.0)


def _moves(library: Library, kind: str, rows: np.ndarray, load: np.ndarray, family: list[str]) -> dict[str, np.ndarray]:
    """Which of some instances of a cell type become which other: the weakest that may drive the load of each, else the
    strongest; none becomes weaker."""
    strengths = np.array([strength(library, other) for other in family])
    wanted = np.minimum(np.searchsorted(SHARE * strengths, load), len(family) - 1)
    return {family[number]: rows[wanted == number] for number in np.unique(wanted)
            if strengths[number] > strength(library, kind)}


def _move(flat: Flat, kind: str, targets: dict[str, np.ndarray]) -> None:
    """Make instances of one cell type instances of others."""
    rows, labels = flat.gates[kind], flat.labels.get(kind)
    for other, chosen in targets.items():
        pins = flat.pins.setdefault(other, flat.pins[kind])
        moved = rows[chosen][:, [flat.pins[kind].index(pin) for pin in pins]]
        flat.gates[other] = np.vstack([flat.gates.get(other, np.empty((0, len(pins)), np.int64)), moved])
        if labels is not None:
            flat.labels.setdefault(other, []).extend(labels[row] for row in chosen)
    gone = np.concatenate([*targets.values(), np.array([], np.int64)])
    flat.gates[kind] = np.delete(rows, gone, axis=0)
    if labels is not None:
        away = set(gone.tolist())
        flat.labels[kind] = [label for row, label in enumerate(labels) if row not in away]
