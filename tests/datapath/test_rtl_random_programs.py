"""Random kernels on hardware, in lockstep with the cycle model: a few and twenty for each core with windows or affine
units, and a few for each core of the covering arrays of all machines.

The kernels of a core run in one simulation. If it fails, they run one by one until the simplest failing one is found.
"""

from dataclasses import replace
from pathlib import Path

import pytest
from support.random_case import Case
from support.random_programs import each, samples

from warploom.arch.config import SmConfig, presets
from warploom.arch.mechanisms import Settings, cores
from warploom.origin import ROOT
from warploom.tb.combinations import axes, covering_array
from warploom.tb.lockstep import lockstep_all
from warploom.tb.test_datapath import for_each

FOLDER = ROOT / "build" / "random_programs"
STORED = sorted((Path(__file__).parents[1] / "programs" / "machine").glob("*.ptx"))
SOME, MANY = 6, 20
SETTINGS = cores("bypassing", "affine")
PARTS = 4
"""Tests of an array, which workers share."""


def run(name: str, cases: list[Case], seed: int, settings: Settings, preset: str = "small") -> None:
    """Run the kernels of the cases on a core, in folders with this name, which no other core has."""
    moved = [replace(case, preset=preset, settings=settings) for case in cases]
    prefix = name.replace(" ", "_")
    files = [case.save(FOLDER / f"{prefix}_{number}") for number, case in enumerate(moved)]
    done = lockstep_all(moved[0].config, files, seed)
    assert all(kernel.checks["operands"] > 0 for kernel in done)


def run_random(name: str, count: int, seed: int, settings: Settings, preset: str = "small") -> None:
    """Run this number of random kernels, selected by the seed."""
    try:
        run(name, samples(count, seed), seed, settings, preset)
    except AssertionError:
        each(lambda case: run(name, [case], seed, settings, preset), count, seed)
        raise


@pytest.mark.long
@pytest.mark.rtl
@for_each(SETTINGS)
def test_some_random_programs(core: str, seed: int) -> None:
    run_random(f"some {core}", SOME, seed, SETTINGS[core])


@pytest.mark.rtl
@pytest.mark.long
@for_each(SETTINGS)
def test_many_random_programs(core: str, seed: int) -> None:
    run_random(f"many {core}", MANY, seed, SETTINGS[core])


@pytest.mark.rtl
@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("preset", presets())
def test_random_programs_on_an_array(preset: str, part: int, seed: int) -> None:
    """Each legal pair of settings, with the pipes and collectors of this machine."""
    machine = SmConfig.preset(preset)
    for number, config in enumerate(covering_array(machine)[part::PARTS]):
        settings = tuple(f"{axis}={getattr(config, axis)}" for axis in axes(machine))
        print(preset, *settings, flush=True)
        run_random(f"array {preset} {part} {number}", SOME, seed + number, settings, preset)


@pytest.mark.long
@pytest.mark.rtl
@for_each(SETTINGS)
def test_stored_programs(core: str, seed: int) -> None:
    run(f"stored {core}", [Case.read(path) for path in STORED], seed, SETTINGS[core])
