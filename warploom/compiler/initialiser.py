"""Initialisers of PTX variables: nested braces of literals and addresses, to a byte image with holes for pointers."""

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from warploom.arch.errors import PtxError
from warploom.compiler.ptx import TYPE_BYTES, Immediate, Symbol

MAX_IMAGE_BYTES = 1 << 28
"""The maximum size of an initialised variable, and of module memory."""

POINTER_BYTES = 8
FLOAT_FORMATS = {"f32": "<f", "f64": "<d"}


@dataclass(frozen=True)
class Pointer:
    """The address of a symbol. `mask` selects one byte of it (``0xFF00(symbol)``), 0 the whole."""

    symbol: Symbol
    generic: bool = False
    mask: int = 0


Value = Immediate | Pointer | tuple["Value", ...]
"""A leaf, or braces."""


Hole = tuple[int, Symbol, bool, range]
"""A pointer in an image: byte offset, symbol, whether the address is generic, and which bytes of it are there."""


def encode(value: Value, type_: str, extents: tuple[int, ...]) -> tuple[bytes, tuple[Hole, ...]]:
    """The image of an array of `extents` elements, as far as `value` gives it, and every pointer in it; a pointer's
    bytes are zero in the image.

    Raises `PtxError` (without a place) for too many elements, a wrong kind of element, or an image above the limit.
    """
    size = TYPE_BYTES.get(type_, 0)
    if not size:
        raise PtxError(f"a variable of type .{type_} cannot have an initialiser")
    image = bytearray()
    pointers: list[Hole] = []
    for index, leaf in _leaves(value, extents, 0):
        start = index * size
        if start >= MAX_IMAGE_BYTES:
            raise PtxError(f"the initialiser is larger than {MAX_IMAGE_BYTES} bytes")
        if isinstance(leaf, Pointer):
            pointers.append((start, leaf.symbol, leaf.generic, _bytes(leaf, size)))
            data = bytes(size)
        else:
            data = literal_bits(leaf, type_).to_bytes(size, "little")
        image.extend(bytes(start - len(image)))
        image += data
    return bytes(image), tuple(pointers)


def literal_bits(literal: Immediate, type_: str) -> int:
    """The bits of `literal` as a value of `type_`: integers wrap, floating-point literals round to nearest.

    Raises `PtxError` (without a place) if the literal does not fit the type.
    """
    bits = 8 * TYPE_BYTES[type_]
    if type_ in FLOAT_FORMATS and literal.kind not in ("f32", type_):
        return float_bits(literal_value(literal), type_)
    if literal.kind != "int" and (type_[0] in "us" or 8 * TYPE_BYTES[literal.kind] != bits):
        raise PtxError(f"a .{literal.kind} literal cannot initialise .{type_}")
    return literal.value % (1 << bits)


def literal_value(literal: Immediate) -> float:
    """The value of `literal` as a Python float."""
    if literal.kind == "int":
        return float(literal.value)
    return struct.unpack(FLOAT_FORMATS[literal.kind], literal.value.to_bytes(TYPE_BYTES[literal.kind], "little"))[0]


def float_bits(number: float, type_: str) -> int:
    """The IEEE bits of `number` as an ``f32`` or ``f64``, rounded to nearest."""
    try:
        packed = struct.pack(FLOAT_FORMATS[type_], number)
    except OverflowError:  # struct rejects values that round to infinity
        packed = struct.pack(FLOAT_FORMATS[type_], math.copysign(math.inf, number))
    return int.from_bytes(packed, "little")


def _leaves(value: Value, extents: tuple[int, ...], start: int) -> Iterator[tuple[int, Immediate | Pointer]]:
    """Each leaf with the index of its element; a pair of braces fills one extent and leaves the rest of it zero."""
    if not isinstance(value, tuple):
        if extents:
            raise PtxError("the initialiser needs braces around each dimension")
        yield start, value
        return
    if not extents or len(value) > extents[0]:
        raise PtxError("the initialiser has more elements than the variable")
    stride = math.prod(extents[1:])
    for position, item in enumerate(value):
        yield from _leaves(item, extents[1:], start + position * stride)


def _bytes(pointer: Pointer, size: int) -> range:
    """Which bytes of its pointer an element holds: all of them, or one that the mask selects."""
    if not pointer.mask and size == POINTER_BYTES:
        return range(POINTER_BYTES)
    byte = max(pointer.mask.bit_length() - 1, 0) // 8
    if size != 1 or pointer.mask != 0xFF << 8 * byte:
        raise PtxError(f"an address cannot initialise an element of {size} bytes")
    return range(byte, byte + 1)
