"""`special_value`: special registers that are compact (docs/contract/affine.md, *What is accepted*)."""

import numpy as np

from warploom.arch.config import LANES
from warploom.arch.launch import Launch
from warploom.arch.modifiers import Special
from warploom.golden_model.compact import Compact
from warploom.golden_model.functional.special import read_special

UNIFORM = frozenset({
    Special.CTAID_X, Special.CTAID_Y, Special.CTAID_Z, Special.NTID_X, Special.NTID_Y, Special.NTID_Z,
    Special.NCTAID_X, Special.NCTAID_Y, Special.NCTAID_Z, Special.WARPID, Special.NWARPID, Special.SMID, Special.NSMID,
    Special.GRIDID_LO, Special.GRIDID_HI, Special.DYNAMIC_SMEM, Special.TOTAL_SMEM,
})
"""Registers that are the same in all lanes of a warp."""


def special_value(special: Special, launch: Launch, block: int, warp: int, *, shared_bytes: int) -> Compact | None:
    """The value that a warp reads, None if it is not compact. `block` is the linear number of the block, `warp` that of
    the warp in it, `shared_bytes` the static shared memory of a block. Lanes that were not launched do not count."""
    step = _step(special, launch)
    if step is None:
        return None
    words = read_special(special, launch, np.array([block]), np.array([warp]), shared_bytes=shared_bytes,
                         active=np.zeros(1, np.uint32), clock=0)
    return Compact(int(words[0, 0]), step)


def _step(special: Special, launch: Launch) -> int | None:
    """Stride of a special register, None if it is not compact."""
    x, y, z = launch.block
    consecutive = y == z == 1 or x % LANES == 0  # every warp is one row in x
    if special in UNIFORM:
        return 0
    if special is Special.LANEID or (special is Special.TID_X and consecutive):
        return 1
    if special is Special.TID_Y and consecutive:
        return 0
    if special is Special.TID_Z and (consecutive or x * y % LANES == 0 or z == 1):
        return 0
    return None
