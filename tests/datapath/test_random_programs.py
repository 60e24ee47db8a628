"""Random kernels on the cycle model against sequential execution, with and without bypassing; correct and wrong hints.

A failing kernel is shrunk, printed, and left in `build/random_programs`; if stored in `tests/programs/machine`, it runs
first from then on.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, note
from support.program_bugs import BUGS, plant
from support.random_case import Case
from support.random_programs import cases, samples, some
from support.warp_programs import LostValueError, Window

from warploom.arch.config import SmConfig
from warploom.arch.isa import RZ
from warploom.arch.program import Program
from warploom.compiler.writeback_hints import annotate
from warploom.golden_model.bypass.collector import BypassingCollector
from warploom.golden_model.bypass.lost import LostValue
from warploom.golden_model.check import Mismatch
from warploom.golden_model.simulate import simulate
from warploom.golden_model.trace import Trace
from warploom.origin import ROOT
from warploom.tb.combinations import axes, covering_array

STORED = sorted((Path(__file__).parents[1] / "programs" / "machine").glob("*.ptx"))
FAILED = ROOT / "build" / "random_programs"
WINDOWS = range(2, 9)
LIMIT = 1_000_000
"""Cycles."""

PARTS = 4
"""Tests of an array, which workers share."""


def check(case: Case) -> None:
    """Every operand that leaves a collector equals that of functional execution, whose memory equals that of sequential
    execution; a case that fails is left under `build`, the shrunk one last."""
    try:
        simulate(case.config, case.execute().trace, check=True, max_cycles=LIMIT)
    except Exception:
        FAILED.mkdir(parents=True, exist_ok=True)
        path = FAILED / f"{case.config.bypass}.ptx"
        path.write_text(str(case), encoding="utf-8")
        note(f"to be stored in tests/programs/machine, from {path}:\n{case}")
        raise


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_stored_programs(path: Path) -> None:
    check(Case.read(path))


@pytest.mark.parametrize("bug", BUGS)
def test_stored_programs_see_the_bugs_that_they_were_stored_for(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case, = (Case.read(path) for path in STORED if path.stem == bug)
    plant(monkeypatch, bug)
    with pytest.raises(AssertionError, match=r"operand|always generic"):
        simulate(case.config, case.execute().trace, check=True, max_cycles=LIMIT)


def test_saved_programs_are_read_again(tmp_path: Path) -> None:
    """A kernel from a bench can be stored unchanged."""
    for number, case in enumerate(samples(8, 2)):
        saved = case.save(tmp_path / str(number))
        assert Case.read(*saved.ptx) == case
        assert (saved.launch.grid, saved.launch.block) == (case.launch.grid, case.launch.block)


@pytest.mark.sample(2)
@pytest.mark.parametrize(("bypass", "count"), [
    ("off", 10), ("bow", 20), ("bow_wr", 30), ("bow_hints", 40),
    *(pytest.param(bypass, count, marks=pytest.mark.long)
      for bypass, count in (("off", 100), ("bow", 300), ("bow_wr", 300), ("bow_hints", 400))),
])
def test_random_programs(bypass: str, count: int) -> None:
    some(count)(given(cases([bypass]))(check))()


@pytest.mark.sample(2)
@pytest.mark.parametrize("preset", ["small", "fermi"])
@pytest.mark.parametrize("part", range(PARTS))
def test_random_programs_on_an_array(part: int, preset: str) -> None:
    """Each legal pair of settings: four kernels on each core of the covering array."""
    machine = SmConfig.preset(preset)
    for number, config in enumerate(covering_array(machine)[part::PARTS]):
        settings = tuple(f"{axis}={getattr(config, axis)}" for axis in axes(machine))
        for case in samples(4, PARTS * number + part, affines=("off", "abm")):
            check(replace(case, preset=preset, settings=settings))


def test_random_programs_see_what_an_eviction_hides(monkeypatch: pytest.MonkeyPatch) -> None:
    """A collector that lets its warp issue while its eviction is in flight to the register file."""
    free = BypassingCollector.free_entries
    monkeypatch.setattr(BypassingCollector, "free_entries", lambda collector, blocked, **more: free(
        collector, False, **more))
    with pytest.raises(Mismatch, match="operand"):
        for case in samples(80, 1, bypasses=["bow_wr"]):
            simulate(case.config, case.execute().trace, check=True, max_cycles=LIMIT)


# ------------------------------------------------------------ hints


def loses(trace: Trace, program: Program, window: int) -> bool:
    """Whether an instruction reads a value that a window with the hints of the program may have dropped."""
    try:
        for warp in trace.warps:
            follower = Window(window, program.registers)
            for pc, executing in zip(warp.pc.tolist(), warp.lanes.tolist(), strict=True):
                follower.issue(program.instructions[pc], executing)
    except LostValueError:
        return True
    return False


@pytest.mark.long
@some(40)
@given(cases(["off"]))
def test_hints_lose_nothing(case: Case) -> None:
    trace = case.execute().trace
    for window in WINDOWS:
        assert not loses(trace, annotate(trace.program, window), window)


def wrong_hints(program: Program) -> Iterator[Program]:
    """For each value, the program with the hint that the register file does not need it."""
    code = program.instructions
    for pc, i in enumerate(code):
        if i.dst != RZ and i.to_file:
            planted = replace(i, to_collector=True, to_file=False)
            yield replace(program, instructions=(*code[:pc], planted, *code[pc + 1 :]))


def test_wrong_hints_are_caught() -> None:
    """The model catches a value that is read after it was dropped, and never one that is not.

    `Mismatch` concerns values (`check=True`), and no wrong hint may raise it: a value not yet dropped is correct, and a
    dropped one is caught before use. A window may lose a value long before the collector drops it, in a cycle without
    an instruction; a read in between is correct, and counts as missed. More than a third of the hints by which the
    window loses a value that is read must be caught, which shows that the model drops the values that hints allow.
    """
    caught = missed = 0
    for case in samples(6, 1, bypasses=["bow_hints"]):
        trace = case.execute().trace
        config = replace(case.config, entries=4 * case.config.window)
        for program in wrong_hints(trace.program):
            try:
                simulate(config, replace(trace, program=program), check=True, max_cycles=LIMIT)
            except LostValue:
                caught += 1
                assert loses(trace, program, config.window)
            else:
                missed += loses(trace, program, config.window)  # the value is still there when it is read
    assert caught > 20 and 2 * caught > missed
