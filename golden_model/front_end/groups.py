"""Groups of warps for pickers that distinguish them (docs/contract/locality.md, *Groups of warps*)."""

from collections.abc import Callable, Mapping

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import GROUP_BITS
from warploom.arch.launch import Launch, Locality
from warploom.arch.mechanisms import Scheduler

Group = Callable[[int], int]
"""The group of a warp, by the warp's number in the grid: a number that all warps of the group have."""

GROUPS = 1 << GROUP_BITS
"""Group numbers, one for each column of the grid."""

WARPS = 32
ROWS = GROUPS // WARPS
"""Warps of a block and rows of the grid that group numbers tell apart."""


def groups_of(config: SmConfig, launch: Launch) -> Group:
    """The groups of a scheduler: all warps are one, unless its kind has a row here."""
    kinds: Mapping[Scheduler, Callable[[SmConfig, Launch], Group]] = {
        Scheduler.LOCALITY: _by_hint, Scheduler.CTA_AWARE: Neighbours}
    return kinds.get(config.scheduler, _all)(config, launch)


def _all(_: SmConfig, __: Launch) -> Group:
    return lambda number: 0


def _by_hint(config: SmConfig, launch: Launch) -> Group:
    """The groups of a launch hint."""
    if launch.locality is Locality.NONE:
        return _all(config, launch)
    if launch.locality is Locality.DATA:
        groups = -(-config.scheduler_warps // config.active_warps)
        return lambda number: number // config.schedulers % groups
    warps, columns = launch.warps_per_block, launch.grid[0]
    if launch.locality is Locality.LINES:
        return lambda number: number // warps // columns % ROWS * WARPS + number % warps
    return lambda number: number // warps % columns % GROUPS


class Neighbours:
    """Groups of blocks that come to the SM one after another, as many as have `active_warps` warps for each scheduler
    (docs/contract/comparators.md, *CTA-aware*). To be called for all warps of a block before those of the next."""

    def __init__(self, config: SmConfig, launch: Launch) -> None:
        self._warps = launch.warps_per_block
        self._size = -(-config.active_warps * config.schedulers // self._warps)
        self._block = self._came = -1  # the last block, and how many came before it

    def __call__(self, number: int) -> int:
        """See `Group`."""
        if number // self._warps != self._block:
            self._block = number // self._warps
            self._came += 1
        return self._came // self._size % GROUPS
