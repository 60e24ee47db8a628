"""The origin of this Warploom: its commit, if it runs from its own Git tree."""

import subprocess
from functools import cache
from pathlib import Path

from warploom import __version__

ROOT = Path(__file__).absolute().parents[1]
"""The folder that contains `warploom`: the source tree, or the folder of installed packages."""


@cache
def commit() -> str | None:
    """The commit of the source tree, with `+` appended if files differ from it; None if Warploom is installed, even
    inside a repository of its user."""
    if not (ROOT / ".git").exists():
        return None
    try:
        changed = _git("status", "--porcelain", "--untracked-files=no")
        return _git("rev-parse", "HEAD").strip() + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def sources() -> str:
    """The origin in words, for the first line of a file."""
    return f"commit {commit()}" if commit() else f"version {__version__}"


def _git(*command: str) -> str:
    return subprocess.check_output(("git", *command), cwd=ROOT, stderr=subprocess.DEVNULL, text=True)
