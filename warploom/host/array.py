"""Arrays in the global memory of a `Gpu`."""

import math

import numpy as np

from warploom.arch.errors import LaunchError, shown
from warploom.arch.launch import Buffer

KINDS = {"b": "bool", "i": "signed", "u": "unsigned", "f": "floating", "c": "complex", "V": "structured"}
"""Kinds of dtypes that an array may have."""


class DeviceArray:
    """An array in global memory, until it is freed. Its dtype and shape are those of the numpy array that it was made
    from. `memory` are the arrays of a `Gpu` by name, to which it adds itself."""

    def __init__(self, memory: dict[str, "DeviceArray"], name: str, address: int, contents: np.ndarray) -> None:
        self._memory, self._name, self._address = memory, name, address
        self._held: np.ndarray | None = contents
        self._lent = False  # a launch has the contents
        memory[name] = self

    def __repr__(self) -> str:
        if self._held is None:
            return f"<{self._name}: freed>"
        return f"<{self._name}: {self.dtype} of shape {self.shape} at {self._address:#x}>"

    @property
    def name(self) -> str:
        """Its name in messages and launch files."""
        return self._name

    @property
    def address(self) -> int:
        """The address of its first byte. It never changes, so that other arrays may hold it."""
        self._live()
        return self._address

    @property
    def dtype(self) -> np.dtype:
        """Type of the elements."""
        return self._live().dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents."""
        return self._live().shape

    def _live(self) -> np.ndarray:
        """The contents. Raises `LaunchError` if the array was freed."""
        if self._held is None:
            raise LaunchError(f"{self._name}: the array was freed: use it before free(), or make another one")
        return self._held

    def is_in(self, memory: dict[str, "DeviceArray"]) -> bool:
        """Whether it is one of these arrays. Raises `LaunchError` if it was freed."""
        self._live()
        return self._memory is memory

    def free(self) -> None:
        """Remove it from global memory (cudaFree). Its address is not used again: a kernel that reads or writes there
        fails. Every later use of the array raises `LaunchError`."""
        self._live()
        del self._memory[self._name]
        self._held = None

    def numpy(self) -> np.ndarray:
        """A copy of the contents."""
        return copied(self._live())

    def set(self, values: np.ndarray | np.generic | float) -> None:
        """Copy values in. They must have this dtype and shape, or be one number for all elements.

        Raises `LaunchError`; the contents are then as before.
        """
        array = self._number(values) if isinstance(values, int | float) else np.asarray(checked(self._name, values))
        if array.dtype != self.dtype or array.shape not in (self.shape, ()):
            raise LaunchError(f"{self._name}: {array.dtype} of shape {array.shape} given, the array holds {self.dtype} "
                              f"of shape {self.shape}: convert it first")
        self.replace(copied(np.broadcast_to(array, self.shape)))

    def read(self, offset: int, size: int) -> bytes:
        """Bytes of the contents."""
        return self._bytes()[offset : offset + size].tobytes()

    def write(self, offset: int, data: bytes) -> None:
        """Change bytes of the contents."""
        if self._lent:
            self.replace(self.numpy())
        self._bytes()[offset : offset + len(data)] = np.frombuffer(data, np.uint8)

    def _bytes(self) -> np.ndarray:
        return self._live().reshape(-1).view(np.uint8)

    def at(self, *index: int) -> int:
        """The address of an element, for a kernel that takes a pointer into the array. Raises `LaunchError`."""
        whole = all(isinstance(i, int | np.integer) for i in index)
        if not whole or len(index) != len(self.shape) or not all(
                0 <= i < n for i, n in zip(index, self.shape, strict=True)):
            raise LaunchError(f"{self._name}: no element {index} in shape {self.shape}")
        return self.address + self.dtype.itemsize * (int(np.ravel_multi_index(index, self.shape)) if index else 0)

    def buffer(self) -> Buffer:
        """The array as a launch maps it. A launch never changes its contents; it makes new ones."""
        self._lent = True
        return Buffer(self._name, self._live(), self.address)

    def replace(self, contents: np.ndarray) -> None:
        """Take new contents, which nobody else has, such as what a launch has left in it."""
        self._held, self._lent = contents, False

    def _number(self, value: float) -> np.ndarray:
        """One Python number in this dtype."""
        try:
            if isinstance(value, float) and self.dtype.kind not in "fc":
                raise TypeError("must be an integer")
            with np.errstate(over="raise"):  # a number is not infinity, as in an argument
                return np.asarray(value, self.dtype)
        except (TypeError, ValueError, ArithmeticError) as error:
            raise LaunchError(f"{self._name} ({self.dtype}) can't hold {shown(value)}: {error}") from None


def checked(name: str, values: object) -> np.ndarray | np.generic:
    """Values that can be copied to a GPU. Raises `LaunchError` for anything but numbers and structs of numbers in this
    machine's byte order, of at least one byte."""
    if not isinstance(values, np.ndarray | np.generic):
        raise LaunchError(f"{name}: {type(values).__name__} given: must be a numpy array (np.array(values, dtype))")
    dtype = values.dtype
    if isinstance(values, np.ma.MaskedArray):
        raise LaunchError(f"{name}: a masked array, and a GPU knows no masks: give values.data or values.filled(...)")
    if dtype.kind not in KINDS or dtype.hasobject or dtype.itemsize > {"f": 8, "c": 16}.get(dtype.kind, math.inf):
        raise LaunchError(f"{name}: {dtype}: must be {', '.join(KINDS.values())}, with floats of at most 64 bits")
    if not dtype.isnative:
        raise LaunchError(f"{name}: {dtype}: wrong byte order; convert it: "
                          "values.astype(values.dtype.newbyteorder('='))")
    if not values.nbytes:
        raise LaunchError(f"{name}: {dtype} of shape {values.shape} has no bytes to copy")
    return values


def copied(values: np.ndarray | np.generic) -> np.ndarray:
    """A copy with all bytes. By itself numpy does not copy the padding of a struct: a kernel would read arbitrary bytes
    there."""
    whole = np.asarray(values).view(f"V{values.dtype.itemsize}")
    return np.array(whole, order="C").view(values.dtype)
