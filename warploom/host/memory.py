"""Global memory as a program in Python sees it: named arrays at addresses that never change."""

import itertools
from collections.abc import Callable, Iterator

import numpy as np

from warploom.arch.errors import LaunchError, shown
from warploom.arch.names import RULE, names_a_file
from warploom.host.array import DeviceArray, checked, copied


class GlobalMemory:
    """The arrays that have been made and not freed, in order. `place(size)` is the address of a new one of so many
    bytes."""

    def __init__(self, place: Callable[[int], int]) -> None:
        self._place = place
        self._arrays: dict[str, DeviceArray] = {}
        self._made = 0

    def __iter__(self) -> Iterator[DeviceArray]:
        return iter(list(self._arrays.values()))

    def __contains__(self, array: DeviceArray) -> bool:
        """Whether an array is in this memory. Raises `LaunchError` if it was freed."""
        return array.is_in(self._arrays)

    @property
    def names(self) -> set[str]:
        """Names of the arrays."""
        return set(self._arrays)

    def array(self, values: np.ndarray | np.generic, name: str | None = None) -> DeviceArray:
        """A copy of `values`, named for messages and launch files. Raises `LaunchError`."""
        name = self._unused() if name is None else name
        if not names_a_file(name):
            raise LaunchError(f"name = {shown(name)}: {RULE}: it may name a file")
        if name in self._arrays:
            raise LaunchError(f"{name}: an array of this name is in memory already; names must differ")
        contents = copied(checked(name, values))
        made = DeviceArray(self._arrays, name, self._place(contents.nbytes), contents)
        self._made += 1
        return made

    def _unused(self) -> str:
        """A name for an array without one: of its number, or of the next one that no array has."""
        return next(name for name in map("array_{}".format, itertools.count(self._made)) if name not in self._arrays)

    def zeros(
        self, shape: int | tuple[int, ...], dtype: str | type | np.dtype = np.float64, name: str | None = None
    ) -> DeviceArray:
        """An array of zeros. Raises `LaunchError`."""
        try:
            contents = np.zeros(shape, dtype)
        except (TypeError, ValueError, MemoryError) as error:
            raise LaunchError(f"zeros({shown(shape)}, {shown(dtype)}): {error}") from None
        return self.array(contents, name)
