"""Launch files: a kernel, its geometry and its arguments in TOML. The format is described in `docs/launch_files.md`."""

import math
import tomllib
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError

import numpy as np

from warploom.arch.errors import LaunchError
from warploom.arch.launch import DEFAULT_LIMIT, MAX_BLOCK_THREADS, Buffer, Launch, Scalar
from warploom.kernels.expectation import Expectation
from warploom.kernels.generators import generate, scalar
from warploom.kernels.table import Table

SCALAR_TYPES = {
    "s8": "int8", "u8": "uint8", "b8": "uint8", "s16": "int16", "u16": "uint16", "b16": "uint16", "f16": "float16",
    "s32": "int32", "u32": "uint32", "b32": "uint32", "f32": "float32",
    "s64": "int64", "u64": "uint64", "b64": "uint64", "f64": "float64",
}  # fmt: skip
"""PTX types of scalar arguments, with the numpy type that holds their bytes."""

DTYPES = tuple(sorted(set(SCALAR_TYPES.values())))
"""Element types of buffers."""

MAX_GRID = (2**31 - 1, 65535, 65535)
MAX_BUFFER_BYTES = 1 << 30


@dataclass(frozen=True)
class LaunchFile:
    """A launch file, read: `ptx` is the path of the PTX file, `entry` None where the file has only one, `outputs` the
    names of the buffers that come back."""

    path: Path
    ptx: Path
    entry: str | None
    launch: Launch
    outputs: tuple[str, ...]
    expectations: tuple[Expectation, ...]


def load(path: str | Path) -> LaunchFile:
    """Read a launch file, the arrays it names and those it generates.

    Paths in the file are relative to it. Raises `LaunchError`, one line with file, key and remedy, for whatever is
    wrong with it or with a file that it names.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
        top = Table(path, "", tomllib.loads(text))
    except OSError as error:
        raise LaunchError(f"{path}: {error.strerror}: name a launch file (TOML) that exists") from None
    except (ValueError, RecursionError) as error:  # no TOML, no text, or no path; brackets without end
        raise LaunchError(f"{path}: not TOML: {error}") from None
    ptx = path.parent / top.text("ptx")
    if not ptx.is_file():
        top.fail("ptx", f"{ptx} is not a file; paths are relative to the launch file")
    entry = top.text("entry", None)
    grid, block = _geometry(top)
    dynamic_shared = top.whole("dynamic_shared", 0, 1 << 20, 0)
    limit = top.whole("limit", 1, 1 << 40, DEFAULT_LIMIT)
    arguments = [_Argument(table) for table in top.tables("arguments")]
    top.finish()
    _check_names(arguments)
    launch = Launch(grid, block, tuple(a.value for a in arguments), dynamic_shared, limit)
    return LaunchFile(path, ptx, entry, launch, tuple(a.name for a in arguments if a.out),
                      tuple(a.expectation for a in arguments if a.expectation is not None))


def _geometry(top: Table) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    grid, block = (_three(top.extents(key, 3)) for key in ("grid", "block"))
    for extent, limit, axis in zip(grid, MAX_GRID, "xyz", strict=True):
        if extent > limit:
            top.fail("grid", f"{extent} blocks in {axis}: at most {limit}")
    if math.prod(block) > MAX_BLOCK_THREADS:
        top.fail("block", f"{math.prod(block)} threads: at most {MAX_BLOCK_THREADS}")
    return grid, block


def _three(extents: tuple[int, ...]) -> tuple[int, int, int]:
    x, y, z = (*extents, 1, 1)[:3]
    return x, y, z


class _Argument:
    """One `[[arguments]]`: a scalar if it has a `type`, else a buffer."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.out = False
        self.expectation: Expectation | None = None
        self.value: Scalar | Buffer
        if "type" in table:
            self.name = table.text("name", None)
            type_name = table.one_of("type", SCALAR_TYPES)
            self.value = Scalar(type_name, scalar(table, "value", np.dtype(SCALAR_TYPES[type_name])).tobytes())
        elif "dtype" in table or "file" in table:
            self.name = table.text("name")
            self.value = Buffer(self.name, _contents(table))
            self.out = table.flag("out", False)
            self.expectation = self._read_expectation(self.value.array)
        else:
            table.fail("type", "is missing: give a scalar its PTX type, or a buffer its dtype")
        table.finish()

    def _read_expectation(self, initial: np.ndarray) -> Expectation | None:
        table = self.table
        name = table.text("expect", None)
        absolute, relative = (table.number(key, None) for key in ("absolute", "relative"))
        for key, tolerance in (("absolute", absolute), ("relative", relative)):
            if tolerance is not None and (name is None or initial.dtype.kind != "f"):
                table.fail(key, "a tolerance goes with expect, in a buffer of floats")
            if tolerance is not None and tolerance < 0:
                table.fail(key, f"{tolerance!r} must not be negative")
        if name is None:
            return None
        if not self.out:
            table.fail("expect", "the buffer must come back to be checked: add out = true")
        return Expectation(self.name, _read_array(table, "expect", name, initial.dtype, initial.shape),
                           absolute or 0.0, relative or 0.0)


def _contents(table: Table) -> np.ndarray:
    """Initial contents of a buffer, from `file` or from `generator`."""
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
        return _read_array(table, "file", file_name, dtype, shape)
    if shape is None or dtype is None:
        table.fail("shape" if shape is None else "dtype", "is missing: a generator needs dtype and shape")
    return generate(generator, dtype, shape)


def _read_array(table: Table, key: str, name: str, dtype: np.dtype | None, shape: tuple[int, ...] | None) -> np.ndarray:
    """The array of a .npy file, its dtype and shape as wanted; None accepts what the file has."""
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


def _check_names(arguments: list[_Argument]) -> None:
    seen: set[str] = set()
    for argument in arguments:
        if argument.name in seen:
            argument.table.fail("name", f"{argument.name!r} is given twice; names must differ")
        if argument.name is not None:
            seen.add(argument.name)
        if isinstance(argument.value, Buffer) and not argument.name.replace("-", "_").isidentifier():
            argument.table.fail("name", f"{argument.name!r} must be letters, digits, - and _: it names a file")
