"""The figures of [RADAIDEH], chapter 4, with numbers: the figures have none, so these are chosen to fit its text.

Values are those of four lanes, lane 0 first. In masks of four bits bit i is lane i, column i or byte position i.
"""

from typing import NamedTuple

Four = tuple[int, int, int, int]


class GatedRead(NamedTuple):
    """Threads 0 to 3 of a register: which are active, which are marked zero, which are read; the stored values, and the
    values that arrive."""

    active: int
    zero: int
    enabled: int
    held: Four
    arrives: Four


class Detection(NamedTuple):
    """The result of four lanes, its zero masks by lane and by byte position, and the R-bit of the one selected."""

    lanes: Four
    in_lane: int
    cross_lane: int
    reorder: int


class Reordering(NamedTuple):
    """Four lanes, and the four columns that hold their bytes in byte-position order."""

    lanes: Four
    columns: Four


FIG_4_3 = GatedRead(
    active=0b0011, zero=0b1010, enabled=0b0001,
    held=(0x1234_5678, 0xDEAD_BEEF, 0x0BAD_CAFE, 0xFFFF_FFFF), arrives=(0x1234_5678, 0, 0, 0),
)
"""All four cases: only thread 0 is active and not marked zero; by the active mask alone 0 and 1 are read. The contents
of columns of zeros do not matter."""

FIG_4_4 = (
    Detection((0x0000_0012, 0x0000_0000, 0x0000_0034, 0x0000_0056), in_lane=0b0010, cross_lane=0b1110, reorder=1),
    Detection((0x1234_5678, 0x0000_0000, 0x0000_0000, 0x9ABC_DEF0), in_lane=0b0110, cross_lane=0b0000, reorder=0),
    Detection((0x0012_3456, 0x0000_0000, 0x0000_0001, 0x0065_4321), in_lane=0b0010, cross_lane=0b1000, reorder=0),
    Detection((0x1200_3400, 0x5600_7800, 0x9A00_BC00, 0x0000_DE00), in_lane=0b0000, cross_lane=0b0101, reorder=1),
    Detection((0x0000_0000, 0x0000_0000, 0x0000_0000, 0x0000_0000), in_lane=0b1111, cross_lane=0b1111, reorder=0),
)
"""Small values, with more zeros by byte position; large ones between zeros, with more by lane; as many of both, for
which lanes are selected; zeros in any byte positions, not only the upper ones; only zeros."""

FIG_4_5 = (
    Reordering((0x0302_0100, 0x1312_1110, 0x2322_2120, 0x3332_3130), (0x3020_1000, 0x3121_1101, 0x3222_1202,
                                                                      0x3323_1303)),
    Reordering((0x0000_001A, 0x0000_002B, 0x0000_003C, 0x0000_004D), (0x4D3C_2B1A, 0, 0, 0)),
)
"""Byte j of lane i is 0xij; and four values of a low dynamic range."""
