"""PTX literals as machine words: integers wrap to the type, floats are rounded to it."""

import struct
from typing import NoReturn, Protocol

from warploom.compiler import ptx


class Fails(Protocol):
    """Reports errors at an instruction."""

    def fail(self, message: str) -> NoReturn:
        """Raise the error."""


def immediate_words(place: Fails, literal: ptx.Immediate, type_: str) -> tuple[int, ...]:
    """The literal as one 32-bit word, or as two (low first) for a 64-bit type; narrow values are zero-extended.

    An f64 literal is rounded to an f32. The opposite is an error: to PTX, ``0f`` literals are 32 bits and nothing else.
    A float literal gives its bits to a ``.b`` type of its size, not to ``.u`` and ``.s``.
    """
    bits = literal.value
    if "f16" in type_ or type_ == "f32x2":
        place.fail(f"a literal is given where .{type_} is required: PTX has none, move its bits to a register")
    if literal.kind == "int":
        if type_[0] == "f":
            place.fail(f"an integer literal is given where .{type_} is required: write it as a float (0f..., 1.0)")
    elif literal.kind == "f64" and type_ == "f32":
        bits = _rounded(bits)
    elif type_[0] in "us" or ptx.TYPE_BYTES[type_] != ptx.TYPE_BYTES[literal.kind]:
        place.fail(f"a .{literal.kind} literal is given where .{type_} is required")
    size = ptx.TYPE_BYTES[type_]
    bits &= (1 << 8 * size) - 1
    return (bits & 0xFFFFFFFF, bits >> 32) if size == 8 else (bits,)


def _rounded(bits: int) -> int:
    """The f32 nearest to an f64, ties to even, both as IEEE bits."""
    (value,) = struct.unpack("<d", bits.to_bytes(8, "little"))
    try:
        return int.from_bytes(struct.pack("<f", value), "little")
    except OverflowError:
        return 0xFF800000 if value < 0 else 0x7F800000
