"""Registers and arrays of them, in the format of the ports of CORF's tables."""

from collections.abc import Sequence

Name = tuple[int, int]
"""Warp and register."""


def fields(name: Name) -> dict[str, int]:
    """A register in the format of a port."""
    return {"warp": name[0], "register": name[1]}


def array(elements: Sequence[object]) -> dict[str, object]:
    """Elements of an array port by number."""
    return {str(i): element for i, element in enumerate(elements)}
