"""Generated files: lint, types, names, the circuit, the sidecar."""

import dataclasses
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from pyslang import ast, driver, syntax

from warploom.arch.config import SmConfig
from warploom.arch.errors import ToolError
from warploom.arch.mechanisms import met
from warploom.cli import main
from warploom.rtl import verilog
from warploom.rtl.emit import WAIVERS, Files, generate, settings, short_name
from warploom.rtl.package import member_name, package
from warploom.rtl.readable import readable
from warploom.rtl.shared import module_name
from warploom.synth import yosys
from warploom.tb.toolchain import verilator_folder

SMALL = SmConfig.preset("small")
GATED = SMALL.with_settings(["coalescing=on", "gating=cross_lane"])
ALL = GATED.with_settings(["bypass=bow_wr", "affine=abm"])
FERMI = SmConfig.preset("fermi")
KEPLER = SmConfig.preset("kepler")
"""The largest datapath; its pipes of SP are never busy."""


LARGE = {"Datapath", "IntegerUnit", "HoldingLane", "GatedLane", "BypassingCollector", "AffineUnit", "Collector",
         "GatedCoalescingOperandPath", "Writeback", "CoalescingArbiter", "Banks", "RegisterFile", "OperandStore",
         "DataCache", "Lanes", "Engine", "WholeEngine"}
"""Units that take long, or are similar to another one: only the long regression checks them."""


def cases() -> Iterator[Any]:
    """Every unit of each of three configurations, and two of a fourth one."""
    for config in (SMALL, GATED, ALL):
        for unit, described in verilog.UNITS.items():
            if met(described.needs, config):
                is_first = (config is ALL and unit not in LARGE) or (config, unit) == (SMALL, "IntegerUnit")
                yield pytest.param(config, unit, id=f"{short_name(config)}-{unit}",
                                   marks=() if is_first else pytest.mark.long)
    yield pytest.param(KEPLER, "Dispatcher", id="kepler-Dispatcher")
    yield pytest.param(KEPLER, "Datapath", id="kepler-Datapath", marks=pytest.mark.long)


@pytest.mark.sample(10)
@pytest.mark.parametrize(("config", "unit"), list(cases()))
def test_tools_find_nothing(config: SmConfig, unit: str, tmp_path: Path) -> None:
    files = generate(config, tmp_path, unit)
    module = json.loads(files.sidecar.read_text())["module"]
    verilator(files, module)
    slang(files)
    yosys.run(f"read_verilog -sv {files.package}; read_verilog -sv {files.verilog}\n"
              f"hierarchy -check -top {module}; proc; select -assert-none t:$dlatch\n", tmp_path / "yosys", "read")
    text = re.sub(r"//.*|\$(un)?signed", "", files.verilog.read_text())
    assert "\\" not in text
    assert "$" not in text


@pytest.mark.parametrize(("unit", "settings"), [
    ("OperandStore", ["collectors=1"]),
    ("RenameStage", ["renaming=mem_ra", "sp.result_queue=2", "tfet_rows=1"]),
    ("RenameStage", ["renaming=mem_ra", "sp.result_queue=2", f"tfet_rows={SMALL.rows}"]),
    ("RenameTable", ["banks=1"]),
    ("RenameTable", ["banks=4", "warps=1"]),
])
def test_one_of_a_kind_and_none(unit: str, settings: list[str], tmp_path: Path) -> None:
    verilator(generate(SMALL.with_settings(settings), tmp_path, unit), module_name(unit))


def verilator(files: Files, module: str) -> None:
    """Lint as in docs/verilog.md."""
    command = [verilator_folder() / "bin" / "verilator", "--lint-only", "-Wall", "--quiet", files.waiver, files.package,
               files.verilog, "--top-module", module]
    environment = os.environ | {"VERILATOR_ROOT": str(verilator_folder())}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (done.stdout + done.stderr, done.returncode) == ("", 0)


def slang(files: Files) -> None:
    """Compile, with slang's default warnings."""
    tool = driver.Driver()
    tool.addStandardArgs()
    assert tool.parseCommandLine(f"slang -Werror {files.package} {files.verilog}")
    assert tool.processOptions()
    assert tool.parseAllSources()
    assert tool.runFullCompilation(True)


@pytest.mark.long  # without it, this fails: PyPI has no wheel of it
@pytest.mark.parametrize("unit", ["Dispatcher", "Writeback", "CompactSlots"])
def test_icarus_finds_nothing(unit: str, tmp_path: Path) -> None:
    assert shutil.which("iverilog"), "iverilog (Icarus Verilog) is not installed: Debian: apt install iverilog"
    files = generate(ALL, tmp_path, unit)
    done = subprocess.run(["iverilog", "-g2012", "-t", "null", files.package, files.verilog], capture_output=True,
                          text=True, check=False)
    said = [line for line in (done.stdout + done.stderr).splitlines() if "constant selects in always_" not in line]
    assert (said, done.returncode) == ([], 0)


@pytest.mark.parametrize("unit", ["AffineUnit", "Writeback", "EvictionUnit"])
def test_types_match_ports_bit_for_bit(unit: str, tmp_path: Path) -> None:
    """By slang's layout, including signs. The sidecar's fields are Amaranth's."""
    files = generate(ALL, tmp_path, unit)
    described = json.loads(files.sidecar.read_text())
    compilation = ast.Compilation()
    compilation.addSyntaxTree(syntax.SyntaxTree.fromFile(str(files.package)))
    inside = compilation.getPackage(f"{described['module']}_pkg")
    checked = 0
    for port in described["ports"]:
        if port["fields"]:
            of_type = inside.find(f"{port['name']}_t").targetType.type
            assert of_type.bitWidth == port["width"]
            checked += _same(of_type, port["fields"])
    assert checked > 10


def _same(of_type: Any, fields: list[dict[str, Any]]) -> int:
    """The number of compared fields of a type."""
    of_type = of_type.canonicalType
    if of_type.isStruct:
        members = {member.name: (member.bitOffset, member.type) for member in of_type}
    else:
        element = of_type.arrayElementType or of_type
        wide = fields[0]["width"]
        members = {str(index): (index * wide, element) for index in range(of_type.bitWidth // wide)}
        assert of_type.fixedRange.right == 0
        assert of_type.fixedRange.left + 1 == len(fields)
    assert members.keys() == {member_name(field["name"]) for field in fields}
    for field in fields:
        offset, inner = members[member_name(field["name"])]
        assert (offset, inner.bitWidth) == (field["offset"], field["width"])
        assert inner.isSigned == field.get("signed", False)
    nested = [field for field in fields if "fields" in field]
    return len(fields) + sum(_same(members[member_name(field["name"])][1], field["fields"]) for field in nested)


def test_a_package_with_nested_types() -> None:
    ports = [{"name": "a", "width": 9, "fields": [
        {"name": "x", "offset": 0, "width": 1},
        {"name": "y", "offset": 1, "width": 8, "fields": [
            {"name": "0", "offset": 0, "width": 4, "signed": True}, {"name": "1", "offset": 4, "width": 4}]},
    ]}, {"name": "b", "width": 1, "fields": []}]
    assert package("m", ports).splitlines() == [
        "package m_pkg;", "  typedef logic signed [1:0][3:0] a_y_t;", "  typedef struct packed {",
        "    a_y_t y;  // [8:1]", "    logic x;  // [0]", "  } a_t;", "endpackage",
    ]


@pytest.mark.parametrize("unit", ["Writeback", "CompactSlots", "MaskTable"])
def test_the_circuit_is_that_of_the_rtlil(unit: str, tmp_path: Path) -> None:
    """The input of synthesis, the text, and the text with source lines."""
    config, name = (ALL if unit == "CompactSlots" else SMALL), module_name(unit)
    (tmp_path / "a.il").write_text(verilog.to_rtlil(verilog.create(config, unit), name))
    counts = [cells("read_rtlil a.il; delete t:$meminit_v2", name, tmp_path)]
    for lines in (False, True):
        text = verilog.to_verilog(verilog.create(config, unit), name, source_lines=lines)
        (tmp_path / "b.sv").write_text(text)
        counts.append(cells("read_verilog -sv b.sv", name, tmp_path))
    assert counts[0] == counts[1] == counts[2]
    assert sum(counts[0].values()) > 10


def cells(read: str, top: str, folder: Path) -> dict[str, int]:
    """Cells by type, as Yosys counts them; a shift by an unsigned number has two names."""
    yosys.run(f"{read}\nhierarchy -top {top}; proc -norom; flatten; setattr -unset init w:*\n"
              "memory_collect; opt -full; chtype -set $shr t:$shift; tee -o stat.json stat -json\n", folder, "stat")
    return json.loads((folder / "stat.json").read_text())["design"]["num_cells_by_type"]


@pytest.mark.parametrize("unit", ["Dispatcher", "CoalescingArbiter"])
def test_the_circuit_is_proven_equal(unit: str, tmp_path: Path) -> None:
    """Every output and register, by induction."""
    name = module_name(unit)
    (tmp_path / "gold.il").write_text(verilog.to_rtlil(verilog.create(SMALL, unit), name))
    (tmp_path / "gate.sv").write_text(verilog.to_verilog(verilog.create(SMALL, unit), name))
    make = (f"hierarchy -top {name}; proc -norom; flatten; setattr -unset init w:*; opt_clean; "
            "rename -top {0}; design -stash {0}\n")
    yosys.run(f"read_rtlil gold.il; {make.format('gold')}read_verilog -sv gate.sv; {make.format('gate')}"
              "design -copy-from gold gold; design -copy-from gate gate\nequiv_make gold gate equiv\n"
              "hierarchy -top equiv; async2sync; equiv_simple; equiv_induct; equiv_status -assert\n", tmp_path, "equal")


@pytest.mark.parametrize(("unit", "most"), [("Arbiter", 6), ("Dispatcher", 2)])
def test_repeated_expressions_have_names(unit: str, most: int) -> None:
    """Amaranth repeats an expression wherever it is used, so that cells may grow with the cube of the sizes."""
    config = KEPLER.with_settings(["banks=16", "collectors=16"])
    text = verilog.to_rtlil(verilog.create(config, unit), module_name(unit), source_lines=False)
    assert text.count("\n  cell ") < most * 16 * 16


@cache
def writeback() -> str:
    return verilog.to_verilog(verilog.create(SMALL, "Writeback"), "writeback")


def test_names_say_where_values_go() -> None:
    latch = writeback().split("endmodule")[0]
    for line in ("held <= held_next;", "assign bank = held_bank;", "assign held_bank = held[11];"):
        assert f"  {line}\n" in latch
    assert re.search(r"assign done__valid = valid & _done__valid_\d;", latch)
    assert "    .row(sp_latch_row),\n" in writeback()


def test_ports_list_their_fields() -> None:
    listed = ("tag [9:0], writes [10], bank [11], row [18:12], left [19], lanes [51:20], full [52], pred [84:53], "
              "data [1108:85]")
    assert f"  // {listed}\n  input wire [1108:0] result_sp__payload" in writeback()
    assert ",\n  output wire [2:0] write__bank," in writeback()  # of single bits: no list


@pytest.mark.parametrize("unit", ["Arbiter", "Writeback", "WidthDetector"])
def test_ports_stand_in_the_order_of_their_declaration(unit: str) -> None:
    """Clock and reset first; also in a module inside."""
    component = verilog.create(GATED, unit)
    text = verilog.to_verilog(component, "top")
    clock = ["clk", "rst"] if "rst" in text else []
    assert header(text, "top") == clock + [port["name"] for port in verilog.ports(component)]
    if unit == "Writeback":
        assert header(text, "write_latch")[:4] == [*clock, "result__payload", "result__valid"]


def header(text: str, module: str) -> list[str]:
    """The ports of a module, as its header lists them."""
    listed = re.search(rf"^module {module} \((.*?)\);", text, re.MULTILINE | re.DOTALL)[1]
    return re.findall(r"^  (?:input|output) .*?(\w+),?$", listed, re.MULTILINE)


def test_every_name_of_a_module_gets_one_of_its_own() -> None:
    """Names that would be equal: fields, copies of a name, numbered wires, a port of that name."""
    text = ("module m(a, y);\n  input [1:0] a;\n  wire [1:0] a;\n  output y;\n  wire y;\n  wire \\s.t ;\n  wire s_t;\n"
            "  wire [3:0] s;\n  wire \\y$2 ;\n  wire \\$1 ;\n  wire \\$2 ;\n  wire _y_1;\n"
            "  assign s = { a, a };\n  assign \\s.t  = s[1];\n  assign s_t = a[0] ^ \\y$2 ;\n  assign \\y$2  = & a;\n"
            "  assign _y_1 = s_t & s[1];\n  assign \\$1  = _y_1 | \\y$2 ;\n  assign \\$2  = s_t ^ \\$1 ;\n"
            "  assign y = \\$1  ^ \\$2 ;\nendmodule\n")
    made = readable(text, {"m": {"s": [("t", 1, 1)]}})
    for line in ("_y_1 = s_t & s_t_2", "y_2 = & a", "_y_2 = _y_1 | y_2", "_y_3 = s_t ^ _y_2", "y = _y_2 ^ _y_3"):
        assert f"  assign {line};\n" in made


class Inverter(wiring.Component):
    a: In(1)
    y: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.y.eq(~self.a)
        return m


class Namesakes(wiring.Component):
    a: In(1)
    y: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.held = inverter = Inverter()
        held = Signal(name="held")
        m.d.sync += held.eq(inverter.y)
        m.d.comb += [inverter.a.eq(self.a), self.y.eq(held)]
        return m


def test_verilog_that_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a full disk, which Yosys does not see: one module of two is there, or no whole one."""
    config = SmConfig.preset("small")
    for written in ("module collector();\nendmodule\n", "module collector();\n  wire"):
        monkeypatch.setattr(verilog, "_YOSYS", f"open('unit.sv', 'w').write({written!r})")
        with pytest.raises(ToolError, match=r"written incompletely: is the disk full\?"):
            verilog.to_verilog(verilog.create(config, "Collector"), "collector")


def test_a_part_may_have_the_name_of_a_signal(tmp_path: Path) -> None:
    (tmp_path / "unit.sv").write_text(verilog.to_verilog(Namesakes(), "namesakes"))
    assert cells("read_verilog -sv unit.sv", "namesakes", tmp_path) == {
        "$not": 1, "$sdff": 1, "$scopeinfo": 1}


def test_settings_do_not_overwrite_each_other(tmp_path: Path) -> None:
    many = ALL.with_settings(["warps=4", "rows=32", "banks=4", "timing.sfu=[9, 7]"])
    written = [generate(config, tmp_path, "Placer", probe=False).verilog.name for config in (SMALL, GATED, ALL, many)]
    assert written[:2] == ["small_placer.sv", "small-coalescing_on-gating_cross_lane_placer.sv"]
    assert re.fullmatch(r"small-[0-9a-f]{12}_placer\.sv", written[3])
    assert len(set(written)) == 4
    assert short_name(many) == short_name(SmConfig.from_toml(many.to_toml()))
    assert max(map(len, written)) < 80


@pytest.mark.parametrize(("changes", "different"), [
    (["sp0.classes.int_add=[9, 1]"], {"sp0.classes.int_add": "[9, 1]", "sp1.classes.int_add": "[4, 1]"}),
    (["sp1.classes.int_add=[9, 1]"], {"sp0.classes.int_add": "[4, 1]", "sp1.classes.int_add": "[9, 1]"}),
    (["timing.int_add=[9, 1]"], {"timing.int_add": "[9, 1]"}),
])
def test_settings_of_one_of_several_pipes(changes: list[str], different: dict[str, str]) -> None:
    changed = FERMI.with_settings(changes)
    assert settings(changed) == different
    assert FERMI.with_settings([f"{name}={value}" for name, value in different.items()]) == changed


def test_settings_name_the_pipes_and_their_classes() -> None:
    sp0, sp1, *others = FERMI.pipes
    alone = dataclasses.replace(FERMI, pipes=(sp0, *(dataclasses.replace(pipe, write_path=1, dispatch_port=1)
                                                     for pipe in others)))
    half = dataclasses.replace(sp1, classes={name: pair for name, pair in sp1.classes.items() if name != "int_add"})
    fewer = dataclasses.replace(FERMI, pipes=(sp0, half, *others))
    assert settings(alone)["pipes"] == "sp0 sfu mem"
    assert settings(fewer) == {"sp0.classes.int_add": "[4, 1]"}
    assert len({short_name(config) for config in (FERMI, alone, fewer)}) == 3


def test_the_list_of_units(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["verilog", "--units", "--json", str(tmp_path / "units.json")]) == 0
    listed = json.loads((tmp_path / "units.json").read_text())["units"]
    assert list(listed) == list(verilog.UNITS)
    assert listed["AddressSlot"] == {"affine": ["abm"], "bypass": ["off"]}
    assert "AddressSlot" in capsys.readouterr().out


def test_a_document_does_not_replace_the_verilog(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make = ["verilog", "--preset", "small", "--unit", "WidthDetector", "--set", "coalescing=on", "--out", str(tmp_path)]
    assert main(make) == 0
    for path in sorted(tmp_path.iterdir()):
        before = path.read_bytes()
        assert main([*make, "--json", str(path)]) == 1
        assert f"{path} would be replaced, but --json writes it: name another file" in capsys.readouterr().err
        assert path.read_bytes() == before


def test_a_hint_unit_of_one_warp(tmp_path: Path) -> None:
    """Its messages give the number of a warp, which needs no bits."""
    verilator(generate(SMALL.with_settings(["warps=1"]), tmp_path, "HintUnit", probe=True), "hint_unit")


def test_the_first_lines_say_what_it_is(tmp_path: Path) -> None:
    head = generate(GATED, tmp_path, "Dispatcher").verilog.read_text().split("\n\n")[0]
    plain = " ".join(line.removeprefix("// ") for line in head.splitlines())
    assert "Clock: clk, rising edge. Reset: rst, synchronous, active high." in plain
    assert "differ from small: coalescing = on, gating = cross_lane." in plain
    assert "timing.sfu = [8, 8]" in plain


@pytest.mark.parametrize(("unit", "is_clocked"), [("Dispatcher", True), ("WidthDetector", False)])
def test_the_sidecar_names_clock_and_reset(unit: str, is_clocked: bool, tmp_path: Path) -> None:
    sidecar = json.loads(generate(SMALL, tmp_path, unit).sidecar.read_text())
    assert sidecar["clock"] == ({"name": "clk", "edge": "rising"} if is_clocked else None)
    assert sidecar["reset"] == ({"name": "rst", "active": "high", "kind": "synchronous"} if is_clocked else None)


def test_every_waiver_has_its_reason(tmp_path: Path) -> None:
    lines = generate(SMALL, tmp_path, "Placer").waiver.read_text().splitlines()
    assert lines[0] == "`verilator_config"
    assert lines[1::2] == [f"// {reason}" for reason in WAIVERS.values()]


def test_source_lines_on_demand(tmp_path: Path) -> None:
    plain = generate(SMALL, tmp_path / "a", "Writeback").verilog.read_text()
    lined = generate(SMALL, tmp_path / "b", "Writeback", source_lines=True)
    assert "(*" not in plain
    assert re.search(r'\(\* src = "warploom/rtl/register_file/writeback.py:\d+" \*\)', lined.verilog.read_text())
    assert "amaranth/hdl" not in lined.verilog.read_text()  # which adds clk and rst
    verilator(lined, "writeback")
