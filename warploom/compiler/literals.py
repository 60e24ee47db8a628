"""PTX literals as machine words: integers wrap to the type, floats are rounded to it."""

import struct
from typing import NoReturn, Protocol

from warploom.compiler import ptx


class Fails(Protocol):
    """Reports errors at an instruction."""

    def fail(self, message: str) -> NoReturn:
        """Raise the error."""


def immediate_words(place: Fails, literal: ptx.Immediate, type_: str) -> tuple[int, ...]:
    """The literal as one 32-bit word, or as two (low first) for a 64-bit type; narrow values are zero-extended."""
    bits = literal.value
    if literal.kind == "int":
        if type_[0] == "f":
            place.fail(f"an integer literal is given where .{type_} is required: write it as a float (0f..., 1.0)")
    elif type_ in ("f32", "f64") and literal.kind != type_:
        bits = _convert(literal, type_)
    elif ptx.TYPE_BYTES[type_] != ptx.TYPE_BYTES[literal.kind]:
        place.fail(f"a .{literal.kind} literal is given where .{type_} is required")
    size = ptx.TYPE_BYTES[type_]
    bits &= (1 << 8 * size) - 1
    return (bits & 0xFFFFFFFF, bits >> 32) if size == 8 else (bits,)


def _convert(literal: ptx.Immediate, type_: str) -> int:
    """IEEE bits of a float literal in the other float type, rounded to nearest even."""
    source, target = ("<d", "<f") if type_ == "f32" else ("<f", "<d")
    (value,) = struct.unpack(source, literal.value.to_bytes(struct.calcsize(source), "little"))
    try:
        return int.from_bytes(struct.pack(target, value), "little")
    except OverflowError:
        return 0xFF800000 if value < 0 else 0x7F800000
