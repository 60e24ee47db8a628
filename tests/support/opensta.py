"""Our netlists under OpenSTA, where it is installed: an independent reading of library and netlist."""

import re
import shutil
import subprocess
from pathlib import Path

from warploom.synth.liberty import Library
from warploom.synth.netlist import Flat
from warploom.synth.sta import OUTPUT_LOAD

PROGRAM = shutil.which("sta")

_SCRIPT = """\
read_liberty cells.lib
read_verilog netlist.v
link_design top
create_clock -name clock -period {period} {clock}
set data [list {inputs}]
if {{[llength $data]}} {{
  set_input_delay 0 -clock clock [get_ports $data]
  set_driving_cell -lib_cell {driver} [get_ports $data]
}}
set outputs [list {outputs}]
if {{[llength $outputs]}} {{
  set_output_delay 0 -clock clock [get_ports $outputs]
  set_load {load} [get_ports $outputs]
}}
report_checks -path_delay max -format full -digits 6
exit
"""
_PERIOD_NS = 100.0


def longest(flat: Flat, library: Library, clock: str, folder: Path) -> tuple[float, float]:
    """Length of the longest path in ps, and the setup time in it."""
    assert PROGRAM is not None
    folder.mkdir(parents=True, exist_ok=True)
    cells = Path(library.path).read_text()
    (folder / "cells.lib").write_text(re.sub(r"default_wire_load\s*:[^;]*;", "", cells))
    inputs = {f"n{net}": name for net, name in flat.inputs.items()}
    clocks = [net for net, name in inputs.items() if name == clock]  # none in a unit without registers
    port = f"[get_ports {clocks[0]}]" if clocks else ""
    outputs = [f"out{k}" for k in range(len(flat.outputs))]
    (folder / "netlist.v").write_text(verilog(flat, library))
    (folder / "script.tcl").write_text(_SCRIPT.format(
        period=_PERIOD_NS, clock=port, inputs=" ".join(sorted(inputs.keys() - set(clocks))),
        driver=library.buffer(2), outputs=" ".join(outputs), load=OUTPUT_LOAD))
    printed = subprocess.run([PROGRAM, "-no_splash", "-exit", "script.tcl"], cwd=folder, text=True,
                             capture_output=True, timeout=600, check=True).stdout
    slack = re.search(r"([-\d.]+)\s+slack", printed)
    assert slack is not None, printed[-2000:]
    setup = re.search(r"(-?[\d.]+)\s+[-\d.]+\s+library setup time", printed)
    return 1000 * (_PERIOD_NS - float(slack[1])), -1000 * float(setup[1]) if setup else 0.0


def verilog(flat: Flat, library: Library) -> str:
    """A flat netlist as one Verilog module `top`: nets by number, each output port behind an assignment."""
    ports = [*(f"input n{net}" for net in flat.inputs), *(f"output out{k}" for k in range(len(flat.outputs)))]
    lines = [f"module top ({', '.join(ports)});"]
    for kind, rows in flat.gates.items():
        assert kind in library.cells, f"{kind} is no cell of the library"
        for number, row in enumerate(rows):
            pins = ", ".join(f".{pin}({_net(net)})" for pin, net in zip(flat.pins[kind], row, strict=True) if net >= 0)
            lines.append(f"  {kind} {kind}_{number} ({pins});")
    lines += [f"  assign out{k} = {_net(net)};" for k, (net, _) in enumerate(flat.outputs)]
    return "\n".join([*lines, "endmodule", ""])


def _net(net: int) -> str:
    return f"1'b{net}" if net < 2 else f"n{net}"
