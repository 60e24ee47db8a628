"""The cost of points of work beside the work: ``python -m warploom.point_costs [EMPTY]``.

Computes this number of empty points (default 10,000), and the same simulations on one processor and on all. The
efficiency is the time on one, divided by the time on all and by their number.
"""

import os
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from warploom import points, report
from warploom.arch.config import SmConfig
from warploom.evaluation.workloads import traces
from warploom.golden_model.simulate import simulate

EMPTY, SIMULATED = 10_000, 128
"""Empty points, and simulations."""


@dataclass(frozen=True)
class Cost:
    """Seconds that points took, and seconds of this process's processor time in them."""

    seconds: float
    of_parent: float


def main(empty: int) -> None:
    """Measure and print."""
    processors = os.sched_getaffinity(0)
    nothing = _cost(_nothing, empty)
    os.sched_setaffinity(0, {min(processors)})
    alone = _cost(_simulation, SIMULATED)
    os.sched_setaffinity(0, processors)
    together = _cost(_simulation, SIMULATED)
    count = len(processors)
    report.fields(f"Points of work on {count} processors; load average {os.getloadavg()[0]:.1f}", {
        "empty points": empty,
        "ms for each": 1000 * nothing.seconds / empty,
        "ms of this process for each": 1000 * nothing.of_parent / empty,
        "simulations": SIMULATED,
        "s on one processor": alone.seconds,
        f"s on {count}": together.seconds,
        "efficiency, %": 100 * alone.seconds / (count * together.seconds),
    })


def _cost(function: Callable[[int], Any], number: int) -> Cost:
    """The cost of points, the start of the workers included."""
    start, spent = time.perf_counter(), time.process_time()
    with closing(points.compute(function, range(number))) as ended:
        deque(ended, maxlen=0)
    return Cost(time.perf_counter() - start, time.process_time() - spent)


def _nothing(_: int) -> None:
    """An empty point."""


def _simulation(_: int) -> int:
    """A short simulation."""
    return sum(simulate(SmConfig.preset("fermi"), trace).statistics.cycles for trace in traces("hotspot", "tiny"))


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else EMPTY)
