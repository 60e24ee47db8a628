"""`Stalls`: the cycles in which schedulers issued nothing, by cause."""

from collections.abc import Sequence
from enum import IntEnum


class Stall(IntEnum):
    """Why a scheduler issued nothing in a cycle; of several causes among its warps the first of this list counts."""

    COLLECTOR = 0  # a warp could issue, but no collector is free for its instruction
    PORT = 1  # a warp could issue, but another scheduler has the issue port
    WAR = 2  # an older instruction still has to read the destination
    SCOREBOARD = 3  # RAW or WAW, or the unit latch, on instructions other than memory; an attempt of the affine unit
    MEMORY = 4  # RAW or WAW on a memory instruction
    FENCE = 5  # MEMBAR
    BARRIER = 6
    NO_WARP = 7  # no warp that still has to issue, blocks still to come
    DRAINED = 8  # no warp that still has to issue, no block left


# What a cycle handles are plain numbers: to look up a member of an `IntEnum` costs as much as a call.
HOLDS = tuple(map(int, (Stall.WAR, Stall.SCOREBOARD, Stall.MEMORY, Stall.FENCE, Stall.BARRIER)))
"""Causes that may hold a warp's next instruction."""

LONG = frozenset(map(int, (Stall.MEMORY, Stall.FENCE, Stall.BARRIER)))
"""Causes for which a two-level scheduler removes a warp from its active set."""

READY = len(Stall)
"""State of a warp that may issue, beside the causes of stalls."""


class Stalls:
    """`now` are the causes of this cycle, one for each scheduler that could pick but did not, in the order in which
    they claim ports, or by number if no warp is ready; `counts` are the sums."""

    def __init__(self) -> None:
        self.now: Sequence[int] = ()
        self.counts = [0] * len(Stall)

    def count(self, now: Sequence[int]) -> None:
        """The causes of a new cycle."""
        self.now = now
        for cause in now:
            self.counts[cause] += 1

    def repeat(self, times: int) -> None:
        """So many more cycles like this one."""
        for cause in self.now:
            self.counts[cause] += times
