"""Arrays in the global memory of a `Gpu`."""

import math

import numpy as np

from warploom.arch.errors import LaunchError
from warploom.arch.launch import Buffer


class DeviceArray:
    """An array in global memory. `address` is that of its first byte; it never changes, so that other arrays may hold
    it. Its dtype and shape are those of the numpy array that it was made from."""

    def __init__(self, name: str, address: int, contents: np.ndarray) -> None:
        self.name, self.address = name, address
        self._contents = contents

    @property
    def dtype(self) -> np.dtype:
        """Type of the elements."""
        return self._contents.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents."""
        return self._contents.shape

    def numpy(self) -> np.ndarray:
        """A copy of the contents."""
        return self._contents.copy()

    def set(self, values: np.ndarray | float) -> None:
        """Copy values in. They must have this dtype and shape, or be one number for all elements.

        Raises `LaunchError`."""
        array = np.asarray(values, self.dtype) if isinstance(values, int | float) else values
        if array.dtype != self.dtype or array.shape not in (self.shape, ()):
            raise LaunchError(f"{self.name}: {array.dtype} of shape {array.shape} given, the array holds {self.dtype} "
                              f"of shape {self.shape}: convert it first")
        self._contents = np.broadcast_to(array, self.shape).copy()

    def at(self, *index: int) -> int:
        """The address of an element, for a kernel that takes a pointer into the array. Raises `LaunchError`."""
        if len(index) != len(self.shape) or not all(0 <= i < n for i, n in zip(index, self.shape, strict=True)):
            raise LaunchError(f"{self.name}: no element {index} in shape {self.shape}")
        return self.address + self.dtype.itemsize * (
            int(np.ravel_multi_index(index, self.shape)) if math.prod(self.shape) else 0)

    def buffer(self) -> Buffer:
        """The array as a launch maps it. A launch never changes its contents; it makes new ones."""
        return Buffer(self.name, self._contents, self.address)

    def replace(self, contents: np.ndarray) -> None:
        """Take what a launch has left in it."""
        self._contents = contents
