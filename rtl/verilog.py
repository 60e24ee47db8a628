# amaranth: UnusedElaboratable=no
"""Verilog of any unit, and its ports and their fields. The only user of Amaranth's back end."""

import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from amaranth import Shape
from amaranth.back import rtlil
from amaranth.lib import data, wiring

from warploom import processes
from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError, ToolError
from warploom.arch.mechanisms import Affine, Bypass, Coalescing, Gating
from warploom.origin import ROOT
from warploom.rtl.affine.address_slot import AddressSlot
from warploom.rtl.affine.expand import Expander
from warploom.rtl.affine.register_file import AffineRegisterFile
from warploom.rtl.affine.sets import AffineSets
from warploom.rtl.affine.slots import CompactSlots
from warploom.rtl.affine.unit import AffineUnit
from warploom.rtl.arbiter import Arbiter
from warploom.rtl.bank import Bank
from warploom.rtl.bypass.arbiter import RotatingArbiter, RotatingCoalescingArbiter
from warploom.rtl.bypass.collector import BypassingCollector
from warploom.rtl.bypass.eviction import EvictionUnit
from warploom.rtl.coalescing.alignment import OperandPath
from warploom.rtl.coalescing.arbiter import CoalescingArbiter
from warploom.rtl.coalescing.bank import DualBank
from warploom.rtl.coalescing.crossbar import SlicedCrossbar
from warploom.rtl.coalescing.mask_buffer import MaskBuffer
from warploom.rtl.coalescing.width import WidthDetector
from warploom.rtl.corf.allocation import Allocator, MaskTable
from warploom.rtl.corf.rename import RenameTable
from warploom.rtl.corf.shifter import Shifter
from warploom.rtl.crossbar import Crossbar
from warploom.rtl.datapath import Datapath
from warploom.rtl.dispatch import Dispatcher
from warploom.rtl.gating.lane import GatedLane, HoldingLane
from warploom.rtl.gating.operand import GatedCoalescingOperandPath, GatedOperandPath
from warploom.rtl.gating.reorder import Reorder
from warploom.rtl.gating.trivial import TrivialDetector
from warploom.rtl.gating.zero_buffer import ZeroBuffer
from warploom.rtl.gating.zero_detector import ZeroDetector
from warploom.rtl.gating.zero_latch import ZeroLatch
from warploom.rtl.integer import IntegerUnit
from warploom.rtl.lane import Lane
from warploom.rtl.operands.collector import Collector
from warploom.rtl.operands.slots import SlotStore
from warploom.rtl.operands.stage import DispatchStage
from warploom.rtl.operands.windows import WindowStore
from warploom.rtl.pipes import Pipes
from warploom.rtl.placement import Placer
from warploom.rtl.readable import fields, readable
from warploom.rtl.register_file.dual import DualBanks
from warploom.rtl.register_file.file import RegisterFile
from warploom.rtl.register_file.single import SingleBanks
from warploom.rtl.register_file.writeback import Writeback
from warploom.rtl.shared import SharedModules, module_name, port_signals
from warploom.rtl.subbank import SubBank


def datapath(config: SmConfig, *, probe: bool = False) -> Datapath:
    """The datapath of a configuration; `probe` adds the ports of a lockstep bench.

    Raises `ConfigError` for a configuration without hardware.
    """
    config.check_hardware()
    return Datapath(config=config, probe=probe)


UNITS: dict[str, Callable[[SmConfig], wiring.Component]] = {
    "SubBank": lambda config: SubBank(rows=config.rows),
    "Bank": lambda config: Bank(rows=config.rows),
    "Arbiter": lambda config: Arbiter(banks=config.banks, collectors=config.collectors),
    "Crossbar": lambda config: Crossbar(banks=config.banks, collectors=config.collectors),
    "Collector": lambda config: Collector(config=config),
    "Lane": lambda config: Lane(),
    "IntegerUnit": lambda config: IntegerUnit(config=config),
    "Dispatcher": lambda config: Dispatcher(config=config),
    "Writeback": lambda config: Writeback(config=config),
    "Datapath": datapath,
    "Placer": lambda config: Placer(config=config),
    "WidthDetector": lambda config: WidthDetector(),
    "MaskBuffer": lambda config: MaskBuffer(config=config),
    "OperandPath": lambda config: OperandPath(),
    "DualBank": lambda config: DualBank(rows=config.rows),
    "CoalescingArbiter": lambda config: CoalescingArbiter(banks=config.banks, collectors=config.collectors),
    "SlicedCrossbar": lambda config: SlicedCrossbar(banks=config.banks, collectors=config.collectors),
    "ZeroDetector": lambda config: ZeroDetector(),
    "ZeroLatch": lambda config: ZeroLatch(config=config),
    "Reorder": lambda config: Reorder(),
    "ZeroBuffer": lambda config: ZeroBuffer(config=config),
    "GatedBank": lambda config: Bank(rows=config.rows, gated=True),
    "GatedDualBank": lambda config: DualBank(rows=config.rows, gated=True),
    "GatedOperandPath": lambda config: GatedOperandPath(config=config),
    "GatedCoalescingOperandPath": lambda config: GatedCoalescingOperandPath(config=config),
    "TrivialDetector": lambda config: TrivialDetector(),
    "HoldingLane": lambda config: HoldingLane(),
    "GatedLane": lambda config: GatedLane(),
    "Shifter": lambda config: Shifter(up=True),
    "RenameTable": lambda config: RenameTable(config=config),
    "MaskTable": lambda config: MaskTable(config=config),
    "Allocator": lambda config: Allocator(rows=config.rows),
    "BypassingCollector": lambda config: BypassingCollector(config=config),
    "RotatingArbiter": lambda config: RotatingArbiter(banks=config.banks, collectors=config.collectors),
    "RotatingCoalescingArbiter":
        lambda config: RotatingCoalescingArbiter(banks=config.banks, collectors=config.collectors),
    "EvictionUnit": lambda config: EvictionUnit(config=config),
    "Expander": lambda config: Expander(),
    "AffineRegisterFile": lambda config: AffineRegisterFile(config=config),
    "AffineUnit": lambda config: AffineUnit(config=config),
    "CompactSlots": lambda config: CompactSlots(depth=config.window if config.bypass.has_window else 1),
    "AddressSlot": lambda config: AddressSlot(config=config),
}
"""How each unit is made from a configuration."""

PROBED: dict[str, Callable[[SmConfig], wiring.Component]] = {
    "Datapath": lambda config: datapath(config, probe=True),
    "Collector": lambda config: Collector(config=config, probe=True),
    "BypassingCollector": lambda config: BypassingCollector(config=config, probe=True),
    "IntegerUnit": lambda config: IntegerUnit(config=config, probe=True),
    "GatedBank": lambda config: Bank(rows=config.rows, gated=True, poison=True),
    "GatedDualBank": lambda config: DualBank(rows=config.rows, gated=True, poison=True),
}
"""How benches take some of them: with ports that show more, and poison where nobody may look."""

_ZERO_MASK = ("gating", (Gating.IN_LANE, Gating.CROSS_LANE))
_GATED = ("gating", (Gating.ACTIVE, *_ZERO_MASK[1]))
_WRITES_BACK = ("bypass", (Bypass.BOW_WR, Bypass.BOW_HINTS))
_WINDOW = ("bypass", (Bypass.BOW, *_WRITES_BACK[1]))
_AFFINE = ("affine", (Affine.A, Affine.AB, Affine.ABM))
_COALESCING, _PLAIN = ("coalescing", (Coalescing.ON,)), ("coalescing", (Coalescing.OFF,))

NEEDS: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    **dict.fromkeys(("ZeroLatch", "ZeroBuffer"), (_ZERO_MASK,)),
    "GatedOperandPath": (_ZERO_MASK, _PLAIN),
    "GatedCoalescingOperandPath": (_ZERO_MASK, _COALESCING),
    "BypassingCollector": (_WINDOW,),
    "EvictionUnit": (_WRITES_BACK,),
    **dict.fromkeys(("AffineRegisterFile", "AffineUnit", "CompactSlots"), (_AFFINE,)),
    "AddressSlot": (("affine", (Affine.ABM,)), ("bypass", (Bypass.OFF,))),
}
"""Settings without which a unit means nothing: fields and their values."""

JOINTS = frozenset(module_name(part.__name__) for part in (
    SlotStore, WindowStore, DispatchStage, RegisterFile, SingleBanks, DualBanks, Pipes, AffineSets))
"""Modules of a datapath that do little more than join units."""

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
"""RTLIL to SystemVerilog. Power-up contents go: hardware promises none, and simulation makes them random."""


def create(config: SmConfig, unit: str, *, probe: bool = False) -> wiring.Component:
    """The component of a unit, with `probe` as benches take it.

    Raises `ConfigError` for an unknown name, a configuration without hardware or one without the unit, and for a probe
    of a unit that has none.
    """
    if unit not in UNITS:
        raise ConfigError(f"unit = {unit!r}: must be one of {', '.join(UNITS)}")
    config.check_hardware()
    for field, values in NEEDS.get(unit, ()):
        if getattr(config, field) not in values:
            raise ConfigError(f"unit = {unit} and {field} = {getattr(config, field)} disagree: "
                              f"it needs {field} = {' or '.join(values)}")
    if probe and unit not in PROBED:
        raise ConfigError(f"unit = {unit} has no probe: those with one are {', '.join(PROBED)}")
    return (PROBED if probe else UNITS)[unit](config)


def to_rtlil(component: wiring.Component, name: str, *, source_lines: bool = True) -> str:
    """RTLIL of a component as module `name`, which equal parts share; modules are named by their place in it."""
    shared = SharedModules()
    shared.pending[name] = component
    texts: dict[str, str] = {}
    while missing := shared.pending.keys() - texts.keys():
        module = min(missing)
        part = shared.pending[module]
        ports = [signal for _, _, signal in port_signals(part)]
        texts[module] = rtlil.convert(part, name=module, platform=shared, ports=ports, emit_src=source_lines)
    text = "\n".join(texts.values()).replace(f"{ROOT}{os.sep}", "")
    return re.sub(r"^(module|  cell) \\\S+", lambda match: match[0].replace(".", "_"), text, flags=re.MULTILINE)


def to_verilog(component: wiring.Component, name: str, *, source_lines: bool = False) -> str:
    """SystemVerilog of a component as module `name`, without a header; with `src` attributes if `source_lines`. Raises
    `ToolError` when Yosys fails."""
    rtlil_text = to_rtlil(component, name, source_lines=source_lines)
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
        return readable(Path(folder, "unit.sv").read_text(), fields(rtlil_text))


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
