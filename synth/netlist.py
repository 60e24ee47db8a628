"""Netlists as Yosys writes them in JSON, and one flat view of a mapped hierarchy."""

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from warploom.arch.errors import ToolError
from warploom.synth.liberty import Library

Json = dict[str, Any]

MACRO = "sram_macro"
"""First part of the type of a cell that stands for a memory (see `warploom.synth.sram`)."""

CONSTANTS = {"0": 0, "1": 1, "x": 0, "z": 0}
"""Constant bits; nets 0 and 1 of the flat view."""


def is_macro_output(pin: str) -> bool:
    """Whether a bit of a memory macro is read data."""
    return pin.startswith("RD_DATA")


def macro_shape(kind: str) -> tuple[int, int]:
    """Words and bits per word of a macro type."""
    match = re.fullmatch(rf"{MACRO}_(\d+)x(\d+)_\d+r\d+w\d+e", kind)
    assert match is not None, kind
    return int(match[1]), int(match[2])


def children(module: Json, modules: Json) -> list[str]:
    """Types of the instances that are modules of the design, one entry per instance."""
    return [c["type"] for c in module["cells"].values() if c["type"] in modules]


def bottom_up(modules: Json, top: str) -> list[str]:
    """Modules under `top`, every child before its parents, the top last."""
    order: dict[str, None] = {}

    def visit(name: str) -> None:
        if name not in order:
            for child in children(modules[name], modules):
                visit(child)
            order[name] = None

    visit(top)
    return list(order)


def plain_name(name: str) -> str:
    """A signal's name without the suffix that Amaranth appends to distinguish equal names."""
    return re.sub(r"\$\d+", "", name)


def bit_names(module: Json) -> dict[int, str]:
    """A readable name for each named bit of a module: internal signals before ports, short before long."""
    names: dict[int, tuple[bool, int, str]] = {}
    for name, net in module["netnames"].items():
        if net["hide_name"]:
            continue
        plain, bits = plain_name(name), net["bits"]
        rank = name in module["ports"], len(plain)
        for k, bit in enumerate(bits):
            if isinstance(bit, int):
                text = f"{plain}[{k + net.get('offset', 0)}]" if len(bits) > 1 else plain
                names[bit] = min(names.get(bit, (*rank, text)), (*rank, text))
    return {bit: text for bit, (_, _, text) in names.items()}


@dataclass
class Flat:
    """All mapped cells under a top, with global net numbers.

    `gates[type]` is an integer array (instances, pins) of nets, -1 for an open pin, pins in the order of `pins[type]`;
    `labels[type]` names registers and macros. Net 0 and net 1 are the constants. `inputs` has the name of each input by
    net, `outputs` net and name of each output, since several may have one net. `crossing` are the nets between modules.
    """

    pins: dict[str, list[str]] = field(default_factory=dict)
    gates: dict[str, np.ndarray] = field(default_factory=dict)
    labels: dict[str, list[str]] = field(default_factory=dict)
    inputs: dict[int, str] = field(default_factory=dict)
    outputs: list[tuple[int, str]] = field(default_factory=list)
    crossing: frozenset[int] = frozenset()
    nets: int = 2


class Linker:
    """Joins separately mapped modules into one `Flat`. `mapped` holds the netlist of every module under the top.

    Raises `ToolError` when a netlist has a cell that is neither a module, nor a macro, nor of the library.
    """

    def __init__(self, mapped: Json, library: Library) -> None:
        self._mapped, self._library = mapped, library
        self._rows: dict[str, list[list[int]]] = {}
        self._alias: dict[int, int] = {}
        self._crossing: set[int] = set()
        self._names = {name: bit_names(module) for name, module in mapped.items()}

    def link(self, top: str) -> Flat:
        """The flat view of `top`."""
        self._flat = flat = Flat()
        nets: dict[int, int] = {}
        for name, port in self._mapped[top]["ports"].items():
            plain = plain_name(name)
            bits = [(self._net(bit, nets), f"{plain}[{k}]" if len(port["bits"]) > 1 else plain)
                    for k, bit in enumerate(port["bits"])]
            if port["direction"] == "input":
                flat.inputs.update(bits)
            else:
                flat.outputs += bits
        self._expand(top, "", nets)
        root = np.array([self._root(n) for n in range(flat.nets)])
        for kind, rows in self._rows.items():
            table = np.array(rows, dtype=np.int64)
            flat.gates[kind] = np.where(table < 0, table, root[table])
        flat.inputs = {int(root[n]): name for n, name in flat.inputs.items()}
        flat.outputs = [(int(root[n]), name) for n, name in flat.outputs]
        flat.crossing = frozenset(int(root[n]) for n in self._crossing if root[n] > 1)
        return flat

    def _net(self, bit: int | str, nets: dict[int, int]) -> int:
        if isinstance(bit, str):
            return CONSTANTS[bit]
        if bit not in nets:
            nets[bit] = self._flat.nets
            self._flat.nets += 1
        return nets[bit]

    def _root(self, net: int) -> int:
        while net in self._alias:
            net = self._alias[net]
        return net

    def _join(self, a: int, b: int) -> None:
        a, b = sorted((self._root(a), self._root(b)))
        if a != b:
            self._alias[b] = a

    def _expand(self, name: str, prefix: str, nets: dict[int, int]) -> None:
        for label, cell in self._mapped[name]["cells"].items():
            kind, wires = cell["type"], cell["connections"]
            if kind in self._mapped:
                self._expand_child(kind, f"{prefix}{label}.", wires, nets)
                continue
            if kind.startswith(MACRO):
                wires = {f"{pin}[{k}]": [bit] for pin, bits in wires.items() for k, bit in enumerate(bits)}
                pins = self._flat.pins.setdefault(kind, list(wires))
                self._flat.labels.setdefault(kind, []).append(prefix + plain_name(label))
            elif kind in self._library.cells:
                known = self._library.cells[kind]
                pins = self._flat.pins.setdefault(kind, [*known.inputs, *known.outputs])
                if known.sequential:
                    self._flat.labels.setdefault(kind, []).append(prefix + self._register(name, label, cell))
            else:
                raise ToolError(f"{name}: the library {self._library.name} has no cell to map {kind} to")
            row = [self._net(wires[pin][0], nets) if wires.get(pin) else -1 for pin in pins]
            self._rows.setdefault(kind, []).append(row)

    def _expand_child(self, kind: str, prefix: str, wires: Json, nets: dict[int, int]) -> None:
        """Connect an instance's ports to the bits inside, then expand its contents."""
        inner: dict[int, int] = {}
        for port, outside in wires.items():
            if not outside:
                continue  # an open port
            for outer_bit, bit in zip(outside, self._mapped[kind]["ports"][port]["bits"], strict=True):
                net = self._net(outer_bit, nets)
                self._crossing.add(net)
                if isinstance(bit, str) or bit in inner:  # tied to a constant, or one wire behind two ports
                    self._join(net, self._net(bit, inner))
                else:
                    inner[bit] = net
        self._expand(kind, prefix, inner)

    def _register(self, module: str, label: str, cell: Json) -> str:
        """A readable name of a register: that of the signal that it drives."""
        outputs = self._library.cells[cell["type"]].outputs
        driven = [self._names[module][bit] for pin in outputs for bit in cell["connections"].get(pin, [])
                  if bit in self._names[module]]
        return min(driven, default=label, key=len)
