"""Memory images: segments, the map of addresses, and launch blocks."""

from typing import NamedTuple

from warploom.arch.fg_simt.sizes import LINE
from warploom.arch.memory_map import HEAP_BASE

PART = 1 << 28
"""Bytes of address space for each part of an image."""

CONSTANTS, PARAMETERS, SHARED, LOCAL, CODE, HOST = (n * PART for n in range(2, 8))
"""First addresses of the parts of an image. Arrays have the first part; in the second one there is nothing."""

HIGH_WORDS = (0, HEAP_BASE >> 32)
"""High words that a global address may have."""


class Segment(NamedTuple):
    """Whole lines of memory, from an address on."""

    base: int
    contents: bytes


Image = tuple[Segment, ...]


class LaunchBlock(NamedTuple):
    """What the engine knows of a launch, as words in memory."""

    code: int
    parameters: int
    block_x: int
    block_y: int
    block_z: int
    grid_x: int
    grid_y: int
    grid_z: int
    constants: int
    constant_bytes: int
    shared: int
    shared_bytes: int
    local: int
    local_bytes: int
    warps: int
    parameter_bytes: int
    threads: int

    def contents(self) -> bytes:
        """The words of the block in memory."""
        return b"".join(word.to_bytes(4, "little") for word in self)


def lines(contents: bytes) -> bytes:
    """The bytes, padded to whole lines; at least one."""
    return contents.ljust(max(-(-len(contents) // LINE), 1) * LINE, b"\0")
