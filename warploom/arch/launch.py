"""`Launch`: the grid and the arguments of a kernel. Plain data; `warploom.kernels` reads it from files."""

from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise

import numpy as np

from warploom.arch.config import LANES
from warploom.arch.errors import LaunchError, nearest
from warploom.arch.memory_map import BUFFER_ALIGNMENT, HEAP_BASE, LOWEST_ARRAY, SHARED_WINDOW, after
from warploom.arch.program import Program

MAX_GRID = (2**31 - 1, 65535, 65535)
MAX_BLOCK_THREADS = 1024
MAX_BLOCK_DEPTH = 64

DEFAULT_LIMIT = 10_000_000
"""Warp instructions after which a kernel counts as an endless loop."""


class Locality(Enum):
    """The launch hint: what the blocks of the grid share ([HAWS], Table 6.1)."""

    NONE = 0  # not specified
    LINES = 1  # multiple cache lines
    BOUNDARY = 2  # cache lines at their boundaries
    DATA = 3  # some data and constants


@dataclass(frozen=True)
class Scalar:
    """A scalar argument: its PTX type and its bytes, little-endian."""

    type: str
    data: bytes


@dataclass(frozen=True)
class Buffer:
    """A named array with its initial contents (any numpy dtype and shape): in global memory, or the contents of the
    module variable of this name, from its first byte on. Without an `address` an array in global memory is placed
    after the one before it."""

    name: str
    array: np.ndarray
    address: int | None = None


@dataclass(frozen=True)
class Launch:
    """Grid and block (x, y, z), the arguments in order, dynamic shared memory in bytes, a limit on the warp
    instructions of the grid (for endless loops), and the module variables that the host sets. An array for a module
    variable may not be larger than the variable; without dimensions it has the variable's size. With `strict_barriers`
    barriers also wait for threads that have exited. Arrays that are `mapped` are in global memory, too; the kernel gets
    their addresses in scalars or in other arrays. `locality` changes only the order of execution."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arguments: tuple[Scalar | Buffer, ...] = ()
    dynamic_shared: int = 0
    limit: int = DEFAULT_LIMIT
    symbols: tuple[Buffer, ...] = ()
    strict_barriers: bool = False
    mapped: tuple[Buffer, ...] = ()
    locality: Locality = Locality.NONE

    @property
    def threads(self) -> int:
        """Number of threads of a block."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def warps_per_block(self) -> int:
        """Number of warps of a block; the last one may have fewer than 32 threads."""
        return -(-self.threads // LANES)

    @property
    def blocks(self) -> int:
        """Number of blocks of the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    def placed(self) -> list[tuple[Buffer, int]]:
        """The arrays in global memory with their addresses, in ascending order; one that is given twice is there once.

        Raises `LaunchError` if an address is not for buffers, or two arrays overlap.
        """
        given = [argument for argument in self.arguments if isinstance(argument, Buffer)]
        placed, base = [], HEAP_BASE
        for buffer in {buffer.name: buffer for buffer in (*given, *self.mapped)}.values():
            base = base if buffer.address is None else buffer.address
            if base % BUFFER_ALIGNMENT or not LOWEST_ARRAY <= base <= SHARED_WINDOW - buffer.array.nbytes:
                raise LaunchError(f"the array '{buffer.name}' of {buffer.array.nbytes} bytes can't be at {base:#x}: "
                                  f"must be at a multiple of {BUFFER_ALIGNMENT}, from {LOWEST_ARRAY:#x} to the end of "
                                  f"global memory at {SHARED_WINDOW:#x}")
            placed.append((buffer, base))
            base = after(base, buffer.array.nbytes)
        placed.sort(key=lambda one: one[1])
        for (one, first), (two, second) in pairwise(placed):
            if first + one.array.nbytes > second:
                raise LaunchError(f"the arrays '{one.name}' ({one.array.nbytes} bytes at {first:#x}) and '{two.name}' "
                                  f"(at {second:#x}) overlap: place them apart")
        return placed

    def moved(self, base: int) -> "Launch":
        """The launch with its arrays from an address on. Raises `LaunchError` if one has an address of its own, to
        which others may point, or cannot be there."""
        placed = self.placed()
        fixed = next((buffer for buffer, _ in placed if buffer.address is not None), None)
        if fixed is not None:
            raise LaunchError(f"the array '{fixed.name}' has the address {fixed.address:#x}: it cannot be moved")
        moved = {buffer.name: replace(buffer, address=base + address - placed[0][1]) for buffer, address in placed}
        launch = replace(self, mapped=tuple(moved[buffer.name] for buffer in self.mapped), arguments=tuple(
            moved[argument.name] if isinstance(argument, Buffer) else argument for argument in self.arguments))
        launch.placed()
        return launch

    def check(self, program: Program) -> None:
        """Raise `LaunchError` if geometry, arguments or symbols do not fit the program."""
        for name, extent in (("grid", self.grid), ("block", self.block)):
            if min(extent) < 1:
                raise LaunchError(f"{program.name}: {name} = {extent}: every dimension must be at least 1")
        if self.dynamic_shared < 0:
            raise LaunchError(f"{program.name}: dynamic_shared = {self.dynamic_shared}: must not be negative")
        if any(extent > most for extent, most in zip(self.grid, MAX_GRID, strict=True)):
            raise LaunchError(f"{program.name}: grid = {self.grid}: at most {MAX_GRID}")
        if program.block and self.block != program.block:
            raise LaunchError(f"{program.name}: block = {self.block}: the kernel requires {program.block} (.reqntid)")
        limit = program.max_threads or MAX_BLOCK_THREADS
        if self.threads > limit:
            raise LaunchError(f"{program.name}: a block of {self.threads} threads exceeds the limit of {limit}")
        if self.block[2] > MAX_BLOCK_DEPTH:
            raise LaunchError(f"{program.name}: block = {self.block}: at most {MAX_BLOCK_DEPTH} threads in z")
        if len(self.arguments) != len(program.parameters):
            raise LaunchError(f"{program.name} takes {len(program.parameters)} arguments, the launch gives "
                              f"{len(self.arguments)}")
        for number, (argument, parameter) in enumerate(zip(self.arguments, program.parameters, strict=True), 1):
            type_, size = ("u64", 8) if isinstance(argument, Buffer) else (argument.type, len(argument.data))
            given = "a buffer" if isinstance(argument, Buffer) else f"a scalar {argument.type}"
            if size != parameter.size or {type_[0], parameter.type[0]} in ({"f", "s"}, {"f", "u"}):
                raise LaunchError(f"{program.name}: argument {number} is {given} of {size} bytes, the kernel's "
                                  f"parameter {parameter.name} is .{parameter.type} of {parameter.size} bytes")
        for symbol in self.symbols:
            _check_symbol(program, symbol)

    def warnings(self, program: Program) -> list[str]:
        """One line if the kernel reads module variables that are never set; they hold zeros."""
        given = {symbol.name for symbol in self.symbols}
        names = ", ".join(f"{variable.name} (.{variable.space.name.lower()})" for variable in program.module
                          if variable.unset and variable.name not in given)
        return [f"{program.name} reads variables that nothing sets; they are zero: {names}"] if names else []


def _check_symbol(program: Program, symbol: Buffer) -> None:
    sizes = {variable.name: variable.size for variable in program.module}
    if symbol.name not in sizes:
        raise LaunchError(f"{program.name}: {program.source} has no .const or .global variable '{symbol.name}'"
                          f"{nearest(symbol.name, sizes)}")
    given, size = symbol.array.nbytes, sizes[symbol.name]
    if given > size or (not symbol.array.ndim and given != size):
        raise LaunchError(f"{program.name}: the symbol '{symbol.name}' is given {given} bytes, the variable has {size}")
