"""C's formatted output as in CUDA's `printf`; the C library of this machine does the formatting, as in CUDA."""

import ctypes
import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

MAX_ARGUMENTS = 32
"""Arguments of a call; further ones are ignored, and their specifiers are printed as they are."""

MAX_FIELD = 1 << 16
"""Largest width and precision."""

SPECIFIER = re.compile(rb"%(?:%|([-+ #0]*)(\*|\d*)(\.(?:\*|\d*))?(hh|h|ll|l|L|j|z|t)?([cdiouxXpeEfFgGaAs]))")

INTEGERS, FLOATS = b"diouxXc", b"eEfFgGaA"
LONG = (b"l", b"ll", b"L", b"j", b"z", b"t")

_snprintf = ctypes.CDLL(None).snprintf


class Specifier(NamedTuple):
    """One conversion: as written, its flags, width and precision (``*`` where an argument gives it; precision with its
    dot), length modifier and type."""

    text: bytes
    flags: bytes
    width: bytes
    precision: bytes
    length: bytes
    type: bytes

    @property
    def arguments(self) -> int:
        """How many arguments it takes."""
        return 1 + (self.width == b"*") + (self.precision == b".*")

    @property
    def size(self) -> int:
        """Bytes of its value among the arguments."""
        return 4 if self.type in INTEGERS and (self.type == b"c" or self.length not in LONG) else 8


class FormatError(Exception):
    """A format or an argument that cannot be printed; the message says why."""


def render(format_: bytes, read: Callable[[int, int], bytes], string: Callable[[int], bytes]) -> tuple[bytes, int]:
    """The text that a format makes of its arguments, and how many of these it takes.

    `read` gives the bytes of the arguments at (offset, size), `string` the C string at an address. Arguments lie one
    after the other, each aligned to its size. A specifier that CUDA does not know is printed as it is. Raises
    `FormatError` for a field of more than `MAX_FIELD` characters.
    """
    arguments = _Arguments(read, string)
    pieces = []
    for piece in _pieces(format_):
        if isinstance(piece, bytes):
            pieces.append(piece)
        elif arguments.count + piece.arguments > MAX_ARGUMENTS:
            pieces.append(piece.text)
        else:
            pieces.append(arguments.convert(piece))
    return b"".join(pieces), arguments.count


@lru_cache(maxsize=256)
def _pieces(format_: bytes) -> tuple[bytes | Specifier, ...]:
    """A format as plain text and specifiers."""
    pieces: list[bytes | Specifier] = []
    end = 0
    for match in SPECIFIER.finditer(format_):
        pieces.append(format_[end : match.start()])
        pieces.append(b"%" if match[5] is None else Specifier(match[0], *(group or b"" for group in match.groups())))
        end = match.end()
    return (*pieces, format_[end:])


class _Arguments:
    """The arguments of one call, taken one by one."""

    def __init__(self, read: Callable[[int, int], bytes], string: Callable[[int], bytes]) -> None:
        self._read, self._string = read, string
        self._offset = self.count = 0

    def convert(self, specifier: Specifier) -> bytes:
        """The text of the next argument."""
        width = self._field(specifier.width)
        precision = b"." + self._field(specifier.precision[1:]) if specifier.precision else b""
        if precision.startswith(b".-"):  # as if it were absent
            precision = b""
        raw = self._take(specifier.size)
        kind, length = specifier.type, b""
        value: object
        if kind in FLOATS:
            value = ctypes.c_double.from_buffer_copy(raw)
        elif kind == b"s":
            address = int.from_bytes(raw, "little")
            value = ctypes.c_char_p(self._string(address) if address else None)
        elif kind == b"p":
            value = ctypes.c_void_p(int.from_bytes(raw, "little"))
        elif specifier.size == 8:
            value, length = ctypes.c_longlong.from_buffer_copy(raw), b"ll"
        else:
            value, length = ctypes.c_int.from_buffer_copy(raw), b"" if kind == b"c" else specifier.length
        return _call(b"%" + specifier.flags + width + precision + length + kind, value)

    def _field(self, text: bytes) -> bytes:
        """A width or precision, which an argument may give."""
        if text == b"*":
            text = b"%d" % int.from_bytes(self._take(4), "little", signed=True)
        if len(text) > 6 or abs(int(text or b"0")) > MAX_FIELD:
            raise FormatError(f"a field is wider than {MAX_FIELD} characters")
        return text

    def _take(self, size: int) -> bytes:
        start = -(-self._offset // size) * size
        self._offset, self.count = start + size, self.count + 1
        return self._read(start, size)


def _call(format_: bytes, value: object) -> bytes:
    """What C prints of one value."""
    size = _snprintf(None, 0, format_, value) + 1
    buffer = ctypes.create_string_buffer(size)
    _snprintf(buffer, size, format_, value)
    return buffer.raw[: size - 1]
