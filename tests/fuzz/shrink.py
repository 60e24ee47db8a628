"""Shrinks a failing program: statements are removed, expressions become one of their parts or a constant."""

import copy
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from fuzz.program import Program
from fuzz.templates import TYPES
from fuzz.tree import STATEMENT, Node

CHUNK = 32
"""Candidates that are built in one call."""

Path = tuple[int, ...]
"""A path from the root: the number of a child, and for a list of statements the index in it, and so on."""

Edit = tuple[Path, Callable[[Node], list[Node]]]
"""The replacement of the node at a path: for an expression one node, for a statement any number."""

Fails = Callable[[Sequence[Program]], list[bool]]
"""Selects the programs that fail in the same way."""


def shrink(program: Program, fails: Fails, say: Callable[[str], None] = print) -> Program:
    """The smallest program found that fails in the same way. Raises `ValueError` if the program does not fail."""
    if fails([program]) != [True]:
        raise ValueError(f"program {program.seed} does not fail")
    smaller: Program | None = program
    while smaller:
        program = smaller
        say(f"{len(program.source())} characters")
        smaller = _smaller(program, fails)
    return program


def _smaller(program: Program, fails: Fails) -> Program | None:
    """The program after the first edits after which it still fails, as many as possible together; None without any."""
    edits = _edits(program)
    for at in range(0, len(edits), CHUNK):
        chunk = edits[at : at + CHUNK]
        failing = fails([_variant(program, [edit], label) for label, edit in enumerate(chunk)])
        good = [edit for edit, fail in zip(chunk, failing, strict=True) if fail]
        while len(good) > 1 and fails([_variant(program, good, None)]) != [True]:
            good = good[: len(good) // 2]
        if good:
            return _variant(program, good, None)
    return None


def _variant(program: Program, edits: list[Edit], label: int | None) -> Program:
    """The program with some edits applied; of two that overlap, the outer or the first one."""
    root = copy.deepcopy(Node("root", "$" * (1 + len(program.functions)), [*program.functions, program.tree]))
    first = dict(reversed(edits))
    for path in sorted(first, reverse=True):
        if not any(path[: len(other)] == other for other in first if other != path):
            _apply(root, path, first[path])
    *functions, tree = root.kids
    text = str(root)
    functions = [function for function in functions if _uses(text, function) > _uses(str(function), function)]
    return replace(program, tree=tree, functions=functions, label=label)


def _uses(text: str, function: Node) -> int:
    """Uses of a function in a text; its own text has one or, if there is a copy that changes no array, more."""
    return text.count(re.search(r"f_\d+_\d+", function.text)[0])


def _apply(node: Node, path: Path, change: Callable[[Node], list[Node]]) -> None:
    while True:
        kid = node.kids[path[0]]
        if isinstance(kid, list):
            if len(path) == 2:
                kid[path[1] : path[1] + 1] = change(kid[path[1]])
                return
            node, path = kid[path[1]], path[2:]
        else:
            if len(path) == 1:
                (node.kids[path[0]],) = change(kid)
                return
            node, path = kid, path[1:]


def _edits(program: Program) -> list[Edit]:
    """All edits, the largest cuts first."""
    root = Node("root", "$" * (1 + len(program.functions)), [*program.functions, program.tree])
    found = [(size, edit) for size, edit in _below(root, ()) if size > 0]
    return [edit for _, edit in sorted(found, key=lambda one: -one[0])]


def _below(node: Node, path: Path) -> Iterator[tuple[int, Edit]]:
    for number, kid in enumerate(node.kids):
        if isinstance(kid, list):
            for place, one in enumerate(kid):
                yield from _of_statement(one, (*path, number, place))
                yield from _below(one, (*path, number, place))
        else:
            if kid.kind in (*TYPES, "b"):
                yield from _of_expression(kid, (*path, number))
            yield from _below(kid, (*path, number))


def _of_statement(node: Node, path: Path) -> Iterator[tuple[int, Edit]]:
    size = len(str(node))
    if node.fixed:
        return
    yield size, (path, lambda _: [])
    blocks = [kid for kid in node.kids if isinstance(kid, list)]
    body = "".join(str(one) for block in blocks for one in block)
    if node.kind != STATEMENT or not blocks or "break" in body or "continue" in body:
        return
    variable = re.search(r"u32 (i\d+)", node.text)
    opened = f"{{ u32 {variable[1]} = 1;\n$}}\n" if variable else "$"
    if node.text == opened or node.text.startswith("{ if (tid"):
        return
    for number, kid in enumerate(node.kids):
        if isinstance(kid, list):
            gain = size - len(opened) - len("".join(map(str, kid)))
            yield gain, (path, lambda one, number=number: [Node(STATEMENT, opened, [one.kids[number]])])


def _of_expression(node: Node, path: Path) -> Iterator[tuple[int, Edit]]:
    size = len(str(node))
    for constant in ("0", "1"):
        text = "({0} == 1u)".replace("{0}", f"{constant}u") if node.kind == "b" else f"({node.kind}){constant}"
        if node.kids or (not node.text.startswith("(") and not node.text[:1].isdigit()):
            yield size - len(text) + 4, (path, lambda one, text=text: [Node(one.kind, text)])
    for number, kid in enumerate(node.kids):
        if isinstance(kid, Node) and kid.kind == node.kind:
            yield size - len(str(kid)), (path, lambda one, number=number: [one.kids[number]])
        elif isinstance(kid, Node) and kid.kind[0] in "us" and node.kind[0] in "usf" and kid.kind in TYPES:
            yield size - len(str(kid)) - 6, (path, lambda one, number=number: [_cast(one, number)])


def _cast(node: Node, number: int) -> Node:
    return Node(node.kind, f"({node.kind})$", [node.kids[number]])
