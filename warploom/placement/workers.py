"""The cores of worker processes, found as the patched scheduler finds them for new threads."""

import os
from collections.abc import Sequence

from warploom.placement.policy import Load, Policy, choose


def cores(workers: int, available: Sequence[int]) -> list[int]:
    """The core of each of some workers, which always have work, on processors that have no others of ours; empty if
    there are no `available` processors to name."""
    loads, last, found = [Load()] * len(available), len(available) - 1, []
    for _ in range(workers if available else 0):
        last = choose(Policy.PATCHED, loads, last)
        loads[last] = Load(loads[last].runnable + 1, loads[last].mapped + 1)
        found.append(available[last])
    return found


def available() -> list[int]:
    """The processors on which this process may run; empty if the system does not tell."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
