"""The part of a PTX text that one entry needs, so that a small kernel does not require parsing a large file."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from warploom.compiler.parser import skipped

_LANDMARK = re.compile(r"\.(?P<kind>entry|func)\b\s*(?:\([^)]*\))?\s*(?P<name>[\w$%]*)|(?P<mark>[{};])")
_ALIAS = re.compile(r"\.alias\s+([\w$%]+)\s*,\s*([\w$%]+)")
_WORD = re.compile(r"[\w$%]+")
_POINTER_CALL = re.compile(r"\bcall(\.\w+)*(\s+|\s*\([^)]*\)\s*,\s*)[\w$%]+\s*(,\s*\([^)]*\)\s*)?,\s*[\w$%]+\s*;")


@dataclass(frozen=True)
class _Definition:
    """A function with a body, which is the text from `start` to `end`, braces excluded. `name` is empty if the header
    is not PTX."""

    name: str
    is_entry: bool
    start: int
    end: int


def excerpt(text: str, entry: str | None) -> str:
    """`text` without the bodies of functions that `entry` (None: the only one) cannot call.

    Those become empty; the line and column of all else are unchanged. A function counts as called if its name is
    anywhere in the body of another called function. A text whose braces do not match is returned unchanged, and a
    function without a name keeps its body: the parser reports the error. A call through a pointer may lead to any
    function, and another kernel may have stored the pointer: then the text is returned unchanged, too.
    """
    plain = skipped().sub(lambda found: " " * len(found[0]), text)
    definitions = list(_definitions(plain))
    if not definitions or definitions[-1].end < 0:
        return text
    entries = {definition.name for definition in definitions if definition.is_entry}
    roots = entries if len(entries) == 1 and entry is None else {entry}
    needed = _called(plain, definitions, {root for root in roots if root})
    called = (definition for definition in definitions if definition.name in needed)
    if any(_POINTER_CALL.search(plain, definition.start, definition.end) for definition in called):
        return text
    pieces, done = [], 0
    for definition in definitions:
        if definition.name and definition.name not in needed:
            pieces += [text[done : definition.start], _blank(text[definition.start : definition.end])]
            done = definition.end
    return "".join([*pieces, text[done:]])


def _definitions(text: str) -> Iterator[_Definition]:
    """The functions in order; the last one ends at -1 if braces do not match."""
    depth, start, header = 0, 0, None
    for found in _LANDMARK.finditer(text):
        if found["mark"] == "{":
            start = start if depth else found.end()
            depth += 1
        elif found["mark"] == "}":
            depth -= 1
            if depth < 0:
                break
            if depth == 0 and header:
                yield _Definition(header["name"], header["kind"] == "entry", start, found.start())
                header = None
        elif depth == 0 and found["kind"]:
            header = found
        elif depth == 0 and found["mark"]:
            header = None  # a prototype
    if depth:
        yield _Definition("", False, start, -1)


def _called(text: str, definitions: list[_Definition], roots: set[str]) -> set[str]:
    """The names of `roots` and of functions that they may call."""
    bodies: dict[str, list[_Definition]] = {}
    for definition in definitions:
        bodies.setdefault(definition.name, []).append(definition)
    targets = dict(_ALIAS.findall(text))
    names = bodies.keys() | targets.keys()
    called, waiting = set(roots), list(roots)
    while waiting:
        name = waiting.pop()
        words = {targets[name]} if name in targets else set()
        for definition in bodies.get(name, ()):
            words.update(_WORD.findall(text, definition.start, definition.end))
        new = names & words - called
        called |= new
        waiting += new
    return called


def _blank(body: str) -> str:
    """White space with the same lines, the last one of the same length."""
    return "\n" * body.count("\n") + " " * (len(body) - body.rfind("\n") - 1)
