"""Warp registers as plain 1024-bit integers: lane k is bits 32k .. 32k + 31."""

import struct
from collections.abc import Iterable
from functools import lru_cache

from warploom.arch.config import LANES

WORD_MASK = (1 << 32) - 1
"""Ones in all bits of one lane."""

ALL_BITS = (1 << 32 * LANES) - 1
"""Ones in all bits of all lanes."""

ALL_LANES = (1 << LANES) - 1
"""Lane mask of a full warp."""

_LANES = struct.Struct(f"<{LANES}I")
_DIGIT_OF = b"0" + b"1" * 255  # by byte: whether it is not zero


def split(word: int) -> tuple[int, ...]:
    """The 32 lane values of a 1024-bit word, lane 0 first."""
    return _LANES.unpack(word.to_bytes(_LANES.size, "little"))


def join(values: Iterable[int]) -> int:
    """The 1024-bit word of 32 lane values, lane 0 first."""
    return int.from_bytes(_LANES.pack(*values), "little")


def broadcast(value: int) -> int:
    """A 1024-bit word with the 32-bit value in every lane."""
    return value * _ONES


_ONES = sum(1 << 32 * lane for lane in range(LANES))


_TOP = broadcast(1 << 31)
_ALL_BUT_TOP = broadcast((1 << 31) - 1)


def nonzero_lanes(word: int) -> int:
    """The lanes that are not zero, as a lane mask."""
    carried = (word & _ALL_BUT_TOP) + _ALL_BUT_TOP | word  # in bit 31 of each lane
    return int((carried & _TOP).to_bytes(_LANES.size, "big")[::4].translate(_DIGIT_OF), 2)


@lru_cache(maxsize=1 << 16)
def spread(lanes: int) -> int:
    """The 1024-bit mask that covers the lanes of a 32-bit lane mask."""
    return sum(WORD_MASK << 32 * lane for lane in range(LANES) if lanes >> lane & 1)


def merge(old: int, new: int, lanes: int) -> int:
    """`new` in the lanes of the mask, `old` elsewhere."""
    if lanes == ALL_LANES:
        return new
    mask = spread(lanes)
    return old & ~mask | new & mask
