"""The memory image of a launch: global buffers and variables, shared, local, constant and parameter memory.

Every space is one array of bytes. `locate` turns checked addresses into byte offsets of such an array; loads, stores
and atomics are then plain indexing, vectorised over all lanes of a group of warps.
"""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from warploom.arch.errors import ExecutionError, IllegalAddressError, MisalignedAddressError
from warploom.arch.launch import Buffer, Launch, Scalar
from warploom.arch.memory_map import (
    CONST_WINDOW,
    GRID_BARRIER,
    LOCAL_WINDOW,
    PARAM_WINDOW,
    SHARED_WINDOW,
    WINDOW_BYTES,
    padded,
)
from warploom.arch.modifiers import Space
from warploom.arch.program import Program

WINDOWS = {
    SHARED_WINDOW: Space.SHARED, LOCAL_WINDOW: Space.LOCAL, CONST_WINDOW: Space.CONST, PARAM_WINDOW: Space.PARAM,
}
NULL_BYTES = 1 << 12
"""Addresses below this are those of fields of a null pointer."""

OFFSET = np.uint64(WINDOW_BYTES - 1)
WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


class Fault(Exception):
    """An illegal access by the thread at `position` of the given addresses, the reason, and the kind of its error."""

    def __init__(self, position: int, why: str, kind: type[ExecutionError] = IllegalAddressError) -> None:
        super().__init__(why)
        self.position, self.why, self.kind = position, why, kind


@dataclass(frozen=True)
class Segment:
    """`size` bytes at the global address `base`, found at byte `offset` of the global image."""

    name: str
    base: int
    size: int
    offset: int

    def describe(self, address: int) -> str:
        """An address relative to the segment, in words."""
        past = address - self.base - self.size
        if past >= 0:
            return f"{past} bytes past the end of {self.name} ({self.size} bytes)"
        if address < self.base:
            return f"{self.base - address} bytes before {self.name} ({self.size} bytes)"
        return f"byte {address - self.base} of {self.name} ({self.size} bytes)"


def _image(content: bytes, size: int) -> np.ndarray:
    """The bytes, padded to a length that suits every access width."""
    array = np.zeros(padded(max(size, 1)), np.uint8)
    array[: len(content)] = np.frombuffer(content, np.uint8)
    return array


class Memory:
    """All memory of a launch; shared and local memory for the blocks that are resident at a time.

    `shared_stride` and `local_stride` are the distances in bytes between the shared memories of two blocks, and between
    the local memories of two threads.
    """

    def __init__(self, program: Program, launch: Launch, resident_blocks: int) -> None:
        self._program, self._launch = program, launch
        self._placed = launch.placed()
        self.shared_bytes = program.shared_bytes + launch.dynamic_shared
        self.shared_stride = padded(self.shared_bytes)
        self.local_stride = -(-program.local_bytes // 8) * 8
        threads = resident_blocks * launch.warps_per_block * 32
        self._segments = self._place(program)
        self._bases = [segment.base for segment in self._segments]
        last = self._segments[-1]
        sizes = {Space.GLOBAL: last.offset + last.size, Space.SHARED: resident_blocks * self.shared_stride,
                 Space.LOCAL: threads * self.local_stride}
        self._arrays = {space: _image(b"", size) for space, size in sizes.items()}
        self._arrays[Space.CONST] = _image(program.constants, len(program.constants))
        self._arrays[Space.PARAM] = self._parameters(program)
        self._limits = {Space.SHARED: self.shared_bytes, Space.LOCAL: program.local_bytes,
                        Space.CONST: len(program.constants), Space.PARAM: program.parameter_bytes}
        self._fill(program)

    def _place(self, program: Program) -> list[Segment]:
        """Global variables, then the barrier of the grid and the buffers, in ascending order of addresses."""
        segments = [Segment("the module's .global variables", program.globals_base, len(program.globals), 0)]
        others = [("the barrier of the grid", GRID_BARRIER - 4, 8)] if program.grid_barrier else []
        others += [(f"buffer {buffer.name!r}", base, buffer.array.nbytes) for buffer, base in self._placed]
        for name, base, size in others:
            segments.append(Segment(name, base, size, segments[-1].offset + padded(segments[-1].size)))
        return segments

    @property
    def _buffers(self) -> list[Segment]:
        """Those of the buffers."""
        return self._segments[len(self._segments) - len(self._placed) :]

    def _fill(self, program: Program) -> None:
        image = self._arrays[Space.GLOBAL]
        image[: len(program.globals)] = np.frombuffer(program.globals, np.uint8)
        for segment, (buffer, _) in zip(self._buffers, self._placed, strict=True):
            content = np.ascontiguousarray(buffer.array).reshape(-1).view(np.uint8)
            image[segment.offset : segment.offset + segment.size] = content
        for symbol in self._launch.symbols:
            self._symbol(symbol)[:] = np.frombuffer(symbol.array.tobytes(), np.uint8)

    def _symbol(self, symbol: Buffer) -> np.ndarray:
        """The bytes of the module variable of a symbol (a view). Module memory is at the start of its image."""
        variable = next(v for v in self._program.module if v.name == symbol.name)
        return self._arrays[variable.space][variable.offset : variable.offset + symbol.array.nbytes]

    def _parameters(self, program: Program) -> np.ndarray:
        addresses = {buffer.name: base for buffer, base in self._placed}
        bank = _image(b"", program.parameter_bytes)
        for argument, parameter in zip(self._launch.arguments, program.parameters, strict=True):
            data = argument.data if isinstance(argument, Scalar) else addresses[argument.name].to_bytes(8, "little")
            bank[parameter.offset : parameter.offset + parameter.size] = np.frombuffer(data, np.uint8)
        return bank

    def buffers(self) -> dict[str, np.ndarray]:
        """Copies of the buffers and of the launch's symbols by name, in their dtype and shape."""
        image = self._arrays[Space.GLOBAL]
        places = [image[segment.offset : segment.offset + segment.size] for segment in self._buffers]
        places += [self._symbol(symbol) for symbol in self._launch.symbols]
        arrays = [*(buffer for buffer, _ in self._placed), *self._launch.symbols]
        return {b.name: raw.copy().view(b.array.dtype).reshape(b.array.shape)
                for b, raw in zip(arrays, places, strict=True)}

    def globals(self) -> bytes:
        """The image of the module's `.global` variables."""
        return self._arrays[Space.GLOBAL][: self._segments[0].size].tobytes()

    def parameter_word(self, offset: int) -> int:
        """The 32-bit word at a byte offset of the parameter bank."""
        return int.from_bytes(self._arrays[Space.PARAM][offset : offset + 4].tobytes(), "little")

    def clear_resident(self) -> None:
        """Zero shared and local memory for the next resident blocks."""
        self._arrays[Space.SHARED][:] = 0
        self._arrays[Space.LOCAL][:] = 0

    def words(self, space: Space, size: int) -> np.ndarray:
        """The image of a space as unsigned words of `size` bytes (a view)."""
        return self._arrays[space].view(WORDS[size])

    def span(self, address: int, homes: Mapping[Space, int]) -> np.ndarray:
        """The bytes (a view) from a generic address to the end of the buffer or memory that holds it; none if nothing
        is mapped there. `homes` are the starts of the thread's shared and local memory."""
        space = WINDOWS.get(address & ~(WINDOW_BYTES - 1), Space.GLOBAL)
        if space is not Space.GLOBAL:
            home = homes.get(space, 0)
            return self._arrays[space][home + address % WINDOW_BYTES : home + self._limits[space]]
        segment = self._segments[max(bisect_right(self._bases, address) - 1, 0)]
        if address < segment.base:
            return self._arrays[space][:0]
        end = segment.offset + segment.size
        return self._arrays[space][min(segment.offset + address - segment.base, end) : end]

    @staticmethod
    def resolve(address: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(address in its own space, `Space` as uint8) of each generic address."""
        spaces = np.full(address.shape, Space.GLOBAL, np.uint8)
        window = address & ~OFFSET
        if (window >= np.uint64(SHARED_WINDOW)).any():
            for base, space in WINDOWS.items():
                spaces[window == np.uint64(base)] = space
        return np.where(spaces == Space.GLOBAL, address, address & OFFSET), spaces

    def locate(
        self, space: Space, address: np.ndarray, size: int, home: np.ndarray, *, extent: int, alignment: int,
        write: bool,
    ) -> np.ndarray:
        """Indices into `words(space, size)` of byte addresses (n,) uint64.

        `home` (n,) is the start of each thread's shared or local memory. Raises `Fault` for an address whose first
        `extent` bytes (at most `size`) are not all inside the space, one that is not a multiple of `alignment` (at
        least `size`), or a write to read-only memory.
        """
        if write and space in (Space.CONST, Space.PARAM):
            raise Fault(0, f"{space.name.lower()} memory is read-only")
        if alignment > 1:
            odd = address & np.uint64(alignment - 1)
            if odd.any():
                raise Fault(int((odd > 0).argmax()), f"the address must be a multiple of {alignment}",
                            MisalignedAddressError)
        if space is Space.GLOBAL:
            offset = self._global_offset(address, extent)
        else:
            offset = self._window_offset(space, address, extent, home)
        return offset >> (size.bit_length() - 1)

    def _window_offset(self, space: Space, address: np.ndarray, size: int, home: np.ndarray) -> np.ndarray:
        limit = self._limits[space]
        if not len(address) or int(address.max()) + size <= limit:
            return address.view(np.int64) + home if space in (Space.SHARED, Space.LOCAL) else address.view(np.int64)
        outside = address > np.uint64(max(limit - size, 0)) if limit >= size else np.ones(len(address), bool)
        raise Fault(int(outside.argmax()), f"{space.name.lower()} memory has {limit} bytes")

    def _global_offset(self, address: np.ndarray, size: int) -> np.ndarray:
        if not len(address):
            return address.view(np.int64)
        low = int(address.min())
        segment = self._segments[max(bisect_right(self._bases, low) - 1, 0)]
        if low >= segment.base and int(address.max()) + size <= segment.base + segment.size:
            return (address - np.uint64(segment.base - segment.offset)).view(np.int64)
        return self._scattered_offset(address, size)

    def _scattered_offset(self, address: np.ndarray, size: int) -> np.ndarray:
        """Addresses in more than one segment, or illegal ones."""
        bases = np.array(self._bases, np.uint64)
        number = np.maximum(np.searchsorted(bases, address, side="right") - 1, 0)
        inside = address - bases[number]
        room = np.array([segment.size for segment in self._segments], np.int64)[number] - size
        outside = (address < bases[number]) | (inside > np.maximum(room, 0).astype(np.uint64)) | (room < 0)
        if outside.any():
            position = int(outside.argmax())
            raise Fault(position, self._nearest(int(address[position])))
        return inside.view(np.int64) + np.array([segment.offset for segment in self._segments])[number]

    def _nearest(self, address: int) -> str:
        """Why no buffer has the address."""
        if address < NULL_BYTES:
            return "a null pointer"

        def distance(segment: Segment) -> int:
            return max(segment.base - address, address - segment.base - segment.size, 0)

        mapped = [segment for segment in self._segments if segment.size]
        if not mapped:
            return "the launch has no buffers"
        return f"it is outside global memory, {min(mapped, key=distance).describe(address)}"
