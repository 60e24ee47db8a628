"""`Gpu`: one SM with its memory, on which a program in Python launches kernels."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from warploom.arch.config import SmConfig
from warploom.arch.errors import LaunchError
from warploom.arch.launch import Launch
from warploom.arch.layout import check_fits
from warploom.arch.memory_map import HEAP_BASE
from warploom.arch.program import Program
from warploom.compiler.writeback_hints import annotate_for
from warploom.golden_model.functional.executor import Stream, execute
from warploom.golden_model.functional.memory import after
from warploom.golden_model.simulate import simulate
from warploom.golden_model.statistics import Statistics
from warploom.host.arguments import Value, encode
from warploom.host.array import DeviceArray
from warploom.host.module import Geometry, Module


@dataclass(frozen=True)
class Launched:
    """A finished launch: kernel, geometry, counts of executed instructions, the printed text, and the statistics of its
    cycles (None without `timing`)."""

    kernel: str
    geometry: Geometry
    warp_instructions: int
    thread_instructions: int
    printed: str
    statistics: Statistics | None


class Gpu:
    """A GPU with one SM. `machine` is a preset, a configuration file or an `SmConfig`; `settings` are its fields, as in
    ``Gpu("fermi", coalescing="on")``. Without `timing` kernels are executed, but their cycles not simulated.

    Raises `ConfigError`.
    """

    def __init__(self, machine: str | SmConfig = "fermi", *, timing: bool = True, **settings: str | float) -> None:
        config = SmConfig.preset(machine) if isinstance(machine, str) else machine
        self.config = config.with_settings([f"{field}={value}" for field, value in settings.items()])
        self.timing = timing
        self.launches: list[Launched] = []
        self._arrays: list[DeviceArray] = []
        self._free = HEAP_BASE

    def array(self, values: np.ndarray, name: str | None = None) -> DeviceArray:
        """A copy of `values` in global memory. `name` is for messages. Raises `LaunchError` if it has no bytes."""
        contents = np.array(values, order="C")
        name = name or f"array {len(self._arrays)}"
        if not contents.nbytes or contents.dtype.hasobject:
            raise LaunchError(f"{name}: {contents.dtype} of shape {contents.shape} has no bytes to copy")
        if name in {array.name for array in self._arrays}:
            raise LaunchError(f"{name}: an array of this name is in memory already; names must differ")
        made = DeviceArray(name, self._free, contents)
        self._free = after(self._free, contents.nbytes)
        self._arrays.append(made)
        return made

    def zeros(self, shape: int | tuple[int, ...], dtype: str | type | np.dtype, name: str | None = None) -> DeviceArray:
        """An array of zeros in global memory."""
        return self.array(np.zeros(shape, dtype), name)

    def module(self, path: str | Path) -> Module:
        """A PTX file, whose kernels and variables have this GPU's memory."""
        return Module(self, Path(path))

    def launch(self, module: Module, program: Program, geometry: Geometry, arguments: Sequence[Value]) -> Launched:
        """Run a kernel to its end. Raises `LaunchError` or `ExecutionError`; memory is then as before."""
        hinted = annotate_for(program, self.config)
        if len(arguments) != len(program.parameters):
            raise LaunchError(f"{program.name} takes {len(program.parameters)} arguments, {len(arguments)} are given")
        launch = Launch(
            geometry.grid, geometry.block,
            tuple(encode(program.name, parameter, value)
                  for parameter, value in zip(program.parameters, arguments, strict=True)),
            geometry.shared, symbols=module.symbols(), mapped=tuple(array.buffer() for array in self._arrays))
        launch.check(hinted)
        check_fits(self.config, hinted, launch)
        execution = execute(hinted, launch, record=False)
        statistics = simulate(self.config, Stream(hinted, launch)).statistics if self.timing else None
        for array in self._arrays:
            array.replace(execution.buffers[array.name])
        module.keep(program, execution)
        launched = Launched(program.name, geometry, execution.warp_instructions, execution.thread_instructions,
                            execution.printed, statistics)
        self.launches.append(launched)
        return launched
