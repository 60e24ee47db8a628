"""What a lockstep bench reports: hardware and golden model differ, where and in which cycle."""

from collections.abc import Mapping
from typing import Any

from warploom.arch.config import LANES
from warploom.golden_model.words import WORD_MASK, spread


class Difference(AssertionError):
    """Hardware and golden model differ; `report` says where."""

    def __init__(self, cycle: int, field: str, expected: int, actual: int, lane: int | None = None) -> None:
        unit = field.partition("_")[0]
        self.report: dict[str, Any] = {
            "cycle": cycle, "unit": unit, "field": field, "expected": expected, "actual": actual,
        }
        if lane is not None:
            self.report["lane"] = lane
        where = "" if lane is None else f", lane {lane}"
        super().__init__(f"cycle {cycle}, {field}{where}: expected {expected:#x}, actual {actual:#x}")


def fields_equal(cycle: int, prefix: str, expected: Mapping[str, int], actual: Mapping[str, int]) -> None:
    """Raise `Difference` for the first field that differs."""
    if expected != actual:
        name = next(name for name in expected if expected[name] != actual[name])
        raise Difference(cycle, prefix + name, expected[name], actual[name])


def lanes_equal(cycle: int, name: str, expected: int, actual: int, lanes: int) -> None:
    """Raise `Difference` for the first lane of the mask in which two warp registers differ."""
    wrong = (actual ^ expected) & spread(lanes)
    if wrong:
        lane = (wrong & -wrong).bit_length() - 1 >> 5
        wanted, found = (word >> LANES * lane & WORD_MASK for word in (expected, actual))
        raise Difference(cycle, name, wanted, found, lane)
