"""Entries: folders with a record, looked up and made under a lock."""

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

RECORD, TEXT = "record", "text"
"""Files of an entry: its record, and its contents if they are one text."""

LOCK, USE = ".lock", ".use"
"""Files beside an entry: a process that looks it up, makes or removes it locks the first; one that uses its folder
shares the second.
"""


def get(key: Key, decode: Callable[[str], Value] = json.loads) -> Value | None:
    """The cached text, decoded; None if it is absent or damaged. Raises `OSError`."""
    try:
        return _text(key, decode)
    except (DamagedError, FileNotFoundError):
        return None


def text(key: Key, make: Callable[[Path], str], decode: Callable[[str], Value] = json.loads) -> Value:
    """The cached text, decoded; if it is absent it is made first, once for all processes. `make` may work in the folder
    that it is given, which is emptied unless it raises `ToolError`. Raises `OSError`, `ToolError`, and what `make`
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


def cached(key: Key) -> Path | None:
    """The cached folder, as `folder` gives it; None if it is absent or damaged. Raises `ToolError`."""
    with _locked(key):
        return None if told(lambda: _files(key)) is None else _used(key)


def folder(key: Key, make: Callable[[Path], object]) -> Path:
    """The cached folder, which stays until this process ends. An absent entry is made first, once for all processes:
    `make` fills the folder, whose files also stay when it raises `ToolError`. Raises `OSError`, `ToolError`, and what
    `make` raises."""
    with _locked(key):
        if told(lambda: _files(key)) is None:
            with _making(key) as own:
                make(own)
        return _used(key)


@contextlib.contextmanager
def _locked(key: Key) -> Iterator[None]:
    """While the body runs no other process looks up, makes or removes this entry."""
    need_place(key.kind)
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
    """Mark an entry, under its lock, as used by this process until it ends."""
    path = key.path
    if path not in _in_use:
        _in_use[path] = os.open(beside(path, USE), os.O_WRONLY | os.O_CREAT, 0o666)
        fcntl.flock(_in_use[path], fcntl.LOCK_SH)
    return path


@contextlib.contextmanager
def _making(key: Key) -> Iterator[Path]:
    """The empty folder of an entry, which gets its record when the body ends."""
    _clear(key.path)
    try:
        yield key.path
        _record(key)
    except ToolError:  # which names a log in it
        raise
    except OSError as error:  # of a write it does not name the file
        remove(key.path)
        if error.errno:
            error.filename = error.filename or str(key.path)
        raise
    except BaseException:
        remove(key.path)
        raise


def _clear(path: Path) -> None:
    """An empty folder, after removing any contents."""
    remove(path)
    path.mkdir()


def remove(path: Path) -> None:
    """Remove the folder of an entry, under its lock."""
    if path.is_symlink() or path.is_file():  # what no process of ours makes
        path.unlink()
        return
    if not (path / RECORD).is_dir():
        (path / RECORD).unlink(missing_ok=True)  # first: from now on the rest is invalid
    shutil.rmtree(path, ignore_errors=True)


def _record(key: Key) -> None:
    """Write the record of an entry's folder as it is now."""
    paths = sorted(path for path in key.path.rglob("*") if path.is_file())
    made = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "warploom": __version__, "commit": commit()}
    write(key.path / RECORD, json.dumps({
        "kind": key.kind, "name": key.name, "made": made, "parts": key.parts,
        "files": {str(path.relative_to(key.path)): _file_digest(path) for path in paths},
    }, indent=1))


def _files(key: Key) -> list[str] | None:
    """The files of an entry, all unchanged; None if it is absent. Raises `DamagedError`."""
    files = load(key.path / RECORD, key.files)
    for name, known in (files or {}).items():
        path = key.path / name
        if not path.is_file() or _file_digest(path) != known:
            raise DamagedError(path)
    return None if files is None else list(files)


def _text(key: Key, decode: Callable[[str], Value]) -> Value | None:
    """The cached text, decoded; None if it is absent. Raises `DamagedError`."""
    if _files(key) is None:
        return None
    path = key.path / TEXT
    with decoding(path):
        return decode(path.read_text())


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
