"""The search for the core of a new thread ([RADAIDEH], sections 5.2.1 and 5.3)."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple


class Policy(StrEnum):
    """`CURRENT` is the sequential search of the scheduler as it is; `PATCHED` looks first for a core without
    threads."""

    CURRENT = "current"
    PATCHED = "patched"


class Load(NamedTuple):
    """The threads of a core: those that run or could run, and all that are mapped to it, sleeping ones included."""

    runnable: int = 0
    mapped: int = 0


def choose(policy: Policy, cores: Sequence[Load], last: int) -> int:
    """The core of a new thread; `last` is the core that was chosen before.

    `PATCHED` takes the next core after `last`, in a circle, that has no threads (*idle-no-thrd*). Otherwise, and always
    with `CURRENT`, the search starts at core 0 and takes the first one of those with the fewest runnable threads: an
    idle core, whether or not threads sleep on it (*idle-thrd*), before active ones.
    """
    if policy is Policy.PATCHED:
        circle = [(last + step) % len(cores) for step in range(1, len(cores) + 1)]
        for core in circle:
            if not cores[core].mapped:
                return core
    return min(range(len(cores)), key=lambda core: cores[core].runnable)
