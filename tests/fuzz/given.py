"""The data of programs, by seed: the input, the initial output and common words, and the scalars."""

import struct
from collections.abc import Sequence
from hashlib import shake_128

ROW_BYTES = 256
"""Bytes of output of each thread."""

INPUT_BYTES, COMMON_BYTES, SCALAR_BYTES = 1024, 256, 96

SCALARS_AT = 48
"""Start of the scalars, eight bytes for each; before them is the structure that is passed by value."""

NARROW = (0, 8, 16, 24, 31, 0, 28, 0)
"""Minimum leading zeros of each group of eight words of the input."""


def stream(seed: int, name: str, count: int) -> bytes:
    """Reproducible bytes."""
    return shake_128(f"{seed} {name}".encode()).digest(count)


def inputs(seed: int, threads: int) -> tuple[bytes, bytes, bytes, bytes]:
    """(input, initial output of so many threads, initial common words, scalars)."""
    words = struct.unpack(f"<{INPUT_BYTES // 4}I", stream(seed, "input", INPUT_BYTES))
    data = struct.pack(f"<{len(words)}I", *(word >> NARROW[n // 8 % 8] for n, word in enumerate(words)))
    common = bytearray(stream(seed, "common", COMMON_BYTES))
    common[80:88], common[88:92], common[224:232] = struct.pack("<2I", 3, 3), bytes(4), bytes(8)
    return data, stream(seed, "output", ROW_BYTES * threads), bytes(common), stream(seed, "scalars", SCALAR_BYTES)


def by_value(seed: int, sizes: Sequence[int]) -> list[bytes]:
    """Parameters of these sizes, the structure first."""
    scalars = stream(seed, "scalars", SCALAR_BYTES)
    places = [0, *(SCALARS_AT + 8 * n for n in range(len(sizes) - 1))]
    return [scalars[at : at + size] for at, size in zip(places, sizes, strict=True)]
