"""Which sources this Warploom is: its commit, where it runs from a Git tree of its own."""

import subprocess
from functools import cache
from pathlib import Path

from warploom import __version__

ROOT = Path(__file__).absolute().parents[1]
"""The folder that has `warploom`: the source tree, or where packages are installed."""


@cache
def commit() -> str | None:
    """The commit of the source tree, `+` appended where files differ from it; None where Warploom is installed, in
    whatever repository of its user."""
    if not (ROOT / ".git").exists():
        return None
    try:
        changed = _git("status", "--porcelain", "--untracked-files=no")
        return _git("rev-parse", "HEAD").strip() + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def sources() -> str:
    """The same in words, for the first line of a file."""
    return f"commit {commit()}" if commit() else f"version {__version__}"


def _git(*command: str) -> str:
    return subprocess.check_output(("git", *command), cwd=ROOT, stderr=subprocess.DEVNULL, text=True)
