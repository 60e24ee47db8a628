"""Whole programs with renamed registers: every operand of the bundled kernels and programs, and of random ones, is that
of functional execution, and every row is free, waits to be, or is mapped once (docs/contract/renaming.md)."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.random_case import Case
from support.random_programs import cases, samples, some

from warploom.arch.config import SmConfig
from warploom.arch.gpu import GpuConfig
from warploom.compiler import last_reads
from warploom.compiler.compile import compile_file
from warploom.compiler.prepare import prepared
from warploom.golden_model.check import Mismatch
from warploom.golden_model.front_end.front_end import FrontEnd
from warploom.golden_model.functional.executor import execute
from warploom.golden_model.gpu.simulate import simulate_gpu
from warploom.golden_model.renaming import predictor
from warploom.golden_model.renaming.lists import Lists
from warploom.golden_model.renaming.stage import Held, RenameStage
from warploom.golden_model.simulate import Run, simulate
from warploom.golden_model.sm import Sm
from warploom.golden_model.trace import Trace
from warploom.host.gpu import Gpu
from warploom.kernels.launchfile import load
from warploom.kernels.library import kernel, kernels
from warploom.programs.library import program

LIMIT = 1_000_000
"""Cycles."""

QUEUE = "pipes.sp.result_queue=8"

MACHINES = {
    "cmos_first": ("renaming=cmos_first", "tfet_rows=56"),
    "mem_ra": ("renaming=mem_ra", "tfet_rows=56"),
    "two_ports": ("renaming=mem_ra", "tfet_rows=56", "bank_ports=2"),
    "no_tfet": ("renaming=cmos_first",),
    "mostly_tfet": ("renaming=mem_ra", "tfet_rows=120", "rows=128"),
    "few_tfet": ("renaming=mem_ra", "tfet_rows=2"),
    "coalescing": ("renaming=mem_ra", "tfet_rows=56", "coalescing=on", "gating=cross_lane"),
    "sides": ("renaming=mem_ra", "tfet_rows=56", "coalescing=on", "alignment=write", "layout=wid"),
}

REPLACED = Path(__file__).parents[1] / "ptx" / "replaced.toml"
"""A launch whose warps use all registers, and write each one as soon as it has been read."""

FULL = SmConfig.preset("small").with_settings(
    ["pipes.sp.result_queue=2", "renaming=mem_ra", "rows=16", "tfet_rows=2", "arrival_delay=0", "turnaround=0"])
"""A machine for two warps of that launch, without a row to spare."""

PROGRAMS = ("gaussian", "bfs_levels", "nw", "scan", "srad", "backprop", "kmeans", "transpose", "dct", "btree")


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples are taken more often, so that short programs have stalls too."""
    monkeypatch.setattr(predictor, "SAMPLE_PERIOD", 32)


def machine(name: str, preset: str = "narrow") -> SmConfig:
    """A preset with settings of `MACHINES`."""
    return SmConfig.preset(preset).with_settings([QUEUE, *MACHINES[name]])


def traced(name: str, config: SmConfig) -> Trace:
    """A bundled kernel, executed."""
    bundled = kernel(name)
    found = execute(prepared(compile_file(bundled.ptx), config), bundled.load("tiny").launch).trace
    assert found is not None
    return found


def checked(run: Run) -> Run:
    """A run that compared something, and after which each row has one owner."""
    assert run.sm.checker is not None and run.sm.checker.checked
    assert_one_owner(run.sm)
    return run


def assert_one_owner(sm: Sm) -> None:
    """At the end of a run, no row is both free and mapped, or mapped twice."""
    stage = sm.datapath.renaming
    assert stage is not None
    mapped = [(bank, row) for bank, _, row in stage.table.mapped()]
    free = [(bank, row) for bank in range(sm.config.banks) for row in stage.lists.rows(bank)]
    assert len({*mapped, *free}) == len(mapped) + len(free)


@pytest.mark.sample(4)
@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("bundled", [
    pytest.param(each.name, marks=[] if each.name in ("bfs", "reduction") else pytest.mark.long)
    for each in kernels()])
def test_kernels(bundled: str, name: str) -> None:
    """Values have rows of the kinds that are asked for."""
    config = machine(name)
    run = checked(simulate(config, traced(bundled, config), check=True, max_cycles=LIMIT))
    counts = run.statistics.counted["renaming"]
    assert counts["values"] > run.statistics.warp_instructions / 4
    assert bool(counts["served"]) == config.predicts_stalls


@pytest.mark.sample(3)
@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("name", ["mem_ra", *(
    pytest.param(name, marks=pytest.mark.long) for name in ("cmos_first", "coalescing"))])
@pytest.mark.parametrize("bundled", PROGRAMS)
def test_programs(bundled: str, name: str) -> None:
    """Programs of several launches."""
    this = program(bundled)
    gpu = Gpu(machine(name), timing=lambda config, trace: checked(simulate(config, trace, check=True)).statistics)
    inputs = this.inputs("tiny")
    assert not this.mismatches(inputs, this.run(gpu, inputs))
    assert gpu.launches


@pytest.mark.usefixtures("often")
def test_too_few_rows_of_a_kind() -> None:
    """Then a value gets a row of the other kind: CMOS although TFET is wanted, or TFET although nothing wants it."""
    config = machine("few_tfet")
    counts = checked(simulate(config, traced("hotspot", config), check=True)).statistics.counted["renaming"]
    assert 0 < counts["served"] < counts["requests"]
    config = SmConfig.preset("narrow").with_settings([QUEUE, "renaming=cmos_first", "tfet_rows=248"])
    sm, least = Sm(config, traced("hotspot", config), check=True), config.banks * config.tfet_rows
    while not sm.finished:
        sm.step()
        least = min(least, sm.datapath.tfet_free)
    assert least < config.banks * config.tfet_rows
    assert_one_owner(sm)


def test_a_wait_for_a_free_row() -> None:
    """A register is written again one cycle before the list shows the row that its read has released."""
    file = load(REPLACED)
    trace = execute(prepared(compile_file(file.ptx), FULL), file.launch).trace
    assert trace is not None
    assert checked(simulate(FULL, trace, check=True)).statistics.counted["renaming"]["stalls"] > 0


@pytest.mark.usefixtures("often")
def test_memory_of_a_gpu_measures_too() -> None:
    """Stalls are predicted from the latency of contended memory."""
    config = GpuConfig.preset("tfet_gpu").with_settings(["sms=2", "renaming=mem_ra", "tfet_rows=56"])
    run = simulate_gpu(config, traced("vector_add", config.sm), check=True)
    assert run.summed.counted["renaming"]["served"] > 0


def renamed(case: Case, name: str) -> Case:
    """A random program for one of the machines, with the layout and the scheduler of the case."""
    own = [setting for setting in case.settings if setting.split("=")[0] in {"layout", "blocks", "scheduler"}]
    preset = "small" if case.preset == "small" else "narrow"
    return replace(case, preset=preset, settings=(*own, QUEUE, *MACHINES[name]))


def check(case: Case, name: str) -> None:
    """A random program has the right operands, and leaves each row with one owner."""
    machine = renamed(case, name)
    checked(simulate(machine.config, machine.execute().trace, check=True, max_cycles=LIMIT))


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("count", [20, pytest.param(1000, marks=pytest.mark.long)])
def test_random_programs(count: int) -> None:
    """With nested divergence and early exits."""
    some(count)(given(cases(["off"]), st.sampled_from(sorted(MACHINES)))(check))()


# ------------------------------------------------------------ planted bugs


def caught(name: str = "mem_ra") -> int:
    """Of some random programs, those with a wrong operand, or a row with two owners."""
    found = 0
    for case in samples(8, 4):
        try:
            check(case, name)
        except (Mismatch, AssertionError):
            found += 1
    return found


def test_a_row_that_is_released_before_its_last_read_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the instruction leaves the stage."""
    leave = RenameStage._leave

    def early(stage: RenameStage, held: Held) -> None:
        leaving = stage._leaving
        leave(stage, held)
        for slot, source in enumerate(held.sources):
            if leaving is not None and leaving.releases >> slot & 1 and leaving.rows[slot] is not None:
                stage.lists.release(source.bank, leaving.rows[slot], 0)

    monkeypatch.setattr(RenameStage, "_leave", early)
    assert caught() == 8


def test_a_row_that_is_given_twice_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list that keeps a row which it gives."""
    monkeypatch.setattr(Lists, "take", lambda lists, bank, kind: None)
    assert caught() == 8


def test_a_last_read_too_many_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each read releases its register."""
    monkeypatch.setattr(last_reads, "_ended", lambda instruction, after, elsewhere: sum(
        1 << slot for slot, register in enumerate(instruction.src)
        if register in instruction.sources and slot != instruction.imm_slot))
    assert caught() == 8


def test_a_warp_in_a_slot_that_is_not_swept_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The front end does not wait for the sweep, which then finds registers of the next warp."""
    monkeypatch.setattr(FrontEnd, "reserve", lambda front_end, slots: None)
    config = machine("cmos_first").with_settings(["blocks=1"])
    with pytest.raises(AssertionError):
        simulate(config, traced("vector_add", config), check=True, max_cycles=LIMIT)
