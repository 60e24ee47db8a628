"""Figures: the quantities measured for each kernel, and their values."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from warploom.arch.config import SmConfig
from warploom.arch.gpu import Machine, sm_of, sms_of
from warploom.evaluation.published import Published, published
from warploom.evaluation.traces.reuse import Reuse
from warploom.evaluation.traces.structure import Structure
from warploom.evaluation.traces.toggling import Toggling
from warploom.golden_model.gpu.statistics import GpuStatistics
from warploom.golden_model.statistics import Statistics
from warploom.golden_model.values import Values


@dataclass(frozen=True)
class Launched:
    """A launch on a machine: registers of a thread, the most warps that an SM holds at once, and cycles."""

    registers: int
    warps: int
    cycles: int


@dataclass(frozen=True)
class Run:
    """A kernel on one machine; its values, their reuse, their structure, and the bits that toggle, which are the same
    on any; and what the memory of a GPU did, None on one SM. Statistics of a GPU are the sum over its SMs. `launches`
    are those of the workload."""

    machine: Machine
    statistics: Statistics
    values: Values
    reuse: Reuse = field(default_factory=Reuse)
    structure: Structure = field(default_factory=Structure)
    toggling: Toggling = field(default_factory=Toggling)
    memory: GpuStatistics | None = None
    launches: tuple[Launched, ...] = ()

    @property
    def config(self) -> SmConfig:
        """The configuration of the SM, or of all SMs."""
        return sm_of(self.machine)

    @property
    def sm_cycles(self) -> int:
        """The cycles of the run, of each SM: for what happens in every cycle of an SM."""
        return self.statistics.cycles * sms_of(self.machine)


Runs = Mapping[str, Run]
"""One kernel under each configuration of an experiment, by the configuration's name."""


class Noted(Runs):
    """Runs that note which of them are looked at: `settings`."""

    def __init__(self, runs: Runs) -> None:
        self.settings: list[str] = []
        self._runs = runs

    def __getitem__(self, setting: str) -> Run:
        self.settings += [setting] * (setting not in self.settings)
        return self._runs[setting]

    def __iter__(self) -> Iterator[str]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)


Groups = Mapping[str, Sequence[str]]
"""The workloads of each average, by its name; the first is beside published ones."""

AVERAGE = "average"
"""The name of the only average."""

Compare = Callable[[Run, Run], float]
"""A percentage of a run and of its baseline."""


def of_statistics(compare: Callable[[Statistics, Statistics], float]) -> Compare:
    """A comparison of statistics, as one of runs."""
    return lambda ours, baseline: compare(ours.statistics, baseline.statistics)


def against(compare: Compare, ours: str, baseline: str) -> Callable[[Runs], float]:
    """A comparison of the runs of two settings."""
    return lambda runs: compare(runs[ours], runs[baseline])


def averages(values: Mapping[str, float], groups: Groups) -> dict[str, float]:
    """The mean of the values of each group, by its name."""
    return {name: fmean(values[member] for member in members) for name, members in groups.items()}


Bar = Callable[[Any], float]
"""The percentage that a bar of each kernel shows, of what was measured of the kernel, mostly of its `Runs`."""


@dataclass(frozen=True)
class Figure:
    """A figure, or a row of a table, of a source. `number` is the source's; `bars` are by name; `note` distinguishes
    several of ours for one of the source's; `stacked` bars are shares of a whole."""

    number: str
    title: str
    bars: Mapping[str, Bar]
    stacked: bool = False
    note: str = ""

    @property
    def name(self) -> str:
        """The figure's name in files: letters, digits and underscores."""
        return re.sub(r"\W+", "_", f"{self.number} {self.note}".strip().lower())

    @property
    def heading(self) -> str:
        """The title of its table and its chart."""
        return f"{self.number}: {self.title}{f', {self.note}' if self.note else ''}, %"

    @property
    def published(self) -> dict[str, Published]:
        """The published values, by bar."""
        return published().get(self.number, {})

    def measure(self, runs: Mapping[str, Any], groups: Groups | None = None) -> "Measured":
        """Every bar for every kernel of `runs`, to be averaged over groups of them (without groups: over all)."""
        values = {name: {kernel: bar(of_kernel) for kernel, of_kernel in runs.items()}
                  for name, bar in self.bars.items()}
        settings = {name: _settings(bar, next(iter(runs.values()))) for name, bar in self.bars.items()}
        return Measured(self, tuple(runs), values, settings, groups or {AVERAGE: tuple(runs)})


def _settings(bar: Bar, of_kernel: object) -> list[str]:
    """The settings whose runs a bar is computed from; none if it is of no runs."""
    if not isinstance(of_kernel, Mapping):
        return []
    noted = Noted(of_kernel)
    bar(noted)
    return noted.settings


@dataclass(frozen=True)
class Measured:
    """A figure with its values, in percent: `values[bar][kernel]`; `settings[bar]` are those of their runs, and
    `groups` the kernels to average over."""

    figure: Figure
    kernels: tuple[str, ...]
    values: Mapping[str, Mapping[str, float]] = field(repr=False)
    settings: Mapping[str, list[str]]
    groups: Groups

    def average(self, bar: str) -> float:
        """That of the first group."""
        return next(iter(self.averages(bar).values()))

    def averages(self, bar: str) -> dict[str, float]:
        """By group, the arithmetic mean over its kernels of their percentages, as the source averages."""
        return averages(self.values[bar], self.groups)

    def to_json(self) -> dict[str, Any]:
        """Values, averages and published values, by bar."""
        return {
            "figure": self.figure.number, "note": self.figure.note, "title": self.figure.title, "unit": "percent",
            "stacked": self.figure.stacked,
            "series": {key: {"kernels": dict(values), "average": self.average(key),
                             "averages": self.averages(key),
                             "published": str(self.figure.published[key]) if key in self.figure.published else None,
                             "settings": self.settings[key]}
                       for key, values in self.values.items()},
        }
