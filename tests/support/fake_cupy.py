"""A `cupy` whose GPU is the golden model: as much of it as `Silicon` uses. Memory is this process's own."""

import ctypes
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from warploom.arch.launch import Buffer, Launch, Scalar
from warploom.arch.modifiers import Space
from warploom.compiler.compile import compile_ptx
from warploom.golden_model.functional.executor import execute

memories: list["Memory"] = []


class Memory:
    """Allocated memory."""

    def __init__(self, size: int) -> None:
        self.data = np.zeros(size, np.uint8)
        self.ptr = 0x7100_0000_0000 + 0x10_0000 * len(memories)
        memories.append(self)

    def copy_from_host(self, place: ctypes.c_void_p, size: int) -> None:
        ctypes.memmove(self.data.ctypes.data, place, size)

    def copy_to_host(self, place: ctypes.c_void_p, size: int) -> None:
        ctypes.memmove(place, self.data.ctypes.data, size)


class RawModule:
    """A PTX file. Its variables are those of the kernel that is launched first."""

    def __init__(self, path: str) -> None:
        self.text = Path(path).read_text()
        self.variables: dict[str, Memory] = {}

    def get_global(self, name: str) -> Memory:
        return self.variables.setdefault(name, Memory(1 << 16))

    def get_function(self, name: str) -> "Function":
        return Function(self, name)


class Function:
    """A kernel."""

    def __init__(self, module: RawModule, name: str) -> None:
        self.module, self.program = module, compile_ptx(module.text, "fake.ptx", name)

    def __call__(self, grid: tuple[int, ...], block: tuple[int, ...], arguments: Sequence[np.generic],
                 shared_mem: int = 0) -> None:
        values = tuple(Scalar(parameter.type, value.tobytes())
                       for parameter, value in zip(self.program.parameters, arguments, strict=True))
        mapped = tuple(Buffer(f"memory_{at}", memory.data, memory.ptr) for at, memory in enumerate(memories)
                       if memory not in self.module.variables.values())
        symbols = tuple(Buffer(variable.name, self.module.variables[variable.name].data[: variable.size])
                        for variable in self.program.module if variable.name in self.module.variables)
        done = execute(self.program, Launch(grid, block, values, shared_mem, symbols=symbols, mapped=mapped),
                       record=False)
        for buffer in mapped:
            buffer.array[:] = done.buffers[buffer.name]
        for variable in self.program.module:
            if variable.space is Space.GLOBAL:
                contents = done.globals[variable.offset : variable.offset + variable.size]
                self.module.get_global(variable.name).data[: variable.size] = np.frombuffer(contents, np.uint8)


cuda = SimpleNamespace(
    alloc=Memory,
    runtime=SimpleNamespace(getDeviceProperties=lambda number: {"name": b"a model"}, driverGetVersion=lambda: 13000))
