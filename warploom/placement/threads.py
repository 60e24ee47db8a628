"""What a thread does: phases, one after another. Times are in nanoseconds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

US, MS = 1_000, 1_000_000


@dataclass(frozen=True)
class Compute:
    """It needs a core for a time."""

    time: int


@dataclass(frozen=True)
class Wait:
    """It sleeps, as in a page fault; its core is free for other threads."""

    time: int


@dataclass(frozen=True)
class Barrier:
    """It sleeps until `parties` threads have arrived. Then the barrier is as new."""

    name: str
    parties: int


@dataclass(frozen=True)
class Fork:
    """It starts another thread, in no time."""

    phases: "Phases"


Phase: TypeAlias = Compute | Wait | Barrier | Fork
Phases: TypeAlias = Sequence[Phase]
