"""The kinds of figures in [RADAIDEH], chapter 4: for a given comparison, the configurations of the bars."""

from collections.abc import Callable, Mapping

from warploom.arch.mechanisms import Gating
from warploom.evaluation.figures import Compare, Figure, Run, Runs, Series, against
from warploom.evaluation.metrics import share
from warploom.golden_model.values import Values

BYTES, THREADS = "bytes", "threads"
"""The two experiments, by what a bank interleaves: lanes byte by byte, or one byte of each thread after another."""

UNCOALESCED = "uncoalesced"
"""The configuration of `THREADS` without coalescing and without gating."""

STEPS = {"inactive": Gating.ACTIVE, "in-lane zeros": Gating.IN_LANE, "cross-lane zeros": Gating.CROSS_LANE}
"""Bars of the savings of each setting beyond the bar below it."""

LANE_STEPS = {"inactive": Gating.ACTIVE, "trivial operations": Gating.CROSS_LANE}
"""The same for the execution units."""

RESULTS = ("zero", "8 bits", "16 bits", "24 bits", "32 bits")


def name(experiment: str, gating: Gating) -> str:
    """The name of a configuration: ``bytes_off``, ``threads_cross_lane``."""
    return f"{experiment}_{gating}"


def number(of_seed: str, experiment: str) -> str:
    """The number of a figure: the source's if byte-interleaved as there; with coalescing one without published
    values."""
    return of_seed if experiment == BYTES else f"{of_seed}, coalescing"


def threads() -> list[Figure]:
    """Figs. 4.1a and 4.1b, and the text beside them: activity of threads, and their values."""
    return [
        Figure("Fig. 4.1a", "Threads of dispatched warps", (
            _of_threads("inactive", lambda v: v.inactive),
            _of_threads("active and writing", lambda v: v.writing),
            _of_threads("active, not writing", lambda v: v.silent),
        ), stacked=True),
        Figure("Fig. 4.1b", "Results of threads by bits after leading zeros", tuple(
            _of_results(key, size) for size, key in enumerate(RESULTS)
        ), stacked=True),
        Figure("Fig. 4.1, operands", "Threads that read registers and find a zero", (
            Series("zero operand", _of_values(lambda v: share(v.zero_operand, v.reading))),
        )),
    ]


def steps(experiment: str, of_seed: str, title: str, compare: Compare, *, note: str = "",
          keys: Mapping[str, Gating] = STEPS) -> Figure:
    """The savings of each setting of gating beyond the previous one; their sum is the saving of the last one."""
    before = (Gating.OFF, *keys.values())
    series = tuple(Series(key, _difference(compare, experiment, ours, below))
                   for (key, ours), below in zip(keys.items(), before, strict=False))
    return Figure(number(of_seed, experiment), title, series, stacked=True, note=note)


def parts(experiment: str, of_seed: str, title: str, compares: Mapping[str, Compare], *, note: str = "",
          stacked: bool = False) -> Figure:
    """Several quantities of `cross_lane`, against no gating."""
    series = tuple(Series(key, _against(compare, experiment, Gating.CROSS_LANE)) for key, compare in compares.items())
    return Figure(number(of_seed, experiment), title, series, stacked, note)


def by_mask(experiment: str, title: str, value: Callable[[Run], float]) -> Figure:
    """A quantity under both zero masks."""
    def of(gating: Gating) -> Callable[[Runs], float]:
        return lambda runs: value(runs[name(experiment, gating)])

    masks = [gating for gating in Gating if gating.has_zero_mask]
    return Figure(number("By mask", experiment), title, tuple(Series(mask, of(mask)) for mask in masks))


def both_chapters(title: str, compare: Compare, *, note: str = "") -> Figure:
    """The savings of coalescing, and of gating beyond it, relative to a register file without either."""
    def saved(runs: Runs, setting: str) -> float:
        return compare(runs[setting], runs[UNCOALESCED])

    def beyond(ours: Gating, below: Gating) -> Callable[[Runs], float]:
        return lambda runs: saved(runs, name(THREADS, ours)) - saved(runs, name(THREADS, below))

    series = [Series("coalescing", lambda runs: saved(runs, name(THREADS, Gating.OFF)))]
    below = Gating.OFF
    for key, ours in STEPS.items():
        series.append(Series(key, beyond(ours, below)))
        below = ours
    return Figure("Both chapters", title, tuple(series), stacked=True, note=note)


def _against(compare: Compare, experiment: str, ours: Gating) -> Callable[[Runs], float]:
    return against(compare, name(experiment, ours), name(experiment, Gating.OFF))


def _difference(compare: Compare, experiment: str, ours: Gating, below: Gating) -> Callable[[Runs], float]:
    return lambda runs: _against(compare, experiment, ours)(runs) - _against(compare, experiment, below)(runs)


def _of_values(value: Callable[[Values], float]) -> Callable[[Runs], float]:
    """A percentage of the threads' values, which are the same in every run."""
    return lambda runs: value(runs[name(BYTES, Gating.OFF)].values)


def _of_threads(key: str, part: Callable[[Values], int]) -> Series:
    return Series(key, _of_values(lambda v: share(part(v), v.inactive + v.writing + v.silent)))


def _of_results(key: str, size: int) -> Series:
    return Series(key, _of_values(lambda v: share(v.results[size], sum(v.results))))
