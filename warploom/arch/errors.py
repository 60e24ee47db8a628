"""Errors that a user can cause. Each prints as one line with the location and the remedy."""

import difflib
import re
import sys
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a message about a name that is not `known`: the most similar names, or nothing."""
    close = difflib.get_close_matches(name, list(known), n=3)
    return f"; nearest: {', '.join(close)}" if close else ""


LONGEST_WORD = 255
"""Maximum characters of a word in a message; longer paths are rare."""

SHOWN = 80
"""Characters that a message shows of a value, or of a word that is too long."""


def shorten(text: str, most: int = SHOWN) -> str:
    """A user's text for a message: if it is longer than `most`, shortened, with its length."""
    return text if len(text) <= most else f"{text[:SHOWN]}... ({len(text):,} characters)"


def shown(value: object) -> str:
    """A user's value for a message."""
    try:
        return shorten(repr(value))
    except ValueError:  # Python refuses to write numbers of more than 4,300 digits
        return "a value with more than 4,300 digits"


LISTED = 20
"""Maximum names of a file that a message lists."""


def listed(names: Iterable[str]) -> str:
    """Names of a user's file for a message; of many the first ones, and how many more there are."""
    found = list(names)
    more = f" and {len(found) - LISTED:,} more" if len(found) > LISTED else ""
    return ", ".join(found[:LISTED]) + more


def one_line(message: str) -> str:
    """A message as it is printed: line ends and the like, which may come from a user's names, become escapes, and very
    long words are shortened."""
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)
    return re.sub(r"\S+", lambda word: shorten(word[0], LONGEST_WORD), text)


def warn(message: str) -> None:
    """Print a warning, one line, to standard error."""
    print(f"warploom: warning: {one_line(message)}", file=sys.stderr)


class WarploomError(Exception):
    """Base of all errors that the input causes; the command line prints them without a traceback."""


class ConfigError(WarploomError):
    """A configuration field has an illegal value, or two fields contradict each other."""


class PtxError(WarploomError):
    """The PTX cannot be compiled: syntax, an undeclared name, or an unsupported feature.

    ``line`` and ``column`` are 1-based; 0 if unknown.
    """

    def __init__(self, message: str, *, file: str = "<ptx>", line: int = 0, column: int = 0) -> None:
        super().__init__(message)  # the argument with which a pickled one is made again
        self.message, self.file, self.line, self.column = message, file, line, column

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part)
        return f"{place}: {self.message}"


class LaunchError(WarploomError):
    """A launch does not fit its kernel or the machine: arguments, geometry, files."""


class GridTooLargeError(LaunchError):
    """The blocks of a grid have to run at once, and the machine does not hold so many."""


class ExecutionError(WarploomError):
    """A running kernel did something illegal: a bad address, a barrier that not all threads reach, no progress.
    `printed` is the text that it had printed."""

    printed: str = ""


class DeviceAssertError(ExecutionError):
    """An assertion of a kernel has failed."""


class IllegalAddressError(ExecutionError):
    """A thread accesses memory that there is not, or writes to memory that it may only read."""


class MisalignedAddressError(ExecutionError):
    """The address of an access is not a multiple of its size."""


class ToolError(WarploomError):
    """An external tool is missing or failed; the message names it, what needs it, and how to get it."""
