"""Tables of fields: what hardware calls a packed struct, as a plain integer here."""

from collections.abc import Mapping
from typing import Any

Fields = list[tuple[str, int]]
"""Names and bits, the first field in the least significant bits."""


def index_bits(count: int) -> int:
    """Bits of an index below `count`, at least one."""
    return max(1, (count - 1).bit_length())


def width(fields: Fields) -> int:
    """Total bits of a table."""
    return sum(bits for _, bits in fields)


def pack(fields: Fields, values: Mapping[str, Any]) -> int:
    """A plain integer of named values; every field must be given and fit."""
    word = offset = 0
    for name, bits in fields:
        value = int(values[name])
        if value >> bits:
            raise ValueError(f"{name} = {value} does not fit {bits} bits")
        word |= value << offset
        offset += bits
    return word


def unpack(fields: Fields, word: int) -> dict[str, int]:
    """Named values of a plain integer; bits above the table are ignored."""
    values = {}
    for name, bits in fields:
        values[name] = word & (1 << bits) - 1
        word >>= bits
    return values
