"""Arrays in the global memory of a `Gpu`."""

import numpy as np

from warploom.arch.errors import LaunchError, shown
from warploom.arch.launch import Buffer

KINDS = {"b": "bool", "i": "signed", "u": "unsigned", "f": "floating", "c": "complex", "V": "structured"}
"""Kinds of dtypes that an array may have."""


class DeviceArray:
    """An array in global memory. Its dtype and shape are those of the numpy array that it was made from."""

    def __init__(self, name: str, address: int, contents: np.ndarray) -> None:
        self._name, self._address = name, address
        self._contents = contents

    def __repr__(self) -> str:
        return f"<{self._name}: {self.dtype} of shape {self.shape} at {self._address:#x}>"

    @property
    def name(self) -> str:
        """Its name in messages and launch files."""
        return self._name

    @property
    def address(self) -> int:
        """The address of its first byte. It never changes, so that other arrays may hold it."""
        return self._address

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

    def set(self, values: np.ndarray | np.generic | float) -> None:
        """Copy values in. They must have this dtype and shape, or be one number for all elements.

        Raises `LaunchError`; the contents are then as before.
        """
        array = self._number(values) if isinstance(values, int | float) else np.asarray(checked(self._name, values))
        if array.dtype != self.dtype or array.shape not in (self.shape, ()):
            raise LaunchError(f"{self._name}: {array.dtype} of shape {array.shape} given, the array holds {self.dtype} "
                              f"of shape {self.shape}: convert it first")
        self._contents = np.broadcast_to(array, self.shape).copy()

    def at(self, *index: int) -> int:
        """The address of an element, for a kernel that takes a pointer into the array. Raises `LaunchError`."""
        if len(index) != len(self.shape) or not all(0 <= i < n for i, n in zip(index, self.shape, strict=True)):
            raise LaunchError(f"{self._name}: no element {index} in shape {self.shape}")
        return self._address + self.dtype.itemsize * (int(np.ravel_multi_index(index, self.shape)) if index else 0)

    def buffer(self) -> Buffer:
        """The array as a launch maps it. A launch never changes its contents; it makes new ones."""
        return Buffer(self._name, self._contents, self._address)

    def replace(self, contents: np.ndarray) -> None:
        """Take what a launch has left in it."""
        self._contents = contents

    def _number(self, value: float) -> np.ndarray:
        """One Python number in this dtype."""
        try:
            if isinstance(value, float) and self.dtype.kind not in "fc":
                raise TypeError("must be an integer")
            return np.asarray(value, self.dtype)
        except (TypeError, ValueError, OverflowError) as error:
            raise LaunchError(f"{self._name} ({self.dtype}) can't hold {shown(value)}: {error}") from None


def checked(name: str, values: object) -> np.ndarray | np.generic:
    """Values that can be copied to a GPU. Raises `LaunchError` for anything but numbers and structs of numbers in this
    machine's byte order, of at least one byte."""
    if not isinstance(values, np.ndarray | np.generic):
        raise LaunchError(f"{name}: {type(values).__name__} given: must be a numpy array (np.array(values, dtype))")
    dtype = values.dtype
    if dtype.kind not in KINDS or dtype.hasobject or (dtype.kind == "f" and dtype.itemsize > 8):
        raise LaunchError(f"{name}: {dtype}: must be {', '.join(KINDS.values())}, with floats of at most 64 bits")
    if not dtype.isnative:
        raise LaunchError(f"{name}: {dtype}: wrong byte order; convert it: "
                          "values.astype(values.dtype.newbyteorder('='))")
    if not values.nbytes:
        raise LaunchError(f"{name}: {dtype} of shape {values.shape} has no bytes to copy")
    return values
