"""Atomic writes of files."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


def write_whole(path: Path, data: bytes) -> None:
    """Write a file atomically; a device or a pipe is written directly. Raises `OSError`."""
    with writing(path) as file:
        file.write(data)


@contextlib.contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """Open a file that appears under its name when the body has ended without an error, for data that is written in
    parts; a device or a pipe is written directly. Raises `OSError`, also for a full disk."""
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as file:
                yield file
        else:
            with _replacing(Path(os.path.realpath(path))) as file:  # follow a link and leave it in place
                yield file
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


@contextlib.contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    _clear(path)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.{os.getpid()}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _clear(path: Path) -> None:
    """Remove temporary files of processes that were killed while they wrote this file."""
    start = f".{path.name}."
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
