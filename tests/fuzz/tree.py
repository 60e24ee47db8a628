"""A program as a tree: text with holes, and their contents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

HOLE = "$"
"""Marks the next child in a node's text; CUDA C does not use this character."""

STATEMENT = "statement"


@dataclass(eq=False)
class Node:
    """An expression (`kind` is its type) or a statement. `text` has a hole for each child: an expression, or a list of
    statements. A `fixed` child may change inside, but not be removed."""

    kind: str
    text: str
    kids: list[Node | list[Node]] = field(default_factory=list)
    fixed: bool = False

    def __str__(self) -> str:
        parts = self.text.split(HOLE)
        assert len(parts) == len(self.kids) + 1, (self.text, self.kids)
        filled = [part + _text(kid) for part, kid in zip(parts, self.kids, strict=False)]
        return "".join([*filled, parts[-1]])

    def walk(self) -> Iterator[Node]:
        """The node and all below it."""
        yield self
        for kid in self.kids:
            for node in kid if isinstance(kid, list) else [kid]:
                yield from node.walk()


def _text(kid: Node | list[Node]) -> str:
    return "".join(map(str, kid)) if isinstance(kid, list) else str(kid)
