"""Launch files: a kernel, its geometry and its arguments in TOML. The format is described in `docs/launch_files.md`."""

import math
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from warploom.arch.errors import LaunchError, shown
from warploom.arch.isa import GENERAL_REGISTERS
from warploom.arch.launch import DEFAULT_LIMIT, MAX_BLOCK_THREADS, MAX_GRID, Buffer, Launch, Locality, Scalar
from warploom.arch.memory_map import STACK_BYTES
from warploom.arch.names import RULE, names_a_file
from warploom.kernels.arrays import SCALAR_TYPES, Arrays
from warploom.kernels.expectation import Expectation
from warploom.kernels.generators import scalar
from warploom.kernels.table import Table


@dataclass(frozen=True)
class Options:
    """What a command changes of a launch: how its kernel is compiled, and from which address on its arrays are, if they
    move."""

    optimise: bool = True
    virtual_registers: bool = False
    max_registers: int = GENERAL_REGISTERS
    heap_base: int | None = None
    stack: int = STACK_BYTES


@dataclass(frozen=True)
class LaunchFile:
    """A parsed launch file: `ptx` are the paths of PTX files, `entry` is None if they have only one, `outputs` are the
    names of output buffers and symbols. `options` have changed `launch` already. `files` are all files that were or
    will be read."""

    path: Path
    ptx: tuple[Path, ...]
    entry: str | None
    launch: Launch
    outputs: tuple[str, ...]
    expectations: tuple[Expectation, ...]
    options: Options = Options()
    files: tuple[Path, ...] = ()

    def changed(self, options: Options) -> "LaunchFile":
        """The launch file with other options. Raises `LaunchError` if its arrays cannot move."""
        if options.heap_base is None:
            return replace(self, options=options)
        try:
            return replace(self, options=options, launch=self.launch.moved(options.heap_base))
        except LaunchError as error:
            raise LaunchError(f"{self.path}: --heap-base: {error}") from None


def load(path: str | Path) -> LaunchFile:
    """Read a launch file, the arrays it names and those it generates.

    Paths in the file are relative to it. Raises `LaunchError`, one line with file, key and remedy, for every error in
    it or in the files that it names.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")  # editors of Windows begin a file with a byte order mark
        top = Table(path, "", tomllib.loads(text))
    except OSError as error:
        raise LaunchError(f"{path}: {error.strerror}: name a launch file (TOML) that exists") from None
    except (ValueError, RecursionError) as error:  # no TOML, no text, or no path; brackets nested too deeply
        raise LaunchError(f"{path}: not TOML: {error}") from None
    ptx = tuple(_ptx(path.parent / name, top) for name in top.texts("ptx"))
    entry = top.text("entry", None)
    grid, block = _geometry(top)
    dynamic_shared = top.whole("dynamic_shared", 0, 1 << 20, 0)
    limit = top.whole("limit", 1, 1 << 40, DEFAULT_LIMIT)
    strict_barriers = top.flag("strict_barriers", False)
    locality = Locality(top.whole("locality", 0, max(each.value for each in Locality), Locality.NONE.value))
    arrays = Arrays()
    arguments = [_Value(table, arrays) for table in top.tables("arguments")]
    memory = [_Value(table, arrays) for table in top.tables("memory")]
    symbols = [_Value(table, arrays) for table in top.tables("symbols")]
    top.finish()
    _check_names(arguments, memory, symbols)
    launch = Launch(grid, block, tuple(a.value for a in arguments), dynamic_shared, limit,
                    symbols=tuple(symbol.as_buffer() for symbol in symbols), strict_barriers=strict_barriers,
                    mapped=tuple(array.as_buffer() for array in memory), locality=locality)
    try:
        launch.placed()
    except LaunchError as error:
        raise LaunchError(f"{path}: {error}") from None
    values = [*arguments, *memory, *symbols]
    return LaunchFile(path, ptx, entry, launch, tuple(v.name for v in values if v.out),
                      tuple(v.expectation for v in values if v.expectation is not None),
                      files=(path, *ptx, *arrays.files))


def _ptx(path: Path, top: Table) -> Path:
    """The path of a PTX file that exists."""
    try:
        wrong = "" if path.is_file() else " is not a file"
    except OSError as error:  # the name is too long
        wrong = f": {error.strerror}"
    if wrong:
        top.fail("ptx", f"{path}{wrong}; paths are relative to the launch file")
    return path


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


class _Value:
    """One `[[arguments]]`, `[[memory]]` or `[[symbols]]`: a scalar if it has a `type`, else an array."""

    def __init__(self, table: Table, arrays: Arrays) -> None:
        self.table = table
        self.out = False
        self.expectation: Expectation | None = None
        self.value: Scalar | Buffer
        if "type" in table:
            self.name = table.text("name", None)
            type_name = table.one_of("type", SCALAR_TYPES)
            self.value = Scalar(type_name, self._data(np.dtype(SCALAR_TYPES[type_name])))
        elif "dtype" in table or "file" in table:
            self.name = table.text("name")
            self.value = Buffer(self.name, arrays.contents(table), table.whole("address", 0, (1 << 64) - 1, None))
            self.out = table.flag("out", False)
            self.expectation = self._read_expectation(arrays, self.value.array)
        else:
            table.missing("type", "give a scalar its PTX type, or a buffer its dtype")
        table.finish()

    def as_buffer(self) -> Buffer:
        """The value as a symbol or in memory: a scalar is an array without dimensions, or of the bytes of a struct."""
        if isinstance(self.value, Buffer):
            return self.value
        array = np.frombuffer(self.value.data, SCALAR_TYPES[self.value.type])
        return Buffer(self.name, array.reshape(()) if len(array) == 1 else array)

    def _data(self, dtype: np.dtype) -> bytes:
        """The bytes of a scalar, from `value` or from `bytes`."""
        table = self.table
        text = table.text("bytes", None)
        if text is None:
            return scalar(table, "value", dtype).tobytes()
        if "value" in table:
            table.fail("bytes", "value is given, too: give either value or bytes")
        try:
            data = bytes.fromhex(text)
        except ValueError:
            table.fail("bytes", f"{shown(text)} must be two hexadecimal digits for each byte")
        if len(data) % dtype.itemsize or not data:
            table.fail("bytes", f"{len(data)} bytes: must be a multiple of {dtype.itemsize}, the size of the type")
        return data

    def _read_expectation(self, arrays: Arrays, initial: np.ndarray) -> Expectation | None:
        table = self.table
        name = table.text("expect", None)
        absolute, relative = (table.number(key, None) for key in ("absolute", "relative"))
        for key, tolerance in (("absolute", absolute), ("relative", relative)):
            if tolerance is not None and (name is None or initial.dtype.kind != "f"):
                table.fail(key, "a tolerance goes with expect, in a buffer of floats")
            if tolerance is not None and tolerance < 0:
                table.fail(key, f"{shown(tolerance)} must not be negative")
        if name is None:
            return None
        if not self.out:
            table.fail("expect", "the buffer must come back to be checked: add out = true")
        return Expectation(self.name, arrays.read(table, "expect", name, initial.dtype, initial.shape),
                           absolute or 0.0, relative or 0.0)


def _check_names(arguments: list[_Value], memory: list[_Value], symbols: list[_Value]) -> None:
    seen: set[str] = set()
    for array in memory:
        if not isinstance(array.value, Buffer):
            array.table.fail("type", "is for arguments and symbols: give an array its dtype")
    for symbol in symbols:
        if symbol.name is None:
            symbol.table.fail("name", "is missing: must be the variable's name in the PTX")
        if isinstance(symbol.value, Buffer) and symbol.value.address is not None:
            symbol.table.fail("address", "is given: the variable's address is that of the module")
    for value in (*arguments, *memory, *symbols):
        if value.name in seen:
            value.table.fail("name", f"{shown(value.name)} is given twice; names must differ")
        if value.name is not None:
            seen.add(value.name)
        file_name = value.out or (isinstance(value.value, Buffer) and value not in symbols)
        if file_name and not names_a_file(value.name):
            value.table.fail("name", f"{shown(value.name)} {RULE}: it names a file")
