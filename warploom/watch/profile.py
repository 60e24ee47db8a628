"""`Profile`: what a run spends on each instruction and on each line of its source."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from warploom.arch.config import SmConfig
from warploom.arch.launch import Launch
from warploom.arch.program import Program
from warploom.golden_model.front_end.stalls import Stall
from warploom.golden_model.sm import Sm
from warploom.golden_model.statistics import Statistics, collect
from warploom.golden_model.trace import Trace, Traced
from warploom.golden_model.widths import WIDTHS, histograms_by_pc
from warploom.watch.cycles import stalled, stretches, times, waiting
from warploom.watch.source import Place


class Counted:
    """A trace that is counted by pc while its parts are made: executed warp instructions, their executing lanes, and
    register operands by bytes (1 to 4)."""

    def __init__(self, trace: Traced) -> None:
        self._trace = trace
        count = len(trace.program.instructions)
        self.executed, self.lanes = np.zeros(count, int), np.zeros(count, int)
        self.sources, self.results = np.zeros((count, WIDTHS), int), np.zeros((count, WIDTHS), int)

    @property
    def program(self) -> Program:
        """See `Traced`, here and below."""
        return self._trace.program

    @property
    def launch(self) -> Launch:
        return self._trace.launch

    def parts(self) -> Iterator[Trace]:
        for part in self._trace.parts():
            self._add(part)
            yield part

    def _add(self, part: Trace) -> None:
        for warp in part.warps:
            np.add.at(self.executed, warp.pc, 1)
            np.add.at(self.lanes, warp.pc, np.bitwise_count(warp.lanes))
        sources, results = histograms_by_pc(part)
        self.sources += sources
        self.results += results


class StallsByPc:
    """The cycles in which schedulers issue nothing, by the instruction that waits and by cause (`Stall`). If several
    warps of a scheduler wait for the cause, each gets an equal share of the cycle. `without` are the cycles in which
    the scheduler has no instruction."""

    def __init__(self, instructions: int) -> None:
        self.counts = np.zeros((instructions, len(Stall)))
        self.without = [0] * len(Stall)

    def see(self, sm: Sm, first: int, end: int) -> None:
        """A stretch of equal cycles."""
        cycles = times(sm, first, end)
        for scheduler, cause in stalled(sm, first):
            slots = waiting(sm, scheduler, cause)
            if not slots:
                self.without[cause] += cycles
            for slot in slots:
                self.counts[sm.front_end.warps[slot].walk.pc, cause] += cycles / len(slots)


@dataclass
class Spent:
    """What is spent on some instructions: see `Counted` and `StallsByPc`. `pcs` are their numbers."""

    pcs: list[int] = field(default_factory=list)
    executed: int = 0
    lanes: int = 0
    sources: np.ndarray = field(default_factory=lambda: np.zeros(WIDTHS, int))
    results: np.ndarray = field(default_factory=lambda: np.zeros(WIDTHS, int))
    stalls: np.ndarray = field(default_factory=lambda: np.zeros(len(Stall)))


@dataclass(frozen=True)
class Profile:
    """A run: its statistics, the counts of its trace, and its stalls."""

    statistics: Statistics
    trace: Counted
    stalls: StallsByPc

    def by_line(self, places: Sequence[Place | None]) -> dict[Place | None, Spent]:
        """What is spent on each line; `places` has that of each instruction, `None` for an unknown one."""
        spent: dict[Place | None, Spent] = defaultdict(Spent)
        for pc, place in enumerate(places):
            line = spent[place]
            line.pcs.append(pc)
            line.executed += int(self.trace.executed[pc])
            line.lanes += int(self.trace.lanes[pc])
            line.sources += self.trace.sources[pc]
            line.results += self.trace.results[pc]
            line.stalls += self.stalls.counts[pc]
        return dict(spent)


def profile(config: SmConfig, trace: Traced) -> Profile:
    """Simulate a trace to its end. Raises `LaunchError` if the launch does not fit the SM, `ExecutionError` if no warp
    can go on."""
    counted = Counted(trace)
    sm, stalls = Sm(config, counted), StallsByPc(len(trace.program.instructions))
    for first, end in stretches(sm):
        stalls.see(sm, first, end)
    return Profile(collect(sm), counted, stalls)
