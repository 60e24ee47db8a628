"""The model beside recorded silicon ([HAWS], Figs. 4.9 and 4.10): instructions, lanes and cycles of the bundled
programs on a GPU of the model and on the GPU that ran them (docs/silicon.md)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from warploom import silicon
from warploom.arch.errors import LaunchError
from warploom.arch.gpu import GpuConfig
from warploom.evaluation.characterisation.executed import Executed
from warploom.evaluation.figures import Run
from warploom.programs import library

SIZES = ("tiny", "default")
"""Sizes of inputs that were recorded."""


@dataclass(frozen=True)
class Pair:
    """A program in both. Warp instructions; active lanes of each, with those whose guard is false, as the chip counts
    them; and cycles of all launches, those of the chip of the SM that was active longest."""

    workload: str
    size: str
    instructions: int
    chip_instructions: int
    lanes: float
    chip_lanes: float
    cycles: int
    chip_cycles: int


COLUMNS = tuple(field.name for field in fields(Pair))


@dataclass(frozen=True)
class Agreement:
    """How well a quantity of the model follows the chip's over programs: the correlation of the logarithms, that of the
    ranks, and the geometric mean of model over chip."""

    what: str
    programs: int
    logarithms: float
    ranks: float
    ratio: float


SUMMARIES = tuple(field.name for field in fields(Agreement))


@cache
def record() -> dict[str, Any]:
    """What the chip did."""
    found: dict[str, Any] = json.loads((Path(silicon.__file__).parent / "h200.json").read_text())
    return found


def usual() -> dict[str, tuple[str, ...]]:
    """All bundled programs."""
    return {"programs": tuple(library.names())}


def configurations(gpu: GpuConfig, _: Sequence[str] = ()) -> dict[str, GpuConfig]:
    """The GPU as it is."""
    return {gpu.name: gpu}


def sizes(largest: str) -> tuple[str, ...]:
    """The sizes to simulate. Raises `LaunchError` if the largest was not recorded."""
    if largest not in SIZES:
        raise LaunchError(f"--size {largest}: the chip ran {' and '.join(SIZES)}")
    return SIZES[: SIZES.index(largest) + 1]


def pair(workload: str, size: str, run: Run, counts: Executed) -> Pair:
    """A simulated program, and what it executes, beside the recorded one. Raises `LaunchError` if there is none."""
    if workload not in record()["programs"]:
        raise LaunchError(f"{workload}: was not recorded; name bundled programs")
    chip = record()["programs"][workload][size]["counts"]
    return Pair(workload, size, counts.instructions, chip["warp_instructions"], counts.active / counts.instructions,
                chip["thread_instructions"] / chip["warp_instructions"],
                sum(launch.cycles for launch in run.launches), chip["active_cycles"])


def agreements(pairs: Sequence[Pair]) -> list[Agreement]:
    """Of instructions and cycles in each size, and of the growth of cycles from size to size (Fig. 4.9)."""
    found = []
    for size in SIZES:
        some = [pair for pair in pairs if pair.size == size]
        found += _agreement(f"warp instructions, {size}", [(p.instructions, p.chip_instructions) for p in some])
        found += _agreement(f"cycles, {size}", [(p.cycles, p.chip_cycles) for p in some])
    by = {(pair.workload, pair.size): pair for pair in pairs}
    small, large = SIZES
    return found + _agreement(f"growth of cycles, {small} to {large}", [
        (by[name, large].cycles / pair.cycles, by[name, large].chip_cycles / pair.chip_cycles)
        for (name, size), pair in by.items() if size == small and (name, large) in by])


def _agreement(what: str, values: Sequence[tuple[float, float]]) -> list[Agreement]:
    """One line, unless there are too few programs to correlate, or they do not differ."""
    if len(values) < 3:
        return []
    ours, chip = np.log(np.array(values)).T
    if not (np.ptp(ours) and np.ptp(chip)):
        return []
    return [Agreement(what, len(values), _correlation(ours, chip), _correlation(_ranks(ours), _ranks(chip)),
                      float(np.exp(ours.mean() - chip.mean())))]


def _correlation(ours: np.ndarray, chip: np.ndarray) -> float:
    return float(np.corrcoef(ours, chip)[0, 1])


def _ranks(values: np.ndarray) -> np.ndarray:
    """The rank of each value; equal ones have the mean of their ranks."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (counts.cumsum() - (counts - 1) / 2)[which]
