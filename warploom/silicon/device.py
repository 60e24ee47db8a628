"""`Silicon`: an NVIDIA GPU, on which a program in Python launches kernels as on a `Gpu`."""

import ctypes
import importlib
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from warploom.arch.errors import ToolError
from warploom.arch.launch import Scalar
from warploom.arch.modifiers import Space
from warploom.host.arguments import Value, encode_all
from warploom.host.geometry import Geometry
from warploom.host.memory import GlobalMemory
from warploom.host.module import Kernel, Module

WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
"""Types of arguments that are passed in a register, by size in bytes."""


class Silicon:
    """The first NVIDIA GPU of this computer. Arrays, modules and launches are those of a `Gpu`; the driver compiles
    the PTX. Before each launch all arrays and variables are copied to the GPU, after it they are copied back.
    `launches` are the names of the kernels that were launched, `cupy` is the library.

    Raises `ToolError` without CuPy, driver or GPU; its launches raise `LaunchError`, and what CuPy raises.
    """

    def __init__(self) -> None:
        try:
            self.cupy: Any = importlib.import_module("cupy")
            self._properties = self.cupy.cuda.runtime.getDeviceProperties(0)
        except Exception as error:  # CuPy has an error of its own for each part that is missing
            raise ToolError(f"no GPU to record: {str(error).splitlines()[0]}; needs an NVIDIA GPU, its driver, and "
                            "CuPy (pip install cupy-cuda13x)") from None
        self._places: dict[int, Any] = {}
        self._loaded: dict[Module, Any] = {}
        self._memory = GlobalMemory(self._place)
        self.array, self.zeros = self._memory.array, self._memory.zeros
        self.launches: list[str] = []

    def about(self) -> dict[str, str]:
        """Names of the GPU and of its driver, and the CUDA version of the driver."""
        query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        driver = subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()[0]
        version = self.cupy.cuda.runtime.driverGetVersion()
        return {"gpu": self._properties["name"].decode(), "driver": driver,
                "cuda": f"{version // 1000}.{version % 1000 // 10}"}

    def module(self, path: str | Path) -> Module:
        """A PTX file, whose kernels and variables have this GPU's memory. Raises `PtxError`."""
        return Module(self.launch, [Path(path)])

    def launch(self, kernel: Kernel, geometry: Geometry, arguments: Sequence[Value]) -> None:
        """Run a kernel to its end."""
        module, program = kernel.module, kernel.program
        loaded = self._load(module)
        encoded = tuple(map(_argument, encode_all(program, arguments, self._memory)))
        for array in self._memory:
            _copy_in(self._places[array.address], array.numpy().tobytes())
        for symbol in module.symbols(program):
            _copy_in(loaded.get_global(symbol.name), symbol.array.tobytes())
        function = loaded.get_function(program.name)
        function(geometry.grid, geometry.block, encoded, shared_mem=geometry.shared)
        for array in self._memory:
            data = _copy_out(self._places[array.address], array.numpy().nbytes)
            array.replace(np.frombuffer(data, array.dtype).reshape(array.shape))
        module.keep({variable.name: _copy_out(loaded.get_global(variable.name), variable.size)
                     for variable in program.module if variable.space is Space.GLOBAL and variable.has_host_name})
        self.launches.append(program.name)

    def _load(self, module: Module) -> Any:
        """A module, compiled by the driver."""
        if module not in self._loaded:
            self._loaded[module] = self.cupy.RawModule(path=module.name)
        return self._loaded[module]

    def _place(self, size: int) -> int:
        """The address of new memory of so many bytes; it is never given back, as a `Gpu` does."""
        memory = self.cupy.cuda.alloc(size)
        self._places[int(memory.ptr)] = memory
        return int(memory.ptr)


def _argument(value: Scalar) -> np.generic | np.ndarray:
    """An argument as CuPy takes it: a word, or an array of no dimensions for the bytes of a struct."""
    data = value.data
    if len(data) in WORDS:
        return np.frombuffer(data, WORDS[len(data)])[0]
    return np.frombuffer(data, f"V{len(data)}").reshape(())


def _copy_in(memory: Any, data: bytes) -> None:
    """Copy to the GPU."""
    memory.copy_from_host(ctypes.c_void_p(np.frombuffer(data, np.uint8).ctypes.data), len(data))


def _copy_out(memory: Any, size: int) -> bytes:
    """Copy from the GPU, after all that it was told to do before."""
    data = np.empty(size, np.uint8)
    memory.copy_to_host(ctypes.c_void_p(data.ctypes.data), size)
    return data.tobytes()
