# amaranth: UnusedElaboratable=no
"""The hardware without a simulator: constructor errors, ports, multiplier arithmetic, Verilog and its sidecar."""

import json
import random
import re
from pathlib import Path

import pytest
from amaranth import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator

from warploom.arch import interfaces as tables
from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError
from warploom.arch.fields import width
from warploom.arch.isa import INTEGER_OPS
from warploom.rtl import verilog
from warploom.rtl.arbiter import Arbiter
from warploom.rtl.bank import Bank
from warploom.rtl.coalescing.arbiter import CoalescingArbiter
from warploom.rtl.coalescing.crossbar import SlicedCrossbar
from warploom.rtl.crossbar import Crossbar
from warploom.rtl.dual_bank import DualBank
from warploom.rtl.emit import generate
from warploom.rtl.interfaces import (
    COMPACT,
    ENCODING,
    address_layout,
    dispatch_layout,
    issue_layout,
    result_layout,
)
from warploom.rtl.lane_control import CONTROL, DECODING
from warploom.rtl.multiply import DIGIT, DIGITS, booth_digits, compress, partial_products
from warploom.rtl.operands.compact_slots import CompactSlots
from warploom.rtl.shared import NUMBERED, port_signals, share
from warploom.rtl.subbank import SubBank

SMALL = SmConfig.preset("small")
COALESCING = SMALL.with_settings(["coalescing=on"])
CROSS_LANE = SMALL.with_settings(["gating=cross_lane"])
BOTH = CROSS_LANE.with_settings(["coalescing=on"])


@pytest.mark.parametrize("rows", [0, -1, 1.5])
def test_memories_refuse_sizes(rows: object) -> None:
    for unit in (SubBank, Bank, DualBank):
        with pytest.raises(ValueError, match="rows must be a positive integer, not"):
            unit(rows=rows)


def test_sub_bank_refuses_columns() -> None:
    with pytest.raises(ValueError, match="columns must be a positive integer, not"):
        SubBank(rows=16, columns=0)
    with pytest.raises(ValueError, match="columns must divide 32, not 3"):
        SubBank(rows=16, columns=3)


@pytest.mark.parametrize("unit", [Arbiter, Crossbar, CoalescingArbiter, SlicedCrossbar])
@pytest.mark.parametrize(("banks", "collectors", "name"), [(0, 1, "banks"), (1, 0, "collectors"), (2, "4", "collec")])
def test_matrices_refuse_sizes(unit: type, banks: object, collectors: object, name: str) -> None:
    paths = {"paths": SMALL.write_paths} if unit in (Arbiter, CoalescingArbiter) else {}
    with pytest.raises(ValueError, match=f"{name}.* must be a positive integer, not"):
        unit(banks=banks, collectors=collectors, **paths)


@pytest.mark.parametrize("depth", [0, "3"])
def test_compact_slots_refuse_depths(depth: object) -> None:
    with pytest.raises(ValueError, match="depth must be a positive integer, not"):
        CompactSlots(depth=depth)


def test_unknown_unit() -> None:
    with pytest.raises(ConfigError, match="unit = 'Nonsense': must be one of SubBank"):
        verilog.create(SMALL, "Nonsense")


@pytest.mark.parametrize(("unit", "settings", "message"), [
    ("ZeroBuffer", ["gating=active"], "gating = active disagree: it needs gating = in_lane or cross_lane"),
    ("GatedOperandPath", ["gating=in_lane", "coalescing=on"], "coalescing = on disagree: it needs coalescing = off"),
    ("AffineUnit", [], "affine = off disagree: it needs affine = a or ab or abm"),
    ("Collector", ["bypass=bow", "coalescing=on"], "bypass = bow disagree: it needs bypass = off"),
    ("EvictionUnit", ["bypass=bow"], "bypass = bow disagree: it needs bypass = bow_wr or bow_hints"),
    ("GatedCoalescingOperandPath", ["gating=in_lane"], "coalescing = off disagree: it needs coalescing = on"),
    ("CompactSlots", [], "affine = off disagree: it needs affine = a or ab or abm"),
    ("AddressSlot", ["affine=abm", "bypass=bow"], "bypass = bow disagree: it needs bypass = off"),
])
def test_units_without_their_mechanism(unit: str, settings: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=f"unit = {unit} and {message}"):
        verilog.create(SMALL.with_settings(settings), unit)


def test_a_unit_without_a_probe() -> None:
    with pytest.raises(ConfigError, match="unit = Arbiter has no probe: those with one are Collector"):
        verilog.create(SMALL, "Arbiter", probe=True)


@pytest.mark.parametrize("settings", [
    ["coalescing=corf", "layout=wid"], ["coalescing=on", "alignment=ideal"],
], ids=" ".join)
def test_models_without_hardware(settings: list[str]) -> None:
    with pytest.raises(ConfigError, match="golden model, without hardware"):
        verilog.create(SMALL.with_settings(settings), "Crossbar")


@pytest.mark.parametrize("config", [SMALL, COALESCING], ids=["baseline", "coalescing"])
@pytest.mark.parametrize(("make", "table", "extra"), [
    (issue_layout, tables.issue_fields, 0), (dispatch_layout, tables.dispatch_fields, 3 * tables.WARP_BITS),
    (result_layout, tables.result_fields, tables.WARP_BITS),
    (address_layout, tables.address_fields, 0), (lambda config: ENCODING, lambda config: tables.ENCODING_FIELDS, 0),
    (lambda config: COMPACT, lambda config: tables.COMPACT_FIELDS, 0),
])
def test_structs_are_the_tables(make: object, table: object, extra: int, config: SmConfig) -> None:
    made, fields = make(config), table(config)
    assert made.size == width(fields) + extra
    offset = 0
    for name, bits in fields:
        assert (made[name].offset, made[name].width) == (offset, bits)
        offset += bits


def test_every_integer_operation_is_decoded() -> None:
    assert set(DECODING) == set(INTEGER_OPS)
    assert {name for control in DECODING.values() for name in control} <= set(CONTROL.members)


@pytest.mark.parametrize("signed", [0, 1])
def test_partial_products_add_up(signed: int) -> None:
    a, b = Signal(32), Signal(32)
    digits = Signal(data.ArrayLayout(DIGIT, DIGITS))
    product = Signal(64)
    m = Module()
    m.d.comb += digits.eq(booth_digits(b, signed & b[31]))
    rows = compress(m, partial_products(a, signed & a[31], digits), 64)
    m.d.comb += product.eq(rows[0] + rows[1])
    rng = random.Random(2)
    corners = [0, 1, 2, 3, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x55555555]

    async def check(ctx: object) -> None:
        pairs = [(x, y) for x in corners for y in corners]
        pairs += [(rng.getrandbits(32), rng.getrandbits(32)) for _ in range(50)]
        for x, y in pairs:
            ctx.set(a, x)
            ctx.set(b, y)
            values = [v - (v >> 31 << 32) if signed else v for v in (x, y)]
            assert ctx.get(product) == values[0] * values[1] % (1 << 64)

    simulator = Simulator(m)
    simulator.add_testbench(check)
    simulator.run()


@pytest.mark.parametrize("unit", ["SubBank", "Arbiter", "Dispatcher", "Writeback"])
def test_verilog_and_sidecar(unit: str, tmp_path: Path) -> None:
    files, again = generate(SMALL, tmp_path / "a", unit), generate(SMALL, tmp_path / "b", unit)
    for name in ("verilog", "package", "waiver", "sidecar"):
        assert getattr(files, name).read_bytes() == getattr(again, name).read_bytes()
    described, text = json.loads(files.sidecar.read_text()), files.verilog
    assert described["configuration"]["name"] == "small"
    assert f"configuration {SMALL.name}, commit {described['commit']}" in text.read_text().splitlines()[0]
    module = text.read_text().split(f"module {described['module']} (")[1].split(");")[0]
    names = set(re.findall(r"^  (?:input|output) (?:wire|reg) .*?(\w+),?$", module, flags=re.MULTILINE))
    assert {port["name"] for port in described["ports"]} == names - {"clk", "rst"}
    for port in described["ports"]:
        assert all(f["offset"] + f["width"] <= port["width"] for f in port["fields"])
    assert not [path for path in tmp_path.rglob("*") if path.suffix not in (".sv", ".vlt", ".json", "")]


COMMON = {"datapath", "placer", "sub_bank", "dispatcher", "lane", "integer_unit", "write_latch", "writeback"}


@pytest.mark.sample(1)
@pytest.mark.parametrize(("config", "own"), [
    (SMALL, {"arbiter", "bank", "crossbar", "collector"}),
    (BOTH, {"coalescing_arbiter", "dual_bank", "sliced_crossbar", "collector",
            "gated_coalescing_operand_path", "mask_buffer", "zero_buffer", "trivial_detector"}),
], ids=["baseline", "both"])
def test_datapath_verilog_holds_each_module_once(config: SmConfig, own: set[str], tmp_path: Path) -> None:
    units = json.loads(generate(config, tmp_path).sidecar.read_text())["units"]
    assert len(units) == len(set(units))
    assert COMMON | own <= set(units)


@pytest.mark.parametrize("settings", [
    [], ["coalescing=on"], ["gating=active"], ["gating=in_lane"], ["gating=cross_lane"],
    ["gating=active", "coalescing=on"], ["gating=cross_lane", "coalescing=on"],
], ids=" ".join)
def test_probe_only_on_request(settings: list[str]) -> None:
    config = SMALL.with_settings(settings)
    plain, probed = ({port["name"] for port in verilog.ports(verilog.datapath(config, probe=probe))}
                     for probe in (False, True))
    assert probed - plain == {"probe", "stored_data", "stored_bytes", "activity"}


class Inverter(wiring.Component):
    """Inverts a word."""

    def __init__(self, bits: int) -> None:
        super().__init__({"word": In(bits), "inverted": Out(bits)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.inverted.eq(~self.word)
        return m


class Folded(wiring.Component):
    """Two shared inverters, whose words have one bit outside."""

    bit: In(1)
    inverted: Out(2)

    def __init__(self, bits: int) -> None:
        self._parts = [Inverter(bits) for _ in range(2)]
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for number, part in enumerate(self._parts):
            m.submodules[f"part_{number}"] = share(platform, "inverter", part, clocked=False)
            m.d.comb += [part.word.eq(self.bit), self.inverted[number].eq(part.inverted.any())]
        return m


@pytest.mark.parametrize(("unit", "settings", "message"), [
    ("MaskBuffer", ["coalescing=on", "banks=8", "rows=4096"], "encodings of banks = 8 of rows = 4096: 98,304 bits"),
    ("AffineRegisterFile", ["affine=a", "banks=32", "rows=4096"],
     "marks of compact registers for schedulers = 1, banks = 32 and rows = 4096: 131,072 bits"),
    ("Banks", ["gating=cross_lane", "banks=32", "collectors=64"], "inputs of banks: 119,058 bits"),
])
def test_what_is_too_large(unit: str, settings: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=f"^{message}, and Amaranth numbers at most 65,53[26]: use a smaller machine"):
        verilog.to_rtlil(verilog.create(SMALL.with_settings(settings), unit), "banks")


class Repeated(wiring.Component):
    """A bit on the bits of two outputs."""

    def __init__(self, bits: int) -> None:
        super().__init__({"bit": In(1), "first": Out(bits), "second": Out(bits)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += [output.eq(self.bit.replicate(len(output))) for output in (self.first, self.second)]
        return m


def test_outputs_of_the_outermost_module_are_not_numbered() -> None:
    """The stored words of 32 banks, beside what 11 pipes dispatch, are more."""
    text = verilog.to_rtlil(Repeated(NUMBERED - 1), "repeated")
    assert re.findall("wire width ([0-9]+) output", text) == [str(NUMBERED - 1)] * 2


@pytest.mark.parametrize("kind", [Crossbar, SlicedCrossbar])
def test_operands_of_64_collectors_are_64_ports(kind: type[wiring.Component]) -> None:
    """In one port they have as many bits as Amaranth can number in a signal, and it cannot be connected."""
    crossbar = kind(banks=1, collectors=64)
    widths = [len(signal) for port, _, signal in port_signals(crossbar) if port.startswith("operand")]
    assert widths == [tables.WARP_BITS] * 64


@pytest.mark.parametrize(("bits", "modules"), [(NUMBERED, 2), (NUMBERED + 1, 3)])
def test_parts_with_too_many_bits_for_an_instance_are_not_shared(bits: int, modules: int) -> None:
    assert len(re.findall("^module ", verilog.to_rtlil(Folded(bits), "folded"), re.MULTILINE)) == modules
