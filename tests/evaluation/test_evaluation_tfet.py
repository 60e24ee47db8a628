"""The evaluation of CMOS and TFET rows: machines, programs, and energies by hand."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import pytest
from support.runs import statistics

from warploom.arch.gpu import GpuConfig
from warploom.evaluation.energy.assumptions import ASSUMED
from warploom.evaluation.energy.costs import Costs
from warploom.evaluation.figures import Launched, Run
from warploom.evaluation.register_file_energy import register_file
from warploom.evaluation.simulations import Case, _decode, _run
from warploom.evaluation.tfet import energy as tfet_energy
from warploom.evaluation.tfet import experiment as tfet
from warploom.evaluation.tfet.energy import Energy, dynamic_saved, energy, energy_saved, leakage_saved, tfet_share
from warploom.evaluation.workloads import NAMED
from warploom.golden_model.values import Values
from warploom.kernels.library import kernels
from warploom.programs.library import programs

MACHINES = tfet.configurations(GpuConfig.preset("tfet_gpu"), ())


@lru_cache
def run_of(setting: str) -> Run:
    """A run of a tiny workload."""
    case = Case("transpose", "tiny", setting, MACHINES[setting])
    return _decode(case, _run(case))


def test_004_table_2() -> None:
    """Every program of the table has one of ours; those that say so themselves are in it."""
    assert len(tfet.TABLE_2) == 14 and set(tfet.INTENSIVE) < set(tfet.TABLE_2)
    named = {program.name for program in programs() if "TFET" in program.suite}
    assert named == set(tfet.TABLE_2) - {one.name for one in kernels()}
    blocks = dict(tfet.TABLE_2.values())
    assert (blocks["NW"], blocks["CP"], blocks["NQU"], blocks["STO"]) == (7, 6, 1, 1)


def test_machines_keep_the_bandwidth_of_an_sm() -> None:
    whole, scaled = GpuConfig.preset("tfet_gpu"), MACHINES[tfet.BASELINE]
    for share in (lambda gpu: gpu.channels * gpu.dram_bytes, lambda gpu: gpu.slices * gpu.l2_sets):
        assert 1 <= share(scaled) / share(whole) * whole.sms < 1.5
    assert {name: machine.sm.tfet_rows for name, machine in MACHINES.items() if machine.sm.predicts_stalls} == {
        "mem_ra": 56, "mem_ra_625": 96, "mem_ra_875": 32, "mem_ra_dyncta": 56, "mem_ra_two_level": 56,
        "mem_ra_tuba_trws": 56}
    assert [round(100 * MACHINES[name].sm.cmos_rows / 256, 1) for name in ("mem_ra_625", "mem_ra", "mem_ra_875")] == [
        62.5, 78.1, 87.5]


def test_energy_of_the_baseline_by_hand() -> None:
    """28 nm and 0.7 V: accesses of eight arrays of 128 bits, and 223.68 mW of leakage at 0.96 V."""
    run = run_of(tfet.BASELINE)
    found, counts = energy(run), run.statistics
    scale = 28 / 45 * (0.7 / 1.1) ** 2
    accesses = sum(counts.bank_reads) + sum(counts.bank_writes)
    assert found.dynamic["CMOS"] == pytest.approx(scale * 8 * Costs.of(run).sram(256, 128) * accesses)
    assert found.dynamic["around"] == pytest.approx(scale * register_file(run).around)
    longer = replace(ASSUMED, wire_length=2.0)
    around = energy(run, longer).dynamic["around"] - found.dynamic["around"]
    assert around == pytest.approx(scale * register_file(run).wires) and around
    on = tfet.rows_on(run) / 100
    assert found.leakage["CMOS"] == pytest.approx(2 * 111.84 * 0.7 / 0.96 * on * counts.cycles)
    assert found.leakage["around"] / found.leakage["CMOS"] == pytest.approx(4 * 3 / 1024 / on)
    assert found.dynamic["TFET"] == found.leakage["TFET"] == tfet_share(run) == 0


def test_gating_saves_in_accesses_and_costs_around_them() -> None:
    """A quarter of the columns: of an access of which two fifths belong to the row (2 + 3 / 4) / 5 are left."""
    run = run_of(tfet.BASELINE)
    reads = run.statistics.sub_bank_reads + run.statistics.sub_bank_writes
    columns = replace(run.statistics, sub_bank_reads=reads, sub_bank_writes=0, column_reads=2 * reads, column_writes=0)
    gated = replace(run, machine=run.machine.with_settings(["gating=cross_lane"]), statistics=columns)
    assumed = replace(ASSUMED, row_share=0.4)
    found, parts = energy(gated, assumed), register_file(gated, assumed=assumed)
    assert found.dynamic["CMOS"] == pytest.approx(0.55 * energy(run).dynamic["CMOS"])
    half = replace(gated, statistics=replace(columns, sub_bank_reads=reads // 2, column_reads=reads // 2 * 2))
    assert energy(half, assumed).dynamic["CMOS"] == pytest.approx(found.dynamic["CMOS"] / 2)
    scale = 28 / 45 * (0.7 / 1.1) ** 2
    assert parts.overhead and found.dynamic["around"] == pytest.approx(scale * (parts.around + parts.overhead))


def test_time_of_waiting_is_that_of_all_schedulers() -> None:
    """Two SMs, of which one waits in a quarter of the cycles and the other in half of them."""
    run = run_of(tfet.BASELINE)
    gpu = run.machine.with_settings(["sms=2"])
    counts = replace(run.statistics, cycles=100, stalls={"memory": 75 * gpu.sm.schedulers})
    assert tfet.waiting(replace(run, machine=gpu, statistics=counts)) == 37.5
    slow = gpu.with_settings(["front_end_interval=3"])  # a third of the cycles, in which as many stalls are counted
    assert tfet.waiting(replace(run, machine=slow, statistics=counts)) == 3 * 37.5


def test_all_rows_are_slow() -> None:
    """Every access is of a TFET row, which takes (3 / 7)^2; none is off; the rest follows time."""
    ours, plain = run_of(tfet.ALL_TFET), run_of(tfet.BASELINE)
    counts = ours.statistics
    assert counts.counted["slow"] == {"reads": sum(counts.bank_reads), "writes": sum(counts.bank_writes)}
    assert counts.cycles > plain.statistics.cycles and counts.bank_reads == plain.statistics.bank_reads
    found, before = energy(ours), energy(plain)
    assert found.dynamic["CMOS"] == found.leakage["CMOS"] == 0
    assert found.leakage["TFET"] == pytest.approx(2 * 111.84 * 0.7 / 0.96 * 3 / 7 / 700 * counts.cycles)
    assert energy_saved(ours, plain) == pytest.approx(dynamic_saved(ours, plain) + leakage_saved(ours, plain))
    assert energy_saved(ours, plain, replace(ASSUMED, cmos_leakage=0.25)) < energy_saved(ours, plain)
    assert energy_saved(ours, plain, replace(ASSUMED, tfet_leakage=4.4)) < energy_saved(ours, plain)
    assert found.dynamic["TFET"] / before.dynamic["CMOS"] == pytest.approx((3 / 7) ** 2, rel=0.02)


def test_the_rename_stage_by_hand() -> None:
    """A row of the table has 9 bits, and four copies: a look-up reads one, a new value writes all. A value takes an
    entry of a list of 8 bits, and gives it back. All of it leaks."""
    run = run_of(tfet.MEM_RA)
    counts, values = run.statistics, tfet.count(run, "values")
    named = counts.operands[1] + 2 * counts.operands[2] + 3 * counts.operands[3] + sum(counts.bank_writes)
    sram, scale = Costs.of(run).sram, 28 / 45 * (0.7 / 1.1) ** 2
    found = energy(run)
    assert found.dynamic["renaming"] == pytest.approx(
        scale * ((named + 4 * values) * sram(256, 9) + 2 * values * sram(256, 8)))
    assert found.dynamic["around"] == pytest.approx(scale * register_file(run).around)  # without the stage
    assert found.leakage["renaming"] / found.leakage["around"] == pytest.approx(1024 * 41 / (12 * 1024))


@pytest.mark.parametrize("setting", [tfet.BASELINE, tfet.MEM_RA])
def test_all_sms_leak_for_the_time_of_a_cycle(setting: str) -> None:
    """Twice the SMs, and cycles that take twice the time."""
    run = run_of(setting)
    found = energy(replace(run, machine=run.machine.with_settings(["sms=2", "core_mhz=500"]))).leakage
    assert found == pytest.approx({part: 4 * leaked for part, leaked in energy(run).leakage.items()})


def test_sleeping_rows_leak_less() -> None:
    """Ten registers of a warp have three rows in each of four banks."""
    run = run_of(tfet.DROWSY)
    assert {launch.registers for launch in run.launches} == {10}
    awake = replace(ASSUMED, drowsy_leakage=1.0)
    saved = energy(run, awake).leakage["CMOS"] - energy(run).leakage["CMOS"]
    asleep = run.statistics.counted["drowsy"]["asleep"]
    assert saved == pytest.approx(2 * 111.84 * 0.7 / 0.96 * 0.85 * 12 * asleep / 1024) and asleep > 0
    run = replace(run, machine=run.machine.with_settings(["layout=wid"]))  # all ten are in one bank
    in_one = energy(run, awake).leakage["CMOS"] - energy(run).leakage["CMOS"]
    assert in_one == pytest.approx(saved * 10 / 12)


def test_tfet_rows_take_dynamic_energy_and_leak(monkeypatch: pytest.MonkeyPatch) -> None:
    spent = Energy({"CMOS": 50, "TFET": 10, "around": 15}, {"CMOS": 20, "TFET": 5})
    monkeypatch.setattr(tfet_energy, "energy", lambda _: spent)
    assert tfet_share(run_of(tfet.BASELINE)) == pytest.approx(15)


def test_the_ideal_partition_is_hardly_slower() -> None:
    """Of those within 5 % that with the least energy: least CMOS rows on, all else equal."""
    plain = run_of(tfet.BASELINE)
    plain = replace(plain, statistics=replace(plain.statistics, cycles=1000), launches=(Launched(10, 32, 1000),))

    def other(name: str, cycles: int) -> Run:
        counted = {**plain.statistics.counted, "slow": {"reads": 0, "writes": 0}}
        return replace(plain, machine=MACHINES[name].with_settings(["renaming=off", "scheduler=gto"]),
                       launches=(Launched(10, 32, cycles),),
                       statistics=replace(plain.statistics, cycles=cycles, counted=counted))

    runs = {tfet.BASELINE: plain, tfet.SMALL: other(tfet.SMALL, 1000), tfet.MEM_RA: other(tfet.MEM_RA, 1050),
            tfet.LARGE: other(tfet.LARGE, 1051)}
    assert tfet.with_ideal({"one": runs})["one"][tfet.IDEAL] is runs[tfet.MEM_RA]


def made(setting: str, launches: tuple[Launched, ...] = (), **fields: Any) -> Run:
    """A run that was not simulated."""
    return Run(MACHINES[setting], statistics(**fields), Values(), launches=launches)


def test_requests_that_are_served() -> None:
    """All if there is none. Fig. 13: of ten requests with `mem_ra` five are served, of eight with TUBA and TRWS six."""
    assert tfet.served(made(tfet.MEM_RA, renaming={"requests": 0, "served": 0, "values": 50})) == 100
    runs = {name: made(name, renaming={"requests": requests, "served": served, "values": 50})
            for name, requests, served in ((tfet.MEM_RA, 10, 5), (tfet.TUBA_TRWS, 8, 6))}
    fig_6, fig_13 = (figure.measure({"bfs_levels": runs}) for figure in tfet.of_bfs())
    assert fig_6.average(tfet.MEM_RA) == 50
    assert {bar: fig_13.average(bar) for bar in fig_13.values} == {"requests": -20, "served": 20}


def test_circumstances_by_hand() -> None:
    """Of two launches the longer one has fewer warps. Four of them with 16 registers need 16 of 256 rows of a bank,
    which are on for 300 of 400 cycles; and 8 need 32. With `mem_ra` 56 of 256 fewer are CMOS."""
    launches = Launched(16, 8, cycles=100), Launched(16, 4, cycles=300)
    found = {"values": 7, "requests": 6, "served": 5, "stalls": 4}
    runs = {tfet.BASELINE: made(tfet.BASELINE, launches, occupancy=0.25),
            tfet.MEM_RA: made(tfet.MEM_RA, launches, occupancy=0.5, renaming=found)}
    row, other = tfet.circumstances({"nw": runs, "mine": runs})
    assert row == ("nw", "NW", 7, 4, 25, 16, pytest.approx(100 * 20 / 256), 7, 6, 5, 4)
    assert other[:3] == ("mine", "", 0)
    full = made(tfet.MEM_RA, (Launched(64, 16, cycles=10),))  # needs all rows
    assert tfet.rows_on(full) == pytest.approx(100 * 200 / 256)


def test_settings_of_a_user_come_after_the_scale() -> None:
    assert tfet.configurations(GpuConfig.preset("tfet_gpu"), ("slices=2",))[tfet.BASELINE].slices == 2


def test_a_sample_of_blocks_stands_for_all() -> None:
    """Three of four: the instructions of the whole, and about its writes."""
    case = Case("transpose", "tiny", tfet.MEM_RA, MACHINES[tfet.MEM_RA], blocks=3)
    part, whole = _decode(case, _run(case)).statistics, run_of(tfet.MEM_RA).statistics
    assert part.warp_instructions == whole.warp_instructions
    assert part.cycles != whole.cycles and sum(part.bank_writes) == pytest.approx(sum(whole.bank_writes), rel=0.05)


def test_figures_of_memory_intensive_programs_have_no_others() -> None:
    """Of those that a user names, and of the usual groups."""
    runs = tfet.with_ideal({"transpose": {name: run_of(name) for name in MACHINES}})["transpose"]
    usual = tfet.measured({"transpose": runs, "matmul": runs},
                          {tfet.ALL: ("transpose", "matmul"), f"{tfet.MEMORY}, 1 of 5": ("transpose",)})
    intensive, = (figure for figure in usual if figure.figure.number == "TFET, Fig. 15a, intensive")
    assert intensive.groups == {f"{tfet.MEMORY}, 1 of 5": ["transpose"]}
    found = tfet.measured({"transpose": runs, "matmul": runs}, {NAMED: ("transpose", "matmul")})
    kernels = {figure.figure.number: figure.kernels for figure in found}
    assert kernels["TFET, Fig. 15a"] == ("transpose", "matmul")
    assert kernels["TFET, Fig. 15a, intensive"] == ("transpose",)
    assert "TFET, Fig. 15a, intensive" not in {
        figure.figure.number for figure in tfet.measured({"matmul": runs}, {NAMED: ("matmul",)})}
