"""Storage of hints for order beside the published one ([HAWS], section 5.3.6)."""

from typing import NamedTuple

from warploom.arch.config import LANES
from warploom.arch.isa import PC_BITS
from warploom.arch.order_hints import COLLECTED, ENTRY_FIELDS, TARGET_BITS

WAVEFRONTS, WAVEFRONT_LANES = 40, 64
"""What the source's SM has, a Radeon 7970."""


HEAD = ("part", "a warp", f"48 x {LANES}", f"{2 * WAVEFRONTS} x {LANES}", f"{WAVEFRONTS} x {WAVEFRONT_LANES}", "source")
"""Of the table in docs/hints.md: warps x lanes."""


class Stored(NamedTuple):
    """A part of the hint unit: its bits in a warp of so many `lanes`, and the source's in all wavefronts."""

    part: str
    bits: int
    published: str


def storage(lanes: int = LANES) -> list[Stored]:
    """What the hint unit has of a warp."""
    return [
        Stored("result collection unit", COLLECTED * sum(bits for _, bits in ENTRY_FIELDS), "8,960"),
        Stored("copy of the SIMT stack", lanes + PC_BITS, "40,960"),
        Stored("rename table", 0, "10,240"),
        Stored("pc of the stall point, state", PC_BITS + 2, "-"),
        Stored("kept for short paths", COLLECTED + TARGET_BITS + 2, "-"),
    ]


def table() -> list[list[str]]:
    """The rows of the table in docs/hints.md."""
    machines = ((48, LANES), (2 * WAVEFRONTS, LANES), (WAVEFRONTS, WAVEFRONT_LANES))
    parts = [storage(lanes) for _, lanes in machines]
    rows = [[one.part, f"{one.bits}", *(f"{warps * stored[row].bits:,}" for (warps, _), stored in
                                       zip(machines, parts, strict=True)), one.published]
            for row, one in enumerate(parts[0])]
    sums = [f"{warps * sum(one.bits for one in stored):,}" for (warps, _), stored in zip(machines, parts, strict=True)]
    return [*rows, ["sum", f"{sum(one.bits for one in parts[0])}", *sums, "60,160"]]
