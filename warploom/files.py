"""Atomic writes of files."""

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

START = 200
"""Bytes of a file's name in the names of its temporary files, which have at most 255."""


def write_whole(path: Path, data: bytes) -> None:
    """Write a file atomically; a device or a pipe is written directly. Raises `OSError`."""
    with writing(path) as file:
        file.write(data)


@contextlib.contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """Open a file that appears under its name when the body has ended without an error, for data that is written in
    parts; a device or a pipe is written directly. A file that is there keeps its mode. Raises `OSError`, also for a
    full disk."""
    try:
        if wrong := why_not(path):
            raise OSError(wrong, os.strerror(wrong))
        if _is_direct(path):
            with path.open("wb") as file:
                yield file
        else:
            with _replacing(_target(path)) as file:
                yield file
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def why_not(path: Path) -> int | None:
    """The error number if `writing` would fail, as far as can be known before; else None. A file that may not be
    written is not replaced either. Raises `OSError` for a name that is too long."""
    folder = _target(path).parent
    if path.is_dir() or not folder.is_dir():
        return errno.EISDIR if path.is_dir() else errno.ENOENT
    needed = [path] * path.exists() + [folder] * (not _is_direct(path))
    return None if all(os.access(each, os.W_OK) for each in needed) else errno.EACCES


def _is_direct(path: Path) -> bool:
    """Whether a path is that of a device or a pipe."""
    return path.exists() and not path.is_file()


def _target(path: Path) -> Path:
    """The file itself: a link is followed, and stays in place."""
    return Path(os.path.realpath(path))


@contextlib.contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    _clear(path)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f"{_start(path)}{os.getpid()}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        os.chmod(name, _mode(path))
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _mode(path: Path) -> int:
    """The mode of the file that is replaced, or that of a new one."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


def _start(path: Path) -> str:
    """The start of the names of temporary files, which are legal for each legal name of the file."""
    return f".{os.fsdecode(os.fsencode(path.name)[:START])}."


def _clear(path: Path) -> None:
    """Remove temporary files of processes that were killed while they wrote this file."""
    start = _start(path)
    with os.scandir(path.parent) as entries:
        parts = [entry for entry in entries if entry.name.startswith(start)]
    for part in parts:
        process = part.name.removeprefix(start).partition(".")[0]
        if process.isdecimal() and not _runs(int(process)):
            Path(part.path).unlink(missing_ok=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # another user's file
        return True
    return True
