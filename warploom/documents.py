"""The contents of the command line's JSON documents, record by record and key by key (`documents.toml`).

docs/json.md has its tables (`make docs`), and tests compare every document that they make with it.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from warploom.arch.mechanisms import MECHANISMS

EVERY = "document"
"""The record of every document, beside that of its verb."""


class Key(NamedTuple):
    """One key of a record: its path, its meaning, and the record below it, if any."""

    path: str
    meaning: str
    record: str | None = None

    @property
    def pattern(self) -> re.Pattern[str]:
        """A pattern of the paths that it includes: its own and all below it. A name may have brackets around something;
        empty ones are those of a list."""
        names = re.escape(self.path).replace(r"\*", r"(?:[^\[]|\[[^\]]+\])+?")
        return re.compile(rf"{names}(?P<below>|[.\[].*)")


EVENTS = [Key(events.key, "what a mechanism counts, by name; empty without it")
          for mechanism in MECHANISMS for events in mechanism.events]
"""Keys of statistics that descriptors add."""


@cache
def records() -> dict[str, list[Key]]:
    """Every record by its name."""
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    return {name: [Key(*key) for key in keys] for name, keys in tomllib.loads(text).items()}


def _of(document: Mapping[str, Any]) -> tuple[str, ...]:
    """The records that a document has."""
    verb = document["verb"]
    if verb == "demo":
        return EVERY, "run", verb
    return EVERY, "hardware" if document.get("experiment", "").startswith("hardware") else verb


def undescribed(document: Mapping[str, Any]) -> list[str]:
    """Paths of a document that no key includes; if there are none, the document is as described."""
    return [path for path in _leaves(document, "") if not any(_described(path, record) for record in _of(document))]


def _leaves(value: Any, path: str) -> Iterator[str]:
    """The path of every value that is neither an object nor a list of objects."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, f"{path}[]")
    else:
        yield path


def _described(path: str, record: str) -> bool:
    """Whether a key of the record, or of one below it, includes a path."""
    for key in (*records()[record], *(EVENTS if record == "statistics" else ())):
        match = key.pattern.fullmatch(path)
        if match and (key.record is None or not match["below"] or _described(match["below"].lstrip("."), key.record)):
            return True
    return False


def table(record: str) -> str:
    """The table of a record in a page."""
    rows = [f"| `{key.path}` | {key.meaning}{f': [{key.record}](#{key.record})' if key.record else ''} |"
            for key in records()[record]]
    return "\n".join(["| key | meaning |", "|---|---|", *rows, ""])
