"""Special registers (S2R): the position of a thread in its warp, block and grid."""

from typing import TypeVar

import numpy as np

from warploom.arch.launch import Launch
from warploom.arch.modifiers import Special

Index = TypeVar("Index", int, np.ndarray)

LANE = np.arange(32, dtype=np.uint32)

EQUAL = np.uint32(1) << LANE
LESS = EQUAL - np.uint32(1)

LANE_VALUES = {
    Special.LANEID: LANE, Special.LANEMASK_EQ: EQUAL, Special.LANEMASK_LE: LESS | EQUAL, Special.LANEMASK_LT: LESS,
    Special.LANEMASK_GE: ~LESS, Special.LANEMASK_GT: ~(LESS | EQUAL),
}
"""Registers that depend on the lane alone."""

def coordinates(linear: Index, extent: tuple[int, int, int]) -> tuple[Index, Index, Index]:
    """x, y, z of linear indices, x fastest."""
    return linear % extent[0], linear // extent[0] % extent[1], linear // (extent[0] * extent[1])


def read_special(
    special: Special, launch: Launch, blocks: np.ndarray, warps: np.ndarray, *, shared_bytes: int,
    active: np.ndarray, clock: int,
) -> np.ndarray:
    """The register in each thread, uint32, of a shape that broadcasts to (warps, 32).

    `blocks` and `warps` are linear block numbers and warp numbers in the block; `shared_bytes` the block's static
    shared memory, `active` the masks of executing lanes, `clock` the value of the clocks, 64 bits.
    """
    if special <= Special.TID_Z:
        return coordinates(warps[:, None].astype(np.uint32) * np.uint32(32) + LANE, launch.block)[special]
    if special <= Special.CTAID_Z:
        return coordinates(blocks[:, None].astype(np.uint32), launch.grid)[special - Special.CTAID_X]
    if special in LANE_VALUES:
        return LANE_VALUES[special][None]
    if special is Special.ACTIVEMASK:
        return active[:, None]
    if special is Special.WARPID:
        return warps[:, None].astype(np.uint32)
    return np.full((1, 1), _uniform(special, launch, shared_bytes, clock), np.uint32)


def _uniform(special: Special, launch: Launch, shared_bytes: int, clock: int) -> int:
    if special <= Special.NCTAID_Z:
        return (*launch.block, *launch.grid)[special - Special.NTID_X]
    values = {
        Special.SMID: 0, Special.NSMID: 1, Special.GRIDID_LO: 0, Special.GRIDID_HI: 0,
        Special.NWARPID: launch.warps_per_block, Special.DYNAMIC_SMEM: launch.dynamic_shared,
        Special.TOTAL_SMEM: shared_bytes + launch.dynamic_shared,
        Special.CLOCK_LO: clock & 0xFFFFFFFF, Special.GLOBALTIMER_LO: clock & 0xFFFFFFFF,
        Special.CLOCK_HI: clock >> 32, Special.GLOBALTIMER_HI: clock >> 32,
    }
    return values[special]
