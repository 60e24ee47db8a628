"""Containers of GPU code, as nvcc embeds them in a program: which PTX they hold.

A container is a header and entries, each with a header of its own: machine code, or PTX, for one architecture.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from warploom.arch.errors import PtxError

CONTAINER = struct.Struct("<IHHQ")
"""Magic number, version, bytes of this header, bytes of the entries."""

ENTRY = struct.Struct("<HHIQIIHHI8xQ")
"""Kind, version, bytes of this header, bytes behind it, bytes that are compressed, a place, minor and major version of
PTX, architecture, flags."""

MAGIC = 0xBA55ED50
PTX = 1
COMPRESSED = 0xA000
"""Flags: by LZ4, or by Zstandard."""


@dataclass(frozen=True)
class Ptx:
    """PTX for an architecture, such as 75."""

    architecture: int
    text: str
    """Empty if it is compressed."""


def embedded(containers: bytes) -> list[Ptx]:
    """The PTX of each container that has any, for the newest architecture, without that of NVIDIA's own library, which
    nvcc -rdc=true links and which is compressed. Raises `PtxError`, also if all is."""
    newest = []
    try:
        while containers:
            magic, _, header, size = CONTAINER.unpack_from(containers)
            if magic != MAGIC:
                raise PtxError(f"its GPU code begins with {magic:#x}, not {MAGIC:#x}: compile it with nvcc")
            entries, containers = _split(containers, header, size, CONTAINER.size)
            newest += sorted(_entries(entries), key=lambda entry: entry.architecture)[-1:]
    except (struct.error, UnicodeDecodeError):
        raise PtxError("its GPU code is damaged: compile it again") from None
    readable = [ptx for ptx in newest if ptx.text]
    if newest and not readable:
        raise PtxError("its PTX is compressed: compile it with nvcc --no-compress")
    return readable


def _entries(data: bytes) -> Iterator[Ptx]:
    """The PTX among the entries of a container."""
    while data:
        kind, _, header, size, _, _, _, _, architecture, flags = ENTRY.unpack_from(data)
        contents, data = _split(data, header, size, ENTRY.size)
        if kind == PTX:
            yield Ptx(architecture, "" if flags & COMPRESSED else contents.rstrip(b"\0").decode())


def _split(data: bytes, header: int, size: int, least: int) -> tuple[bytes, bytes]:
    """What is behind a header of at least so many bytes, and the rest. Raises `struct.error` if it is not all there."""
    if header < least or header + size > len(data):
        raise struct.error
    return data[header : header + size], data[header + size :]
