"""Random kernels on hardware with windows or affine units, in lockstep with the cycle model: a few, and twenty for each
core in the long regression, which has more cores.

The kernels of a core run in one simulation. If it fails, they run one by one until the simplest failing one is found.
"""

from dataclasses import replace
from pathlib import Path

import pytest
from random_case import Case
from random_programs import each, samples

from warploom.arch.mechanisms import cores
from warploom.origin import ROOT
from warploom.tb.lockstep import lockstep_all
from warploom.tb.test_datapath import for_each

FOLDER = ROOT / "build" / "random_programs"
STORED = sorted((Path(__file__).parent / "programs" / "machine").glob("*.ptx"))
SOME, MANY = 6, 20
SETTINGS = cores("bypassing", "affine")


def run(core: str, name: str, cases: list[Case], seed: int) -> None:
    """Run the kernels of the cases on a core; `name` distinguishes their folders from those of other tests."""
    moved = [replace(case, preset="small", settings=SETTINGS[core]) for case in cases]
    prefix = f"{name} {core}".replace(" ", "_")
    files = [case.save(FOLDER / f"{prefix}_{number}") for number, case in enumerate(moved)]
    done = lockstep_all(moved[0].config, files, seed)
    assert all(kernel.checks["operands"] > 0 for kernel in done)


def run_random(core: str, name: str, count: int, seed: int) -> None:
    """Run this number of random kernels, selected by the seed."""
    try:
        run(core, name, samples(count, seed), seed)
    except AssertionError:
        each(lambda case: run(core, name, [case], seed), count, seed)
        raise


@pytest.mark.long
@pytest.mark.rtl
@for_each(SETTINGS)
def test_some_random_programs(core: str, seed: int) -> None:
    run_random(core, "some", SOME, seed)


@pytest.mark.rtl
@pytest.mark.long
@for_each(SETTINGS)
def test_many_random_programs(core: str, seed: int) -> None:
    run_random(core, "many", MANY, seed)


@pytest.mark.long
@pytest.mark.rtl
@for_each(SETTINGS)
def test_stored_programs(core: str, seed: int) -> None:
    run(core, "stored", [Case.read(path) for path in STORED], seed)
