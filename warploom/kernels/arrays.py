"""Arrays that a launch file names or makes: contents of buffers and symbols, and what must come back."""

import math
from tokenize import TokenError

import numpy as np

from warploom.kernels.generators import generate
from warploom.kernels.table import Table

SCALAR_TYPES = {
    "s8": "int8", "u8": "uint8", "b8": "uint8", "s16": "int16", "u16": "uint16", "b16": "uint16", "f16": "float16",
    "s32": "int32", "u32": "uint32", "b32": "uint32", "f32": "float32",
    "s64": "int64", "u64": "uint64", "b64": "uint64", "f64": "float64",
}  # fmt: skip
"""PTX types of scalars, with the numpy type that holds their bytes."""

DTYPES = tuple(sorted(set(SCALAR_TYPES.values())))
"""Element types of buffers."""

MAX_BUFFER_BYTES = 1 << 30


def contents(table: Table) -> np.ndarray:
    """Initial contents, from `file` or from `generator`. Raises `LaunchError`."""
    file_name = table.text("file", None)
    dtype_name = table.one_of("dtype", DTYPES, None)
    dtype = None if dtype_name is None else np.dtype(dtype_name)
    shape = table.extents("shape", 32, None)
    if shape is not None and math.prod(shape) * (8 if dtype is None else dtype.itemsize) > MAX_BUFFER_BYTES:
        table.fail("shape", f"{list(shape)} is more than {MAX_BUFFER_BYTES >> 20} MiB")
    generator = table.table("generator", None)
    if (file_name is None) == (generator is None):
        table.fail("generator", "give either file = \"name.npy\" or generator = { kind = ... }")
    if file_name is not None:
        return read_array(table, "file", file_name, dtype, shape)
    if shape is None or dtype is None:
        table.fail("shape" if shape is None else "dtype", "is missing: a generator needs dtype and shape")
    return generate(generator, dtype, shape)


def read_array(table: Table, key: str, name: str, dtype: np.dtype | None, shape: tuple[int, ...] | None) -> np.ndarray:
    """The array of a .npy file, its dtype and shape as wanted; None accepts what the file has. Raises `LaunchError`."""
    path = table.file.parent / name
    try:
        array = np.lib.format.open_memmap(path, mode="r")
    except OSError as error:
        table.fail(key, f"{path}: {error.strerror or error}; paths are relative to the launch file")
    except (ValueError, SyntaxError, TokenError) as error:  # numpy reads the header as Python
        table.fail(key, f"{path}: not an .npy file of numbers: {error}")
    if array.dtype.name not in DTYPES:
        table.fail(key, f"{path} holds {array.dtype}; must be one of {', '.join(DTYPES)}")
    if dtype is not None and array.dtype.newbyteorder("=") != dtype:
        table.fail(key, f"{path} holds {array.dtype.name}, wanted is {dtype.name}; convert it or change dtype")
    if shape is not None and array.shape != shape:
        table.fail(key, f"{path} has shape {list(array.shape)}, wanted is {list(shape)}")
    if not 0 < array.nbytes <= MAX_BUFFER_BYTES:
        table.fail(key, f"{path} holds {array.nbytes} bytes; must be 1 to {MAX_BUFFER_BYTES}")
    return np.array(array, dtype=array.dtype.newbyteorder("="), order="C")
