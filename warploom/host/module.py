"""Modules: PTX files, linked, with their kernels and variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from warploom.arch.errors import LaunchError, listed, nearest, shown
from warploom.arch.isa import GENERAL_REGISTERS
from warploom.arch.launch import Buffer, Locality
from warploom.arch.memory_map import CONST_WINDOW, STACK_BYTES
from warploom.arch.program import Program
from warploom.compiler.compile import compile_texts, declared, read_all
from warploom.compiler.ptx import Variable
from warploom.host.arguments import Value
from warploom.host.array import checked, copied
from warploom.host.geometry import Extents, Geometry
from warploom.host.launched import Launched

Launcher = Callable[["Kernel", Geometry, Sequence[Value]], Any]
"""Runs a kernel to its end on the GPU of its module; that of a `Gpu` returns a `Launched`."""


class Module:
    """PTX files on a GPU, linked, on which `launch` runs their kernels. Their variables keep their contents from launch
    to launch.

    `entries` are the names of the kernels. The `.global` variables have the addresses from `start` to `end`. Threads
    have at most `max_registers` registers, and other values are in local memory, as is a stack of `stack` bytes for
    recursive functions. Raises `PtxError`.
    """

    def __init__(self, launch: Launcher, paths: Sequence[Path], max_registers: int = GENERAL_REGISTERS,
                 stack: int = STACK_BYTES) -> None:
        self.launch, self.texts, self.max_registers, self.stack = launch, read_all(paths), max_registers, stack
        self.name = ", ".join(self.texts)
        found = declared(self.texts)
        self.start, self.end, self._addresses, self._initial = found.start, found.end, found.addresses, found.initial
        self.entries = tuple(name for name, function in found.functions.items() if function.is_entry)
        self._declared = {name: variable for name, variable in found.variables.items() if name in found.addresses}
        self._contents: dict[str, bytes] = {}

    def __getitem__(self, entry: str) -> Kernel:
        """The kernel of this name, as the PTX has it. Raises `LaunchError` if there is none, and `PtxError`."""
        if entry not in self.entries:
            raise LaunchError(f"{self.name}: no kernel {shown(entry)}; it has {listed(self.entries) or 'none'}"
                              f"{nearest(str(entry), self.entries)}")
        return Kernel(self, _compiled(tuple(self.texts.items()), entry, self.max_registers, self.stack))

    def set(self, name: str, value: np.ndarray | np.generic) -> None:
        """Set a `.global` or `.const` variable from its first byte on (cudaMemcpyToSymbol). Raises `LaunchError`."""
        size = self._variable(name).size
        new = copied(checked(f"{self.name}: {name}", value)).tobytes()
        if len(new) > size:
            raise LaunchError(f"{self.name}: {name} has {size} bytes, {len(new)} are given")
        self._contents[name] = new + self._contents.get(name, b"")[len(new):]

    def get(self, name: str, dtype: str | type | np.dtype) -> np.ndarray:
        """A copy of a `.global` or `.const` variable as a vector (cudaMemcpyFromSymbol). Raises `LaunchError`."""
        variable = self._variable(name)
        data = self._contents.get(name, b"")
        data += self._initial[name].ljust(variable.size, b"\0")[len(data):]
        try:
            return np.frombuffer(data, dtype).copy()
        except (TypeError, ValueError) as error:
            raise LaunchError(f"{self.name}: {name} ({variable.size} bytes) as {shown(dtype)}: {error}") from None

    def address(self, name: str) -> int:
        """The address of a `.global` or `.const` variable, at which kernels of this module have it
        (cudaGetSymbolAddress). Raises `LaunchError`."""
        window = CONST_WINDOW if self._variable(name).space == "const" else 0
        return window + self._addresses[name]

    @property
    def has_constants(self) -> bool:
        """Whether it has `.const` variables, which begin at the same address in all modules."""
        return any(variable.space == "const" for variable in self._declared.values())

    def symbols(self, program: Program) -> tuple[Buffer, ...]:
        """The contents of the variables, for a launch of `program`, which lacks those of functions that it omits."""
        names = {variable.name for variable in program.module}
        return tuple(Buffer(name, np.frombuffer(data, np.uint8))
                     for name, data in self._contents.items() if name in names)

    def keep(self, contents: Mapping[str, bytes]) -> None:
        """Take what a launch has left in the `.global` variables, by name."""
        self._contents.update(contents)

    def _variable(self, name: str) -> Variable:
        if not isinstance(name, str) or name not in self._declared:
            raise LaunchError(f"{self.name}: no .global or .const variable {shown(name)}"
                              f"{nearest(str(name), self._declared)}")
        return self._declared[name]


class Kernel:
    """A kernel, to be launched as ``kernel[grid, block](...)``: an int or up to three ints each. After them may come
    the bytes of dynamic shared memory, an int, and last a launch hint, a `Locality`: ``kernel[grid, block, hint](...)``
    or ``kernel[grid, block, shared, hint](...)``."""

    def __init__(self, module: Module, program: Program) -> None:
        self.module, self.program = module, program

    def __call__(self, *_: Value) -> NoReturn:
        """A kernel needs a geometry: raises `LaunchError`."""
        raise LaunchError(f"{self.program.name}(...): write {self.program.name}[grid, block](...)")

    def __getitem__(
        self, geometry: tuple[Extents, Extents] | tuple[Extents, Extents, int | Locality]
        | tuple[Extents, Extents, int, Locality],
    ) -> Configured:
        return Configured(self, Geometry.of(self.program.name, geometry))


class Configured:
    """A kernel with its geometry; a call launches it and waits for its end."""

    def __init__(self, kernel: Kernel, geometry: Geometry) -> None:
        self._kernel, self._geometry = kernel, geometry

    def __call__(self, *arguments: Value) -> Launched:
        """Launch. Raises `LaunchError`, `ExecutionError`, and with `rtl` `LockstepError`; memory is then as before."""
        launched: Launched = self._kernel.module.launch(self._kernel, self._geometry, arguments)
        return launched


@lru_cache(maxsize=256)
def _compiled(texts: tuple[tuple[str, str], ...], entry: str, max_registers: int, stack: int) -> Program:
    """A compiled kernel: once for all GPUs of this process."""
    return compile_texts(dict(texts), entry, max_registers, stack=stack)
