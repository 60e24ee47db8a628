"""Random kernels on hardware that renames registers, in lockstep with the cycle model, by replay. Registers that
have a row in the end are read back from it."""

from dataclasses import replace

import pytest
from random_case import Case
from random_programs import each
from test_renamed_programs import FULL, REPLACED

from warploom.arch.mechanisms import cores
from warploom.kernels.launchfile import load
from warploom.origin import ROOT
from warploom.tb.lockstep import REPLAY, lockstep

FOLDER = ROOT / "build" / "random_programs" / "renaming"
SETTINGS = cores("renaming")["renaming"]


def run(case: Case, seed: int) -> None:
    """A kernel on a core that has few slow rows, and a stall predictor."""
    done = lockstep(replace(case, preset="small", settings=SETTINGS).config, case.save(FOLDER), seed, replay=True)
    assert done.by == REPLAY
    assert done.checks["cycles"] >= done.cycles > 0


@pytest.mark.rtl
@pytest.mark.long
def test_random_programs(seed: int) -> None:
    """With nested divergence and early exits."""
    each(lambda case: run(case, seed), 1000, seed, bypasses=["off"])


@pytest.mark.rtl
@pytest.mark.long
def test_a_wait_for_a_free_row(seed: int) -> None:
    """Instructions stay in the stage while all rows are taken."""
    done = lockstep(FULL, load(REPLACED), seed, replay=True)
    assert done.by == REPLAY
    assert done.checks["cycles"] >= done.cycles > 0
