"""Errors that a user can cause. Each prints as one line that names the place and the remedy."""

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a message about a name that is not `known`: those most like it, nothing where none is."""
    close = difflib.get_close_matches(name, list(known), n=3, cutoff=0.5)
    return f"; nearest: {', '.join(close)}" if close else ""


def one_line(message: str) -> str:
    """A message with line ends and the like, which may come from a user's names, as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)


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
    """A running kernel did something illegal: a bad address, a barrier not all threads reach, no progress."""


class ToolError(WarploomError):
    """An external tool is missing or failed; the message names it, what needs it, and how to get it."""
