"""From RTLIL to a design ready for mapping: separates memories as macros, and selects the modules that stay."""

import fnmatch
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from warploom.synth import yosys
from warploom.synth.netlist import MACRO, Json, bottom_up, children, is_macro_output

MACRO_BITS = 1024
"""Memories of at least this many bits are SRAM macros, smaller ones are flops: the smallest is a column of 32 rows."""

_ELABORATE = """\
read_rtlil design.il
hierarchy -check -top {top}
proc
opt_clean
memory -nomap
opt_clean
techmap -map {sram_map} -D MACRO_BITS={bits}
opt_clean -purge
write_json design.json
"""

_FIRST_INDEX = "autoidx 100000000\n"
"""Yosys orders cells by name, and many names end in a running number. Starting it high keeps its number of digits, and
so the order of a module's cells, whatever else is in the design."""


@dataclass(frozen=True)
class Unit:
    """A module that is mapped separately, and the number of its instances in the whole design."""

    name: str
    count: int


@dataclass(frozen=True)
class Design:
    """An elaborated design. `modules` are Yosys JSON modules; `kept` those that stay modules, children first; `late`
    those whose inputs come late."""

    top: str
    modules: Json
    kept: tuple[str, ...]
    late: frozenset[str] = frozenset()

    def units(self) -> list[Unit]:
        """The kept modules, top first, and the number of instances of each."""
        counts = {self.top: 1}
        for name in reversed(bottom_up(self.modules, self.top)):
            for child in children(self.modules[name], self.modules):
                counts[child] = counts.get(child, 0) + counts[name]
        return [Unit(name, counts[name]) for name in reversed(self.kept)]

    def below(self, module: str) -> list[str]:
        """The kept modules under a module, itself included, children first."""
        return [name for name in bottom_up(self.modules, module) if name in self.kept]

    def alone(self, module: str) -> Json:
        """The modules needed to map one kept module: itself, those it dissolves, and empty shells of other kept
        modules."""
        found: Json = {}
        queue = [module]
        while queue:
            name = queue.pop()
            found[name] = _anonymous(self.modules[name])
            for child in children(found[name], self.modules):
                if child in self.kept or child.startswith(MACRO):
                    found[child] = _shell(self.modules[child])
                elif child not in found:
                    queue.append(child)
        return dict(sorted(found.items()))


def elaborate(
    rtlil: str, top: str, folder: Path, *, joints: Collection[str] = (), divided: Collection[str] = (),
    apart: Collection[str] = (), flat: bool = False,
) -> Design:
    """Read Amaranth's RTLIL. Parts of the top, direct or in modules that only connect others (`joints`), stay modules,
    and so do those of the units `divided`, units that a parent contains several times, and those `apart`, whose inputs
    come late; all others are dissolved into their parent, with `flat` all. `joints` and `apart` are patterns of names.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "design.il").write_text(_FIRST_INDEX + rtlil)
    sram_map = Path(__file__).with_name("sram_map.v")
    yosys.run(_ELABORATE.format(top=top, sram_map=sram_map, bits=MACRO_BITS), folder, "elaborate")
    modules = yosys.read(folder / "design.json")["modules"]
    macros = _name_macros(modules)
    order = bottom_up(modules, top)
    joining, late = (_matching(order, patterns) for patterns in (joints, apart))
    kept = {top}
    for name in [] if flat else order:
        inside = children(modules[name], modules)
        stay = name in {top, *joining, *divided}
        kept.update(child for child in inside
                    if child not in joining and (stay or child in late or inside.count(child) > 1))
    return Design(top, modules | macros, tuple(name for name in order if name in kept), late)


def _matching(names: Iterable[str], patterns: Iterable[str]) -> frozenset[str]:
    """The names that match one of the patterns."""
    return frozenset(name for pattern in patterns for name in fnmatch.filter(names, pattern))


def _name_macros(modules: Json) -> Json:
    """Give every memory macro a type of its own shape, so that shells have the right ports; return the shells."""
    shells: Json = {}
    for cell in [cell for module in modules.values() for cell in module["cells"].values() if cell["type"] == MACRO]:
        size, width, reads, writes = (int(cell["parameters"][p], 2) for p in ("SIZE", "WIDTH", "RD_PORTS", "WR_PORTS"))
        enables = cell["connections"]["WR_EN"] = _few(cell["connections"]["WR_EN"])
        cell["type"], cell["parameters"] = f"{MACRO}_{size}x{width}_{reads}r{writes}w{len(enables)}e", {}
        ports = {pin: {"direction": "output" if is_macro_output(pin) else "input", "bits": bits}
                 for pin, bits in cell["connections"].items()}
        shells[cell["type"]] = _shell({"ports": ports})
    return shells


def _few(enables: list[int | str]) -> list[int | str]:
    """One enable for neighbouring bits that are always written together, if the same number of bits has each."""
    few = list(dict.fromkeys(enables))
    share = len(enables) // max(len(few), 1)
    return few if [bit for bit in few for _ in range(share)] == enables else enables


def _anonymous(module: Json) -> Json:
    """A module without source positions and running numbers: equal modules of two designs become the same text."""
    cells = {f"${k}" if label.startswith("$") else label: {**cell, "attributes": {}}
             for k, (label, cell) in enumerate(module["cells"].items())}
    nets = {name: {**net, "attributes": {}} for name, net in module["netnames"].items() if not net["hide_name"]}
    return {**module, "attributes": {}, "cells": cells, "netnames": nets}


def _shell(module: Json) -> Json:
    """A module's ports without its contents."""
    bit = 2
    ports = {}
    for name, port in module["ports"].items():
        ports[name] = {"direction": port["direction"], "bits": list(range(bit, bit + len(port["bits"])))}
        bit += len(port["bits"])
    return {"attributes": {"blackbox": "1"}, "ports": ports, "cells": {}, "netnames": {}}
