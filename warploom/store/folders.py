"""A separate folder for each run of a bench: it is removed when the run is over, and stays if the bench has failed."""

import contextlib
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from warploom import processes
from warploom.store.key import Kind, need_place, place

ALIVE = "alive"
"""A file in the folder of a run, locked during the run."""

LOCK = "lock"
"""A file beside these folders, locked while one is made or removed."""


def runs() -> Path:
    """The folder of bench runs and of waveforms."""
    return place() / Kind.RUNS


@contextlib.contextmanager
def run_folder(name: str) -> Iterator[Path]:
    """A new folder, unique to this run. It stays for inspection if the body raises `AssertionError`; folders of killed
    runs are removed."""
    need_place(Kind.RUNS)
    parent = runs()
    own = parent / f"{name[:60]}-{secrets.token_hex(4)}"  # named before it is made: an interrupt may come at any time
    alive, failed = FileLock(own / ALIVE), False
    try:
        with FileLock(parent / LOCK):
            _clear_killed(parent)
            own.mkdir(mode=0o700)
            alive.acquire()
        yield own
    except AssertionError:
        failed = True
        raise
    finally:
        try:
            _leave(own, alive, failed)
        except KeyboardInterrupt:  # before it has begun, or after it
            _leave(own, alive, failed)
            raise


@processes.interrupts_later()
def _leave(own: Path, alive: FileLock, failed: bool) -> None:
    """End a run in its folder, which stays if it has failed."""
    with FileLock(own.parent / LOCK):
        if failed:
            (own / ALIVE).unlink(missing_ok=True)
        else:
            shutil.rmtree(own, ignore_errors=True)
        alive.release()


def _clear_killed(parent: Path) -> None:
    """Remove the folders of runs that have ended without removing them."""
    for alive in parent.glob(f"*/{ALIVE}"):
        with contextlib.suppress(Timeout), FileLock(alive, blocking=False):
            shutil.rmtree(alive.parent, ignore_errors=True)
