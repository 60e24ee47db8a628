"""Conversion between plain integers and named fields, from the descriptions in a unit's JSON sidecar."""

from collections.abc import Iterable, Mapping
from typing import Any


class Codec:
    """One port. A struct is a mapping by field name; an array is a mapping by element number as text.

    Missing fields are packed as zero; a value too wide for its field raises `ValueError`.
    """

    def __init__(self, port: Mapping[str, Any]) -> None:
        self.name, self.width = port["name"], port["width"]
        self._fields: dict[str, tuple[int, int, Codec]] = {
            f["name"]: (f["offset"], f["width"], Codec(f)) for f in port.get("fields", [])
        }

    @property
    def spans(self) -> dict[str, tuple[int, int]]:
        """Offset and width of each field."""
        return {name: (offset, width) for name, (offset, width, _) in self._fields.items()}

    def pack(self, value: int | Mapping[str, Any]) -> int:
        """The integer on the port."""
        if isinstance(value, int):
            if value >> self.width:
                raise ValueError(f"{self.name} = {value} does not fit {self.width} bits")
            return value
        word = 0
        for name, part in value.items():
            offset, _, codec = self._fields[name]
            word |= codec.pack(part) << offset
        return word

    def mask(self, names: Iterable[str]) -> int:
        """Ones in some of the fields."""
        return self.pack({name: (1 << self._fields[name][1]) - 1 for name in names})

    def unpack(self, word: int) -> dict[str, Any]:
        """The fields of the integer on the port; a field without fields of its own is an integer."""
        return {
            name: codec._value(word >> offset & (1 << width) - 1)
            for name, (offset, width, codec) in self._fields.items()
        }

    def _value(self, word: int) -> int | dict[str, Any]:
        return self.unpack(word) if self._fields else word

    def array(self, word: int) -> list[int]:
        """The elements of an array port as integers."""
        return [word >> offset & (1 << width) - 1 for offset, width, _ in self._fields.values()]

    def field(self, word: int, name: str) -> int:
        """One field as an integer."""
        offset, width, _ = self._fields[name]
        return word >> offset & (1 << width) - 1


def join(values: list[int], width: int) -> int:
    """The integer of an array port, element 0 in the least significant bits."""
    return sum(value << width * i for i, value in enumerate(values))
