"""What is kept on disk from one run to the next: whole and with its digest, or made again.

A file that is kept starts with a line that holds the digest of its name and of the rest. A folder that is kept has a
file of this kind with the digests of all others. What is absent is made without a word; what does not match, because a
disk was full or flipped a bit, is made again after one line on standard error.
"""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from warploom import report
from warploom.files import write_whole

Value = TypeVar("Value")

SEAL = "seal.kept"
"""The file of a folder that says what belongs to it."""


def read(path: Path, decode: Callable[[str], Value] = json.loads) -> Value | None:
    """What `decode` makes of the text that is kept in a file; None where there is none, or it is damaged. Raises
    `OSError` where the file cannot be read."""
    try:
        digest, _, text = path.read_bytes().partition(b"\n")
    except FileNotFoundError:
        return None
    if digest == _digest(path.name, text):
        try:
            return decode(text.decode())
        except (ValueError, LookupError, TypeError, AttributeError):  # of another version
            pass
    _damaged(path)
    return None


def write(path: Path, text: str) -> None:
    """Keep a text in a file, whose folder is made. Raises `OSError`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = text.encode()
    write_whole(path, _digest(path.name, data) + b"\n" + data)


def seal(folder: Path) -> None:
    """Keep a folder as it is now. Raises `OSError`."""
    files = {str(path.relative_to(folder)): _file_digest(path) for path in sorted(folder.rglob("*")) if path.is_file()}
    write(folder / SEAL, json.dumps(files))


def is_whole(folder: Path) -> bool:
    """Whether a folder is kept and all that belongs to it is as it was. Raises `OSError`."""
    files: dict[str, Any] | None = read(folder / SEAL)
    if files is None:
        return False
    for name, digest in files.items():
        path = folder / name
        if not path.is_file() or _file_digest(path) != digest:
            _damaged(path)
            return False
    return True


def _digest(name: str, data: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\n" + data).hexdigest().encode()


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _damaged(path: Path) -> None:
    report.warn(f"{path} is damaged: made again")
