"""The GPU of a CUDA program: it answers the requests of the library that the program has loaded (`client.h`)."""

import bisect
import contextlib
import re
import selectors
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from warploom.arch.chunks import resident_blocks
from warploom.arch.config import LANES
from warploom.arch.errors import ExecutionError, GridTooLargeError, LaunchError, PtxError, WarploomError, warn
from warploom.arch.gpu import GpuConfig, sms_of
from warploom.arch.launch import MAX_BLOCK_THREADS, Launch
from warploom.arch.memory_map import CONST_WINDOW, GLOBALS_BASE, LOCAL_BYTES, STACK_BYTES
from warploom.compiler.images import PRAGMA
from warploom.compiler.prepare import prepared
from warploom.cuda.fatbin import Ptx, embedded
from warploom.cuda.protocol import ANSWER, FAULTS, REQUEST, SPACE, Code, Verb
from warploom.files import write_whole
from warploom.host.array import DeviceArray
from warploom.host.geometry import Geometry
from warploom.host.gpu import Gpu
from warploom.host.launched import Launched
from warploom.host.module import Kernel, Module

SHAPE = struct.Struct("<7Q")
"""Grid, block, and dynamic shared memory, in front of the arguments of a launch."""

MEMORY = 1 << 32
"""Bytes of the GPU's memory: more than the arrays of a program whose kernels are simulated."""

REGION = 1 << 20
"""The variables of a module have whole regions of addresses, so of pages of the host."""

SM_KHZ = 1_000_000
"""The clock of an SM alone, which has none: a cycle counts as a nanosecond."""

NEWEST = 90
"""The architecture of a GPU whose program has no PTX."""


class Refused(Exception):
    """A request that fails with an error of CUDA, and what the answer then holds."""

    def __init__(self, code: Code, data: bytes = b"") -> None:
        super().__init__(code)
        self.code, self.data = code, data


Answer = tuple[int, bytes]
"""A number and bytes."""


@dataclass(frozen=True)
class Variable:
    """A variable of a module. Reading and writing are those of `DeviceArray`."""

    module: Module
    name: str

    @property
    def size(self) -> int:
        """Bytes."""
        return len(self._contents())

    def read(self, offset: int, size: int) -> bytes:
        """Bytes of the contents."""
        return self._contents()[offset : offset + size].tobytes()

    def write(self, offset: int, data: bytes) -> None:
        """Change bytes of the contents."""
        contents = self._contents()
        contents[offset : offset + len(data)] = np.frombuffer(data, np.uint8)
        self.module.set(self.name, contents)

    def _contents(self) -> np.ndarray:
        return self.module.get(self.name, np.uint8)


class Session:
    """The GPU of the program `name`, whose PTX is written to `folder` when it is compiled. `failures` are the launches
    that were refused or failed, in words."""

    def __init__(self, gpu: Gpu, name: str, folder: Path) -> None:
        self.failures: list[str] = []
        self._gpu, self._name, self._folder = gpu, name, folder
        self._ptx: list[list[Ptx]] = []
        self._modules: dict[int, Module] = {}
        self._kernels: list[Kernel] = []
        self._arrays: dict[int, DeviceArray] = {}  # by the address that the program has been given
        self._variables: dict[int, Variable] = {}  # the same
        self._addresses: list[int] = []  # these addresses, ascending
        self._constants: int | None = None  # the module of whose constants the program has addresses
        self._variables_end = GLOBALS_BASE  # of all modules
        self._used = 0  # bytes of the arrays
        self._stack = STACK_BYTES
        self._nanoseconds = 0.0  # of all launches
        self._verbs: dict[int, Callable[[int, int, int, bytes], Answer]] = {
            verb: getattr(self, f"_{verb.name.lower()}") for verb in Verb}

    def serve(self, broker: socket.socket, ended: socket.socket, connections: contextlib.ExitStack) -> None:
        """Answer requests of the program and of the processes that it starts, each on a connection of its own, which
        comes through `broker`, until `ended` is closed. `connections` are for the caller to close: a process whose
        connection is closed says so. Raises `PtxError`, and with hardware `LockstepError` and `ToolError`."""
        with selectors.DefaultSelector() as selector:
            for given in (broker, ended):
                selector.register(given, selectors.EVENT_READ, given)
            while ended not in (ready := [key.data for key, _ in selector.select()]):
                for connection in ready:
                    if connection is broker and (made := _connection(broker)):
                        selector.register(connections.enter_context(made), selectors.EVENT_READ, made)
                    elif connection is broker or not self._answer(connection):
                        selector.unregister(connection)
                        connection.close()

    def _answer(self, connection: socket.socket) -> bool:
        """Answer a request, unless the process has ended, perhaps within it."""
        if not (request := _received(connection, REQUEST.size)):
            return False
        verb, a, b, c, size = REQUEST.unpack(request)
        data = _received(connection, size)
        if len(data) < size:
            return False
        try:
            code, (value, answer) = 0, self._verbs[verb](a, b, c, data)
        except Refused as refused:
            code, value, answer = refused.code, 0, refused.data
        with contextlib.suppress(ConnectionError):
            connection.sendall(ANSWER.pack(code, value, len(answer)) + answer)
        return True

    # Kernels and variables

    def _load(self, _a: int, _b: int, _c: int, containers: bytes) -> Answer:
        try:
            self._ptx.append(embedded(containers))
        except PtxError as error:
            error.file = self._name
            raise
        return len(self._ptx) - 1, b""

    def _module(self, number: int) -> Module:
        """A module of the program, compiled when a kernel or a variable of it is used for the first time. Raises
        `PtxError`."""
        if number not in self._modules:
            if not (found := self._ptx[number]):
                raise PtxError("it holds machine code, and no PTX: compile it with nvcc -arch=sm_90, or for another "
                               "architecture, and without -code", file=self._name)
            self._folder.mkdir(parents=True, exist_ok=True)
            paths = [self._folder / f"{number}{f'-{part}' * (len(found) > 1)}.ptx" for part in range(len(found))]
            for path, ptx in zip(paths, found, strict=True):
                write_whole(path, self._placed(ptx.text).encode())
            made = self._gpu.module(*paths, stack=self._stack)
            if self._constants is not None:
                self._check_constants(made)
            self._modules[number] = made
            self._variables_end = -(-max(made.end, self._variables_end) // REGION) * REGION
        return self._modules[number]

    def _placed(self, text: str) -> str:
        """PTX whose variables are behind those of all other modules, since the program may have their addresses."""
        pragma = PRAGMA.format(self._variables_end) if self._modules else ""
        return re.sub(r"(\.address_size\s+64)", rf"\1 {pragma}", text, count=1) if pragma else text

    def _kernel(self, module: int, _b: int, _c: int, name: bytes) -> Answer:
        self._kernels.append(self._module(module)[name.decode()])
        program = self._kernels[-1].program
        return len(self._kernels) - 1, _numbers(
            program.shared_bytes, program.registers, program.max_threads or MAX_BLOCK_THREADS,
            self._ptx[module][-1].architecture, *(parameter.size for parameter in program.parameters))

    def _limit_stack(self, size: int, _b: int, _c: int, _data: bytes) -> Answer:
        if size > LOCAL_BYTES:
            raise Refused(Code.MEMORY_ALLOCATION)
        self._stack = max(size, STACK_BYTES)
        for module in self._modules.values():
            module.stack = self._stack
        self._kernels = [kernel.module[kernel.program.name] for kernel in self._kernels]
        return 0, b""

    def _launch(self, kernel: int, cooperative: int, _c: int, data: bytes) -> Answer:
        found, at, arguments = self._kernels[kernel], SHAPE.size, []
        program = found.program
        for parameter in program.parameters:
            arguments.append(data[at : at + parameter.size])
            at += parameter.size
        shape = SHAPE.unpack_from(data)
        if program.grid_barrier and not cooperative:
            raise self._failed(Code.LAUNCH_FAILURE, LaunchError(
                f"{program.name}: its blocks wait for each other (grid.sync): use cudaLaunchCooperativeKernel"))
        geometry = Geometry.of(program.name, (shape[:3], shape[3:6], shape[6]))
        try:
            launched = self._gpu.launch(found, replace(geometry, at_once=bool(cooperative)), arguments)
        except GridTooLargeError as error:
            raise self._failed(Code.COOPERATIVE_LAUNCH_TOO_LARGE, error) from None
        except LaunchError as error:
            raise self._failed(Code.INVALID_CONFIGURATION, error) from None
        except ExecutionError as error:
            raise self._failed(FAULTS[type(error)], error, error.printed.encode()) from None
        self._nanoseconds += _nanoseconds(launched)
        return 0, launched.printed.encode()

    def _set(self, module: int, offset: int, _c: int, data: bytes) -> Answer:
        name, _, values = data.partition(b"\0")
        self._variable(module, name).write(offset, values)
        return 0, b""

    def _get(self, module: int, offset: int, size: int, name: bytes) -> Answer:
        return 0, self._variable(module, name).read(offset, size)

    def _address(self, number: int, _b: int, _c: int, name: bytes) -> Answer:
        """Of a variable, and from where to where variables of its module are in global memory."""
        variable, module = self._variable(number, name), self._module(number)
        address = module.address(variable.name)
        if address >= CONST_WINDOW and self._constants is None:
            for other, ptx in enumerate(self._ptx):
                if other != number and ptx:
                    self._check_constants(self._module(other))
            self._constants = number
        if address not in self._variables:
            self._variables[address] = variable
            bisect.insort(self._addresses, address)
        return address, _numbers(module.start, module.end)

    @staticmethod
    def _check_constants(module: Module) -> None:
        """Refuse constants of a second module, if the program has addresses of those of one: they would be the
        same."""
        if module.has_constants:
            warn("the program asks for the address of a __constant__ variable, and several of its modules have such "
                 "variables, all from the same address on: link them (nvcc -rdc=true)")
            raise Refused(Code.NOT_SUPPORTED)

    def _variable(self, module: int, name: bytes) -> Variable:
        return Variable(self._module(module), name.decode())

    def _failed(self, code: Code, why: WarploomError, data: bytes = b"") -> Refused:
        """The error of a launch, of which the user hears, whatever the program makes of it."""
        self.failures.append(str(why))
        warn(f"{why}: the program gets CUDA's error {code}")
        return Refused(code, data)

    # Memory

    def _allocate(self, size: int, alignment: int, _c: int, _data: bytes) -> Answer:
        whole = size + alignment - 1
        if self._used + whole > MEMORY:
            raise Refused(Code.MEMORY_ALLOCATION)
        array = self._gpu.zeros(whole, np.uint8)
        if array.address + whole not in SPACE:
            raise Refused(Code.MEMORY_ALLOCATION)
        address = -(-array.address // alignment) * alignment
        bisect.insort(self._addresses, address)
        self._arrays[address] = array
        self._used += whole
        return address, b""

    def _free(self, address: int, _b: int, _c: int, _data: bytes) -> Answer:
        if address not in self._arrays:
            raise Refused(Code.INVALID_VALUE)
        self._addresses.remove(address)
        array = self._arrays.pop(address)
        self._used -= array.shape[0]
        array.free()
        return 0, b""

    def _place(self, address: int, size: int) -> tuple[DeviceArray | Variable, int]:
        """The array or variable that has these bytes, and their distance from its start."""
        number = bisect.bisect(self._addresses, address) - 1
        if number < 0:
            raise Refused(Code.INVALID_VALUE)
        start = self._addresses[number]
        found = self._variables.get(start) or self._arrays[start]
        whole, offset = ((found.size, address - start) if isinstance(found, Variable)
                         else (found.shape[0], address - found.address))
        if offset + size > whole:
            raise Refused(Code.INVALID_VALUE)
        return found, offset

    def _write(self, address: int, _b: int, _c: int, data: bytes) -> Answer:
        place, offset = self._place(address, len(data))
        place.write(offset, data)
        return 0, b""

    def _read(self, address: int, size: int, _c: int, _data: bytes) -> Answer:
        place, offset = self._place(address, size)
        return 0, place.read(offset, size)

    def _copy(self, to: int, source: int, size: int, _data: bytes) -> Answer:
        return self._write(to, 0, 0, self._read(source, size, 0, b"")[1])

    def _fill(self, address: int, value: int, size: int, _data: bytes) -> Answer:
        place, offset = self._place(address, size)
        place.write(offset, bytes([value]) * size)
        return 0, b""

    # The device

    def _time(self, _a: int, _b: int, _c: int, _data: bytes) -> Answer:
        return round(self._nanoseconds), b""

    def _device(self, _a: int, _b: int, _c: int, _data: bytes) -> Answer:
        machine, sm = self._gpu.gpu or self._gpu.config, self._gpu.config
        newest = max((ptx.architecture for module in self._ptx for ptx in module), default=NEWEST)
        khz = machine.core_mhz * 1000 if isinstance(machine, GpuConfig) else SM_KHZ
        numbers = _numbers(sms_of(machine), sm.warps, sm.shared_bytes, sm.rows * sm.banks * LANES, sm.blocks, newest,
                           MEMORY, khz)
        return 0, numbers + f"Warploom {machine.name}".encode()

    def _occupancy(self, kernel: int, threads: int, shared: int, _data: bytes) -> Answer:
        launch = Launch((1, 1, 1), (threads, 1, 1), dynamic_shared=shared)
        program = prepared(self._kernels[kernel].program, self._gpu.config)
        fits = threads <= (program.max_threads or MAX_BLOCK_THREADS)
        return resident_blocks(self._gpu.config, program, launch) if fits else 0, b""

    def _unused(self, _a: int, _b: int, _c: int, _data: bytes) -> Answer:
        return MEMORY - self._used, b""


def _nanoseconds(launched: Launched) -> float:
    """The time of a launch, 0 if it is not simulated."""
    if launched.gpu is not None:
        return launched.gpu.statistics.seconds * 1e9
    return launched.estimated.cycles if launched.timed else 0


def _numbers(*numbers: int) -> bytes:
    return struct.pack(f"<{len(numbers)}Q", *numbers)


def _connection(broker: socket.socket) -> socket.socket | None:
    """A connection that comes through the broker; none if no process has that any more."""
    _, files, *_ = socket.recv_fds(broker, 1, 1)
    return socket.socket(fileno=files[0]) if files else None


def _received(connection: socket.socket, size: int) -> bytes:
    """So many bytes, or none if the program has ended."""
    parts = []
    with contextlib.suppress(ConnectionError):
        while size and (part := connection.recv(min(size, 1 << 20))):
            parts.append(part)
            size -= len(part)
    return b"".join(parts) if not size else b""
