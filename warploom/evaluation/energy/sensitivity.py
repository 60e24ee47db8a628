"""How far each assumption carries an energy: every assumption over its range, one at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, Protocol

from warploom.evaluation.energy.assumptions import ASSUMED, FIGURES, Assumptions

COLUMNS = ("figure", "published", "ours", "assumption", "least", "most", "with least", "with most", "range")
"""What a row has: values of the assumption, then averages of the figure with them, in percent."""


class Compare(Protocol):
    """A percentage of a run and of its baseline (`warploom.evaluation.figures.Run`, or what an experiment has instead),
    under some assumptions."""

    def __call__(self, ours: Any, baseline: Any, assumed: Assumptions = ...) -> float:
        """The percentage."""


@dataclass(frozen=True)
class Headline:
    """A figure that a source prints, or that stands for one: `ours` and `baseline` name configurations."""

    figure: str
    published: str
    compare: Compare
    ours: str
    baseline: str

    def average(self, runs: Mapping[str, Mapping[str, Any]], assumed: Assumptions = ASSUMED) -> float:
        """The mean over kernels."""
        return fmean(self.compare(found[self.ours], found[self.baseline], assumed) for found in runs.values())


ROUNDING = 1e-3
"""Percentage points that rounding makes: of sums in another order, and of counts that are scaled from a sample."""


def rows(headlines: Sequence[Headline], runs: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows of the table, by `COLUMNS`; for each figure first the assumption that carries most. Assumptions that
    change nothing are left out."""
    return [row for headline in headlines for row in _of(headline, runs)]


def _of(headline: Headline, runs: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    ours, found = headline.average(runs), []
    for name, entry in FIGURES["assumptions"].items():
        ends = [headline.average(runs, replace(ASSUMED, **{name: entry[end]})) for end in ("least", "most")]
        carried = max(*ends, ours) - min(*ends, ours)
        if carried > ROUNDING:
            found.append(dict(zip(COLUMNS, (headline.figure, headline.published, ours, name, entry["least"],
                                            entry["most"], *ends, carried), strict=True)))
    return sorted(found, key=lambda row: -row["range"])
