"""Random kernels on hardware that renames registers, in lockstep with the cycle model, by replay. Registers that
have a row in the end are read back from it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from support.random_case import Case
from support.random_programs import each
from test_renamed_programs import FULL, REPLACED

from warploom import running
from warploom.arch.mechanisms import cores
from warploom.kernels.launchfile import load
from warploom.origin import ROOT
from warploom.tb.lockstep import REPLAY, Lockstep, lockstep

FOLDER = ROOT / "build" / "random_programs" / "renaming"
SETTINGS = cores("renaming")["renaming"]


def run(case: Case, folder: Path, seed: int) -> Lockstep:
    """A kernel on a core that has few slow rows, and a stall predictor."""
    done = lockstep(replace(case, preset="small", settings=SETTINGS).config, case.save(folder), seed, replay=True)
    assert done.by == REPLAY
    assert done.checks["cycles"] >= done.cycles > 0
    return done


def compared(kind: str, count: int, seed: int, record: Callable[[str, int], None]) -> dict[str, int]:
    """What so many random programs did together, which is also recorded. Those of each kind are other programs, by a
    line of comment, and have a folder of their own."""
    runs: list[Lockstep] = []
    each(lambda case: runs.append(run(replace(case, body=f"{case.body}// {kind}\n"), FOLDER / kind, seed)), count, seed,
         bypasses=["off"])
    sums = {"programs": len(runs), "cycles": sum(one.cycles for one in runs),
            "registers": sum(one.registers for one in runs), "slow": sum(one.checks["slow"] for one in runs)}
    for name, value in sums.items():
        record(name, value)
    return sums


@pytest.mark.rtl
@pytest.mark.long
def test_random_programs(seed: int, record_property: Callable[[str, int], None]) -> None:
    """With nested divergence and early exits. Some registers keep their row to the end, and rows of both kinds are
    accessed."""
    found = compared("with last reads", 1000, seed, record_property)
    assert min(found.values()) > 0, found


@pytest.mark.rtl
@pytest.mark.long
def test_every_register_keeps_its_row(
    seed: int, record_property: Callable[[str, int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without last reads a register is mapped from its first write until its warp is swept, so that most of the last
    warps' are read back."""
    monkeypatch.setattr(running, "prepared", lambda program, config: program)
    found = compared("without last reads", 100, seed, record_property)
    assert found["registers"] > found["programs"], found


@pytest.mark.rtl
@pytest.mark.long
def test_a_wait_for_a_free_row(seed: int) -> None:
    """Instructions stay in the stage while all rows are taken."""
    done = lockstep(FULL, load(REPLACED), seed, replay=True)
    assert done.by == REPLAY
    assert done.checks["cycles"] >= done.cycles > 0
