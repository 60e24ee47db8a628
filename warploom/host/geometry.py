"""`Geometry`: how a kernel is launched, as the brackets of ``kernel[grid, block](...)`` say."""

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from warploom.arch.errors import LaunchError, shown
from warploom.arch.launch import Locality

Extents = int | tuple[int, ...] | list[int]
"""One to three numbers, x first."""


@dataclass(frozen=True)
class Geometry:
    """Grid and block (x, y, z), dynamic shared memory in bytes, the launch hint, and whether all blocks have to run at
    once (cudaLaunchCooperativeKernel)."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int = 0
    locality: Locality = Locality.NONE
    at_once: bool = False

    @classmethod
    def of(cls, kernel: str, given: object) -> "Geometry":
        """What is given in brackets behind a kernel. Raises `LaunchError`."""
        if not isinstance(given, tuple) or not 2 <= len(given) <= 4:
            raise LaunchError(f"{kernel}[{shown(given)}]: write {kernel}[grid, block](...), after these if needed "
                              "bytes of dynamic shared memory, and a warploom.Locality last")
        grid, block, *others = given
        return cls(_three(kernel, "grid", grid), _three(kernel, "block", block), *_others(kernel, others))


def _three(kernel: str, what: str, extents: Extents) -> tuple[int, int, int]:
    """The extents in x, y and z."""
    given = extents if isinstance(extents, tuple | list) else (extents,)
    if not 1 <= len(given) <= 3:
        raise LaunchError(f"{kernel}: {what} = {shown(extents)}: must be one to three whole numbers")
    x, y, z = (*(_whole(kernel, what, extent) for extent in given), 1, 1)[:3]
    return x, y, z


def _others(kernel: str, given: Sequence[object]) -> tuple[int, Locality]:
    """The bytes of shared memory and the launch hint, of which none, one or both are given."""
    if len(given) == 1:
        given = (0, *given) if isinstance(given[0], Locality) else (*given, Locality.NONE)
    shared, hint = given or (0, Locality.NONE)
    if not isinstance(hint, Locality):
        raise LaunchError(f"{kernel}: hint = {shown(hint)}: must be one of {', '.join(map(str, Locality))}")
    return _whole(kernel, "shared", shared), hint


def _whole(kernel: str, what: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise LaunchError(f"{kernel}: {what} = {shown(value)}: must be a whole number") from None
