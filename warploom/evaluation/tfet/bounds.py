"""Why [TFET]'s savings differ from ours: how well stalls are predicted, by several measures; what a perfect predictor
would save; and what any renaming could save at most.

The source compares "each predicted value with next sampled memory access cycle" and takes the mean of all errors. That
may be the next access of the warp slot or the next periodic sample, and says nothing about the size of an access, so
all of these are here. A perfect predictor is one that knows the next access of the slot from a run before; its own
accesses are then a little different, since it delays other instructions.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean, median
from typing import Any

from warploom.arch.gpu import GpuConfig
from warploom.evaluation import cached
from warploom.evaluation.figures import Launched, Run, Runs
from warploom.evaluation.metrics import gained, share
from warploom.evaluation.simulations import Case, inputs, timed
from warploom.evaluation.tfet import experiment
from warploom.evaluation.tfet.energy import energy, energy_saved
from warploom.evaluation.tfet.experiment import BASELINE, MEM_RA, prediction_error, rows_on
from warploom.evaluation.tfet.renaming import TFET_ACCESS, accesses
from warploom.golden_model.renaming.lists import Kind
from warploom.golden_model.renaming.predictor import REFERENCE_BITS, THRESHOLD, Predictor, stall_cycles
from warploom.golden_model.renaming.stage import RenameStage
from warploom.golden_model.sm import Sm
from warploom.golden_model.statistics import Statistics

PERFECT = "perfect"
"""`mem_ra` with a predictor that knows the next access."""

LONG = 1 << REFERENCE_BITS
"""An access of so many cycles meets contention, by the source."""

PREDICTED = ("workload", "predictions", "error, %", "median, %", "of sums, %", "long accesses, %", "next sample, %",
             "slower, %", "perfect, slower, %", "saved, %", "perfect, saved, %", "TFET accesses, %",
             "perfect, TFET accesses, %")
"""Errors of predictions: the mean of the figure; the median; the sum of distances, of all accesses; the mean for
accesses of at least `LONG` cycles; the mean against the next sample. Then `mem_ra` and the perfect predictor: time
added and energy saved, both against the baseline; and accesses that TFET rows take."""

BOUNDS = ("workload", "leakage of rows, %", "saved by the rule, %", "rows on, %", "rows with a value, %",
          "saved at most, %", "dynamic of arrays, %", "saved if all are TFET, %", "both at most, %")
"""Of all energy of the baseline: the leakage of its rows, what of it is saved by the rule of the source, rows that are
on and CMOS rows of `mem_ra` that hold a value (of all rows), and what is saved if all others were off. The dynamic
energy of its arrays, and what is saved if TFET rows took every access. Last the most that both together save."""


def configurations(gpu: GpuConfig, settings: Sequence[str]) -> dict[str, GpuConfig]:
    """The machine whose predictions are looked at."""
    return {MEM_RA: experiment.configurations(gpu, settings)[MEM_RA]}


# ------------------------------------------------------------------ one run

class Log:
    """The predictions of an SM during a launch, in order: the slot, its access and the prediction. `distances` are
    those of predictions from the next sample, in percent of it."""

    def __init__(self, sm: Sm) -> None:
        self.found: list[tuple[int, int, int]] = []
        self.distances: list[float] = []
        self._sm, self._sample = sm, 0
        self._open: list[int] = []  # predictions since the last sample
        self._held = self._summed = self._since = 0  # rows, their sum over cycles, and the cycle until which it is
        predictor(sm).predict = self._predict
        renaming(sm).lists.changes = self._change

    @property
    def cycles(self) -> int:
        """Those of the SM until now."""
        return self._sm.cycle

    @property
    def held(self) -> int:
        """The CMOS rows of all banks that hold a value, summed over cycles."""
        return self._summed + self._held * (self.cycles - self._since)

    def _predict(self, slot: int, prev_acc: int, sample_acc: int) -> int:
        if sample_acc != self._sample:
            self.distances += [share(abs(one - sample_acc), sample_acc) for one in self._open]
            self._sample, self._open = sample_acc, []
        stall = stall_cycles(prev_acc, sample_acc)
        self.found.append((slot, prev_acc, stall))
        self._open.append(stall)
        return stall

    def _change(self, kind: Kind, rows: int) -> None:
        """Rows get values, or lose them."""
        if kind is Kind.CMOS:
            self._summed, self._since = self.held, self.cycles
            self._held += rows

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Each prediction with the next access of its slot."""
        last: dict[int, int] = {}
        for slot, prev_acc, stall in self.found:
            if slot in last and prev_acc:
                yield last[slot], prev_acc
            last[slot] = stall


class Oracle:
    """Predicts the next access of each slot, as a launch before had it; nothing after the last one."""

    def __init__(self, sm: Sm, before: Log) -> None:
        self._next: dict[int, Iterator[int]] = {}
        accesses: dict[int, list[int]] = {}
        for slot, prev_acc, _ in before.found:
            accesses.setdefault(slot, []).append(prev_acc)
        self._next = {slot: iter(found[1:]) for slot, found in accesses.items()}
        predictor(sm).predict = self._predict

    def _predict(self, slot: int, _: int, __: int) -> int:
        return max(next(self._next.get(slot, iter(())), 0) - THRESHOLD, 0)


def renaming(sm: Sm) -> RenameStage:
    """The renaming stage of an SM that has one."""
    assert sm.datapath.renaming is not None
    return sm.datapath.renaming


def predictor(sm: Sm) -> Predictor:
    """The stall predictor of an SM that has one."""
    found = renaming(sm).predictor
    assert found is not None
    return found


@dataclass(frozen=True)
class Found:
    """The predictions of a workload: errors in percent by the columns of `PREDICTED`, and the CMOS rows that hold a
    value, mean over cycles, in percent of all rows. The run with a perfect predictor."""

    predictions: int
    median: float
    of_sums: float
    long: float
    next_sample: float
    held: float
    perfect: Statistics
    launches: tuple[Launched, ...]

    def run(self, ours: Run) -> Run:
        """The run with a perfect predictor; `ours` is that of `mem_ra`."""
        return replace(ours, statistics=self.perfect, launches=self.launches)


def measured(case: Case) -> Found:
    """All launches of a workload twice: as they are, and with what was seen then."""
    assert isinstance(case.config, GpuConfig), "the SMs of a GPU"
    logs: list[Log] = []
    _, _, launched = timed(case, lambda sm: logs.append(Log(sm)))
    before = iter(logs)
    perfect, _, launches = timed(case, lambda sm: Oracle(sm, next(before)))
    pairs = [pair for log in logs for pair in log.pairs()]
    errors = [(share(abs(stall - access), access), access) for stall, access in pairs]
    return Found(
        predictions=len(pairs), median=median([error for error, _ in errors] or [0.0]),
        of_sums=share(sum(abs(stall - access) for stall, access in pairs), sum(access for _, access in pairs)),
        long=_mean([error for error, access in errors if access >= LONG]),
        next_sample=_mean([error for log in logs for error in log.distances]),
        held=share(_held(launched, logs), case.config.sm.banks * case.config.sm.rows), perfect=perfect,
        launches=tuple(launches))


def _held(launches: Sequence[Launched], logs: Sequence[Log]) -> float:
    """CMOS rows that hold a value, mean over the SMs and cycles of launches. An SM that ends before others, or has no
    block, has none from then on."""
    sms = len(logs) // len(launches)
    of_launches = [logs[first : first + sms] for first in range(0, len(logs), sms)]
    means = [fmean(log.held for log in some) / max(log.cycles for log in some) for some in of_launches]
    return fmean(means, [launch.cycles for launch in launches])


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else 0.0


# ------------------------------------------------------------------ tables

def predicted(name: str, runs: Runs, found: Found) -> tuple[object, ...]:
    """A row by `PREDICTED`."""
    plain, ours = runs[BASELINE], runs[MEM_RA]
    both = (ours, found.run(ours))
    return (name, found.predictions, prediction_error(ours), found.median, found.of_sums, found.long,
            found.next_sample, *(gained(run.statistics.cycles, plain.statistics.cycles) for run in both),
            *(energy_saved(run, plain) for run in both), *(_slow(run.statistics) for run in both))


def _slow(run: Statistics) -> float:
    return share(accesses(run), sum(run.bank_reads) + sum(run.bank_writes))


def bounds(name: str, runs: Runs, found: Found) -> tuple[object, ...]:
    """A row by `BOUNDS`. Time stays that of the baseline."""
    plain, config = runs[BASELINE], runs[MEM_RA].config
    spent = energy(plain)
    leakage, dynamic = share(spent.leakage["CMOS"], spent.total), share(spent.dynamic["CMOS"], spent.total)
    on = rows_on(plain)
    by_rule = leakage * config.tfet_rows / config.rows
    most = leakage * max(1 - found.held / on, 0)
    all_slow = dynamic * (1 - TFET_ACCESS)
    return (name, leakage, by_rule, on, found.held, most, dynamic, all_slow, max(most, by_rule) + all_slow)


# ------------------------------------------------------------------ keeping

def _make(case: Case) -> str:
    found = measured(case)
    return json.dumps({**asdict(found), "perfect": found.perfect.to_json()})


def _read(_: Case, text: str) -> Found:
    found: Mapping[str, Any] = json.loads(text)
    return Found(**{**found, "perfect": Statistics.from_json(found["perfect"]),
                    "launches": tuple(Launched(**one) for one in found["launches"])})


def _name(case: Case) -> str:
    return f"tfet-bounds-{case.workload}-{case.size}"


WORK = cached.Work(_make, _read, _name, inputs, (*cached.SOURCES, "warploom/evaluation/tfet/bounds.py",
                                               "warploom/evaluation/simulations.py"))
