"""The kinds of figures in [RADAIDEH], chapter 4: for a given comparison, the configurations of the bars."""

from collections.abc import Callable, Mapping
from typing import Any

from warploom.arch.mechanisms import Gating
from warploom.evaluation.figures import Bar, Compare, Figure, Run, Runs, against
from warploom.evaluation.metrics import share
from warploom.golden_model.values import Values

BYTES, THREADS = "bytes", "threads"
"""The two experiments, by what a bank interleaves: lanes byte by byte, or one byte of each thread after another."""

UNCOALESCED = "uncoalesced"
"""The configuration of `THREADS` without coalescing and without gating."""

STEPS = {"inactive": Gating.ACTIVE, "in-lane zeros": Gating.IN_LANE, "cross-lane zeros": Gating.CROSS_LANE}
"""Bars of the savings of each setting beyond the bar below it."""

LANE_STEPS = {"inactive": Gating.ACTIVE, "trivial operations": Gating.CROSS_LANE}
"""Those of the savings of the execution units."""

RESULTS = ("zero", "8 bits", "16 bits", "24 bits", "32 bits")


def name(experiment: str, gating: Gating) -> str:
    """The name of a configuration: ``bytes_off``, ``threads_cross_lane``."""
    return f"{experiment}_{gating}"


def number(source_number: str, experiment: str) -> str:
    """The number of a figure: the source's if byte-interleaved as there; with coalescing one without published
    values."""
    return source_number if experiment == BYTES else f"{source_number}, coalescing"


def threads(values: Callable[[Any], Values]) -> list[Figure]:
    """Figs. 4.1a and 4.1b, and the text beside them: activity of threads, and their `values` in what was measured."""
    def of_threads(part: Callable[[Values], int]) -> Bar:
        return lambda measured: share(part(v := values(measured)), v.inactive + v.writing + v.silent)

    def of_results(size: int) -> Bar:
        return lambda measured: share((results := values(measured).results)[size], sum(results))

    return [
        Figure("Fig. 4.1a", "Threads of dispatched warps", {
            "inactive": of_threads(lambda v: v.inactive),
            "active and writing": of_threads(lambda v: v.writing),
            "active, not writing": of_threads(lambda v: v.silent),
        }, stacked=True),
        Figure("Fig. 4.1b", "Results of threads by bits after leading zeros",
               {key: of_results(size) for size, key in enumerate(RESULTS)}, stacked=True),
        Figure("Fig. 4.1, operands", "Threads that read registers and find a zero", {
            "zero operand": lambda measured: share((v := values(measured)).zero_operand, v.reading),
        }),
    ]


def steps(experiment: str, source_number: str, title: str, compare: Compare, *, note: str = "",
          keys: Mapping[str, Gating] = STEPS) -> Figure:
    """The savings of each setting of gating beyond the previous one; their sum is the saving of the last one."""
    bars = {key: _difference(compare, experiment, ours, below) for key, (ours, below) in _with_below(keys).items()}
    return Figure(number(source_number, experiment), title, bars, stacked=True, note=note)


def parts(experiment: str, source_number: str, title: str, compares: Mapping[str, Compare], *, note: str = "",
          stacked: bool = False) -> Figure:
    """Several quantities of `cross_lane`, against no gating."""
    bars = {key: _against(compare, experiment, Gating.CROSS_LANE) for key, compare in compares.items()}
    return Figure(number(source_number, experiment), title, bars, stacked, note)


def by_mask(experiment: str, title: str, value: Callable[[Run], float]) -> Figure:
    """A quantity under both zero masks."""
    def of(gating: Gating) -> Callable[[Runs], float]:
        return lambda runs: value(runs[name(experiment, gating)])

    masks = [gating for gating in Gating if gating.has_zero_mask]
    return Figure(number("By mask", experiment), title, {mask: of(mask) for mask in masks})


def both_chapters(title: str, compare: Compare, *, note: str = "") -> Figure:
    """The savings of coalescing, and of gating beyond it, relative to a register file without either."""
    def saved(runs: Runs, setting: str) -> float:
        return compare(runs[setting], runs[UNCOALESCED])

    def beyond(ours: Gating, below: Gating) -> Callable[[Runs], float]:
        return lambda runs: saved(runs, name(THREADS, ours)) - saved(runs, name(THREADS, below))

    bars: dict[str, Bar] = {"coalescing": lambda runs: saved(runs, name(THREADS, Gating.OFF))}
    bars |= {key: beyond(ours, below) for key, (ours, below) in _with_below(STEPS).items()}
    return Figure("Both chapters", title, bars, stacked=True, note=note)


def _with_below(keys: Mapping[str, Gating]) -> dict[str, tuple[Gating, Gating]]:
    """Each setting of gating and the previous one, by bar."""
    settings = (Gating.OFF, *keys.values())
    return {key: (ours, below) for key, below, ours in zip(keys, settings, settings[1:], strict=False)}


def _against(compare: Compare, experiment: str, ours: Gating) -> Callable[[Runs], float]:
    return against(compare, name(experiment, ours), name(experiment, Gating.OFF))


def _difference(compare: Compare, experiment: str, ours: Gating, below: Gating) -> Callable[[Runs], float]:
    return lambda runs: _against(compare, experiment, ours)(runs) - _against(compare, experiment, below)(runs)
