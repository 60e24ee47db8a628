"""Wrong rules of gating, each with one error, for `test_gating_properties.py` to catch."""

from warploom.arch.mechanisms import Gating
from warploom.golden_model.register_file import width
from warploom.golden_model.register_file.width import Encoding, Stored
from warploom.golden_model.register_file.zero_mask import Interleaved, LaneOrder, Rewrite, Zero
from warploom.golden_model.words import ALL_LANES, broadcast, spread

Rules = type[LaneOrder] | type[Interleaved]

BELOW = [broadcast((1 << 8 * width) - 1) for width in range(5)]
"""The bytes below a width."""


class NoExplicitZeros(LaneOrder):
    """A granule is stored from now on, but the other lanes' zeros in it are not."""

    def renew(self, old: Zero, word: int, lanes: int, full: bool) -> Rewrite:
        rewrite = super().renew(old, word, lanes, full)
        return rewrite._replace(byte_mask=rewrite.byte_mask & spread(lanes))


class ReordersBoundGroups(LaneOrder):
    """R-bits change although some lanes of the group are stored in the old order."""

    def renew(self, old: Zero, word: int, lanes: int, full: bool) -> Rewrite:
        reordered = super().renew(old, word, lanes, True).zero.reorder
        return super().renew(old._replace(reorder=reordered), word, lanes, full)


class AllGroupsAreFree(LaneOrder):
    """Lanes that do not execute count as zero on partial writes."""

    def renew(self, old: Zero, word: int, lanes: int, full: bool) -> Rewrite:
        return super().renew(old, word, lanes, True)


class ForgetsOtherLanes(LaneOrder):
    """The bits of lanes that do not execute are lost."""

    def renew(self, old: Zero, word: int, lanes: int, full: bool) -> Rewrite:
        return super().renew(Zero(0), word, lanes, full)


class KeepsMarks(LaneOrder):
    """A lane that was zero stays marked."""

    def renew(self, old: Zero, word: int, lanes: int, full: bool) -> Rewrite:
        rewrite = super().renew(old, word, lanes, full)
        return rewrite._replace(zero=Zero(rewrite.zero.mask | old.mask))


class WritesZeros(LaneOrder):
    """Lanes that are marked zero are written too."""

    def renew(self, old: Zero, word: int, lanes: int, full: bool) -> Rewrite:
        return super().renew(old, word, lanes, full)._replace(byte_mask=spread(lanes), columns=lanes)


class ReadsAllLanes(LaneOrder):
    """Columns of lanes that do not execute are read."""

    def needed(self, lanes: int, zero: Zero) -> int:
        return super().needed(ALL_LANES, zero)


class ReadsZeros(LaneOrder):
    """Columns that are marked zero are read too."""

    def needed(self, lanes: int, zero: Zero) -> int:
        return super().needed(lanes, zero._replace(mask=0))


class ReadsReorderedAsLanes(LaneOrder):
    """In a reordered group, too, the columns of executing lanes are read."""

    def needed(self, lanes: int, zero: Zero) -> int:
        return lanes & ~zero.mask


class RestoresInLaneOrder(LaneOrder):
    """In a reordered group, too, the bits of the zero mask count for lanes."""

    def restore(self, word: int, zero: Zero) -> int:
        return super().restore(word, Zero(zero.mask))


class GranulesAreLanes(LaneOrder):
    """In a reordered group, too, a lane counts as zero by its own bit."""

    def known_zero(self, zero: Zero) -> int:
        return zero.mask


class NoExplicitZerosBelow(Interleaved):
    """A granule below the width is stored from now on, but the other lanes' zeros in it are not."""

    def renew(  # noqa: PLR0917 - as the method under test
        self, old: Zero, old_encoding: Encoding, stored: Stored, word: int, lanes: int, full: bool
    ) -> Rewrite:
        rewrite = super().renew(old, old_encoding, stored, word, lanes, full)
        return rewrite._replace(byte_mask=rewrite.byte_mask & (spread(lanes) | ~BELOW[old_encoding.width]))


class NoFillWithOnes(Interleaved):
    """The other lanes do not get the sign bytes that they now need."""

    def renew(  # noqa: PLR0917 - as the method under test
        self, old: Zero, old_encoding: Encoding, stored: Stored, word: int, lanes: int, full: bool
    ) -> Rewrite:
        rewrite = super().renew(old, old_encoding, stored, word, lanes, full)
        unfilled = (BELOW[4] & ~BELOW[old_encoding.width] & ~spread(lanes)) * old_encoding.sign
        return rewrite._replace(byte_mask=rewrite.byte_mask & ~unfilled)


class OnesAboveCountAsZero(Interleaved):
    """Bytes above the width count as zero for both signs."""

    def renew(  # noqa: PLR0917 - as the method under test
        self, old: Zero, old_encoding: Encoding, stored: Stored, word: int, lanes: int, full: bool
    ) -> Rewrite:
        return super().renew(old, old_encoding._replace(sign=0), stored, word, lanes, full)


class TakesOnesForZero(Interleaved):
    """A lane with only ones above the width counts as zero."""

    def known_zero(self, zero: Zero, encoding: Encoding) -> int:
        return super().known_zero(zero, encoding._replace(sign=0))


class ForgetsTheSide(Interleaved):
    """On the left columns are enabled as if they were on the right."""

    def needed(self, lanes: int, zero: Zero, encoding: Encoding) -> int:
        return super().needed(lanes, zero, encoding._replace(left=False))


class WidthOnly(Interleaved):
    """The zero mask is not applied to the read word."""

    def restore(self, word: int, zero: Zero, encoding: Encoding) -> int:
        return width.restore(word, encoding)


ACTIVE, IN_LANE, CROSS_LANE = Gating.ACTIVE, Gating.IN_LANE, Gating.CROSS_LANE

LOSSES: list[tuple[Rules, Gating]] = [
    (NoExplicitZeros, CROSS_LANE), (ReordersBoundGroups, CROSS_LANE), (AllGroupsAreFree, CROSS_LANE),
    (ForgetsOtherLanes, IN_LANE), (KeepsMarks, IN_LANE), (ReadsReorderedAsLanes, CROSS_LANE),
    (RestoresInLaneOrder, CROSS_LANE), (GranulesAreLanes, CROSS_LANE), (NoExplicitZerosBelow, CROSS_LANE),
    (NoFillWithOnes, IN_LANE), (NoFillWithOnes, CROSS_LANE), (OnesAboveCountAsZero, CROSS_LANE),
    (TakesOnesForZero, CROSS_LANE), (ForgetsTheSide, IN_LANE), (WidthOnly, IN_LANE), (WidthOnly, CROSS_LANE),
]
"""Wrong rules that lose data, with the `gating` that shows them."""

WASTE: list[tuple[Rules, Gating]] = [
    (WritesZeros, IN_LANE), (ReadsAllLanes, ACTIVE), (ReadsAllLanes, CROSS_LANE), (ReadsZeros, IN_LANE),
    (ReadsZeros, CROSS_LANE),
]
"""Wrong rules that enable columns without need."""
