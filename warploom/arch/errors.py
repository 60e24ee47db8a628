"""Errors that a user can cause. Each prints as one line that names the place and the remedy."""

import difflib
import re
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a message about a name that is not `known`: those most like it, nothing where none is."""
    close = difflib.get_close_matches(name, list(known), n=3, cutoff=0.5)
    return f"; nearest: {', '.join(close)}" if close else ""


LONGEST_WORD = 255
"""Characters of a word in a message; a path of more is rare, and nobody reads a name of more."""

SHOWN = 80
"""Characters of a value, or of a word that is too long, that a message repeats."""


def shorten(text: str, most: int = SHOWN) -> str:
    """A user's text as a message repeats it: cut, with its length, where it is longer than `most`."""
    return text if len(text) <= most else f"{text[:SHOWN]}... ({len(text):,} characters)"


def shown(value: object) -> str:
    """A user's value as a message repeats it."""
    try:
        return shorten(repr(value))
    except ValueError:  # Python refuses to write numbers of more than 4,300 digits
        return "a value with more than 4,300 digits"


def one_line(message: str) -> str:
    """A message as it is printed: line ends and the like, which may come from a user's names, as escapes, and words cut
    that nobody would read to their end."""
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)
    return re.sub(r"\S+", lambda word: shorten(word[0], LONGEST_WORD), text)


class WarploomError(Exception):
    """Base of every error that is the input's fault; the command line prints it without a traceback."""


class ConfigError(WarploomError):
    """A configuration field has an illegal value, or two fields disagree."""


class PtxError(WarploomError):
    """The PTX cannot be compiled: syntax, an undeclared name, or an unsupported feature.

    ``line`` and ``column`` are 1-based; 0 where the place is unknown.
    """

    def __init__(self, message: str, *, file: str = "<ptx>", line: int = 0, column: int = 0) -> None:
        self.message, self.file, self.line, self.column = message, file, line, column
        place = f"{file}:{line}:{column}" if column else f"{file}:{line}" if line else file
        super().__init__(f"{place}: {message}")


class LaunchError(WarploomError):
    """A launch does not fit its kernel or the machine: arguments, geometry, files."""


class ExecutionError(WarploomError):
    """A running kernel did something illegal: a bad address, a barrier not all threads reach, no progress. `printed` is
    what it had printed by then."""

    printed: str = ""


class ToolError(WarploomError):
    """An external tool is missing or failed; the message names it, what needs it, and how to get it."""
