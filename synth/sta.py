"""Static timing of a flat mapped netlist from Liberty tables: the longest path, register to register.

Nodes are (net, edge) pairs; node 2n is the rising, 2n + 1 the falling edge of net n. Delays and slews come from the
library's tables at (input slew, load); load is the sum of pin capacitances (no wires: this is pre-layout). The clock is
ideal. Inputs arrive at time 0 through a driving buffer, of which only the part that depends on load counts; so do the
outputs of memory macros, at time 0 or after their access time.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from warploom.synth.arcs import CLOCK, arcs_of, order_of
from warploom.synth.liberty import Library
from warploom.synth.netlist import MACRO, Flat, is_macro_output, macro_shape
from warploom.synth.sram import PIN_FF, SETUP_PS, Macro
from warploom.synth.tables import Tables

OUTPUT_LOAD = 10.0
"""Load of an output port, fF: the same as in the constraint file that mapping reads."""


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
    """Latest arrival and slowest slew of every node, and the delay of every arc."""

    arrival: np.ndarray
    slew: np.ndarray
    delay: np.ndarray


class Timer:
    """Longest-path analysis of one flat netlist. Raises `ToolError` on a combinational loop."""

    def __init__(self, flat: Flat, library: Library) -> None:
        self._flat, self._library = flat, library
        self._load = net_loads(flat, library).ravel()
        self._tables, self._setups = Tables(), Tables()
        arc = library.cells[library.buffer(2)].arcs[0]
        self._launch_tables = [[*map(self._tables.index, edges)] for edges in (arc.rise, arc.fall) if edges is not None]
        self._arcs = arcs_of(flat, library, self._load, self._tables)
        self._ends = [end for kind in flat.gates for end in self._ends_of(kind)]
        self._setups.freeze()
        self._known: dict[bool, _Times] = {}

    def _ends_of(self, kind: str) -> list[_End]:
        """Path ends in a cell type, for each constrained pin."""
        labels, rows = self._flat.labels.get(kind), self._flat.gates[kind]
        if labels is None:
            return []
        pins = self._flat.pins[kind]
        if kind.startswith(MACRO):
            return [_End(rows[:, k], [f"{label}.{pin}" for label in labels], kind=kind, pin=k)
                    for k, pin in enumerate(pins) if not is_macro_output(pin) and "_CLK" not in pin]
        return [_End(rows[:, pins.index(pin)], labels, tuple([self._setups.index(t) for t in edge] for edge in edges),
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
        return self._traced(best, times) if best else None

    def slews(self) -> np.ndarray:
        """The slowest rising and falling slew of every net, ps; 0 where nothing switches."""
        return self._propagate(sram=True).slew.reshape(-1, 2)

    def late(self, limit: float) -> dict[str, np.ndarray]:
        """The instances of each cell type on paths longer than `limit` ps, access and setup times of SRAM included."""
        times = self._propagate(sram=True)
        late = np.flatnonzero(self._needed(times, limit) < times.arrival[self._arcs.source])
        found: dict[str, list[np.ndarray]] = defaultdict(list)
        for number, rows in _divided(self._arcs.group[late], self._arcs.row[late]):
            found[self._arcs.groups[number].kind].append(rows)
        return {kind: np.unique(np.concatenate(rows)) for kind, rows in found.items()}

    def required(self, limit: float) -> dict[str, np.ndarray]:
        """When the signal at each pin of each cell is needed, if no path may be longer than `limit` ps; infinite for
        pins from which no path goes on. SRAM as in `late`."""
        times = self._propagate(sram=True)
        needed = self._needed(times, limit)
        found = {kind: np.full(rows.shape, np.inf) for kind, rows in self._flat.gates.items()}
        for number, arcs in _divided(self._arcs.group, np.arange(len(needed))):
            group = self._arcs.groups[number]
            np.minimum.at(found[group.kind][:, group.pin], self._arcs.row[arcs], needed[arcs])
        for end, _, setup in self._constraints(times, sram=True):
            if end.kind:
                pins = found[end.kind][:, end.pin]
                np.minimum(pins, limit - setup, out=pins)
        return found

    def _needed(self, times: _Times, limit: float) -> np.ndarray:
        """For each arc when the signal at its source is needed."""
        arcs = self._arcs
        required, needed = np.full(len(times.arrival), np.inf), np.empty(len(arcs.source))
        for _, node, setup in self._constraints(times, sram=True):
            np.minimum.at(required, node, limit - setup)
        for some, _ in reversed(arcs.levels):
            needed[some] = required[arcs.target[some]] - times.delay[some]
            np.minimum.at(required, arcs.source[some], needed[some])
        return needed

    def _constraints(self, times: _Times, *, sram: bool) -> Iterator[tuple[_End, np.ndarray, np.ndarray]]:
        """Where paths end, the nodes and their setup times."""
        nets, names = [net for net, _ in self._flat.outputs], [name for _, name in self._flat.outputs]
        outputs = _End(np.array(nets, np.int64), names)
        for end in [*self._ends, outputs]:
            for edge in (0, 1):
                node = 2 * np.maximum(end.nets, 1) + edge  # net 1 stands for all that never switches
                setup = np.full(len(node), SETUP_PS if sram and end.is_macro else 0.0)
                for table in end.setup[edge]:
                    setup = np.maximum(setup, self._setups.look_up(table, times.slew[node], np.zeros(len(node))))
                yield end, node, setup

    def _traced(self, best: tuple[float, float, int, str], times: _Times) -> Path:
        delay, setup, node, end = best
        cells, start = [], ""
        while (arc := self._latest(node, times)) is not None:
            kind = self._arcs.groups[self._arcs.group[arc]].kind
            cells.append((kind, round(float(times.arrival[node]), 1)))
            node = int(self._arcs.source[arc])
            if node == CLOCK:
                start = self._flat.labels[kind][self._arcs.row[arc]]
        start = start or self._flat.inputs.get(node // 2) or self._macro_of(node // 2)
        return Path(delay, setup, start, end, tuple(reversed(cells)))

    def _latest(self, node: int, times: _Times) -> int | None:
        """The arc of the latest arrival at a node, None at the start of a path."""
        arcs = np.flatnonzero(self._arcs.target == node)
        arrivals = times.arrival[self._arcs.source[arcs]] + times.delay[arcs]
        return int(arcs[np.argmax(arrivals)]) if len(arcs) else None

    def _macro_of(self, net: int) -> str:
        for kind in self._flat.gates:
            if kind.startswith(MACRO):
                rows, columns = np.nonzero(self._flat.gates[kind] == net)
                for row, column in zip(rows, columns, strict=True):
                    return f"{self._flat.labels[kind][row]}.{self._flat.pins[kind][column]}"
        raise AssertionError("a path starts at a register, a port or a macro")

    def _launch(self, *, sram: bool) -> tuple[np.ndarray, np.ndarray]:
        """Arrival and slew of every start node of paths; minus infinity elsewhere."""
        arrival = np.full(2 * self._flat.nets, -np.inf)
        slew = np.zeros(2 * self._flat.nets)
        arrival[CLOCK] = 0
        starts = dict.fromkeys(self._flat.inputs, 0.0) | macro_outputs(self._flat)
        nets, times = np.array(list(starts), np.int64), np.array(list(starts.values()))
        for edge, (delay, transition) in enumerate(self._launch_tables):
            node = 2 * nets + edge
            zero = np.zeros(len(node))
            arrival[node] = (self._tables.look_up(delay, zero, self._load[node])
                             - self._tables.look_up(delay, zero, zero) + (times if sram else 0.0))
            slew[node] = self._tables.look_up(transition, zero, self._load[node])
        return arrival, slew

    def _propagate(self, *, sram: bool) -> _Times:
        if sram not in self._known:
            self._known[sram] = self._arrivals(sram=sram)
        return self._known[sram]

    def _arrivals(self, *, sram: bool) -> _Times:
        arcs = self._arcs
        arrival, slew = self._launch(sram=sram)
        delay = np.empty(len(arcs.source))
        for some, firsts in arcs.levels:
            source, target = arcs.source[some], arcs.target[some][firsts]
            delay[some] = self._tables.along(arcs.delay[some], slew[source])
            arrival[target] = np.maximum.reduceat(arrival[source] + delay[some], firsts)
            slews = np.maximum.reduceat(self._tables.along(arcs.slew[some], slew[source]), firsts)
            slew[target] = np.maximum(slews, 0.0)
        return _Times(arrival, slew, delay)


def _divided(numbers: np.ndarray, values: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """The values with each number."""
    order = order_of(numbers)
    starts = np.flatnonzero(np.diff(numbers[order], prepend=-1))
    for part in np.split(order, starts[1:]) if len(order) else ():
        yield int(numbers[part[0]]), values[part]


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
    outputs = np.array([net for net, _ in flat.outputs], np.int64)
    nets, loads = [outputs], [np.full((len(outputs), 2), OUTPUT_LOAD)]
    for kind, rows in flat.gates.items():
        for pin, column in zip(flat.pins[kind], rows.T, strict=True):
            if any(load := pin_load(kind, pin, library)):
                nets.append(column[column >= 0])
                loads.append(np.full((len(nets[-1]), 2), load))
    where, weights = np.concatenate(nets), np.concatenate(loads)
    return np.stack([np.bincount(where, weights[:, edge], flat.nets) for edge in (0, 1)], axis=1)


def pin_load(kind: str, pin: str, library: Library) -> tuple[float, float]:
    """Capacitance of an input pin in fF, for a rising and a falling edge."""
    if kind.startswith(MACRO):
        return (0.0, 0.0) if is_macro_output(pin) else (PIN_FF, PIN_FF)
    return library.cells[kind].inputs.get(pin, (0.0, 0.0))
