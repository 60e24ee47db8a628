"""Technology mapping of one module by Yosys and ABC, cached by the content of everything that goes in."""

import hashlib
import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from synth import yosys
from synth.design import Design
from synth.liberty import Library
from synth.netlist import Json
from synth.sta import OUTPUT_LOAD
from warploom import kept

PERIOD_PS = 500
"""Delay target of gate sizing: tighter than any unit reaches, so that every path is sized for speed."""

_SCRIPT = """\
read_json in.json
synth -flatten -noabc -top {top}
dfflibmap -liberty {liberty}
abc -liberty {liberty} -D {period} -constr constraints -script map.abc
delete t:$scopeinfo
opt_clean -purge
write_json out.json
"""


@dataclass(frozen=True)
class Mapped:
    """A mapped module: its netlist, and the worst combinational delay that ABC itself reports (ps; 0 without any)."""

    netlist: Json
    abc_delay: float

    def cells(self) -> Counter[str]:
        """Instances by cell type, those of other modules included."""
        return Counter(cell["type"] for cell in self.netlist["cells"].values())


def map_module(design: Design, module: str, library: Library, cache: Path) -> Mapped:
    """Map one module to the library's cells. Raises `ToolError` when Yosys fails."""
    script = _SCRIPT.format(top=module, liberty=f'"{library.path}"', period=PERIOD_PS)
    steps = Path(__file__).with_name("map.abc").read_text().format(period=PERIOD_PS)
    constraints = f"set_driving_cell {library.buffer(2)}\nset_load {OUTPUT_LOAD} [all_outputs]\n"
    source = json.dumps({"modules": design.alone(module)}, separators=(",", ":"))
    what = "\0".join((source, script.replace(library.path, library.digest), steps, constraints, yosys.version()))
    folder = cache / "modules" / hashlib.sha256(what.encode()).hexdigest()[:20]
    done = folder / "mapped.kept"
    if known := kept.read(done, lambda text: Mapped(*json.loads(text))):
        return known
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in [("in.json", source), ("map.abc", steps), ("constraints", constraints)]:
        (folder / name).write_text(text)
    yosys.run(script, folder, "map")
    netlist = json.loads((folder / "out.json").read_text())["modules"][module]
    found = re.findall(r"ABC:.* Delay = *([\d.]+) ps", (folder / "map.log").read_text(errors="replace"))
    mapped = Mapped(_slim(netlist), float(found[-1]) if found else 0.0)
    kept.write(done, json.dumps([mapped.netlist, mapped.abc_delay], separators=(",", ":")))
    for name in ("in.json", "out.json"):
        (folder / name).unlink()
    return mapped


def _slim(netlist: Json) -> Json:
    """Only what timing and counting read."""
    cells = {label: {"type": c["type"], "connections": c["connections"]} for label, c in netlist["cells"].items()}
    nets = {n: {"bits": net["bits"], "hide_name": 0} for n, net in netlist["netnames"].items() if not net["hide_name"]}
    return {"ports": netlist["ports"], "cells": cells, "netnames": nets}
