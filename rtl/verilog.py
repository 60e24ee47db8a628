# amaranth: UnusedElaboratable=no
"""Verilog of any unit, and its ports and their fields. The only user of Amaranth's back end."""

import os
import pkgutil
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from amaranth import Shape
from amaranth.back import rtlil
from amaranth.lib import data, wiring

from warploom import processes
from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError, ToolError, nearest
from warploom.arch.mechanisms import MECHANISMS, Unit
from warploom.origin import ROOT
from warploom.rtl.datapath import Datapath
from warploom.rtl.readable import fields, readable
from warploom.rtl.shared import NUMBERED, SharedModules, check_length, module_name, port_bits, port_signals


def datapath(config: SmConfig, *, probe: bool = False) -> Datapath:
    """The datapath of a configuration; `probe` adds the ports of a lockstep bench.

    Raises `ConfigError` for a configuration without hardware.
    """
    config.check_hardware()
    return Datapath(config=config, probe=probe)


UNITS: dict[str, Unit] = {unit.name: unit for mechanism in MECHANISMS for unit in mechanism.units}
"""The units of the descriptors, by name."""

PROBED = [name for name, unit in UNITS.items() if unit.probe]
"""The units that differ for benches: with more ports, and poison in unspecified outputs."""

JOINTS = frozenset(("dispatch_stage*",
                    *(module_name(path.rpartition(".")[2]) for mechanism in MECHANISMS for path in mechanism.parts)))
"""Modules of a datapath that mostly connect units, as patterns of their names."""

LARGE_JOINTS = frozenset(("operand_store_collectors", "operand_store_dispatch_stage*"))
"""Those with so many bits that they get no name of their own (`warploom.rtl.shared.share`): windows of many warps. For
synthesis they stay modules: ABC works on them as a part of the datapath for very long."""

DIVIDED = frozenset({"control_processor"})
"""Units whose parts stay modules for synthesis in a larger unit, too: as one module they are mapped worse."""

APART = frozenset(("access_select", "affine_unit*", "arbiter", "bank", "coalescing_arbiter", "collector_claims*",
                   "departures", "dispatcher*", "dual_bank", "filled_slots", "in_use", "pipelined_arbiter",
                   "pipelined_coalescing_arbiter", "read_port", "request_register", "rotating_arbiter",
                   "rotating_coalescing_arbiter", "separable_arbiter", "separable_coalescing_arbiter",
                   "slot_requests", "turned_sides"))
"""Units that stay modules for synthesis wherever they are, and are mapped as fast as possible, as patterns of their
names: what comes late there is not to be mapped into what comes before, or behind buffers for other pins."""

_PORT = re.compile(r"^(  wire width \d+ (?:input|output) )(\d+)(.*\\)(\S+)$", re.MULTILINE)

_CLOCK_SOURCE = re.compile(r'^  attribute \\src "[^"]*amaranth/hdl/_ir\.py:\d+"\n', re.MULTILINE)

_MODULES, _ENDS = (re.compile(pattern, re.MULTILINE) for pattern in (r"^module ", r"^endmodule$"))
"""A module in RTLIL; its end in Verilog: Yosys does not see that a disk is full."""

_YOSYS = "import sys; from pyosys import libyosys; libyosys.run_pass('script ' + sys.argv[1])"

_SCRIPT = """\
read_rtlil unit.il
delete t:$meminit_v2
proc -nomux -norom
memory_collect
attrmap -remove init -remove enum* -remove amaranth.decoding
attrmap -modattr -remove generator -remove top -remove amaranth.hierarchy
write_verilog -sv -norename {options} unit.sv
"""
"""RTLIL to SystemVerilog. Power-up contents are removed: they are undefined in hardware, and random in simulation."""


def unknown(unit: str) -> ConfigError:
    """The error for a unit that there is not."""
    return ConfigError(f"unit = {unit!r}: must be one of {', '.join(UNITS)}{nearest(unit, UNITS)}")


def create(config: SmConfig, unit: str, *, probe: bool = False) -> wiring.Component:
    """The component of a unit, with `probe` the one for benches.

    Raises `ConfigError` for an unknown name, a configuration without hardware or one without the unit, and for a probe
    of a unit that has none.
    """
    if unit not in UNITS:
        raise unknown(unit)
    config.check_hardware()
    for field, values in UNITS[unit].needs:
        if getattr(config, field) not in values:
            raise ConfigError(f"unit = {unit} and {field} = {getattr(config, field)} disagree: "
                              f"it needs {field} = {any_of(values)}")
    if probe and unit not in PROBED:
        raise ConfigError(f"unit = {unit} has no probe: those with one are {', '.join(PROBED)}")
    component = pkgutil.resolve_name(UNITS[unit].component)
    made: wiring.Component = component(**UNITS[unit].parameters(config, probe=probe))
    return made


def any_of(values: tuple[str | int, ...]) -> str:
    """Values of a field in words; of many numbers, the first and the last."""
    return " or ".join(map(str, values)) if len(values) < 10 else f"{values[0]} to {values[-1]}"


def to_rtlil(
    component: wiring.Component, name: str, *, source_lines: bool = True, fpga: bool = False,
) -> str:
    """RTLIL of a component as module `name`. Equal parts share a module; modules are named by their path in it.
    `fpga` is that of `SharedModules`. Raises `ConfigError` for a component that is too large for Amaranth."""
    return _joined(text for _, text in _modules(component, name, source_lines=source_lines, fpga=fpga))


def _modules(
    component: wiring.Component, name: str, *, source_lines: bool, fpga: bool,
) -> Iterator[tuple[list[str], str]]:
    """The names of the ports, as they are declared, and the RTLIL of each module, including modules inside it that are
    not shared."""
    shared = SharedModules(fpga=fpga)
    shared.pending[name] = component
    made: set[str] = set()
    while missing := shared.pending.keys() - made:
        module = min(missing)
        part = shared.pending[module]
        check_length(f"inputs of {module}", port_bits(part)[wiring.In], NUMBERED)
        signals = {port: signal for port, _, signal in port_signals(part)}
        yield [*signals], rtlil.convert(part, name=module, platform=shared, ports=[*signals.values()],
                                        emit_src=source_lines)
        made.add(module)


def _joined(texts: Iterable[str]) -> str:
    text = "\n".join(texts).replace(f"{ROOT}{os.sep}", "")
    return re.sub(r"^(module|  cell) \\\S+", lambda match: re.sub(r"[.$]", "_", match[0]), text, flags=re.MULTILINE)


def _in_order(ports: Iterable[str], text: str) -> str:
    """RTLIL whose ports are numbered from 1, in the order clk, rst, `ports`, others. Amaranth begins with 0, which is
    no number for Yosys, and numbers all inputs first. Its own source line of clk and rst is removed."""
    numbers = {name: number for number, name in enumerate(("clk", "rst", *ports), start=1)}
    text = _CLOCK_SOURCE.sub("", text)
    return _PORT.sub(lambda port: f"{port[1]}{numbers.get(port[4], len(numbers) + 1 + int(port[2]))}{port[3]}{port[4]}",
                     text)


def to_verilog(
    component: wiring.Component, name: str, *, source_lines: bool = False, fpga: bool = False,
) -> str:
    """SystemVerilog of a component as module `name`, without a header; with `src` attributes if `source_lines`.
    `fpga` is that of `SharedModules`. Raises `ToolError` when Yosys fails."""
    modules = _modules(component, name, source_lines=source_lines, fpga=fpga)
    rtlil_text = _joined(_in_order(ports, text) for ports, text in modules)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "unit.il").write_text(rtlil_text)
        Path(folder, "unit.ys").write_text(_SCRIPT.format(options="" if source_lines else "-noattr"))
        log = Path(folder, "unit.log")
        with log.open("w") as output:
            status = processes.run([sys.executable, "-c", _YOSYS, "unit.ys"], folder, output)
        if status:
            lines = log.read_text(errors="replace").splitlines() or ["no output"]
            reason = next((line for line in lines if "ERROR" in line), lines[-1])
            raise ToolError(f"Yosys, needed to write Verilog, failed ({reason}): pip install pyosys==0.70")
        text = Path(folder, "unit.sv").read_text()
        if len(_ENDS.findall(text)) != len(_MODULES.findall(rtlil_text)):
            raise ToolError(f"{folder}: Verilog was written incompletely: is the disk full?")
        return readable(text, fields(rtlil_text))


def ports(component: wiring.Component) -> list[dict[str, Any]]:
    """Name, direction (of the module), width in bits and fields of each port; a field has name, offset and
    width, fields of its own or `signed`."""
    shapes = {"__".join(map(str, path)): member.shape for path, member, _ in component.signature.flatten(component)}
    described = []
    for name, flow, signal in port_signals(component):
        direction = "input" if flow is wiring.In else "output"
        port = {"name": name, "direction": direction, "width": len(signal), "fields": _fields(shapes[name])}
        described.append(port)
    return described


def _fields(shape: object) -> list[dict[str, Any]]:
    """The fields of a struct, the elements of an array, or none."""
    if not isinstance(shape, data.Layout):
        return []
    entries = []
    for name, field in shape:
        entry = {"name": str(name), "offset": field.offset, "width": field.width}
        if inner := _fields(field.shape):
            entry["fields"] = inner
        elif Shape.cast(field.shape).signed:
            entry["signed"] = True
        entries.append(entry)
    return entries
