"""Single files with a digest, which distinguishes damaged files from absent ones."""

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from warploom.arch.errors import warn
from warploom.files import write_whole
from warploom.store.key import digest

Value = TypeVar("Value")


class DamagedError(Exception):
    """A file, which is the message, has changed."""


def read(path: Path, decode: Callable[[str], Value] = json.loads) -> Value | None:
    """The decoded text of a file that `write` wrote; None if it is absent, or damaged, which is reported. Raises
    `OSError`."""
    return told(lambda: load(path, decode))


def write(path: Path, content: str) -> None:
    """Write a text, with its digest, to a file, and make its folder. Raises `OSError`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, _seal(path.name, content.encode()) + b"\n" + content.encode())


def load(path: Path, decode: Callable[[str], Value]) -> Value | None:
    """As `read`, but raises `DamagedError` instead of a report."""
    try:
        seal, _, content = path.read_bytes().partition(b"\n")
    except FileNotFoundError:
        return None
    except (IsADirectoryError, NotADirectoryError):
        raise DamagedError(path) from None
    if seal != _seal(path.name, content):
        raise DamagedError(path)
    with decoding(path):
        return decode(content.decode())


def told(look: Callable[[], Value | None]) -> Value | None:
    """The result of `look`; a damaged file is reported and counts as absent."""
    try:
        return look()
    except DamagedError as damaged:
        warn(f"{damaged} is damaged: made again")
        return None


@contextlib.contextmanager
def decoding(path: Path) -> Iterator[None]:
    """Treat a file that the body cannot decode as damaged, or of another version."""
    try:
        yield
    except (ValueError, LookupError, TypeError, AttributeError):
        raise DamagedError(path) from None


def _seal(name: str, content: bytes) -> bytes:
    return digest(name.encode() + b"\n" + content).encode()
