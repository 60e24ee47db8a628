"""Synthesis end to end on designs that are small enough to know the result."""

import fnmatch
import itertools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from amaranth import Cat, Module, Signal
from amaranth.hdl import Fragment
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from support import opensta

from warploom import cli
from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError
from warploom.arch.mechanisms.baseline import SETS_BY_PIPE
from warploom.evaluation.simulations import Case, Simulated
from warploom.rtl import shared, verilog
from warploom.rtl.shared import share
from warploom.synth import flow, liberty
from warploom.synth.combinations import Combination, combinations
from warploom.synth.design import elaborate
from warploom.synth.flow import glue_of, joined, linked, synthesise, synthesise_design
from warploom.synth.gates import Gates
from warploom.synth.mapping import map_module
from warploom.synth.netlist import Linker
from warploom.synth.report import Report, Row
from warploom.synth.sram import FIGURES, SETUP_PS, Macro
from warploom.synth.sta import Timer


class Adder(wiring.Component):
    """a + b behind registers on all sides."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__({"a": In(width), "b": In(width), "total": Out(width)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        left = Signal(self.width)
        right = Signal(self.width)
        m.d.sync += [left.eq(self.a), right.eq(self.b), self.total.eq(left + right)]
        return m


class Pair(wiring.Component):
    """Two equal adders and a memory; nothing else."""

    def __init__(self) -> None:
        super().__init__({"a": In(8), "b": In(8), "x": Out(8), "y": Out(8), "row": In(10), "word": Out(8)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        adders = Adder(8), Adder(8)
        adders[1]._MustUse__silence = True  # a shared module is made from the first one alone
        for name, adder, out in zip(("one", "two"), adders, (self.x, self.y), strict=True):
            m.submodules[name] = share(platform, "adder", adder)
            m.d.comb += [adder.a.eq(self.a), adder.b.eq(self.b), out.eq(adder.total)]
        m.submodules.store = store = Memory(shape=8, depth=1024, init=[])
        read, write = store.read_port(), store.write_port()
        m.d.comb += [read.addr.eq(self.row), self.word.eq(read.data), read.en.eq(1)]
        m.d.comb += [write.addr.eq(self.row), write.data.eq(self.a), write.en.eq(self.b[0])]
        return m


class Stored(wiring.Component):
    """A memory with words written from inputs and read into outputs."""

    def __init__(self) -> None:
        super().__init__({"row": In(8), "word": In(16), "out": Out(16)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.store = store = Memory(shape=16, depth=256, init=[])
        read, write = store.read_port(), store.write_port()
        m.d.comb += [read.addr.eq(self.row), read.en.eq(1), self.out.eq(~read.data)]
        m.d.comb += [write.addr.eq(self.row), write.data.eq(self.word), write.en.eq(1)]
        return m


class TwoMemories(wiring.Component):
    """Two memories of one shape, of which one has byte enables."""

    def __init__(self) -> None:
        super().__init__({"row": In(8), "word": In(16), "bytes": In(2), "one": Out(16), "two": Out(16)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for name, granularity in (("one", 16), ("two", 8)):
            m.submodules[f"store_{name}"] = store = Memory(shape=16, depth=256, init=[])
            read, write = store.read_port(), store.write_port(granularity=granularity)
            m.d.comb += [read.addr.eq(self.row), read.en.eq(1), getattr(self, name).eq(read.data)]
            m.d.comb += [write.addr.eq(self.row), write.data.eq(self.word), write.en.eq(self.bytes)]
        return m


@pytest.fixture(autouse=True, scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One cache for the module, so that the library is parsed once."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("synth")
        patch.setenv("WARPLOOM_CACHE", str(folder))
        yield folder


def report_of(component: wiring.Component, folder: Path, *, flat: bool = False) -> Report:
    rtlil = verilog.to_rtlil(component, "unit", source_lines=False)
    design = elaborate(rtlil, "unit", folder, flat=flat)
    return synthesise_design(design, "test", None, liberty.load(None), flat=flat)


def test_adder_has_its_flops_and_registers_by_name(tmp_path: Path) -> None:
    (row,) = report_of(Adder(8), tmp_path).rows
    flop = liberty.load(None).cells["DFF_X1"].area
    assert row.sequential_um2 == pytest.approx(24 * flop, abs=0.01)
    assert row.cells > 24 + 8
    assert row.start.startswith(("left[", "right[")), row.start
    assert row.end.startswith("total["), row.end


def test_longer_chains_take_longer(tmp_path: Path) -> None:
    delays = [report_of(Adder(width), tmp_path).rows[0].delay_ps for width in (4, 8, 32)]
    assert delays == sorted(delays) and delays[0] < delays[1] < delays[2]


def test_two_equal_parts_cost_twice_one(tmp_path: Path) -> None:
    rows = {row.unit: row for row in report_of(Pair(), tmp_path).rows}
    assert rows["adder"].instances == 2
    assert rows["unit"].sequential_um2 == pytest.approx(2 * rows["adder"].sequential_um2)
    assert rows["unit"].cells >= 2 * rows["adder"].cells
    assert rows["unit"].delay_ps >= rows["adder"].delay_ps


class Sum(wiring.Component):
    """A pair whose outputs are combined."""

    def __init__(self) -> None:
        super().__init__({"a": In(8), "b": In(8), "both": Out(8)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.pair = pair = Pair()
        m.d.comb += [pair.a.eq(self.a), pair.b.eq(self.b), self.both.eq(pair.x & pair.word)]
        return m


def test_glue_is_what_no_part_has(tmp_path: Path) -> None:
    design = elaborate(verilog.to_rtlil(Sum(), "unit", source_lines=False), "unit", tmp_path)
    row = glue_of(design, liberty.load(None))
    assert 8 <= row.cells <= 16, "eight gates, and their inverters"
    assert (row.sequential_um2, row.sram_bits, row.end) == (0.0, 0, "")


def test_a_module_that_joins_others_is_dissolved(tmp_path: Path) -> None:
    text = verilog.to_rtlil(Sum(), "unit", source_lines=False)
    apart, joined = (elaborate(text, "unit", tmp_path / name, joints=joints)
                     for name, joints in (("apart", ()), ("joined", ("unit_pair",))))
    names, others = ({unit.name for unit in design.units()} for design in (apart, joined))
    assert names == {"unit", "unit_pair"}
    assert others == {"unit", "adder"}


def test_parts_of_a_divided_unit_stay_modules(tmp_path: Path) -> None:
    text = verilog.to_rtlil(Sum(), "unit", source_lines=False)
    design = elaborate(text, "unit", tmp_path, divided=("unit_pair",))
    assert {unit.name for unit in design.units()} == {"unit", "unit_pair", "adder"}


def test_a_unit_that_is_apart_stays_a_module(tmp_path: Path) -> None:
    text = verilog.to_rtlil(Sum(), "unit", source_lines=False)
    design = elaborate(text, "unit", tmp_path, apart=("adder",))
    assert {unit.name for unit in design.units()} == {"unit", "unit_pair", "adder"}


def test_a_unit_that_is_apart_is_mapped_for_speed(tmp_path: Path) -> None:
    text = verilog.to_rtlil(Adder(8), "unit", source_lines=False)
    designs = [elaborate(text, "unit", tmp_path / str(apart), apart=apart) for apart in ((), ("unit",))]
    small, fast = (synthesise_design(design, "test", None, liberty.load(None)).rows[0] for design in designs)
    assert fast.delay_ps < small.delay_ps
    assert fast.combinational_um2 > small.combinational_um2


def shared_modules(config: SmConfig) -> set[str]:
    """The modules of a datapath that several places may share."""
    platform, known = shared.SharedModules(), set[str]()
    Fragment.get(verilog.create(config, "Datapath"), platform)
    while modules := platform.pending.keys() - known:
        for name in modules:
            Fragment.get(platform.pending[name], platform)
        known |= modules
    return known


def test_every_unit_that_is_apart_is_in_some_datapath() -> None:
    """A renamed one would be mapped in another way."""
    settings = (["schedulers=2", "issue_ports=2", *SETS_BY_PIPE], ["coalescing=on", "alignment=write"],
                ["bypass=bow"], ["affine=abm"],
                ["read_arbiter=separable"], ["read_arbiter=separable", "coalescing=on"],
                ["bypass=bow_wr", "coalescing=on", "warps=2", "entries=4"],
                *(["bypass=bow", "read_arbiter=pipelined", f"coalescing={kind}", "warps=2", "entries=4"]
                  for kind in ("off", "on")))
    modules = set().union(*(shared_modules(SmConfig.preset("small").with_settings(each)) for each in settings))
    assert [pattern for pattern in verilog.APART if not fnmatch.filter(modules, pattern)] == []


def test_flat_is_one_row_with_the_same_memory(tmp_path: Path) -> None:
    (row,) = report_of(Pair(), tmp_path, flat=True).rows
    assert (row.sram_macros, row.sram_bits) == (1, 1024 * 8)


def test_sram_takes_its_time_only_in_the_second_path(tmp_path: Path) -> None:
    (row,) = report_of(Stored(), tmp_path).rows
    assert row.start.startswith("store.RD_DATA") or row.end.startswith("store.RD_ADDR")
    assert row.sram_start.startswith("store.RD_DATA")
    access = Macro(256, 16).access_ps
    assert row.delay_ps + access - 1 <= row.sram_delay_ps <= row.delay_ps + access + SETUP_PS
    assert 0 < row.delay_ps < access


def test_memories_of_one_shape_count_together(tmp_path: Path) -> None:
    (row,) = report_of(TwoMemories(), tmp_path).rows
    assert (row.sram_macros, row.sram_bits) == (2, 2 * 256 * 16)


class Enables(wiring.Component):
    """A memory of three nibbles, of which the outer ones are written together."""

    def __init__(self) -> None:
        super().__init__({"outer": In(1), "inner": In(1), "word": In(12), "out": Out(12)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.store = store = Memory(shape=12, depth=128, init=[])
        read, write = store.read_port(), store.write_port(granularity=4)
        m.d.comb += [read.en.eq(1), self.out.eq(read.data), write.data.eq(self.word),
                     write.en.eq(Cat(self.outer, self.inner, self.outer))]
        return m


def test_each_bit_of_a_memory_has_its_enable(tmp_path: Path) -> None:
    library = liberty.load(None)
    design = elaborate(verilog.to_rtlil(Enables(), "unit", source_lines=False), "unit", tmp_path)
    flat = Linker({"unit": map_module(design, "unit", library).netlist}, library).link("unit")
    gates, found = Gates(flat, library, 1), []
    for outer, inner in ((1, 0), (0, 0), (0, 1), (0, 0), (0, 0)):
        gates.settle({"outer": np.array([[outer]]), "inner": np.array([[inner]]), "word": np.ones((1, 12), int)})
        found += gates.output("out")
        gates.clock()
    assert found == [0, 0, 0xf0f, 0xf0f, 0xfff]


def test_a_unit_without_sram_has_one_path(tmp_path: Path) -> None:
    (row,) = report_of(Adder(8), tmp_path).rows
    assert (row.sram_delay_ps, row.sram_start, row.sram_end) == (row.delay_ps, row.start, row.end)


@pytest.mark.long
@pytest.mark.skipif(opensta.PROGRAM is None, reason="OpenSTA (sta) is not installed")
@pytest.mark.parametrize("unit", ["Arbiter", "Placer", "Dispatcher"])
def test_units_are_timed_as_by_opensta(tmp_path: Path, unit: str) -> None:
    library = liberty.load(None)
    flat = linked(SmConfig.preset("small"), unit, library)
    path = Timer(flat, library).longest()
    assert path is not None
    assert opensta.longest(flat, library, "clk", tmp_path) == pytest.approx((path.delay, path.setup), rel=1e-3, abs=0.1)


@pytest.mark.long
def test_joints_too_large_for_a_name_of_their_own_are_parts_of_the_wiring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = SmConfig.preset("small").with_settings(["bypass=bow_wr", "warps=2", "window=2", "entries=4"])
    named = joined(config, tmp_path / "named")
    monkeypatch.setattr(shared, "NUMBERED", 6_000)
    large = joined(config, tmp_path / "large")
    assert fnmatch.filter(large.modules, "operand_store_*") and not fnmatch.filter(named.modules, "operand_store_*")
    assert set(large.kept) == set(named.kept) and "eviction_unit" in named.kept


def test_register_file_bits_are_counted_exactly() -> None:
    config = SmConfig.preset("small")
    row = synthesise(config, ["Bank"]).rows[0]
    assert (row.unit, row.sram_macros, row.sram_bits) == ("bank", 4, config.rows * 1024)
    assert row.sram_um2 == pytest.approx(4 * Macro(config.rows, 256).area_um2, rel=1e-3)
    assert row.instances == config.banks


def test_second_run_takes_everything_from_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    config = SmConfig.preset("small")
    first = synthesise(config, ["sub_bank"], top="Bank")
    monkeypatch.setattr("warploom.synth.yosys.run", lambda *_: pytest.fail("Yosys ran again"))
    second = synthesise(config, ["sub_bank"], top="Bank")
    assert second.to_json() == first.to_json()
    assert json.loads(second.to_json())["stage"] == "pre-layout"


def test_what_is_damaged_is_made_again(build: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The library's summary, mapped modules, the report: each alone, with its dependents."""
    def report() -> str:
        return synthesise(SmConfig.preset("small"), ["sub_bank"], top="Bank").to_json()

    first = report()
    kinds = [list(build.glob(f"{kind}/*/{name}")) for kind in ("cells", "reports", "modules")
             for name in ("text", "record")]
    cells, cell_records, reports, report_records, modules, module_records = kinds
    for damaged in (cells, cell_records, reports, report_records, reports + modules, reports + module_records):
        assert damaged
        for path in damaged:
            path.write_bytes(path.read_bytes()[:-9])
        capsys.readouterr()
        assert report() == first
        lines = capsys.readouterr().err.splitlines()
        assert lines
        assert {*lines} <= {f"warploom: warning: {path} is damaged: made again" for path in damaged}
    assert report() == first
    assert capsys.readouterr().err == ""


def test_a_unit_that_is_no_module_is_synthesised_by_itself() -> None:
    """In its own netlist it is one; here the top does not even have it."""
    config = SmConfig.preset("small").with_settings(["sp.result_queue=2", "tfet_rows=8", "renaming=mem_ra"])
    (row,) = synthesise(config, ["sweep"], top="BankLists").rows
    assert (row.unit, row.instances, row.sram_macros) == ("sweep", 1, 0)
    with pytest.raises(ConfigError, match="unit = Sweep: it is dissolved in its parent; ask for it alone"):
        synthesise(config, ["Sweep", "free_list"], top="BankLists")


def test_a_unit_may_be_flat() -> None:
    """In the netlist of the top, which is one module, there is no unit."""
    (row,) = synthesise(SmConfig.preset("small"), ["SubBank"], top="Bank", flat=True).rows
    assert (row.unit, row.instances, row.sram_macros) == ("sub_bank", 1, 1)


def test_unknown_unit_names_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"sub_bnak: must be one of SubBank, Bank, "):
        synthesise(SmConfig.preset("small"), ["sub_bnak"], top="Bank")


def test_a_slip_in_the_name_of_a_unit_is_found_before_elaboration(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names in small letters may be those of other modules, which only the design knows."""
    monkeypatch.setattr(flow, "_elaborate", None)
    with pytest.raises(ConfigError, match=r"unit = 'Colector': must be one of .*; nearest: Collector"):
        synthesise(SmConfig.preset("small"), ["Colector"])


def test_sram_area_and_energy_at_the_published_point() -> None:
    bank = Macro(512, 1024)
    assert bank.bits == 65536 * 8
    assert bank.cacti_area_um2 == pytest.approx(1.72e6 * (45 / 28) ** 2)
    assert bank.energy_pj == pytest.approx(185.26 * (45 / 28) * (1.1 / 0.96) ** 2)
    assert bank.leakage_mw == pytest.approx(111.84)


def test_access_times_follow_the_published_ones() -> None:
    timing = FIGURES["timing"]
    for words, width, published in zip(timing["words"], timing["width"], timing["access_ps"], strict=True):
        assert Macro(words, width).access_ps == pytest.approx(published, rel=0.05)


def test_combinations_are_legal_and_keep_what_is_set() -> None:
    found = combinations(SmConfig.preset("small"))
    assert len({one.settings for one in found}) == len(found) > 100
    assert {"", "gating=cross_lane coalescing=on"} <= {" ".join(sorted(one.settings, reverse=True)) for one in found}
    for one in found:
        assert one.config == SmConfig.preset("small").with_settings(list(one.settings))
        one.config.check_hardware()
    held = combinations(SmConfig.preset("small").with_settings(["affine=ab"]), {"affine", "bypass", "gating"})
    assert [(one.config.affine, one.config.coalescing, one.config.alignment) for one in held] == [
        ("ab", "off", "reg"), ("ab", "on", "reg"), ("ab", "on", "write")]


def test_some_combinations_have_all_pairs() -> None:
    config = SmConfig.preset("small")
    some = combinations(config, only_pairs=True)
    everything = combinations(config)
    assert set(some) < set(everything) and len(some) < len(everything) / 8
    assert _pairs_of(some) == _pairs_of(everything)


def _pairs_of(wanted: list[Combination]) -> set[tuple[str, ...]]:
    fields = ("coalescing", "alignment", "gating", "bypass", "transient", "affine", "renaming")
    return {pair for one in wanted
            for pair in itertools.combinations([f"{field} {getattr(one.config, field)}" for field in fields], 2)}


def test_all_combinations_end_with_the_paths_above_a_limit(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Only the table, the document and the failure: the paths are made up."""
    def made_up(config: SmConfig, *_: object, **__: object) -> Report:
        delay = 1000.3 if config.alignment == "write" else 900.0
        row = Row("datapath", 1, 10, 5.0, 5.0, 1, 1024, 1.0, 1.0, 1.0, 1.0, delay, 40.0, "a", "b", 1300.0, "c", "d")
        return Report(config.name, "cells", "typical", False, (row,))

    def simulated(wanted: Sequence[Case], _: object) -> Simulated:
        one: Any = SimpleNamespace(statistics=SimpleNamespace(ipc=0.6))
        return Simulated({case.workload: {other.setting: one for other in wanted} for case in wanted})

    monkeypatch.setattr("warploom.synth.combinations.synthesise", made_up)
    monkeypatch.setattr("warploom.verbs.synth.simulate_all", simulated)
    monkeypatch.setattr("warploom.points.compute", lambda function, wanted: ((one, function(one)) for one in wanted))
    chosen = ["synth", "--preset", "small", "--all", "--set", "bypass=off", "--set", "affine=off",
              "--set", "renaming=off"]
    assert cli.main([*chosen, "--max-ps", "1000.3"]) == 0
    capsys.readouterr()
    assert cli.main([*chosen, "--max-ps", "1000", "--json", str(tmp_path / "all.json")]) == 1
    printed = capsys.readouterr()
    assert printed.out.count("coalescing=on alignment=write") == 2 * 4
    assert "coalescing=on alignment=write gating=active: 1,000.3 ps, more than 1,000.0 ps: a → b" in printed.out
    found = json.loads((tmp_path / "all.json").read_text())
    assert len(found["combinations"]) == 3 * 4
    assert found["failure"] in printed.out
    assert cli.main([*chosen, "--ipc", "tiny", "--json", str(tmp_path / "all.json")]) == 0
    found = json.loads((tmp_path / "all.json").read_text())
    assert {round(one["instructions_per_ns"], 6) for one in found["combinations"]} == {
        round(0.6 / 1.0003, 6), round(0.6 / 0.9, 6)}
