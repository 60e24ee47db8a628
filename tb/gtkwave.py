"""A GTKWave save file beside a waveform: the datapath's ports and probe, by groups, with decoded fields.

GTKWave shows no fields of structs. Each line of the save file is made of the bits of one, and where a number stands for
something, of a valid bit before it; a translation file has the text of every value.
"""

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vcd.gtkw import GTKWSave, make_translation_filter

from warploom.arch.config import SmConfig
from warploom.arch.isa import RZ, Op
from warploom.arch.program import Program
from warploom.files import write_whole
from warploom.golden_model.placement import owners
from warploom.tb.runner import Build

ZOOM = -13
"""GTKWave's zoom: about 20 cycles in a window."""

ORDER = ("issue", "collector", "bank", "dispatch")
"""Groups that come first, in the order in which an instruction passes them."""

WIDEST = 64
"""Bits of a field that is shown; wider ones are data of 32 lanes."""

OPEN = 60
"""Lines of a group that is open; larger ones are closed at first."""

IDLE = "-"
"""The text of a value that is not valid."""

HIDDEN = ("stored_data", "stored_bytes", "activity")
"""Ports that count or have data of lanes."""

MASK = 4
"""Bits of numbers that are shown bit by bit."""

DECIMAL = ("tag", "warp", "bank", "row", "stride", "registers", "held", "queued")
"""Names of fields that are shown as decimal numbers."""


@dataclass(frozen=True)
class Bits:
    """Some bits of a port, from `offset` on."""

    port: Mapping[str, Any]
    offset: int
    width: int

    def names(self, scope: str) -> Iterator[str]:
        """Each bit as GTKWave names it, the most significant first; it counts them from there."""
        name, width = self.port["name"], self.port["width"]
        vector = f"{scope}.{name}[{width - 1}:0]" if width > 1 else f"{scope}.{name}"
        for bit in reversed(range(self.offset, self.offset + self.width)):
            yield f"({width - 1 - bit}){vector}" if width > 1 else vector


@dataclass(frozen=True)
class Line:
    """A line of the display: its label, the bits of its value from the most significant, and the text of each value;
    values are numbers if there are no texts."""

    label: str
    bits: Sequence[Bits]
    texts: Mapping[int, str] | None = None

    @property
    def width(self) -> int:
        """Bits of a value."""
        return sum(bits.width for bits in self.bits)

    @property
    def format(self) -> str:
        """How GTKWave shows numbers; texts are found by their hexadecimal number."""
        if self.texts is None and self.label.split("_")[-1] in DECIMAL:
            return "dec"
        return "bin" if self.texts is None and self.width <= MASK else "hex"


def groups(config: SmConfig, program: Program, ports: Sequence[Mapping[str, Any]]) -> dict[str, list[Line]]:
    """The lines of each group. What a stream and the probe both show stands there once."""
    known = {port["name"]: port for port in ports}
    once: dict[str, Line] = {}
    for line in (line for name in known for line in _lines(config, program, name, known)):
        once.setdefault(line.label, line)
    found: dict[str, list[Line]] = {name: [] for name in ORDER}
    for line in once.values():
        found.setdefault(_group(config, line.label), []).append(line)
    return found


def _lines(config: SmConfig, program: Program, name: str, ports: Mapping[str, Mapping[str, Any]]) -> Iterator[Line]:
    """Those of a port: of a stream with its valid bit, of the probe by its fields."""
    stream, _, part = name.rpartition("__")
    if part == "valid":
        yield from _stream(config, stream, ports)
    elif name == "probe":
        yield from _probe(config, program, ports[name])
    elif not stream and name not in HIDDEN and ports[name]["width"] <= WIDEST:
        yield Line(name, [_all(ports[name])])


def save(waveform: Path, config: SmConfig, program: Program, made: Build) -> Path:
    """Write the save file of a waveform, RUN.gtkw, and its translation files, in the folder RUN.texts. Raises
    `OSError`."""
    text, scope = io.StringIO(), made.module
    folder = waveform.with_suffix(".texts").resolve()
    folder.mkdir(exist_ok=True)
    out = GTKWSave(text)
    out.dumpfile(str(waveform))
    out.treeopen(f"{scope}.")
    out.signals_width(260)
    out.zoom_markers(ZOOM)
    out.trace(f"{scope}.clk")
    out.trace(f"{scope}.waves_i.cycle[31:0]", "cycle", datafmt="dec")
    for name, group in groups(config, program, made.ports).items():
        with out.group(name, closed=len(group) > OPEN):
            for line in group:
                texts = None if line.texts is None else str(_translation(folder, line))
                bits = [bit for part in line.bits for bit in part.names(scope)]
                kind = "#" if len(bits) > 1 else "+"  # combined bits, or one with another name
                out.trace(f"{kind}{{{line.label}}} {' '.join(bits)}", datafmt=line.format, translate_filter_file=texts)
    path = waveform.with_suffix(".gtkw")
    write_whole(path, text.getvalue().encode())
    return path


def _translation(folder: Path, line: Line) -> Path:
    """Write the texts of a line."""
    path = folder / f"{line.label}.txt"
    write_whole(path, make_translation_filter(list((line.texts or {}).items()), "hex", line.width).encode() + b"\n")
    return path


def _group(config: SmConfig, name: str) -> str:
    """A pipe, or the first word of a name without its number."""
    words = name.split("_")
    return next((word for word in words if word in config.writers), words[0].rstrip("0123456789"))


def _all(port: Mapping[str, Any]) -> Bits:
    return Bits(port, 0, port["width"])


# ---------------------------------------------------------------- streams


def _stream(config: SmConfig, name: str, ports: Mapping[str, Mapping[str, Any]]) -> Iterator[Line]:
    """The handshake of a stream, and the fields of its payload."""
    valid, ready = _all(ports[f"{name}__valid"]), ports.get(f"{name}__ready")
    if ready is None:
        yield Line(f"{name}_valid", [valid])
    else:
        yield Line(f"{name}_transfer", [valid, _all(ready)], {0: IDLE, 1: IDLE, 2: "wait", 3: "yes"})
    for field in ports[f"{name}__payload"]["fields"]:
        if field["width"] <= WIDEST:
            label, bits = f"{name}_{field['name']}", Bits(ports[f"{name}__payload"], field["offset"], field["width"])
            texts = _texts(config, field)
            yield _decoded(label, valid, bits, texts) if texts else Line(label, [bits])


def _texts(config: SmConfig, field: Mapping[str, Any]) -> dict[int, str]:
    """The texts of a field's values by its name; none if it is a number."""
    name, values = field["name"], range(1 << min(field["width"], 8))
    if name == "op":
        return {op.value: op.name for op in Op}
    if name == "pipe":
        return dict(enumerate(config.writers))
    if name == "collector":
        return _holders(config)
    if name == "dst" or re.fullmatch(r"src\d", name):
        return {value: "RZ" if value == RZ else f"R{value}" for value in values}
    return {}


def _holders(config: SmConfig) -> dict[int, str]:
    """The numbers of collectors, and of address slots after them."""
    return {number: f"c{number}" if number < config.collectors else f"a{number - config.collectors}"
            for number in range(config.holders)}


def _decoded(label: str, valid: Bits, bits: Bits, texts: Mapping[int, str]) -> Line:
    """A line whose texts show only where it is valid."""
    count = 1 << bits.width
    return Line(label, [valid, bits], dict.fromkeys(range(count), IDLE) | {
        count + value: texts.get(value, str(value)) for value in range(count)})


# ---------------------------------------------------------------- probe


def _probe(config: SmConfig, program: Program, port: Mapping[str, Any]) -> Iterator[Line]:
    """The fields of the probe; accesses of banks in words."""
    fields = {field["name"]: Bits(port, field["offset"], field["width"]) for field in port["fields"]}
    registers = owners(config, program.registers)
    for name, bits in fields.items():
        start, _, what = name.rpartition("_")
        enable = fields.get(f"{start}_enable")
        if enable is None:
            yield Line(name, [bits])
        elif what == "who":
            yield _access(config, start, enable, fields[f"{start}_write"], bits)
        elif what == "row":
            bank = int("".join(filter(str.isdigit, start)))
            texts = {row: f"w{slot} R{register}" for (at, row), (slot, register) in registers.items() if at == bank}
            yield _decoded(f"{start}_register", enable, bits, texts)
        elif what not in ("enable", "write"):
            yield Line(name, [bits])


def _access(config: SmConfig, name: str, enable: Bits, write: Bits, who: Bits) -> Line:
    """Who reads or writes a bank."""
    count = 1 << who.width
    readers, writers = _holders(config), dict(enumerate(config.writers))
    texts = dict.fromkeys(range(2 * count), IDLE)
    texts |= {2 * count + value: f"rd {readers.get(value, value)}" for value in range(count)}
    texts |= {3 * count + value: f"wr {writers.get(value, value)}" for value in range(count)}
    return Line(f"{name}_access", [enable, write, who], texts)
