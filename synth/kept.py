"""Results kept on disk: whole or absent, and made anew where they are damaged."""

from collections.abc import Callable
from pathlib import Path
from typing import Any


def read(path: Path, decode: Callable[[str], Any]) -> Any:
    """What `decode` makes of a file's text; None where there is no file or it is damaged."""
    try:
        return decode(path.read_text())
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


def write(path: Path, text: str) -> None:
    """Write a file so that nobody ever sees a part of it. Raises `OSError`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(text)
    partial.replace(path)
