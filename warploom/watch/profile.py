"""`Profiles`: what launches spend on each instruction of their kernels, and on each line of the source."""

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from warploom.arch.config import SmConfig
from warploom.arch.program import Program
from warploom.golden_model.front_end.stalls import Stall
from warploom.golden_model.sm import Sm
from warploom.golden_model.statistics import Statistics, collect
from warploom.golden_model.trace import Trace, Traced
from warploom.golden_model.widths import WIDTHS, histograms_by_pc
from warploom.watch.cycles import stalled, stretches, times, waiting
from warploom.watch.source import Place, Source
from warploom.watch.watched import Watched


class Counts:
    """The launches of a kernel by pc: executed warp instructions, their executing lanes, register operands by bytes (1
    to 4), and the cycles in which schedulers issue nothing, by the instruction that waits and by cause (`Stall`). If
    several warps of a scheduler wait for the cause, each gets an equal share of the cycle. `without` are the cycles in
    which the scheduler has no instruction."""

    def __init__(self, instructions: int) -> None:
        self.executed, self.lanes = np.zeros(instructions, int), np.zeros(instructions, int)
        self.sources, self.results = np.zeros((instructions, WIDTHS), int), np.zeros((instructions, WIDTHS), int)
        self.stalls, self.without = np.zeros((instructions, len(Stall))), np.zeros(len(Stall), int)

    def add(self, part: Trace) -> None:
        """A part of a trace."""
        for warp in part.warps:
            np.add.at(self.executed, warp.pc, 1)
            np.add.at(self.lanes, warp.pc, np.bitwise_count(warp.lanes))
        sources, results = histograms_by_pc(part)
        self.sources += sources
        self.results += results

    def see(self, sm: Sm, first: int, end: int) -> None:
        """A stretch of equal cycles."""
        cycles = times(sm, first, end)
        for scheduler, cause in stalled(sm, first):
            slots = waiting(sm, scheduler, cause)
            if not slots:
                self.without[cause] += cycles
            for slot in slots:
                self.stalls[sm.front_end.warps[slot].walk.pc, cause] += cycles / len(slots)


@dataclass
class Spent:
    """What is spent on some instructions: see `Counts`."""

    instructions: list[str] = field(default_factory=list)
    executed: int = 0
    lanes: int = 0
    sources: np.ndarray = field(default_factory=lambda: np.zeros(WIDTHS, int))
    results: np.ndarray = field(default_factory=lambda: np.zeros(WIDTHS, int))
    stalls: np.ndarray = field(default_factory=lambda: np.zeros(len(Stall)))


class Profiles:
    """Counts of each kernel that is launched, over all its launches. With `cuda`, lines are those of CUDA."""

    def __init__(self, *, cuda: bool = False) -> None:
        self._cuda = cuda
        self._kernels: dict[tuple[str, str], tuple[Source, Counts]] = {}

    @property
    def without(self) -> np.ndarray:
        """See `Counts`; of all kernels."""
        return sum((counts.without for _, counts in self._kernels.values()), np.zeros(len(Stall), int))

    def launch(self, config: SmConfig, trace: Traced) -> Statistics:
        """Simulate a launch to its end. Raises `LaunchError` if it does not fit the SM or lacks lines of CUDA,
        `ExecutionError` if no warp can go on."""
        counts = self._counts(trace.program)
        sm = Sm(config, Watched(trace, counts.add))
        for first, end in stretches(sm):
            counts.see(sm, first, end)
        return collect(sm)

    def by_line(self) -> dict[Place | None, Spent]:
        """What is spent on each line, `None` for an unknown one."""
        spent: dict[Place | None, Spent] = defaultdict(Spent)
        for source, counts in self._kernels.values():
            for pc, lines in enumerate(source.lines):
                line = spent[lines.cuda if self._cuda else lines.ptx]
                line.instructions.append(lines.machine)
                line.executed += int(counts.executed[pc])
                line.lanes += int(counts.lanes[pc])
                line.sources += counts.sources[pc]
                line.results += counts.results[pc]
                line.stalls += counts.stalls[pc]
        return dict(spent)

    def texts(self) -> dict[str, list[str]]:
        """The lines of each file that has some."""
        return {place.file: source.text(place.file) for source, _ in self._kernels.values() for lines in source.lines
                if (place := lines.cuda if self._cuda else lines.ptx)}

    def _counts(self, program: Program) -> Counts:
        """Those of a kernel so far."""
        known = self._kernels.get((program.source, program.name))
        if known is None:
            source = Source(program)
            if self._cuda:
                source.need_cuda()
            known = self._kernels[program.source, program.name] = source, Counts(len(program.instructions))
        return known[1]
