"""The contents of the store, and their removal."""

import contextlib
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from warploom.store import folders
from warploom.store.entries import LOCK, RECORD, USE, beside, remove
from warploom.store.key import Kind, place


@dataclass(frozen=True)
class Holding:
    """The cached entries of a kind: their number, how many are incomplete, bytes, and when the newest was made."""

    kind: Kind
    entries: int
    incomplete: int
    bytes: int
    newest: datetime | None


@dataclass(frozen=True)
class Removed:
    """The removed entries of a kind: number and bytes; and how many entries are in use and stay."""

    kind: Kind
    entries: int
    bytes: int
    in_use: int


def holding(kind: Kind) -> Holding:
    """The holdings of a kind. Raises `OSError`."""
    entries = _entries(kind)
    incomplete = 0 if kind is Kind.RUNS else sum(not (entry / RECORD).exists() for entry in entries)
    newest = max((time for entry in entries if (time := _made(entry))), default=None)
    return Holding(kind, len(entries), incomplete, sum(map(_size, entries)),
                   None if newest is None else datetime.fromtimestamp(newest, UTC))


def clear(kind: Kind) -> Removed:
    """Remove the entries of a kind, except those that a running process makes or uses. Raises `OSError`."""
    sizes, in_use = [], 0
    for entry in {*_entries(kind), *_tried(kind)}:
        try:
            size = _remove_run(entry) if kind is Kind.RUNS else _remove(entry)
        except Timeout:
            in_use += 1
        else:
            sizes.append(size)
    gone = [size for size in sizes if size is not None]
    return Removed(kind, len(gone), sum(gone), in_use)


def _entries(kind: Kind) -> list[Path]:
    """Entries of a kind; of runs also waveforms, which are files."""
    folder = place() / kind
    paths = folder.iterdir() if folder.exists() else ()
    return sorted(path for path in paths if path.is_dir() or (kind is Kind.RUNS and path.name != folders.LOCK))


def _tried(kind: Kind) -> list[Path]:
    """Entries that a process has looked up or made."""
    return [path.with_name(path.name.removesuffix(LOCK)) for path in (place() / kind).glob(f"*{LOCK}")]


def _remove(entry: Path) -> int | None:
    """Remove an entry; returns its size, None if it no longer exists."""
    lock, use = beside(entry, LOCK), beside(entry, USE)
    with FileLock(lock, blocking=False), FileLock(use, blocking=False):
        size = _size(entry) if entry.exists() else None
        remove(entry)
        use.unlink()
        lock.unlink()  # a waiting process sees that the lock has gone, and takes a new one
    return size


def _remove_run(entry: Path) -> int | None:
    """Remove the files of a run. Returns their size, None if there are none."""
    with FileLock(entry.parent / folders.LOCK):
        size = _size(entry) if entry.exists() else None
        if entry.is_dir():
            with FileLock(entry / folders.ALIVE, blocking=False):
                shutil.rmtree(entry, ignore_errors=True)
        entry.unlink(missing_ok=True)
    return size


def _made(entry: Path) -> float | None:
    """When an entry was made, or a run began; None if it was just removed, or is incomplete."""
    record = entry / RECORD
    with contextlib.suppress(FileNotFoundError):
        return (entry if entry.parent.name == Kind.RUNS else record).stat().st_mtime
    return None


def _size(entry: Path) -> int:
    """Bytes of all files, except those that were just removed."""
    total = 0
    with contextlib.suppress(FileNotFoundError):
        for path in [entry] if entry.is_file() else entry.rglob("*"):
            total += path.stat().st_size if path.is_file() else 0
    return total
