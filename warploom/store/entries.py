"""Entries: folders with a record, looked for and made under a lock."""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from filelock import FileLock, Timeout

from warploom import __version__, processes
from warploom.arch.errors import ToolError
from warploom.files import write_whole
from warploom.origin import commit
from warploom.store.key import Key, need_place
from warploom.store.sealed import DamagedError, decoding, load, told, write

Value = TypeVar("Value")

RECORD, TEXT = "record.kept", "text"
"""Files of an entry: what it was made of; what is kept where that is one text."""

LOCK, USE = ".lock", ".use"
"""Files beside an entry: who looks for it, makes or removes it locks the first; who uses its folder shares the second.
"""


def get(key: Key, decode: Callable[[str], Value] = json.loads) -> Value | None:
    """What `decode` makes of the text that is kept; None where there is none, or it is damaged. Raises `OSError`."""
    try:
        return _text(key, decode)
    except (DamagedError, FileNotFoundError):
        return None


def text(key: Key, make: Callable[[Path], str], decode: Callable[[str], Value] = json.loads) -> Value:
    """The same; what is missing is made first, once, whoever else wants it. `make` may work in the folder that it is
    given: what it leaves there goes, unless it raises `ToolError`. Raises `OSError`, `ToolError`, and what `make`
    raises."""
    with _locked(key):
        found = told(lambda: _text(key, decode))
        if found is None:
            with _making(key) as own:
                made = make(own)
                _clear(own)
                write_whole(own / TEXT, made.encode())
            found = decode(made)
    return found


def folder(key: Key, make: Callable[[Path], object]) -> Path:
    """The folder that is kept, which stays until this process ends; what is missing is made first, once, whoever else
    wants it: `make` fills the folder, and what it leaves there stays also when it raises `ToolError`. Raises `OSError`,
    `ToolError`, and what `make` raises."""
    with _locked(key):
        if told(lambda: _files(key)) is None:
            with _making(key) as own:
                make(own)
        return _used(key)


@contextlib.contextmanager
def _locked(key: Key) -> Iterator[None]:
    """While the body runs nobody else looks for this entry, makes or removes it."""
    need_place()
    key.path.parent.mkdir(exist_ok=True)
    lock = FileLock(beside(key.path, LOCK))
    try:
        lock.acquire(cancel_check=processes.abandoning)
    except Timeout:
        raise processes.Abandoned from None
    try:
        yield
    finally:
        lock.release()


def beside(path: Path, suffix: str) -> Path:
    """A lock of an entry."""
    return path.with_name(path.name + suffix)


_in_use: dict[Path, int] = {}
"""File descriptors with a shared lock, which end with the process."""


def _used(key: Key) -> Path:
    """Say, under the lock of an entry, that this process uses it until it ends."""
    path = key.path
    if path not in _in_use:
        _in_use[path] = os.open(beside(path, USE), os.O_WRONLY | os.O_CREAT, 0o666)
        fcntl.flock(_in_use[path], fcntl.LOCK_SH)
    return path


@contextlib.contextmanager
def _making(key: Key) -> Iterator[Path]:
    """The folder of an entry, empty, which is kept when the body ends."""
    _clear(key.path)
    try:
        yield key.path
        _record(key)
    except ToolError:  # which names a log in it
        raise
    except BaseException:
        remove(key.path)
        raise


def _clear(path: Path) -> None:
    """An empty folder, whatever was there."""
    remove(path)
    path.mkdir()


def remove(path: Path) -> None:
    """Remove the folder of an entry, under its lock."""
    (path / RECORD).unlink(missing_ok=True)  # first: from now on nobody believes the rest
    shutil.rmtree(path, ignore_errors=True)


def _record(key: Key) -> None:
    """Keep the folder of an entry as it is now."""
    paths = sorted(path for path in key.path.rglob("*") if path.is_file())
    made = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "warploom": __version__, "commit": commit()}
    write(key.path / RECORD, json.dumps({
        "kind": key.kind, "name": key.name, "made": made, "parts": key.parts,
        "files": {str(path.relative_to(key.path)): _file_digest(path) for path in paths},
    }, indent=1))


def _files(key: Key) -> list[str] | None:
    """The files of an entry, all as they were; None where it is not kept. Raises `DamagedError`."""
    files = load(key.path / RECORD, key.files)
    for name, known in (files or {}).items():
        path = key.path / name
        if not path.is_file() or _file_digest(path) != known:
            raise DamagedError(path)
    return None if files is None else list(files)


def _text(key: Key, decode: Callable[[str], Value]) -> Value | None:
    """What is kept as a text, decoded; None where there is none. Raises `DamagedError`."""
    if _files(key) is None:
        return None
    path = key.path / TEXT
    with decoding(path):
        return decode(path.read_text())


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
