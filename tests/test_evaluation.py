"""The evaluation: definitions by number, figures by their bytes, simulations that are kept, and what can go wrong."""

import contextlib
import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise

import pytest
from runs import run, statistics

from golden_model.simulate import simulate
from golden_model.values import Values, values
from rtl.corf.names import REGISTERS
from synth.compare import Comparison, compare
from synth.report import Report, Row
from synth.sram import Macro
from tb.toolchain import source_hash
from warploom.arch.config import Alignment, Coalescing, Gating, Layout, SmConfig
from warploom.arch.isa import Instruction, Op
from warploom.arch.program import Hints, Program
from warploom.cli import main
from warploom.evaluation import (
    affine,
    affine_table,
    bypassing,
    charts,
    coalescing,
    energy,
    gating,
    hardware,
    metrics,
    overhead,
    simulations,
    tables,
)
from warploom.evaluation.affine_structure import structure
from warploom.evaluation.bypassing_reuse import reuse
from warploom.evaluation.figures import Figure, Run, Series
from warploom.evaluation.overhead import mask_buffer, overheads
from warploom.evaluation.pressure import COLUMNS, pressure
from warploom.evaluation.published import Published, published
from warploom.evaluation.simulations import cases, simulate_all
from warploom.kernels.library import kernels

FERMI = SmConfig.preset("fermi")
SMALL = SmConfig.preset("small")


# ------------------------------------------------------------------ definitions

BASELINE = statistics(
    bank_requests=100, bank_accesses=100, operands_stored=60, collector_writes=60, ipc=0.5, cycles=200,
    operands=[7, 10, 20, 10], source_widths=[40, 10, 0, 10], destination_widths=[20, 0, 0, 20],
)  # fmt: skip
OURS = dataclasses.replace(
    BASELINE, bank_accesses=80, collector_writes=48, ipc=0.6, cycles=160,
    coalesced={"read_read": 12, "write_write": 2, "read_write": 6},
)  # fmt: skip


@pytest.mark.parametrize(("metric", "expected"), [
    (metrics.accesses_saved, 20.0),  # 80 of 100
    (metrics.bank_bandwidth_gained, 25.0),  # 1.25 requests an access, not 1
    (metrics.collector_writes_saved, 20.0),  # 48 of 60
    (metrics.collector_bandwidth_gained, 25.0),  # 60/48 operands a write
    (metrics.ipc_gained, 20.0),
])  # fmt: skip
def test_comparisons(metric, expected):
    assert metric(OURS, BASELINE) == pytest.approx(expected)
    assert metric(BASELINE, BASELINE) == pytest.approx(0)


@pytest.mark.parametrize(("value", "expected"), [
    (metrics.width_share(BASELINE.source_widths, 4), 100 * 10 / 60),
    (metrics.width_share(BASELINE.source_widths, 1), 100 * 40 / 60),
    (metrics.operand_share(BASELINE, 2), 50.0),  # instructions that read nothing do not count
    (metrics.bank_bandwidth_used(BASELINE), 50.0),  # 40 + 20 + 40 + 20 + 80 bytes of 4 x 100
    (metrics.bank_bandwidth_used(OURS), 62.5),  # of 4 x 80
    (metrics.collector_bandwidth_used(BASELINE), 100 * 100 / 240),
    (metrics.coalesced_share(OURS, "read_read"), 60.0),
    (metrics.coalesced_share(OURS, "write_write"), 10.0),
    (metrics.coalesced_share(BASELINE, "write_write"), 0.0),
])  # fmt: skip
def test_shares(value, expected):
    assert value == pytest.approx(expected)


def test_used_bandwidth_grows_as_bandwidth_is_gained():
    ratio = metrics.bank_bandwidth_used(OURS) / metrics.bank_bandwidth_used(BASELINE)
    assert ratio == pytest.approx(1 + metrics.bank_bandwidth_gained(OURS, BASELINE) / 100)


# ------------------------------------------------------------------ energy

COALESCING = dataclasses.replace(FERMI, coalescing=Coalescing.ON)


def test_cost_of_a_sub_bank_by_hand():
    # 185.26 pJ for 1024 of 524288 bits, to 256 of 65536 bits, from 28 to 45 nm and from 0.96 to 1.1 V
    expected = 185.26 * (256 / 1024) * (1 / 8) ** 0.5 * (45 / 28) * (1.1 / 0.96) ** 2
    assert energy.Costs(FERMI).sub_bank == pytest.approx(expected)


def test_cost_of_a_collector_slice_by_hand():
    # 2.72 pJ for 128 B of 1.5 KB, to 32 B of 384 B
    expected = 2.72 / 4 * 0.5 * (45 / 28) * (1.1 / 0.96) ** 2
    assert energy.Costs(FERMI).collector_slice == pytest.approx(expected)


def test_cost_of_wires_by_hand():
    # a quarter of 256 wires of 0.2 fF per um, as long as a square of 1 Mibit at 0.692 um2 a bit is wide
    length = (2**20 * 0.692) ** 0.5
    assert energy.Costs(FERMI).wires == pytest.approx(64 * 0.2e-3 * length * 1.1**2)


def test_energy_counts_every_event_once():
    costs = energy.Costs(COALESCING)
    run = statistics(sub_bank_reads=3, sub_bank_writes=2, slice_writes=3, operands_stored=1, source_widths=[0, 0, 1, 0],
                     destination_widths=[0, 1, 0, 0])  # fmt: skip
    expected = 5 * (costs.sub_bank + costs.wires) + (3 + 4) * costs.collector_slice + (1 + 2) * costs.code
    assert energy.register_file_pj(run, COALESCING) == pytest.approx(expected)


def test_the_baseline_has_no_mask_buffer_and_a_side_costs_a_bit():
    assert energy.Costs(FERMI).code == 0
    by_write = dataclasses.replace(COALESCING, alignment=Alignment.WRITE)
    assert 0 < energy.Costs(COALESCING).code < energy.Costs(by_write).code
    assert (mask_buffer(COALESCING), mask_buffer(by_write)) == ((1024, 3), (1024, 4))


def test_codes_of_corf_are_in_two_tables():
    corf = coalescing.configurations(FERMI)["wid_corf"]
    assert energy.Costs(corf).code == pytest.approx(Macro(3024, 10).energy_pj + Macro(3024, 4).energy_pj)


def test_energy_of_a_gpu_is_fifteen_percent_register_file():
    before = run(FERMI, sub_bank_reads=100, cycles=200)
    after = run(FERMI, sub_bank_reads=60, cycles=180)
    assert energy.register_file_saved(after, before) == pytest.approx(40)
    assert energy.gpu_saved_by_work(after, before) == pytest.approx(0.15 * 40)
    assert energy.gpu_saved_by_time(after, before) == pytest.approx(0.15 * 40 + 0.85 * 10)


# ------------------------------------------------------------------ figures

NUMBERS = [f"Fig. {n}" for n in (
    "3.3a", "3.3b", "3.4a", "3.4b", "3.5", "3.21", "3.22", "3.23", "3.24", "3.25", "3.26", "3.27", "3.28", "3.29",
    "3.30", "3.31", "3.32", "3.33, whole GPU", "3.34, whole GPU",
)] + [f"Table 3.7, {row}" for row in ("IPC", "whole GPU", "accesses")]  # fmt: skip


def test_every_figure_of_the_seed_is_there_and_each_has_a_file_of_its_own():
    assert set(NUMBERS) <= {figure.number for figure in coalescing.figures()}
    figures = [*coalescing.figures(), *gating.figures(), *bypassing.figures(), *affine.figures()]
    names = [figure.name for figure in figures]
    assert len(set(names)) == len(names)
    assert all(name.replace("_", "").isalnum() for name in names)


def test_every_published_average_stands_beside_one_of_ours():
    bars = {"Affine, Table 1": set(affine_table.COLUMNS)}
    for figure in (*coalescing.figures(), *gating.figures(), *bypassing.figures(), *affine.figures()):
        bars.setdefault(figure.number, set()).update(series.key for series in figure.series)
    assert len(published()) >= 24
    for number, averages in published().items():
        assert averages.keys() <= bars[number], number


def test_every_figure_measures_every_run_of_the_experiment():
    runs = {"k": {name: Run(config, OURS if "off" not in name else BASELINE, Values()) for name, config in
                  coalescing.configurations(FERMI).items()}}  # fmt: skip
    found = {figure.name: figure.measure(runs) for figure in coalescing.figures() if "energy" not in figure.title}
    assert found["fig_3_21"].values["ideal"] == {"k": pytest.approx(20)}
    assert found["fig_3_26"].average("baseline") == pytest.approx(50)
    assert found["fig_3_26"].average("reg adds") == pytest.approx(12.5)
    assert found["fig_3_26"].average("ideal adds") == pytest.approx(0)
    assert found["fig_3_30"].average("read-write") == pytest.approx(30)
    assert found["table_3_7_accesses"].average("corf_plus") == pytest.approx(20)
    for share in ("fig_3_3a", "fig_3_3b", "fig_3_5", "fig_3_29"):
        assert sum(found[share].average(key) for key in found[share].values) == pytest.approx(100)


def test_a_comparison_is_with_the_baseline_of_the_same_layout():
    runs = {name: run(config, ipc=1.0) for name, config in coalescing.configurations(FERMI).items()}
    runs["wid_off"] = run(FERMI, ipc=0.5)
    found = next(f for f in coalescing.figures() if f.number == "Fig. 3.32").measure({"k": runs})
    averages = {key: found.average(key) for key in found.values}
    assert averages == pytest.approx({"wid_reg": 100, "wid_write": 100, "wshift_reg": 0, "wshift_write": 0})


def test_an_average_is_one_of_percentages():
    figure = Figure("Fig. 3.21", "saved", (Series("reg", lambda runs: runs["x"].statistics.ipc),))
    runs = {name: {"x": run(FERMI, ipc=ipc)} for name, ipc in (("a", 10.0), ("b", 20.0), ("c", 60.0))}
    measured = figure.measure(runs)
    assert measured.average("reg") == pytest.approx(30)
    document = measured.to_json()["series"]["reg"]
    assert document == {"kernels": {"a": 10.0, "b": 20.0, "c": 60.0}, "average": 30.0, "published": "31.8"}


def test_configurations_are_the_twelve_of_the_experiment():
    found = coalescing.configurations(dataclasses.replace(COALESCING, alignment=Alignment.IDEAL, collectors=7))
    assert len(found) == 12
    assert all(config.collectors == 7 for config in found.values())
    off = [name for name, config in found.items() if config.coalescing is Coalescing.OFF]
    assert off == ["wid_off", "wshift_off"]
    assert found["wshift_write"].layout is Layout.WSHIFT
    assert found["wshift_write"].alignment is Alignment.WRITE
    assert found["wid_corf"].coalescing is Coalescing.CORF


def test_how_a_configuration_gates_does_not_matter():
    gated = dataclasses.replace(FERMI, gating=Gating.CROSS_LANE)
    assert coalescing.configurations(gated) == coalescing.configurations(FERMI)


@pytest.mark.parametrize(("entry", "shown"), [(31.8, "31.8"), (9, "9.0"), ("<= 33.8", "<= 33.8"), ("~ 31", "~ 31.0"),
                                              ("4 to 17", "4.0 to 17.0"), ("-1 to 0.5", "-1.0 to 0.5")])  # fmt: skip
def test_published_averages_keep_their_relation(entry, shown):
    assert str(Published.of(entry)) == shown


@pytest.mark.parametrize("entry", ["about 3", "<= many", "", "4 to", "few to 17"])
def test_published_averages_are_numbers(entry):
    with pytest.raises(ValueError, match=r"relation|float"):
        Published.of(entry)


def test_pressure_accounts_for_every_cycle_of_every_scheduler():
    run = statistics(cycles=100, ipc=0.8, bank_requests=160, bank_conflicts=30, port_conflicts=10,
                     stalls={"collector": 50, "port": 60, "barrier": 7, "memory": 3})  # fmt: skip
    found = pressure(run, FERMI)  # two schedulers
    assert list(found) == list(COLUMNS[2:])
    assert list(found.values()) == pytest.approx([0.8, 1.6, 0.25, 40, 25, 30, 5])


# ------------------------------------------------------------------ charts and tables

STACK = Figure("Fig. 3.3a", "shares", (Series("4 bytes", lambda runs: 30.0), Series("1 byte", lambda runs: 70.0)), True)
GROUP = Figure("Fig. 3.31", "gained", (Series("reg", lambda runs: 10.0), Series("write", lambda runs: -5.0)))


@pytest.mark.parametrize("figure", [STACK, GROUP])
def test_a_chart_is_the_same_bytes_every_time(figure, tmp_path):
    measured = figure.measure({"a": {}, "b": {}})
    first = {path.suffix: path.read_bytes() for path in charts.draw(measured, tmp_path, "tiny")}
    second = {path.suffix: path.read_bytes() for path in charts.draw(measured, tmp_path, "tiny")}
    assert first == second
    assert first[".png"].startswith(b"\x89PNG")
    assert b"<svg" in first[".svg"]
    assert charts.draw(measured, tmp_path, "default")[0].read_bytes() != first[".png"]
    other = dataclasses.replace(figure, title="another").measure({"a": {}, "b": {}})
    assert charts.draw(other, tmp_path, "tiny")[0].read_bytes() != first[".png"]


def test_a_published_bar_is_hatched_and_a_range_is_where_it_is():
    def hatched(number: str, bar: str) -> list[tuple[float, float]]:
        series = Series(bar, lambda runs: 9.0), Series("other", lambda runs: 9.0)
        measured = Figure(number, "", series).measure({"a": {}})
        return [(patch.get_y(), patch.get_height()) for patch in charts._draw(measured, "").axes[0].patches
                if patch.get_hatch()]  # fmt: skip

    assert hatched("Fig. 3.31", "reg") == [(0, 15.3)]
    assert hatched("Affine, Fig. 5", "8 lanes, fast") == [(4, 13)]


def test_a_table_has_kernels_average_and_what_is_published(capsys):
    tables.show(GROUP.measure({"a": {}, "b": {}}))
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip(" ─")]
    assert lines == [
        ["Fig.", "3.31:", "gained,", "%"], ["kernel", "reg", "write"], ["a", "10.0", "-5.0"], ["b", "10.0", "-5.0"],
        ["average", "10.0", "-5.0"], ["published", "15.3", "-"],
    ]  # fmt: skip


def test_bars_on_top_of_one_another_have_a_sum(capsys):
    parts = Figure("Fig. 4.7", "saved", tuple(Series(key, lambda runs: 4.0) for key in published()["Fig. 4.7"]), True)
    tables.show(parts.measure({"a": {}}))
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["a", "4.0", "4.0", "4.0", "12.0"] in lines
    assert ["published", "15.0", "15.0", "20.0", "50.0"] in lines


def test_shares_have_no_sum(capsys):
    tables.show(STACK.measure({"a": {}}))
    assert "in all" not in capsys.readouterr().out


def test_the_table_of_averages_leaves_out_what_nobody_published(capsys):
    tables.show_averages([GROUP.measure({"a": {}})])
    text = capsys.readouterr().out
    assert "15.3" in text
    assert "-5.0" not in text


# ------------------------------------------------------------------ simulations

PAIR = {name: config for name, config in coalescing.configurations(SMALL).items() if name in ("wid_off", "wid_reg")}


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """A folder of its own for what is kept."""
    monkeypatch.setattr(simulations, "CACHE", tmp_path / "runs")
    return tmp_path / "runs"


def test_simulations_are_those_of_the_model_and_are_kept(folder, monkeypatch):
    wanted, heard = cases(["vector_add"], "tiny", PAIR), []
    first = simulate_all(wanted, heard.append)
    trace = simulations._trace("vector_add", "tiny")
    assert first["vector_add"] == {
        name: Run(config, simulate(config, trace).statistics, values(trace), reuse(trace), structure(trace))
        for name, config in PAIR.items()
    }
    assert sorted(heard, key=wanted.index) == wanted
    monkeypatch.setattr(simulations, "ProcessPoolExecutor", None)  # nothing is left to simulate
    assert simulate_all(wanted, heard.append) == first
    assert len(heard) == 2 * len(wanted)


@pytest.mark.parametrize("damage", [
    "", "{", "{}", "[1]", "null", '{"kernel": "vector_add"}', '{"statistics": {}, "values": {}}',
    '{"statistics": [], "values": {}}',
])  # fmt: skip
def test_a_damaged_file_counts_as_none(damage, tmp_path):
    case, = cases(["vector_add"], "tiny", {"wid_off": PAIR["wid_off"]})
    path = tmp_path / "run.json"
    path.write_text(damage)
    assert simulations._read(case, path) is None


def test_a_damaged_file_is_made_again(folder):
    wanted = cases(["vector_add"], "tiny", {"wid_off": PAIR["wid_off"]})
    path = simulations._path(wanted[0], source_hash(*simulations.SOURCES))
    path.parent.mkdir()
    path.write_text("{")
    found = simulate_all(wanted, lambda case: None)["vector_add"]["wid_off"]
    assert json.loads(path.read_text()) == {
        "statistics": found.statistics.to_json(), "values": dataclasses.asdict(found.values),
        "reuse": dataclasses.asdict(found.reuse), "structure": dataclasses.asdict(found.structure),
    }


def test_another_configuration_or_source_has_another_file(folder):
    case, = cases(["vector_add"], "tiny", {"wid_off": PAIR["wid_off"]})
    others = [dataclasses.replace(case, size="default"), dataclasses.replace(case, kernel="bfs"),
              dataclasses.replace(case, config=PAIR["wid_reg"])]  # fmt: skip
    paths = [simulations._path(case, "sources"), simulations._path(case, "changed")]
    paths += [simulations._path(other, "sources") for other in others]
    assert len(set(paths)) == 5


def test_cases_of_a_kernel_come_together():
    order = [case.kernel for case in cases([kernel.name for kernel in kernels()], "tiny", PAIR)]
    assert sum(a != b for a, b in pairwise(order)) == len(kernels()) - 1


# ------------------------------------------------------------------ the command


def test_what_does_not_fit_is_one_line(folder, capsys):
    arguments = ["evaluate", "coalescing", "--size", "tiny", "--preset", "small", "--set", "rows=16"]
    assert main(arguments) == 1
    line, = capsys.readouterr().err.splitlines()
    assert line.startswith("warploom: error: ")
    assert "does not fit" in line


INTERRUPTIBLE = """
import signal, sys
from warploom.cli import main
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(main(["evaluate", "coalescing", "--size", "tiny"]))
"""


def test_an_interrupt_is_one_line_and_leaves_no_process(tmp_path):
    script, kept = tmp_path / "script.py", tmp_path / "build" / "evaluation" / "runs"
    script.write_text(INTERRUPTIBLE)
    with subprocess.Popen([sys.executable, script], cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          text=True, start_new_session=True) as process:  # fmt: skip
        while not list(kept.glob("*.json")) and process.poll() is None:
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (130, "warploom: interrupted\n")
    deadline = time.monotonic() + 10
    with contextlib.suppress(ProcessLookupError):  # what is expected: the group of processes is gone
        while time.monotonic() < deadline:
            os.killpg(process.pid, 0)
            time.sleep(0.1)
        pytest.fail("processes are left")


# ------------------------------------------------------------------ hardware


def row(unit, area, delay=100.0, instances=1):
    """A unit of twice the area, and without a path where that takes no time."""
    start, end = ("a", "b") if delay else ("", "")
    return Row(unit, instances, 10, area, area, 0, 0, 0.0, 0.0, 0.0, 0.0, delay, 0.0, start, end)


def report(*rows):
    return Report("fermi", "cells", "typical", False, rows)


def test_units_stand_beside_those_that_they_replace():
    before = report(row("datapath", 100.0), row("arbiter", 10.0, 200.0), row("gone", 1.0))
    after = report(row("datapath", 150.0), row("coalescing_arbiter", 40.0, 250.0), row("mask_buffer", 5.0))
    found = {e.unit: (e.area_ratio, e.added_um2, e.delay_ratio) for e in compare(before, after)}
    assert found == {"datapath": (1.5, 100.0, 1.0), "coalescing_arbiter": (4.0, 60.0, 1.25),
                     "mask_buffer": (None, 10.0, None), "gone": (None, -2.0, None)}  # fmt: skip


def test_all_instances_count_for_what_is_added():
    bank, = compare(report(row("bank", 2.0, instances=4)), report(row("dual_bank", 3.0, instances=4)))
    assert (bank.area_ratio, bank.added_um2) == (1.5, 8.0)


def test_gated_units_stand_beside_ungated_ones():
    pairs = ("collector", "integer_unit", "writeback", "bank")
    before = report(*(row(unit, 10.0) for unit in pairs))
    after = report(row("zero_buffer", 5.0), *(row(f"gated_{unit}", 20.0) for unit in pairs[:-1]), row("bank", 20.0))
    assert [entry.area_ratio for entry in compare(before, after)] == [None, 2.0, 2.0, 2.0, 2.0]


def test_sram_of_all_instances_counts_apart():
    copies = dataclasses.replace(row("zero_buffer", 5.0, instances=4), sram_bits=640)
    file = dataclasses.replace(row("bank", 5.0, instances=4), sram_bits=1024)
    found = {entry.unit: entry.added_sram_bits for entry in compare(report(file), report(file, copies))}
    assert found == {"bank": 0, "zero_buffer": 2560}


def test_a_unit_without_a_path_has_no_ratio_of_paths():
    entry, = compare(report(row("crossbar", 1.0, 0.0)), report(row("sliced_crossbar", 2.0, 0.0)))
    assert (entry.area_ratio, entry.delay_ratio) == (2.0, None)


def test_collectors_store_what_seed_001_says():
    """Section V: 32 collectors of 1.5 KB, or half of it, instead of 384 B: 36 KB more, or 12 KB."""
    baseline, full, half = (hardware.CollectorCost("", row("collector", 1.0), 32, words) for words in (3, 12, 6))
    assert full.stored_bytes - baseline.stored_bytes == 36 * 1024
    assert half.stored_bytes - baseline.stored_bytes == 12 * 1024


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
                         ("CoalescingCollector", "off", "on", "off", 12)]  # fmt: skip
    assert [entry.unit for entry in hardware.network(config)] == [
        "RotatingArbiter", "RoundRobinDispatcher", "EvictionUnit", "glue"
    ]  # a crossbar of 32 collectors before and after
    few = config.with_settings(["collectors=4"])
    assert [entry.added_um2 for entry in hardware.network(few)] == [0.0, 0.0, 0.0, 2.0, 2.0]


def test_a_network_is_part_of_a_bank():
    bank = hardware.BANK
    network = [Comparison(row("arbiter", 100.0), row("rotating_arbiter", 100.0 + 0.005 * bank.area_um2)),
               Comparison(None, row("eviction_unit", 0.005 * bank.area_um2))]  # fmt: skip
    found = hardware.shares(network)
    assert found["by its bit cells"] == pytest.approx(0.02)  # combinational and sequential alike
    assert found["of a 64 KB bank by CACTI"] == pytest.approx(0.02 * bank.area_um2 / bank.cacti_area_um2)


def test_storage_is_that_of_the_table():
    found = {need.what: (need.corf, need.ours) for need in overheads(FERMI)}
    assert found["rename table"] == (3780, 0)  # 48 warps x 63 registers x 10 bits
    assert found["free register map"] == (512, 0)  # a bit for each sub-bank entry
    assert found["allocation table, mask buffer"] == (1512, 384)
    by_write = {need.what: need.ours for need in overheads(dataclasses.replace(COALESCING, alignment=Alignment.WRITE))}
    assert by_write["allocation table, mask buffer"] == 512


def test_code_grows_by_its_hints():
    """Two instructions, 256 bits; a pair of two 8-bit numbers and three sides, 19 bits: 7.4 %."""
    code = (Instruction(op=Op.EXIT),) * 2
    program = Program("kernel", "kernel.ptx", code, (0, 0), 3, hints=Hints(((0, 1),)))
    assert overhead.code_growth([program]) == pytest.approx(100 * 19 / 256)


def test_tables_by_register_number_have_the_rows_of_the_hardware():
    assert overhead.NAMED == REGISTERS
