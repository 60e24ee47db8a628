"""How repeatable the times of worker processes are, with and without a core for each: `python -m
warploom.repeatability [BATCHES]`.

A batch is a worker for each processor, each with the same simulation, all started at once. Batches with and without
placement alternate, so that other work on the machine disturbs both alike.
"""

import os
import sys
import time
from statistics import fmean, stdev

from warploom import points, report
from warploom.arch.config import SmConfig
from warploom.golden_model.simulate import simulate
from warploom.running import find, run

KERNEL, TIMES = "hotspot", 8
"""What a worker simulates, and how often: about two seconds."""

BATCHES = 20

COLUMNS = ("workers", "of", "times", "mean, s", "coefficient of variation, %", "longest / shortest")


def main(batches: int) -> None:
    """Measure, and print a table."""
    count = os.cpu_count() or 1
    times: dict[tuple[bool, str], list[float]] = {(placed, of): [] for placed in (False, True)
                                                  for of in ("workers", "batches")}
    with report.counting("measuring", 2 * batches) as done:
        for number in range(2 * batches):
            placed = number % 2 == 1
            found, whole = _batch(count, placed=placed)
            times[placed, "workers"] += found
            times[placed, "batches"].append(whole)
            done("placed" if placed else "as they come")
    title = f"{count} workers at a time; load average {os.getloadavg()[0]:.1f}"
    report.table(title, COLUMNS, [
        ("one to a core" if placed else "as they come", of, len(found), fmean(found), 100 * stdev(found) / fmean(found),
         max(found) / min(found)) for (placed, of), found in times.items()])


def _batch(count: int, *, placed: bool) -> tuple[list[float], float]:
    """The time of each worker, and from the start of the first to the end of the last."""
    spans = [span for _, span in points.compute(_work, range(count), placed=placed) if isinstance(span, tuple)]
    return [end - start for start, end in spans], max(end for _, end in spans) - min(start for start, _ in spans)


def _work(_: int) -> tuple[float, float]:
    """When a worker began to simulate, and when it ended."""
    config = SmConfig.preset("small")
    trace = run(find(KERNEL, "tiny"), config).execution.trace
    assert trace is not None
    start = time.monotonic()
    for _ in range(TIMES):
        simulate(config, trace)
    return start, time.monotonic()


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else BATCHES)
