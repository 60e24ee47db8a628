"""A folder of its own for each run of a bench: it goes when the run is over, and stays when the bench has failed."""

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

ALIVE = "alive"
"""A file in the folder of a run, locked for as long as the run lasts."""


@contextlib.contextmanager
def own_folder(parent: Path, name: str) -> Iterator[Path]:
    """A new folder in `parent`, which nobody else gets, however alike their runs. It stays when the body raises
    `AssertionError`, for whoever looks into it; what runs have left that were killed is cleared away."""
    parent.mkdir(parents=True, exist_ok=True)
    with FileLock(parent / "lock"):
        _clear(parent)
        folder = Path(tempfile.mkdtemp(prefix=f"{name[:60]}-", dir=parent))
        alive = FileLock(folder / ALIVE)
        alive.acquire()
    failed = False
    try:
        yield folder
    except AssertionError:
        failed = True
        raise
    finally:
        with FileLock(parent / "lock"):
            if failed:
                (folder / ALIVE).unlink()
            else:
                shutil.rmtree(folder, ignore_errors=True)
            alive.release()


def _clear(parent: Path) -> None:
    """Remove the folders of runs that are over without having said so."""
    for alive in parent.glob(f"*/{ALIVE}"):
        with contextlib.suppress(Timeout), FileLock(alive, blocking=False):
            shutil.rmtree(alive.parent, ignore_errors=True)
