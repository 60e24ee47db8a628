"""The report of a lockstep bench: the cycle and the port in which hardware and golden model differ."""

from typing import Any

from warploom.arch.config import LANES
from warploom.arch.interfaces import WARP_BITS
from warploom.golden_model.words import WORD_MASK, nonzero_lanes, spread
from warploom.tb.codec import Codec

PROBE = "probe"
"""The port whose fields are named without the port."""


class Difference(AssertionError):
    """Hardware and golden model differ; `report` has the location."""

    def __init__(self, cycle: int, field: str, expected: int, actual: int, lane: int | None = None) -> None:
        unit = field.partition("_")[0]
        self.report: dict[str, Any] = {
            "cycle": cycle, "unit": unit, "field": field, "expected": expected, "actual": actual,
        }
        if lane is not None:
            self.report["lane"] = lane
        where = "" if lane is None else f", lane {lane}"
        super().__init__(f"cycle {cycle}, {field}{where}: expected {expected:#x}, actual {actual:#x}")


def port_equal(cycle: int, codec: Codec, expected: int, actual: int, mask: int) -> None:
    """Raise `Difference` for the first field of a port that differs in bits of the mask; in a warp register, for its
    first such lane."""
    wrong = (actual ^ expected) & mask
    if not wrong:
        return
    port = codec.name.removesuffix("__payload").replace("__", "_")
    for field, (offset, width) in codec.spans.items():
        ones = (1 << width) - 1
        if wrong >> offset & ones:
            name = field if port == PROBE else f"{port}_{field}"
            wanted, found = expected >> offset & ones, actual >> offset & ones
            if width == WARP_BITS:
                lanes_equal(cycle, name, wanted, found, nonzero_lanes(mask >> offset & ones))
            raise Difference(cycle, name, wanted, found)
    raise Difference(cycle, port, expected, actual)


def lanes_equal(cycle: int, name: str, expected: int, actual: int, lanes: int) -> None:
    """Raise `Difference` for the first lane of the mask in which two warp registers differ."""
    wrong = (actual ^ expected) & spread(lanes)
    if wrong:
        lane = (wrong & -wrong).bit_length() - 1 >> 5
        wanted, found = (word >> LANES * lane & WORD_MASK for word in (expected, actual))
        raise Difference(cycle, name, wanted, found, lane)
