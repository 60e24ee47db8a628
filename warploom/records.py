"""Records: files of JSON, compressed with xz."""

import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from warploom.arch.errors import ToolError
from warploom.files import write_whole

R = TypeVar("R")


def write(path: Path, found: Any) -> None:
    """Write a record. Raises `OSError`."""
    write_whole(path, lzma.compress(json.dumps(found, separators=(",", ":")).encode(), preset=9))


def read(path: Path, decode: Callable[[Any], R], what: str, command: str) -> R:
    """What `decode` makes of a record. Raises `ToolError` if the file is not `what`, which a command makes."""
    try:
        return decode(json.loads(lzma.decompress(path.read_bytes())))
    except (OSError, lzma.LZMAError, ValueError, RecursionError, AttributeError, TypeError, KeyError) as error:
        raise ToolError(f"{path}: not {what} ({error}); make one with warploom {command} --record") from None
