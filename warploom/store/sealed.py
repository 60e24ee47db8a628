"""Single files with a digest: what does not match it is told from what is absent."""

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from warploom import report
from warploom.files import write_whole
from warploom.store.key import digest

Value = TypeVar("Value")


class DamagedError(Exception):
    """A file, which is the message, is not what it was."""


def read(path: Path, decode: Callable[[str], Value] = json.loads) -> Value | None:
    """What `decode` makes of the text that `write` has kept in a file; None where there is none, or it is damaged,
    which is said. Raises `OSError`."""
    return told(lambda: load(path, decode))


def write(path: Path, content: str) -> None:
    """Keep a text, with its digest, in a file, whose folder is made. Raises `OSError`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, _seal(path.name, content.encode()) + b"\n" + content.encode())


def load(path: Path, decode: Callable[[str], Value]) -> Value | None:
    """As `read`; raises `DamagedError`, and says nothing."""
    try:
        seal, _, content = path.read_bytes().partition(b"\n")
    except FileNotFoundError:
        return None
    if seal != _seal(path.name, content):
        raise DamagedError(path)
    with decoding(path):
        return decode(content.decode())


def told(look: Callable[[], Value | None]) -> Value | None:
    """What somebody finds who makes again what is damaged, and says so."""
    try:
        return look()
    except DamagedError as damaged:
        report.warn(f"{damaged} is damaged: made again")
        return None


@contextlib.contextmanager
def decoding(path: Path) -> Iterator[None]:
    """A file that the body cannot decode is damaged, or of another version."""
    try:
        yield
    except (ValueError, LookupError, TypeError, AttributeError):
        raise DamagedError(path) from None


def _seal(name: str, content: bytes) -> bytes:
    return digest(name.encode() + b"\n" + content).encode()
