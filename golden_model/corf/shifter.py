"""`Shifter`: moves the bytes of all lanes from sub-bank to sub-bank ([RADAIDEH], section 3.6.2.3).

Words are in sub-bank form (`warploom.golden_model.byte_order`): sub-bank k is bits 256k .. 256k + 255.
"""

from warploom.arch.interfaces import WARP_BITS
from warploom.golden_model.byte_order import SLICE_BITS


def shift_up(form: int, positions: int) -> int:
    """Sub-bank k moves to k + `positions`: aligns a right register to the left."""
    return form << SLICE_BITS * positions & (1 << WARP_BITS) - 1


def shift_down(form: int, positions: int) -> int:
    """Sub-bank k moves to k - `positions`: aligns a left register to the right."""
    return form >> SLICE_BITS * positions
