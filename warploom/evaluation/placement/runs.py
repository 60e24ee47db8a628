"""Kernels as threads under both schedulers: run times and loads, simulated once and cached."""

from collections.abc import Sequence
from dataclasses import dataclass

from warploom.evaluation.cached import of_traces
from warploom.golden_model.trace import Trace
from warploom.placement.outcome import Outcome
from warploom.placement.policy import Policy
from warploom.placement.programs import Piece, pieces, threads
from warploom.placement.scheduler import Machine, simulate

COUNTS, SPEEDS = (8, 12, 15, 16), (200, 800)
"""Threads, and MHz of the memory bus, of the dissertation's experiments on 16 cores."""

ROUNDS = 200
"""Launches of a kernel in a run."""

INPUTS = {"small": 10, "medium": 30, "large": 100, "native": 7000}
"""Launches in Fig. 5.6: *native* is 700 times as long as *small*, and 70 times as long as *large*."""

PARENT = 0
"""The number of the thread that forks all others."""

LOADED = 12
"""Threads and cores in Fig. 5.6."""


@dataclass(frozen=True)
class Placed:
    """A kernel as threads. `times` are run times in ns, by `setting`; `loads` are the work of the busiest core, in
    percent of that of a thread, by the names of `INPUTS`; `most` is the greatest number of threads that were forked to
    one core, by `setting`."""

    times: dict[str, int]
    loads: dict[str, float]
    most: dict[str, int]

    def time(self, policy: Policy, count: int, mhz: int) -> int:
        """The run time with `count` threads and a bus of `mhz`."""
        return self.times[setting(policy, count, mhz)]


def setting(policy: Policy, count: int, mhz: int) -> str:
    """The name of a setting."""
    return f"{policy}, {count} threads, {mhz} MHz"


def place(work: Sequence[Piece]) -> Placed:
    """A kernel under every setting."""
    outcomes = {setting(policy, count, mhz): simulate(Machine(policy=policy), threads(work, count, ROUNDS, mhz))
                for policy in Policy for count in COUNTS for mhz in SPEEDS}
    loads = {name: _load(work, launches) for name, launches in INPUTS.items()}
    return Placed({name: outcome.time for name, outcome in outcomes.items()}, loads,
                  {name: _most(outcome) for name, outcome in outcomes.items()})


def _placed(launches: Sequence[Trace]) -> Placed:
    return place(pieces(*launches))


PLACES = of_traces("placement", _placed, Placed, "warploom/placement", "warploom/evaluation/placement/runs.py")
"""Kernels as threads."""


def _load(work: Sequence[Piece], launches: int) -> float:
    """Of the children alone; the parent, which forks them, is no thread of the kernel."""
    outcome = simulate(Machine(cores=LOADED), threads(work, LOADED, launches, SPEEDS[-1]))
    busy = outcome.busy(LOADED, but=PARENT)
    return 100 * max(busy) * (len(outcome.first_cores()) - 1) / sum(busy)


def _most(outcome: Outcome) -> int:
    cores = list(outcome.first_cores().values())
    return max(map(cores.count, cores))
