"""Technology mapping of one module by Yosys and ABC, cached by the content of all inputs."""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from warploom import store
from warploom.store import Key, Kind
from warploom.synth import yosys
from warploom.synth.design import Design
from warploom.synth.liberty import Library
from warploom.synth.netlist import Json
from warploom.synth.sta import OUTPUT_LOAD

PERIOD_PS = 500
"""Delay target of mapping and gate sizing: half of the clock cycle that is the goal."""

LATE_PS = 1
"""The delay target of modules whose inputs come late: as fast as possible."""

_BALANCE = "if -g -K 6; strash"
"""Their sum-of-products balancing: fewer levels, and more area."""

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
    """A mapped module: its netlist."""

    netlist: Json

    def cells(self) -> Counter[str]:
        """Instances by cell type, those of other modules included."""
        return Counter(cell["type"] for cell in self.netlist["cells"].values())


def map_module(design: Design, module: str, library: Library) -> Mapped:
    """Map one module to the library's cells. Raises `ToolError` when Yosys fails."""
    late = module in design.late
    period, balance = (LATE_PS, _BALANCE) if late else (PERIOD_PS, "")
    files = {
        "in.json": json.dumps({"modules": design.alone(module)}, separators=(",", ":")),
        "map.abc": Path(__file__).with_name("map.abc").read_text().format(period=period, balance=balance),
        "constraints": f"set_driving_cell {library.buffer(2)}\nset_load {OUTPUT_LOAD} [all_outputs]\n",
    }
    key = Key(Kind.MODULES, module, {
        "library": library.digest, "pyosys": yosys.version(), "sources": store.sources("warploom/synth/mapping.py"),
        **{name: store.digest(content) for name, content in files.items()}})

    def run(folder: Path) -> str:
        for name, content in files.items():
            (folder / name).write_text(content)
        yosys.run(_SCRIPT.format(top=module, liberty=f'"{library.path}"', period=period), folder, "map")
        netlist = yosys.read(folder / "out.json")["modules"][module]
        return json.dumps(_slim(netlist), separators=(",", ":"))

    return store.text(key, run, lambda text: Mapped(json.loads(text)))


def _slim(netlist: Json) -> Json:
    """The netlist with only the data that timing and counting read."""
    cells = {label: {"type": c["type"], "connections": c["connections"]} for label, c in netlist["cells"].items()}
    nets = {n: {"bits": net["bits"], "hide_name": 0} for n, net in netlist["netnames"].items() if not net["hide_name"]}
    return {"ports": netlist["ports"], "cells": cells, "netnames": nets}
