"""What a sample of blocks loses: every workload timed whole, and by samples of its blocks (docs/sampling.md)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from itertools import groupby
from statistics import fmean

from warploom import points
from warploom.arch.errors import WarploomError
from warploom.evaluation.figures import Run
from warploom.evaluation.workloads import sized, traces
from warploom.golden_model.sample import evenly

COUNTS = (4, 8, 16, 32)
"""Blocks of each launch that are timed."""


@dataclass(frozen=True)
class Error:
    """Estimates from a sample. `blocks` are those of the workload's largest launch, `sample` how many are timed,
    `share` the warp instructions that this is of all, in percent; `ipc`, `accesses` and `cycles` are the errors of the
    estimates, in percent of what the whole has."""

    workload: str
    blocks: int
    sample: int
    share: float
    ipc: float
    accesses: float
    cycles: float


COLUMNS = tuple(field.name for field in fields(Error))


@dataclass(frozen=True)
class Summary:
    """The absolute errors of one number of blocks over the workloads that have more: mean and largest, in percent."""

    sample: int
    workloads: int
    share: float
    ipc_mean: float
    ipc_most: float
    accesses_mean: float
    accesses_most: float


SUMMARIES = tuple(field.name for field in fields(Summary))


def blocks(
    names: Sequence[str], size: str, done: Callable[[str], None]
) -> dict[str, tuple[int, dict[int, float]]]:
    """By workload: the blocks of its largest launch, and the share of warp instructions that samples are, in percent.
    Raises the first error."""
    found = {}
    with closing(points.compute(_blocks, [(name, sized(name, size)) for name in names])) as ended:
        for (name, _), one in ended:
            if isinstance(one, WarploomError):
                raise one
            found[name] = one
            done(name)
    return found


def _blocks(point: tuple[str, str]) -> tuple[int, dict[int, float]]:
    launches = traces(*point)
    whole = sum(launch.warp_instructions for launch in launches)
    shares = {}
    for count in COUNTS:
        chosen = [frozenset(evenly(launch.blocks, count)) for launch in launches]
        timed = sum(len(warp) for launch, numbers in zip(launches, chosen, strict=True)
                    for warp in launch.warps if warp.block in numbers)
        shares[count] = 100 * timed / whole
    return max(launch.blocks for launch in launches), shares


def errors(
    runs: Mapping[str, Mapping[int | None, Run]], sizes: Mapping[str, tuple[int, Mapping[int, float]]]
) -> list[Error]:
    """The errors of all samples that are less than the whole; `runs` by workload and sample, None for the whole."""
    return [Error(name, sizes[name][0], count, sizes[name][1][count], *_off(of[None], of[count]))
            for name, of in runs.items() for count in COUNTS if sizes[name][0] > count]


def _off(whole: Run, sample: Run) -> tuple[float, float, float]:
    """The errors of a sample's IPC, bank accesses and cycles, in percent."""
    exact, estimate = whole.statistics, sample.statistics
    return (100 * (estimate.ipc / exact.ipc - 1), 100 * (estimate.bank_accesses / exact.bank_accesses - 1),
            100 * (estimate.cycles / exact.cycles - 1))


def summaries(found: Iterable[Error]) -> list[Summary]:
    """The errors by number of blocks."""
    return [_summary(count, list(of)) for count, of in
            groupby(sorted(found, key=lambda error: error.sample), lambda error: error.sample)]


def _summary(count: int, found: Sequence[Error]) -> Summary:
    ipc, accesses = ([abs(value) for value in values] for values in
                     ([error.ipc for error in found], [error.accesses for error in found]))
    return Summary(count, len(found), fmean(error.share for error in found), fmean(ipc), max(ipc), fmean(accesses),
                   max(accesses))
