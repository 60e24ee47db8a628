"""Special registers that are compact (docs/contract/affine.md), against every thread of blocks of many shapes."""

import itertools
from collections.abc import Sequence

import pytest

from warploom.arch.launch import Launch
from warploom.arch.modifiers import Special
from warploom.golden_model.affine.special import special_value

BLOCKS = [(32, 1, 1), (64, 1, 1), (100, 1, 1), (1, 1, 1), (32, 4, 2), (64, 3, 1), (16, 4, 1), (16, 2, 3), (8, 4, 3),
          (8, 2, 2), (100, 2, 1), (48, 2, 2), (1, 64, 1), (1, 1, 40), (5, 7, 3), (4, 1, 8), (33, 1, 2)]
GRID = (3, 2, 2)
VARYING = {
    Special.ACTIVEMASK, Special.LANEMASK_EQ, Special.LANEMASK_LE, Special.LANEMASK_LT, Special.LANEMASK_GE,
    Special.LANEMASK_GT, Special.CLOCK_LO, Special.CLOCK_HI, Special.GLOBALTIMER_LO, Special.GLOBALTIMER_HI,
}
"""Registers that are never compact."""


def threads(extent: tuple[int, int, int]) -> list[tuple[int, int, int]]:
    """Coordinates in order, x fastest."""
    return [(x, y, z) for z in range(extent[2]) for y in range(extent[1]) for x in range(extent[0])]


def wanted_values(special: Special, block: tuple[int, int, int], number: int, warp: int) -> Sequence[int]:
    """The values that the threads of a warp read, one by one."""
    mine = threads(block)[32 * warp : 32 * warp + 32]
    if special <= Special.TID_Z:
        return [thread[special] for thread in mine]
    uniform = dict(zip(range(Special.CTAID_X, Special.LANEID), (*threads(GRID)[number], *block, *GRID), strict=True))
    uniform |= {Special.WARPID: warp, Special.NWARPID: -(-len(threads(block)) // 32), Special.SMID: 0,
                Special.NSMID: 1, Special.GRIDID_LO: 0, Special.GRIDID_HI: 0, Special.DYNAMIC_SMEM: 48,
                Special.TOTAL_SMEM: 148}
    return range(len(mine)) if special is Special.LANEID else [uniform[special]] * len(mine)


@pytest.mark.parametrize("block", BLOCKS)
def test_special_registers(block: tuple[int, int, int]) -> None:
    """All compact registers are correct in every thread; the indices are compact if the lanes are consecutive in x."""
    launch = Launch(GRID, block, dynamic_shared=48)
    x, y, z = block
    consecutive = (y, z) == (1, 1) or x % 32 == 0
    generic = set(VARYING)
    if not consecutive:
        generic |= {Special.TID_X, Special.TID_Y} | ({Special.TID_Z} if x * y % 32 and z > 1 else set())
    for special in Special:
        for number, warp in itertools.product((0, 7), range(launch.warps_per_block)):
            value = special_value(special, launch, number, warp, shared_bytes=100)
            assert (value is None) == (special in generic), special.name
            if value is not None:
                values = list(wanted_values(special, block, number, warp))
                assert [value.value(lane) for lane in range(len(values))] == values, special.name
