# amaranth: UnusedElaboratable=no
"""The hardware without a simulator: constructor errors, ports, multiplier arithmetic, Verilog and its sidecar."""

import json
import random
import re
from pathlib import Path

import pytest
from amaranth import Module, Signal
from amaranth.lib import data
from amaranth.sim import Simulator

from rtl import verilog
from rtl.arbiter import Arbiter
from rtl.bank import Bank
from rtl.crossbar import Crossbar
from rtl.datapath import Datapath
from rtl.interfaces import dispatch_layout, issue_layout, probe_layout, result_layout
from rtl.lane_control import CONTROL, DECODING
from rtl.multiply import DIGIT, DIGITS, booth_digits, compress, partial_products
from rtl.placement import place
from rtl.subbank import SubBank
from warploom.arch import interfaces as tables
from warploom.arch import layout
from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError
from warploom.arch.isa import INTEGER_OPS

SMALL = SmConfig.preset("small")


@pytest.mark.parametrize("rows", [0, -1, 1.5])
def test_memories_refuse_sizes(rows: object) -> None:
    for unit in (SubBank, Bank):
        with pytest.raises(ValueError, match="rows must be a positive integer, not"):
            unit(rows=rows)


@pytest.mark.parametrize("unit", [Arbiter, Crossbar])
@pytest.mark.parametrize(("banks", "collectors", "name"), [(0, 1, "banks"), (1, 0, "collectors"), (2, "4", "collec")])
def test_matrices_refuse_sizes(unit: type, banks: object, collectors: object, name: str) -> None:
    with pytest.raises(ValueError, match=f"{name}.* must be a positive integer, not"):
        unit(banks=banks, collectors=collectors)


def test_unknown_unit() -> None:
    with pytest.raises(ConfigError, match="unit = 'Nonsense': must be one of SubBank"):
        verilog.create(SMALL, "Nonsense")


@pytest.mark.parametrize(("make", "table", "extra"), [
    (issue_layout, tables.issue_fields, 0), (dispatch_layout, tables.dispatch_fields, 3 * tables.WARP_BITS),
    (result_layout, tables.result_fields, tables.WARP_BITS), (probe_layout, tables.probe_fields, 0),
])  # fmt: skip
def test_structs_are_the_tables(make: object, table: object, extra: int) -> None:
    made, fields = make(SMALL), table(SMALL)
    assert made.size == tables.width(fields) + extra
    offset = 0
    for name, bits in fields:
        assert (made[name].offset, made[name].width) == (offset, bits)
        offset += bits


def test_every_integer_operation_is_decoded() -> None:
    assert set(DECODING) == set(INTEGER_OPS)
    assert {name for control in DECODING.values() for name in control} <= set(CONTROL.members)


@pytest.mark.parametrize("kind", ["wid", "wshift"])
def test_placement_is_the_layout(kind: str) -> None:
    config = SMALL.with_settings([f"layout={kind}"])
    stride, warp, register = Signal(8), Signal(3), Signal(8)
    bank, row = Signal(1), Signal(7)
    m = Module()
    placed_bank, placed_row = place(config, stride, warp, register)
    m.d.comb += [bank.eq(placed_bank), row.eq(placed_row)]
    simulator = Simulator(m)
    rng = random.Random(1)

    async def check(ctx: object) -> None:
        for _ in range(200):
            registers = rng.randint(1, 32)
            wanted = layout.rows_per_warp(config, registers), rng.randrange(8), rng.randrange(registers)
            for signal, value in zip((stride, warp, register), wanted, strict=True):
                ctx.set(signal, value)
            assert (ctx.get(bank), ctx.get(row)) == layout.place(config, *wanted)

    simulator.add_testbench(check)
    simulator.run()


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
    text, sidecar = verilog.generate(SMALL, tmp_path / "a", unit)
    again, _ = verilog.generate(SMALL, tmp_path / "b", unit)
    assert text.read_bytes() == again.read_bytes()
    described = json.loads(sidecar.read_text())
    assert described["configuration"]["name"] == "small"
    assert f"configuration {SMALL.name}, commit {described['commit']}" in text.read_text().splitlines()[0]
    module = text.read_text().split(f"module {described['module']}(")[1].split(";")[0]
    assert {port["name"] for port in described["ports"]} | {"clk", "rst"} >= set(re.findall(r"\w+", module))
    for port in described["ports"]:
        assert all(f["offset"] + f["width"] <= port["width"] for f in port["fields"])
    assert not [path for path in tmp_path.rglob("*") if path.suffix not in (".v", ".json", "")]


def test_datapath_verilog_holds_each_module_once(tmp_path: Path) -> None:
    _, sidecar = verilog.generate(SMALL, tmp_path)
    units = json.loads(sidecar.read_text())["units"]
    assert len(units) == len(set(units))
    assert {"datapath", "arbiter", "bank", "sub_bank", "crossbar", "collector", "dispatcher", "integer_unit", "lane",
            "writeback"} <= set(units)  # fmt: skip


def test_probe_only_on_request() -> None:
    plain = {port["name"] for port in verilog.ports(Datapath(config=SMALL))}
    probed = {port["name"] for port in verilog.ports(Datapath(config=SMALL, probe=True))}
    assert probed - plain == {"probe", "write_data"}
