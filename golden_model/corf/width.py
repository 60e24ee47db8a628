"""Width of a warp register in two's complement: CORF keeps the sign bit among the stored bytes ([RADAIDEH], section
3.6.2.8).

Words are plain 1024-bit integers, lane l in bits 32l .. 32l + 31.
"""

from warploom.golden_model.words import broadcast, spread

BYTES = 4
"""Bytes of a lane."""

BELOW = [broadcast((1 << 8 * width) - 1) for width in range(BYTES + 1)]
"""Ones in the bytes below a width, in every lane."""

_LANE = (1 << 32) - 1
_ONES = broadcast(1)
_BEYOND = [broadcast(_LANE - (1 << 8 * width - 1) + 1) for width in range(1, BYTES + 1)]
# for a width, the bits that must all be copies of the sign: its own top bit and the bytes above


def detect(word: int, lanes: int) -> int:
    """The smallest width (1..4 bytes) whose sign extension gives every lane of the mask; other lanes do not count."""
    negative = (word >> 31 & _ONES) * _LANE
    significant = (word ^ negative) & spread(lanes)
    return next(width for width, beyond in enumerate(_BEYOND, 1) if not significant & beyond)


def extend(word: int, width: int) -> int:
    """Every lane sign-extended from its lowest `width` bytes; 0 if there are none."""
    if width == 0:
        return 0
    negative = word >> 8 * width - 1 & _ONES
    return word & BELOW[width] | negative * _LANE & ~BELOW[width]
