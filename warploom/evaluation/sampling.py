"""What a sample of blocks loses: every workload timed whole, and by samples of its blocks (docs/sampling.md)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import groupby
from statistics import fmean

from warploom.arch.config import SmConfig
from warploom.evaluation.cached import of_traces
from warploom.evaluation.figures import Run, Runs
from warploom.evaluation.simulations import Case
from warploom.evaluation.simulations import cases as all_cases
from warploom.golden_model.sample import evenly
from warploom.golden_model.trace import Trace

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


@dataclass(frozen=True)
class Blocks:
    """The blocks of a workload's largest launch; and by size of the samples the share of warp instructions that they
    are, in percent."""

    most: int
    shares: dict[int, float]


def _counted(launches: Sequence[Trace]) -> Blocks:
    whole = sum(launch.warp_instructions for launch in launches)
    shares = {count: 100 * sum(_timed(launch, count) for launch in launches) / whole for count in COUNTS}
    return Blocks(max(launch.blocks for launch in launches), shares)


def _timed(launch: Trace, count: int) -> int:
    """Warp instructions of a launch in a sample of its blocks."""
    chosen = frozenset(evenly(launch.blocks, count))
    return sum(len(warp) for warp in launch.warps if warp.block in chosen)


def _restored(most: int, shares: Mapping[str, float]) -> Blocks:
    return Blocks(most, {int(count): share for count, share in shares.items()})


BLOCKS = of_traces("blocks", _counted, _restored, "warploom/evaluation/sampling.py")
"""The blocks of workloads."""


def configurations(config: SmConfig, _: Sequence[str] = ()) -> dict[str, SmConfig]:
    """The machine, which times every workload whole."""
    return {setting(None): config}


def setting(blocks: int | None) -> str:
    """The name of a sample's size."""
    return f"{blocks or 'all'} blocks"


def cases(blocks: Mapping[str, Blocks], size: str, config: SmConfig) -> list[Case]:
    """Every workload whole, and by all samples that are less."""
    return [case for name, has in blocks.items() for count in (None, *COUNTS) if count is None or has.most > count
            for case in all_cases([name], size, {setting(count): config}, count)]


def errors(runs: Mapping[str, Runs], blocks: Mapping[str, Blocks]) -> list[Error]:
    """The errors of all samples that are less than the whole."""
    return [Error(name, blocks[name].most, count, blocks[name].shares[count],
                  *_off(of[setting(None)], of[setting(count)]))
            for name, of in runs.items() for count in COUNTS if blocks[name].most > count]


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
