"""Atomic writes of files."""

import os
import tempfile
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Write a file atomically; a device or a pipe is written directly. Raises `OSError`."""
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
        else:
            _replace(Path(os.path.realpath(path)), data)  # follow a link and leave it in place
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def _replace(path: Path, data: bytes) -> None:
    _clear(path)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.{os.getpid()}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
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
