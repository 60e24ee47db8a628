"""Static timing of a flat mapped netlist from Liberty tables: the longest path, register to register.

Nodes are (net, edge) pairs; node 2n is the rising, 2n + 1 the falling edge of net n. Delays and slews come from the
library's tables at (input slew, load); load is the sum of pin capacitances (no wires: this is pre-layout). The clock is
ideal. Inputs arrive at time 0 through a driving buffer, of which only the part that depends on load counts; so do the
outputs of memory macros, at time 0 or after their access time.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from warploom.arch.errors import ToolError
from warploom.synth.liberty import Library, Table
from warploom.synth.netlist import MACRO, Flat, is_macro_output, macro_shape
from warploom.synth.sram import PIN_FF, SETUP_PS, Macro
from warploom.synth.tables import Tables

OUTPUT_LOAD = 10.0
"""Load of an output port, fF: the same as in the constraint file that mapping reads."""

_EDGES = {"positive_unate": [(0, 0), (1, 1)], "negative_unate": [(1, 0), (0, 1)]}
_ANY_EDGE = [(0, 0), (0, 1), (1, 0), (1, 1)]
_CLOCK = 0
"""Node that stands for the ideal clock edge: the first node of constant net 0, which never switches itself."""


@dataclass(frozen=True)
class Path:
    """The longest path: total delay in ps, the setup time of the end register in it, names of both ends, and the cells
    on it with the arrival at their outputs (ps)."""

    delay: float
    setup: float
    start: str
    end: str
    cells: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class _End:
    """Path ends: nets, names, the setup tables of a rising and of a falling edge, and the pin of a type of cells."""

    nets: np.ndarray
    names: list[str]
    setup: tuple[list[int], ...] = ([], [])
    kind: str = ""
    pin: int = 0

    @property
    def is_macro(self) -> bool:
        """Whether the ends are pins of memories."""
        return self.kind.startswith(MACRO)


@dataclass(frozen=True)
class _Times:
    """Latest arrival and slowest slew of every node, the arc of that arrival (-1: none), and the arcs in an order from
    starts to ends, some at a time, with their delays."""

    arrival: np.ndarray
    slew: np.ndarray
    via: np.ndarray
    steps: list[tuple[np.ndarray, np.ndarray]]


class Timer:
    """Longest-path analysis of one flat netlist. Raises `ToolError` on a combinational loop."""

    def __init__(self, flat: Flat, library: Library) -> None:
        self._flat, self._library, self._tables = flat, library, Tables()
        self._kinds = list(flat.gates)
        self._load = net_loads(flat, library).ravel()
        columns = [self._arcs_of(k, kind) for k, kind in enumerate(self._kinds) if not kind.startswith(MACRO)]
        empty = np.zeros((7, 0), np.int64)
        arcs = np.hstack([empty, *columns])
        self._source, self._target, self._delay, self._slew, self._kind, self._row, self._pin = arcs
        self._ends = [end for kind in self._kinds for end in self._ends_of(kind)]
        self._launch_tables = [self._numbered(edges) for edges in self._driver_edges()]
        self._tables.freeze()
        self._known: dict[bool, _Times] = {}

    def _numbered(self, tables: tuple[Table, Table]) -> tuple[int, int]:
        return self._tables.index(tables[0]), self._tables.index(tables[1])

    def _driver_edges(self) -> list[tuple[Table, Table]]:
        arc = self._library.cells[self._library.buffer(2)].arcs[0]
        return [edges for edges in (arc.rise, arc.fall) if edges is not None]

    def _arcs_of(self, number: int, kind: str) -> np.ndarray:
        """Arcs of all instances of a cell type: source and target node, delay and slew table, cell type, instance, and
        its pin."""
        pins, rows = self._flat.pins[kind], self._flat.gates[kind]
        columns = [np.zeros((7, 0), np.int64)]
        for arc in self._library.cells[kind].arcs:
            if arc.source not in pins or arc.target not in pins:
                continue
            source, target = rows[:, pins.index(arc.source)], rows[:, pins.index(arc.target)]
            used = (source > 1) & (target > 1)  # unconnected pins and constants do not switch
            source, target, row = source[used], target[used], np.flatnonzero(used)
            for edge_in, edge_out in _EDGES.get(arc.sense, _ANY_EDGE):
                tables = (arc.rise, arc.fall)[edge_out]
                if tables is not None:
                    start = np.full_like(row, _CLOCK) if arc.clocked else 2 * source + edge_in
                    fixed = [np.full_like(row, x) for x in (*self._numbered(tables), number)]
                    pin = np.full_like(row, pins.index(arc.source))
                    columns.append(np.stack([start, 2 * target + edge_out, *fixed, row, pin]))
        return np.hstack(columns)

    def _ends_of(self, kind: str) -> list[_End]:
        """Path ends in a cell type, for each constrained pin."""
        labels, rows = self._flat.labels.get(kind), self._flat.gates[kind]
        if labels is None:
            return []
        pins = self._flat.pins[kind]
        if kind.startswith(MACRO):
            return [_End(rows[:, k], [f"{label}.{pin}" for label in labels], kind=kind, pin=k)
                    for k, pin in enumerate(pins) if not is_macro_output(pin) and "_CLK" not in pin]
        return [_End(rows[:, pins.index(pin)], labels, tuple([self._tables.index(t) for t in edge] for edge in edges),
                     kind, pins.index(pin))
                for pin, edges in self._library.cells[kind].setup.items() if pin in pins]

    def longest(self, *, sram: bool = False) -> Path | None:
        """The longest path, or None when nothing in the netlist has a delay; `sram` includes access and setup times of
        memory macros, which are 0 otherwise."""
        times = self._propagate(sram=sram)
        best: tuple[float, float, int, str] | None = None
        for end, node, setup in self._constraints(times, sram=sram):
            total = times.arrival[node] + setup
            k = int(np.argmax(total)) if len(total) else -1
            if k >= 0 and np.isfinite(total[k]) and (best is None or total[k] > best[0]):
                best = float(total[k]), float(setup[k]), int(node[k]), end.names[k]
        return self._traced(best, times.arrival, times.via) if best else None

    def slews(self) -> np.ndarray:
        """The slowest rising and falling slew of every net, ps; 0 where nothing switches."""
        return self._propagate(sram=True).slew.reshape(-1, 2)

    def late(self, limit: float) -> dict[str, np.ndarray]:
        """The instances of each cell type on paths longer than `limit` ps, access and setup times of SRAM included."""
        times = self._propagate(sram=True)
        late = self._needed(times, limit) < times.arrival[self._source]
        return {self._kinds[number]: np.unique(self._row[late & (self._kind == number)])
                for number in np.unique(self._kind[late])}

    def required(self, limit: float) -> dict[str, np.ndarray]:
        """When the signal at each pin of each cell is needed, if no path may be longer than `limit` ps; infinite for
        pins from which no path goes on. SRAM as in `late`."""
        times = self._propagate(sram=True)
        needed = self._needed(times, limit)
        found = {kind: np.full(rows.shape, np.inf) for kind, rows in self._flat.gates.items()}
        for number in np.unique(self._kind):
            of = self._kind == number
            kind = self._kinds[number]
            places = self._row[of] * len(self._flat.pins[kind]) + self._pin[of]
            np.minimum.at(found[kind].reshape(-1), places, needed[of])
        for end, _, setup in self._constraints(times, sram=True):
            if end.kind:
                pins = found[end.kind][:, end.pin]
                np.minimum(pins, limit - setup, out=pins)
        return found

    def _needed(self, times: _Times, limit: float) -> np.ndarray:
        """For each arc when the signal at its source is needed."""
        required, needed = np.full(len(times.arrival), np.inf), np.full(len(self._source), np.inf)
        for _, node, setup in self._constraints(times, sram=True):
            np.minimum.at(required, node, limit - setup)
        for arcs, delay in reversed(times.steps):
            needed[arcs] = required[self._target[arcs]] - delay
            np.minimum.at(required, self._source[arcs], needed[arcs])
        return needed

    def _constraints(self, times: _Times, *, sram: bool) -> Iterator[tuple[_End, np.ndarray, np.ndarray]]:
        """Where paths end, the nodes and their setup times."""
        outputs = _End(np.array(list(self._flat.outputs), np.int64), list(self._flat.outputs.values()))
        for end in [*self._ends, outputs]:
            for edge in (0, 1):
                node = 2 * np.maximum(end.nets, 0) + edge
                setup = np.full(len(node), SETUP_PS if sram and end.is_macro else 0.0)
                for table in end.setup[edge]:
                    number = np.full(len(node), table)
                    setup = np.maximum(setup, self._tables.look_up(number, times.slew[node], np.zeros(len(node))))
                yield end, node, setup

    def _traced(self, best: tuple[float, float, int, str], arrival: np.ndarray, via: np.ndarray) -> Path:
        delay, setup, node, end = best
        cells, start = [], ""
        while via[node] >= 0:
            arc = via[node]
            kind, row = self._kinds[self._kind[arc]], self._row[arc]
            cells.append((kind, round(float(arrival[node]), 1)))
            node = int(self._source[arc])
            if node == _CLOCK:
                start = self._flat.labels[kind][row]
        start = start or self._flat.inputs.get(node // 2) or self._macro_of(node // 2)
        return Path(delay, setup, start, end, tuple(reversed(cells)))

    def _macro_of(self, net: int) -> str:
        for kind in self._kinds:
            if kind.startswith(MACRO):
                rows, columns = np.nonzero(self._flat.gates[kind] == net)
                for row, column in zip(rows, columns, strict=True):
                    return f"{self._flat.labels[kind][row]}.{self._flat.pins[kind][column]}"
        raise AssertionError("a path starts at a register, a port or a macro")

    def _launch(self, *, sram: bool) -> tuple[np.ndarray, np.ndarray]:
        """Arrival and slew of every start node of paths; minus infinity elsewhere."""
        arrival = np.full(2 * self._flat.nets, -np.inf)
        slew = np.zeros(2 * self._flat.nets)
        arrival[_CLOCK] = 0
        starts = dict.fromkeys(self._flat.inputs, 0.0) | macro_outputs(self._flat)
        nets, times = np.array(list(starts), np.int64), np.array(list(starts.values()))
        for edge, (delay, transition) in enumerate(self._launch_tables):
            node = 2 * nets + edge
            zero, one = np.zeros(len(node)), np.full(len(node), 1)
            arrival[node] = (self._tables.look_up(delay * one, zero, self._load[node])
                             - self._tables.look_up(delay * one, zero, zero) + (times if sram else 0.0))
            slew[node] = self._tables.look_up(transition * one, zero, self._load[node])
        return arrival, slew

    def _propagate(self, *, sram: bool) -> _Times:
        if sram not in self._known:
            self._known[sram] = self._arrivals(sram=sram)
        return self._known[sram]

    def _arrivals(self, *, sram: bool) -> _Times:
        arrival, slew = self._launch(sram=sram)
        via = np.full(len(arrival), -1)
        steps = []
        waiting = np.bincount(self._target, minlength=len(arrival))
        order = np.argsort(self._source, kind="stable")
        first = np.searchsorted(self._source[order], np.arange(len(arrival) + 1))
        ready = np.flatnonzero(waiting == 0)
        while len(ready):
            counts = first[ready + 1] - first[ready]
            offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
            arcs = order[np.repeat(first[ready], counts) + offsets]
            source, target = self._source[arcs], self._target[arcs]
            delay = self._tables.look_up(self._delay[arcs], slew[source], self._load[target])
            time = arrival[source] + delay
            steps.append((arcs, delay))
            late = np.argsort(time, kind="stable")  # of repeated targets, the last assignment stays
            late = late[time[late] > arrival[target[late]]]
            arrival[target[late]], via[target[late]] = time[late], arcs[late]
            np.maximum.at(slew, target, self._tables.look_up(self._slew[arcs], slew[source], self._load[target]))
            np.subtract.at(waiting, target, 1)
            ready = np.unique(target[waiting[target] == 0])
        if waiting.any():
            raise ToolError("timing: the netlist has a combinational loop; break it with a register")
        return _Times(arrival, slew, via, steps)


def macro_outputs(flat: Flat) -> dict[int, float]:
    """Nets that memory macros drive, and the access time of each (ps)."""
    found = {}
    for kind in [kind for kind in flat.gates if kind.startswith(MACRO)]:
        outputs = [k for k, pin in enumerate(flat.pins[kind]) if is_macro_output(pin)]
        access = Macro(*macro_shape(kind)).access_ps
        found.update({int(net): access for net in flat.gates[kind][:, outputs].ravel() if net > 1})
    return found


def net_loads(flat: Flat, library: Library) -> np.ndarray:
    """Capacitance of every net in fF, for a rising and a falling edge: input pins, and `OUTPUT_LOAD` for each output
    port."""
    load = np.zeros((flat.nets, 2))
    for kind, rows in flat.gates.items():
        for pin, column in zip(flat.pins[kind], rows.T, strict=True):
            np.add.at(load, column[column >= 0], pin_load(kind, pin, library))
    np.add.at(load, np.array(list(flat.outputs), np.int64), OUTPUT_LOAD)
    return load


def pin_load(kind: str, pin: str, library: Library) -> tuple[float, float]:
    """Capacitance of an input pin in fF, for a rising and a falling edge."""
    if kind.startswith(MACRO):
        return (0.0, 0.0) if is_macro_output(pin) else (PIN_FF, PIN_FF)
    return library.cells[kind].inputs.get(pin, (0.0, 0.0))
