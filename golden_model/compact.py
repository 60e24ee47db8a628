"""`Compact`: a warp register that is base + lane * stride (docs/contract/affine.md, *Compact registers*)."""

from collections.abc import Iterable
from typing import NamedTuple

from warploom.arch.compact import Tag
from warploom.arch.config import LANES
from warploom.golden_model.words import WORD_MASK, join

AFFINE, UNIFORM = Tag.AFFINE, Tag.UNIFORM
"""The tags of compact registers; to look up a member of an enumeration costs as much as three calls."""


class Compact(NamedTuple):
    """All 32 lanes of a warp register: lane l holds (base + l * stride) modulo 2^32 ([AFFINE], section 2.3).

    `base` is an unsigned word of 32 bits, `stride` a signed number of 16.
    """

    base: int
    stride: int = 0

    @property
    def tag(self) -> Tag:
        """UNIFORM or AFFINE."""
        return AFFINE if self.stride else UNIFORM

    @property
    def last(self) -> int:
        """The value of the last lane."""
        return self.value(LANES - 1)

    def value(self, lane: int) -> int:
        """The value of a lane, unsigned."""
        return self.base + lane * self.stride & WORD_MASK

    def word(self) -> int:
        """The 1024-bit word of all lanes."""
        return join(self.value(lane) for lane in range(LANES))


def compact_slots(values: Iterable[Compact | None]) -> int:
    """The mask of the slots that are compact, from the values of all three, None for others."""
    a, b, c = values
    return (a is not None) | (b is not None) << 1 | (c is not None) << 2
