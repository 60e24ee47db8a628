"""Gate-level simulation of a flat mapped netlist, cycle by cycle, and how often each net changes.

Each net has one settled value a cycle, so glitches are not seen. Several independent streams of inputs are simulated
side by side. All flip-flops and memories start as 0. A memory reads what was there before the writes of the cycle.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from warploom.arch.errors import ToolError
from warploom.synth.liberty import Library
from warploom.synth.netlist import MACRO, Flat, is_macro_output, macro_shape

Bits = np.ndarray
"""Of a port: an array (streams, bits) of 0 and 1."""

_IDS = re.compile(r"[A-Za-z_]\w*")


class Gates:
    """A netlist of D flip-flops of one clock, memory macros and combinational cells.

    `cycles` have passed. `changes` counts for each net the cycles in which its value differs from that of the cycle
    before; `accesses` counts for each type of macro reads and writes of all ports; both over all streams. Raises
    `ToolError` for a register that is no D flip-flop, and for a combinational loop.
    """

    def __init__(self, flat: Flat, library: Library, streams: int) -> None:
        self.streams, self.cycles = streams, 0
        self.changes = np.zeros(flat.nets, np.int64)
        self.accesses: Counter[str] = Counter()
        self.values = np.zeros((flat.nets, streams), bool)
        self.values[1] = True
        self._settled = self.values.copy()
        self._steps = _steps(flat, library)
        self._registers = [_register(flat, library, kind) for kind in flat.gates
                           if not kind.startswith(MACRO) and library.cells[kind].sequential]
        self._memories = [_Memory(flat, kind, row, streams) for kind in flat.gates if kind.startswith(MACRO)
                          for row in range(len(flat.gates[kind]))]
        self._inputs, self._outputs = _ports(flat.inputs.items()), _ports(flat.outputs)

    def settle(self, inputs: Mapping[str, Bits]) -> None:
        """A cycle begins: inputs, by port, and what follows from them. Ports that are not named keep their values."""
        values = self.values
        for name, bits in inputs.items():
            for number, net in self._inputs[name].items():
                values[net] = bits[:, number]
        for function, sources, targets in self._steps:
            values[targets] = function(*(values[source] for source in sources))
        if self.cycles:
            self.changes += (values != self._settled).sum(axis=1)
        self._settled[:] = values

    def output(self, name: str) -> list[int]:
        """A port's number in each stream."""
        nets = self._outputs[name]
        return [sum(int(self.values[net, stream]) << number for number, net in nets.items())
                for stream in range(self.streams)]

    def clock(self) -> None:
        """The cycle ends."""
        values = self.values
        taken = [values[data] for data, _, _ in self._registers]
        read = [memory.clock(values, self.accesses) for memory in self._memories]
        for (_, same, inverse), new in zip(self._registers, taken, strict=True):
            for nets, value in ((same, new), (inverse, ~new)):
                driven = nets > 1
                values[nets[driven]] = value[driven]
        for nets, data in filter(None, read):
            values[nets] = data
        self.cycles += 1


def _ports(nets: Iterable[tuple[int, str]]) -> dict[str, dict[int, int]]:
    """The nets of each port by bit."""
    found: dict[str, dict[int, int]] = defaultdict(dict)
    for net, name in nets:
        port, _, bit = name.partition("[")
        found[port][int(bit[:-1]) if bit else 0] = net
    return found


def _register(flat: Flat, library: Library, kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of the registers of a type: the nets at D, those that are driven by the state, and by its inverse."""
    cell, pins, rows = library.cells[kind], flat.pins[kind], flat.gates[kind]
    if set(cell.inputs) != {"D", "CK"}:
        raise ToolError(f"{kind}: gate-level simulation knows D flip-flops with the pins D, CK, Q and QN only")
    open_ = np.full(len(rows), -1)
    state, inverse = (rows[:, pins.index(pin)] if pin in pins else open_ for pin in ("Q", "QN"))
    return rows[:, pins.index("D")], state, inverse


# ------------------------------------------------------------------ logic

_Step = tuple[Callable[..., np.ndarray], list[np.ndarray], np.ndarray]


def _steps(flat: Flat, library: Library) -> list[_Step]:
    """All combinational cells, in an order from sources to targets: those of one type and depth at once."""
    depths = _depths(flat, library)
    steps: dict[int, list[_Step]] = defaultdict(list)
    for kind, rows in flat.gates.items():
        if kind.startswith(MACRO) or library.cells[kind].sequential:
            continue
        cell, pins = library.cells[kind], flat.pins[kind]
        for pin, text in cell.function.items():
            names, target = sorted(set(_IDS.findall(text))), rows[:, pins.index(pin)]
            function = _compiled(text, names)
            for depth in np.unique(depths[kind]):
                at = (depths[kind] == depth) & (target > 1)
                if at.any():
                    steps[depth].append((function, [np.maximum(rows[at, pins.index(name)], 0) for name in names],
                                         target[at]))
    return [step for depth in sorted(steps) for step in steps[depth]]


def _compiled(text: str, names: list[str]) -> Callable[..., np.ndarray]:
    """A function of Liberty, of arrays of truth values."""
    body = text.replace("!", "~")
    function: Callable[..., np.ndarray] = eval(f"lambda {', '.join(names)}: {body}", {})
    return function


def _depths(flat: Flat, library: Library) -> dict[str, np.ndarray]:
    """For each combinational cell the most cells on a way to it."""
    logic = {kind: rows for kind, rows in flat.gates.items()
             if not kind.startswith(MACRO) and not library.cells[kind].sequential}
    of_net, found = np.zeros(flat.nets, np.int64), {kind: np.zeros(len(rows), np.int64) for kind, rows in logic.items()}
    for _ in range(1000):
        before = of_net.copy()
        for kind, rows in logic.items():
            cell, pins = library.cells[kind], flat.pins[kind]
            sources = np.maximum(rows[:, [pins.index(pin) for pin in cell.inputs]], 0)
            found[kind] = of_net[sources].max(axis=1) + 1 if len(cell.inputs) else found[kind]
            for pin in cell.outputs:
                targets = rows[:, pins.index(pin)]
                of_net[targets[targets > 1]] = found[kind][targets > 1]
        if (of_net == before).all():
            return found
    raise ToolError("gate-level simulation: the netlist has a combinational loop")


# ------------------------------------------------------------------ memories

class _Memory:
    """A macro: its ports, and its contents in each stream."""

    def __init__(self, flat: Flat, kind: str, row: int, streams: int) -> None:
        self._kind, (words, self._width) = kind, macro_shape(kind)
        nets: dict[str, list[int]] = defaultdict(list)
        for pin, net in zip(flat.pins[kind], flat.gates[kind][row], strict=True):
            nets[pin.partition("[")[0]].append(int(net))
        self._nets = {name: np.maximum(found, 0) for name, found in nets.items()}
        self._reads = len(nets["RD_EN"])
        self._writes = len(nets["WR_DATA"]) // self._width
        self._share = len(nets["WR_DATA"]) // len(nets["WR_EN"])  # neighbouring bits with one enable
        self._cells, self._stream = np.zeros((streams, words, self._width), bool), np.arange(streams)
        assert all(is_macro_output(pin) for pin in flat.pins[kind] if pin.startswith("RD_DATA"))

    def clock(self, values: np.ndarray, accesses: Counter[str]) -> tuple[np.ndarray, np.ndarray] | None:
        """Read and write; nets of read data and their new values."""
        nets, data = self._nets, values[self._nets["RD_DATA"]]
        for port in range(self._reads):
            enabled = values[nets["RD_EN"][port]]
            place = self._place(values, "RD_ADDR", port, self._reads)
            bits = slice(port * self._width, (port + 1) * self._width)
            data[bits] = np.where(enabled, self._cells[self._stream, place].T, data[bits])
            accesses[self._kind] += int(enabled.sum())
        for port in range(self._writes):
            bits = slice(port * self._width, (port + 1) * self._width)
            enabled = values[np.repeat(nets["WR_EN"], self._share)[bits]].T
            place = self._place(values, "WR_ADDR", port, self._writes)
            old, new = self._cells[self._stream, place], values[nets["WR_DATA"][bits]].T
            self._cells[self._stream, place] = np.where(enabled, new, old)
            accesses[self._kind] += int(enabled.any(axis=1).sum())
        driven = nets["RD_DATA"] > 1
        return nets["RD_DATA"][driven], data[driven]

    def _place(self, values: np.ndarray, name: str, port: int, ports: int) -> np.ndarray:
        """The word that a port names, in each stream."""
        bits = len(self._nets[name]) // ports
        word = values[self._nets[name][port * bits:(port + 1) * bits]]
        place: np.ndarray = (word * (1 << np.arange(bits))[:, None]).sum(axis=0)
        return place
