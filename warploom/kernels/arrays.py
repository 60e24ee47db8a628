"""Arrays of a launch file, from files or generators: contents of buffers and symbols, and expected results."""

import math
from pathlib import Path
from tokenize import TokenError

import numpy as np

from warploom.arch.errors import shorten, shown
from warploom.kernels.generators import generate
from warploom.kernels.table import Table

SCALAR_TYPES = {
    "s8": "int8", "u8": "uint8", "b8": "uint8", "s16": "int16", "u16": "uint16", "b16": "uint16", "f16": "float16",
    "s32": "int32", "u32": "uint32", "b32": "uint32", "f32": "float32",
    "s64": "int64", "u64": "uint64", "b64": "uint64", "f64": "float64",
}
"""PTX types of scalars, with the numpy type that holds their bytes."""

DTYPES = tuple(sorted(set(SCALAR_TYPES.values())))
"""Element types of buffers."""

MAX_BYTES = 1 << 30
"""Limit of one array."""

MAX_TOTAL_BYTES = 2 << 30
"""Limit of all arrays of a launch file together, expected ones included: memory holds most of them three times."""

UNREADABLE = (ValueError, SyntaxError, TokenError, OverflowError, TypeError, RecursionError, MemoryError)
"""Exceptions of numpy for a damaged .npy file: it reads the header as Python, and its shape may be anything."""


class Arrays:
    """The arrays of one launch file; `files` are those that it has read. Raises `LaunchError`; for arrays that are too
    large, before it makes them."""

    def __init__(self) -> None:
        self._bytes = 0
        self.files: list[Path] = []

    def contents(self, table: Table) -> np.ndarray:
        """Initial contents, from `file` or from `generator`."""
        file_name = table.text("file", None)
        dtype_name = table.one_of("dtype", DTYPES, None)
        dtype = None if dtype_name is None else np.dtype(dtype_name)
        shape = table.extents("shape", 32, None)
        generator = table.table("generator", None)
        if (file_name is None) == (generator is None):
            table.fail("generator", "give either file = \"name.npy\" or generator = { kind = ... }")
        if file_name is not None:
            return self.read(table, "file", file_name, dtype, shape)
        if shape is None or dtype is None:
            table.fail("shape" if shape is None else "dtype", "is missing: a generator needs dtype and shape")
        self._take(table, "shape", f"{shown(list(shape))} of {dtype.name}", math.prod(shape) * dtype.itemsize)
        return generate(generator, dtype, shape)

    def read(
        self, table: Table, key: str, name: str, dtype: np.dtype | None, shape: tuple[int, ...] | None
    ) -> np.ndarray:
        """The array of a .npy file, its dtype and shape as wanted; None accepts what the file has."""
        path = table.file.parent / name
        self.files.append(path)
        array = _map(table, key, path)
        if array.dtype.name not in DTYPES:
            table.fail(key, f"{path} holds {shorten(str(array.dtype))}; must be one of {', '.join(DTYPES)}")
        if dtype is not None and array.dtype.newbyteorder("=") != dtype:
            table.fail(key, f"{path} holds {array.dtype.name}, wanted is {dtype.name}; convert it or change dtype")
        if shape is not None and array.shape != shape:
            table.fail(key, f"{path} has shape {shown(list(array.shape))}, wanted is {shown(list(shape))}")
        if not array.nbytes:
            table.fail(key, f"{path} holds no element; must be 1 to {MAX_BYTES} bytes")
        self._take(table, key, str(path), array.nbytes)
        return np.array(array, dtype=array.dtype.newbyteorder("="), order="C")

    def _take(self, table: Table, key: str, what: str, size: int) -> None:
        """Count an array of `size` bytes."""
        self._bytes += size
        if size > MAX_BYTES:
            table.fail(key, f"{what} is more than {MAX_BYTES >> 20} MiB: use a smaller one")
        if self._bytes > MAX_TOTAL_BYTES:
            table.fail(key, f"{what} makes the arrays of this file more than {MAX_TOTAL_BYTES >> 20} MiB together: use "
                            "smaller ones")


def _map(table: Table, key: str, path: Path) -> np.ndarray:
    """The array of a .npy file, none of it read yet."""
    try:
        if path.exists() and not path.is_file():  # opening a pipe would block
            table.fail(key, f"{path}: not a file; paths are relative to the launch file")
        with np.errstate(over="ignore"):  # in the product of the extents; an error follows
            return np.lib.format.open_memmap(path, mode="r")
    except OSError as error:
        table.fail(key, f"{path}: {error.strerror or error}; paths are relative to the launch file")
    except UNREADABLE as error:
        table.fail(key, f"{path}: not an .npy file of numbers: {shorten(str(error), most=200)}")
