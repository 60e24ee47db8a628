"""The cost of a mechanism's hardware beside the units that it replaces, and the storage that it adds."""

import dataclasses
import json

import pytest

from warploom.arch.config import SmConfig
from warploom.arch.isa import Instruction, Op
from warploom.arch.mechanisms import Alignment, Coalescing
from warploom.arch.program import Hints, Program
from warploom.evaluation.fg_simt import energy as fg_simt_energy
from warploom.evaluation.hardware import areas, overhead
from warploom.evaluation.hardware import experiment as hardware
from warploom.evaluation.hardware.overhead import coalescing_overheads
from warploom.evaluation.pages import RESULTS
from warploom.rtl.corf.names import REGISTERS
from warploom.synth.compare import Comparison, compare
from warploom.synth.flow import synthesise
from warploom.synth.report import Report, Row

NARROW = SmConfig.preset("narrow")
COALESCING = dataclasses.replace(NARROW, coalescing=Coalescing.ON)


def row(unit, area, delay=100.0, instances=1):
    """A unit of twice the area, and without a path if its delay is 0."""
    start, end = ("a", "b") if delay else ("", "")
    return Row(unit, instances, 10, area, area, 0, 0, 0.0, 0.0, 0.0, 0.0, delay, 0.0, start, end)


def report(*rows):
    return Report("narrow", "cells", "typical", False, rows)


def test_units_stand_beside_those_that_they_replace():
    before = report(row("datapath", 100.0), row("arbiter", 10.0, 200.0), row("gone", 1.0))
    after = report(row("datapath", 150.0), row("coalescing_arbiter", 40.0, 250.0), row("mask_buffer", 5.0))
    found = {e.unit: (e.area_ratio, e.added_um2, e.delay_ratio) for e in compare(before, after)}
    assert found == {"datapath": (1.5, 100.0, 1.0), "coalescing_arbiter": (4.0, 60.0, 1.25),
                     "mask_buffer": (None, 10.0, None), "gone": (None, -2.0, None)}


def test_all_instances_count_for_what_is_added():
    bank, = compare(report(row("bank", 2.0, instances=4)), report(row("dual_bank", 3.0, instances=4)))
    assert (bank.area_ratio, bank.added_um2) == (1.5, 8.0)


def test_gated_units_stand_beside_ungated_ones():
    before = report(row("integer_unit", 10.0), row("bank", 10.0))
    after = report(row("zero_buffer", 5.0), row("integer_unit", 20.0), row("bank", 20.0))
    assert [entry.area_ratio for entry in compare(before, after)] == [None, 2.0, 2.0]


def test_sram_of_all_instances_counts_apart():
    copies = dataclasses.replace(row("zero_buffer", 5.0, instances=4), sram_bits=640)
    file = dataclasses.replace(row("bank", 5.0, instances=4), sram_bits=1024)
    found = {entry.unit: entry.added_sram_bits for entry in compare(report(file), report(file, copies))}
    assert found == {"bank": 0, "zero_buffer": 2560}


@pytest.mark.parametrize(("before", "after"), [(0.0, 0.0), (0.0, 9.0), (9.0, 0.0)])
def test_a_unit_without_a_path_has_no_ratio_of_paths(before, after):
    entry, = compare(report(row("crossbar", 1.0, before)), report(row("sliced_crossbar", 2.0, after)))
    assert (entry.area_ratio, entry.delay_ratio) == (2.0, None)


def test_a_unit_that_was_wiring_alone_has_no_ratio_of_areas():
    entry, = compare(report(row("crossbar", 0.0)), report(row("sliced_crossbar", 2.0)))
    assert (entry.area_ratio, entry.added_um2) == (None, 4.0)


def test_collectors_store_as_much_as_the_source_counts():
    """Section V: 32 collectors of 1.5 KB, or half of it, instead of 384 B: 36 KB more, or 12 KB."""
    baseline, full, half = (hardware.CollectorCost("", row("collector", 1.0), 32, words) for words in (3, 12, 6))
    assert full.stored_bytes - baseline.stored_bytes == 36 * 1024
    assert half.stored_bytes - baseline.stored_bytes == 12 * 1024


def test_units_alone_stand_beside_those_that_they_replace(monkeypatch):
    monkeypatch.setattr(hardware, "synthesise", lambda config, units: report(*(row(unit, 1.0) for unit in units)))
    for mechanism, entries in hardware.changed(COALESCING).items():
        assert {(entry.before and entry.before.unit, entry.after.unit) for entry in entries} == {
            *hardware.CHANGED[mechanism]}


def test_windows_are_synthesised_without_other_mechanisms(monkeypatch):
    made = []

    def synthesise(config, *, top):
        made.append((top, config.bypass, config.coalescing, config.gating, config.entries))
        return report(row(top, 1.0))

    monkeypatch.setattr(hardware, "synthesise", synthesise)
    monkeypatch.setattr(hardware, "glue", lambda config: row("glue", 2.0 if config.bypass.has_window else 1.0))
    config = SmConfig.preset("pascal").with_settings(["gating=cross_lane", "window=4"])
    assert [(kind.count, kind.words) for kind in hardware.collectors(config)] == [
        (32, words) for words in (3, 16, 16, 16, 8, 3, 16)
    ]
    assert made[4:6] == [("BypassingCollector", "bow_hints", "off", "off", 8),
                         ("Collector", "off", "on", "off", 12)]
    assert [entry.unit for entry in hardware.network(config)] == [
        "RotatingArbiter", "Dispatcher", "AgeMatrix", "EvictionUnit", "glue"
    ]  # a crossbar of 32 collectors before and after
    few = config.with_settings(["collectors=4"])
    assert [entry.added_um2 for entry in hardware.network(few)] == [0.0, 0.0, 0.0, -2.0, 2.0, 2.0]


def test_a_network_is_part_of_a_bank():
    bank = hardware.BANK
    network = [Comparison(row("arbiter", 100.0), row("rotating_arbiter", 100.0 + 0.005 * bank.area_um2)),
               Comparison(None, row("eviction_unit", 0.005 * bank.area_um2))]
    found = hardware.shares(network)
    assert found["by its bit cells"] == pytest.approx(0.02)  # combinational and sequential alike
    assert found["of a 64 KB bank by CACTI"] == pytest.approx(0.02 * bank.area_um2 / bank.cacti_area_um2)


def test_storage_is_that_of_the_table():
    found = {need.what: (need.corf, need.ours) for need in coalescing_overheads(NARROW)}
    assert found["rename table"] == (3780, 0)  # 48 warps x 63 registers x 10 bits
    assert found["free register map"] == (512, 0)  # a bit for each sub-bank entry
    assert found["allocation table, mask buffer"] == (1512, 384)
    assert found["byte-level shifters, byte multiplexers"] == (10, 5)
    by_write = {need.what: need.ours
                for need in coalescing_overheads(dataclasses.replace(COALESCING, alignment=Alignment.WRITE))}
    assert by_write["allocation table, mask buffer"] == 512
    assert found["their read ports, by issue port"] == (4, 4)
    assert overhead.read_ports(NARROW.with_settings(["issue_per_warp=2"])) == 8
    fermi = SmConfig.preset("fermi")  # four dispatch ports, four write paths
    assert (overhead.shifters(fermi), overhead.multiplexers(fermi)) == (12, 16)
    assert (overhead.operand_registers(fermi), overhead.dispatch_inputs(fermi)) == (12, 48)
    gtx480 = SmConfig.preset("gtx480")  # two ports see the 6 collectors of SP, the others 8 and 2
    assert overhead.dispatch_inputs(gtx480) == 3 * (6 + 6 + 8 + 2)


def test_code_grows_by_its_hints():
    """Two instructions, 256 bits; a pair of two 8-bit numbers and three sides, 19 bits: 7.4 %."""
    code = (Instruction(op=Op.EXIT),) * 2
    program = Program("kernel", "kernel.ptx", code, (0, 0), 3, hints=Hints(((0, 1),)))
    assert overhead.code_growth([program]) == pytest.approx(100 * 19 / 256)


def test_tables_by_register_number_have_the_rows_of_the_hardware():
    assert overhead.NAMED == REGISTERS


# ------------------------------------------------------------------ docs/results


def committed(name):
    """A committed result. Where it differs from the hardware: `python -m warploom.results NAME`, then `make docs`."""
    return json.loads((RESULTS / f"{name}.json").read_text())


@pytest.mark.parametrize(("before", "after"), [("Arbiter", "CoalescingArbiter"), ("Bank", "DualBank")])
def test_committed_units_are_those_of_the_hardware(before, after):
    """A few that change often, without the datapath around them, which takes most of the time."""
    off = hardware.ungated(NARROW)
    on = dataclasses.replace(off, coalescing=Coalescing.ON)
    rows = {"before": synthesise(off, top=before).rows[0], "after": synthesise(on, top=after).rows[0]}
    entry, = (entry for entry in committed("hardware_units")["coalescing_units"] if entry["unit"] == rows["after"].unit)
    for side, row in rows.items():
        assert Comparison(None, row).to_json()["after"] == {**entry[side], "instances": 1}


@pytest.mark.long
def test_all_committed_units_are_those_of_the_hardware():
    result = committed("hardware_units")
    for mechanism, entries in hardware.changed(NARROW).items():
        before = {entry["unit"]: entry for entry in result[f"{mechanism}_units"]}
        for entry in entries:
            assert entry.to_json() == before[entry.unit]
    assert [dataclasses.asdict(row) for row in hardware.alone(NARROW, hardware.CORF_UNITS)] == result["corf_units"]


SHORT = areas._corf
"""The part of the areas that takes the least time."""


@pytest.mark.parametrize("part", [
    pytest.param(part, marks=[] if part is SHORT else pytest.mark.long, id=part.__name__) for part in areas.PARTS])
def test_committed_areas_are_those_of_the_hardware(part):
    found = {area["key"]: area["um2"] for area in committed("hardware_areas")["areas"]}
    for key, um2 in part(hardware.ungated(NARROW)):
        assert um2 == pytest.approx(found[key])


@pytest.mark.long
def test_the_committed_engine_is_that_of_the_hardware():
    """Its control processor, which has the longest path, with all of affine execution."""
    config = SmConfig.preset("small").with_settings(["affine=abm"])
    row, = synthesise(config, (fg_simt_energy.CHANGED,), top=fg_simt_energy.ENGINE).rows
    entry, = (entry for entry in committed("fg_simt_cost")["engine_units"] if entry["unit"] == row.unit)
    assert Comparison(None, row).to_json()["after"] == entry["after"]
