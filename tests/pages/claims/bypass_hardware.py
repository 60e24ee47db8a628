"""docs/bypass_hardware.md: units of `narrow` without windows, in its first table."""

from collections.abc import Iterator

from support.committed import column, record

from claims import Claim

PAGE = "docs/bypass_hardware.md"


def claims() -> Iterator[Claim]:
    yield "| crossbar | 1 | {} |", without("coalescing", "sliced_crossbar")
    yield "| arbiter | 1 | {} |", without("coalescing", "coalescing_arbiter")
    yield "| dispatcher | 1 | {} |", without("affine", "dispatcher")
    yield "| ... with coalescing | 1 | {} |", record(
        "hardware_units", "coalescing_units", unit="coalescing_arbiter")["after"]["logic_um2"]
    area = column("hardware_areas", "areas", "um2", "key")
    yield "A word costs {} in the baseline's collector and {} here", *(
        area[f"collector_word.{kind}"] for kind in ("slots", "window"))


def without(mechanism: str, unit: str) -> float:
    """The area of a unit without a mechanism."""
    return record("hardware_units", f"{mechanism}_units", unit=unit)["before"]["logic_um2"]
