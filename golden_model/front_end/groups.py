"""Groups of warps for pickers that distinguish them (docs/contract/locality.md, *Groups of warps*)."""

from collections.abc import Callable, Mapping

from warploom.arch.config import SmConfig
from warploom.arch.launch import Launch, Locality
from warploom.arch.mechanisms import Scheduler

Group = Callable[[int], int]
"""The group of a warp, by the warp's number in the grid: a number that all warps of the group have."""

ROWS, WARPS, COLUMNS = 32, 32, 1024
"""Rows of the grid, warps of a block and columns of the grid that group numbers of 10 bits tell apart."""


def groups_of(config: SmConfig, launch: Launch) -> Group:
    """The groups of a scheduler: all warps are one, unless its kind has a row here."""
    kinds: Mapping[Scheduler, Callable[[SmConfig, Launch], Group]] = {Scheduler.LOCALITY: _by_hint}
    return kinds.get(config.scheduler, _all)(config, launch)


def _all(_: SmConfig, __: Launch) -> Group:
    return lambda number: 0


def _by_hint(config: SmConfig, launch: Launch) -> Group:
    """The groups of a launch hint."""
    if launch.locality is Locality.NONE:
        return _all(config, launch)
    if launch.locality is Locality.DATA:
        groups = -(-config.warps // config.schedulers // config.active_warps)
        return lambda number: number // config.schedulers % groups
    warps, columns = launch.warps_per_block, launch.grid[0]
    if launch.locality is Locality.LINES:
        return lambda number: number // warps // columns % ROWS * WARPS + number % warps
    return lambda number: number // warps % columns % COLUMNS
