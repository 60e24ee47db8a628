"""Reading a TOML table key by key, with one clear `LaunchError` for every error in it."""

import sys
from pathlib import Path
from typing import Any, NoReturn

from warploom.arch.errors import LaunchError, nearest, shorten, shown

_REQUIRED: Any = object()


class Table:
    """A TOML table of `file`; `place` says which (``"arguments 2: "``, empty for the top level).

    Every reader takes a key out of the table, checks its type, and returns the default if the key is absent; a key
    without default is required. `finish` reports keys that were not read.
    """

    def __init__(self, file: Path, place: str, values: object) -> None:
        self.file, self.place = file, place
        if not isinstance(values, dict):
            raise LaunchError(f"{file}: {place}must be a table of keys, not {shown(values)}")
        self._left = dict(values)
        self._known: list[str] = []

    def __contains__(self, key: str) -> bool:
        return key in self._left

    def fail(self, key: str, message: str) -> NoReturn:
        """Raise the `LaunchError` that names file, place and key."""
        raise LaunchError(f"{self.file}: {self.place}{shorten(key)}: {message}")

    def missing(self, key: str, wanted: str) -> NoReturn:
        """Raise the `LaunchError` for a key that is not there; one of another name may be meant."""
        self.fail(key, f"is missing: {wanted}{nearest(key, self._left)}")

    def text(self, key: str, default: Any = _REQUIRED) -> Any:
        """A string that is not empty."""
        value = self._take(key, default, "a string in quotes", lambda v: isinstance(v, str))
        if value == "":
            self.fail(key, "must not be empty")
        return value

    def texts(self, key: str) -> list[str]:
        """A string, or a list of some; none is empty."""
        value = self._take(key, _REQUIRED, "a string in quotes, or a list of some",
                           lambda v: isinstance(v, str) or (isinstance(v, list) and {*map(type, v)} == {str}))
        found: list[str] = [value] if isinstance(value, str) else value
        if "" in found:
            self.fail(key, "must not be empty")
        return found

    def flag(self, key: str, default: Any = _REQUIRED) -> Any:
        """true or false."""
        return self._take(key, default, "true or false", lambda v: isinstance(v, bool))

    def whole(self, key: str, low: int, high: int, default: Any = _REQUIRED) -> Any:
        """A whole number from `low` to `high`, both included."""
        return self._take(key, default, f"a whole number from {low} to {high}",
                          lambda v: is_whole(v) and low <= v <= high)

    def number(self, key: str, default: Any = _REQUIRED) -> Any:
        """A finite number, whole or not."""
        return self._take(key, default, "a finite number",
                          lambda v: (is_whole(v) or isinstance(v, float)) and abs(v) <= sys.float_info.max)

    def value(self, key: str) -> Any:
        """Any number, infinities and NaN included."""
        return self._take(key, _REQUIRED, "a number", lambda v: is_whole(v) or isinstance(v, float))

    def extents(self, key: str, most: int, default: Any = _REQUIRED) -> Any:
        """A tuple of 1 to `most` whole numbers, each at least 1; a single number may stand alone."""
        values = self._take(key, default, f"a whole number of at least 1, or a list of up to {most} of them",
                            lambda v: all(is_whole(n) and n >= 1 for n in _listed(v)) and 1 <= len(_listed(v)) <= most)
        return values if values is default else tuple(_listed(values))

    def one_of(self, key: str, names: Any, default: Any = _REQUIRED) -> Any:
        """One of some names."""
        return self._take(key, default, "one of " + ", ".join(names), lambda v: isinstance(v, str) and v in names)

    def table(self, key: str, default: Any = _REQUIRED) -> Any:
        """A table inside this one."""
        values = self._take(key, default, "a table: { key = value, ... }", lambda v: isinstance(v, dict))
        return values if values is default else Table(self.file, f"{self.place}{key}: ", values)

    def tables(self, key: str) -> "list[Table]":
        """The tables of an array of tables, numbered from 1; none if the key is absent."""
        values = self._take(key, [], f"given as [[{key}]] tables", lambda v: isinstance(v, list))
        return [Table(self.file, f"{key} {number}: ", entry) for number, entry in enumerate(values, 1)]

    def finish(self) -> None:
        """Raise `LaunchError` if a key was not read."""
        for key in self._left:
            self.fail(key, f"is not a key here; keys are {', '.join(self._known)}{nearest(key, self._known)}")

    def _take(self, key: str, default: Any, wanted: str, fits: Any) -> Any:
        self._known.append(key)
        if key not in self._left:
            if default is _REQUIRED:
                self.missing(key, f"must be {wanted}")
            return default
        value = self._left.pop(key)
        if not fits(value):
            self.fail(key, f"{shown(value)} must be {wanted}")
        return value


def is_whole(value: object) -> bool:
    """True for an integer that is not a truth value."""
    return isinstance(value, int) and not isinstance(value, bool)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
