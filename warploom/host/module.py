"""Modules: PTX files with their kernels and variables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from warploom.arch.errors import LaunchError, nearest
from warploom.arch.launch import Buffer
from warploom.arch.modifiers import Space
from warploom.arch.program import Program
from warploom.compiler.compile import compile_file
from warploom.golden_model.functional.executor import Execution
from warploom.host.arguments import Value

if TYPE_CHECKING:
    from warploom.host.gpu import Gpu, Launched

Extents = int | tuple[int, ...]


class Module:
    """A PTX file on a `Gpu`. Its variables keep their contents from launch to launch."""

    def __init__(self, gpu: Gpu, path: Path) -> None:
        self._gpu, self.path = gpu, path
        self._variables: dict[str, bytes] = {}

    def __getitem__(self, entry: str) -> Kernel:
        """The kernel of this name, as the PTX has it. Raises `PtxError`."""
        return Kernel(self._gpu, self, compiled(self.path, entry))

    def set(self, name: str, value: np.ndarray) -> None:
        """Set a `.global` or `.const` variable from its first byte on (cudaMemcpyToSymbol). A later launch of a kernel
        that does not have it raises `LaunchError`."""
        old = self._variables.get(name, b"")
        new = np.ascontiguousarray(value).tobytes()
        self._variables[name] = new + old[len(new):]

    def get(self, name: str, dtype: str) -> np.ndarray:
        """The contents of a `.global` or `.const` variable that was set, or that a launch has left, as a vector
        (cudaMemcpyFromSymbol). Raises `LaunchError`."""
        if name not in self._variables:
            raise LaunchError(f"{self.path}: no variable '{name}' was set or used{nearest(name, self._variables)}")
        return np.frombuffer(self._variables[name], dtype).copy()

    def symbols(self) -> tuple[Buffer, ...]:
        """The contents of the variables, for a launch."""
        return tuple(Buffer(name, np.frombuffer(data, np.uint8)) for name, data in self._variables.items())

    def keep(self, program: Program, execution: Execution) -> None:
        """Take what a launch has left in the `.global` variables."""
        for variable in program.module:
            if variable.space is Space.GLOBAL:
                image = execution.globals[variable.offset : variable.offset + variable.size]
                self._variables[variable.name] = image


class Kernel:
    """A kernel, to be launched as ``kernel[grid, block](...)`` or ``kernel[grid, block, shared](...)``: grid and block
    are an int or up to three ints, `shared` are the bytes of dynamic shared memory."""

    def __init__(self, gpu: Gpu, module: Module, program: Program) -> None:
        self._gpu, self._module, self.program = gpu, module, program

    def __getitem__(self, geometry: tuple[Extents, Extents] | tuple[Extents, Extents, int]) -> Configured:
        grid, block, *shared = geometry
        return Configured(self._gpu, self._module, self.program, Geometry(_three(grid), _three(block), *shared))


@dataclass(frozen=True)
class Geometry:
    """Grid and block (x, y, z), and dynamic shared memory in bytes."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int = 0


class Configured:
    """A kernel with its geometry; a call launches it and waits for its end."""

    def __init__(self, gpu: Gpu, module: Module, program: Program, geometry: Geometry) -> None:
        self._gpu, self._module, self._program, self._geometry = gpu, module, program, geometry

    def __call__(self, *arguments: Value) -> Launched:
        """Launch. Raises `LaunchError` or `ExecutionError`."""
        return self._gpu.launch(self._module, self._program, self._geometry, arguments)


@cache
def compiled(path: Path, entry: str) -> Program:
    """A compiled kernel: once for all GPUs of this process."""
    return compile_file(path, entry)


def _three(extents: Extents) -> tuple[int, int, int]:
    x, y, z = (*((extents,) if isinstance(extents, int) else extents), 1, 1)[:3]
    return x, y, z
