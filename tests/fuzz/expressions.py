"""Random expressions, and templates with their holes filled."""

import re

from fuzz.scope import Dice, Scope
from fuzz.templates import LISTS, UNSIGNED
from fuzz.tree import STATEMENT, Node

PLACEHOLDER = re.compile(r"\$([=+@%]?)(\w+)")

BITS = {"u8": 8, "s8": 8, "u16": 16, "s16": 16, "u32": 32, "s32": 32, "u64": 64, "s64": 64}
REALS = ("0.0f", "-0.0f", "1.0f", "-1.0f", "0.5f", "3.0f", "1e-40f", "1.17549435e-38f", "3.4e38f", "0.1f",
         "16777216.0f", "-2147483648.0f", "4294967296.0f", "1e20f", "-7.25f")

KINDS = (*BITS, "f32", "f64", "b")


def favoured(dice: Dice, templates: list[str]) -> list[str]:
    """Templates with the weights of one program: some never, some often."""
    return [one for one in templates for _ in range(dice.choice((0, 1, 1, 1, 3)))] or templates


class Expressions:
    """Makes the expressions of one program. `functions` are those it may call: name, types of parameters, and whether
    the first one is an array."""

    def __init__(self, dice: Dice) -> None:
        self._dice = dice
        self._templates = {kind: favoured(dice, LISTS[kind]) for kind in KINDS}
        self.functions: list[tuple[str, list[str], bool]] = []

    def fill(self, template: str, scope: Scope, depth: int, kind: str = STATEMENT, *, uniform: bool = False) -> Node:
        """A template as a node, with its holes filled by expressions of a depth up to `depth` - 1. Those of a `uniform`
        one have one value for all participating threads."""
        text, kids, end = "", [], 0
        for match in PLACEHOLDER.finditer(template):
            text += template[end : match.start()]
            end = match.end()
            piece, more = self._hole(match[1], match[2], scope, depth, uniform=uniform)
            text, kids = text + piece, kids + more
        return Node(kind, text + template[end:], kids)

    def _hole(self, mark: str, kind: str, scope: Scope, depth: int, *, uniform: bool) -> tuple[str, list]:
        """Text and children of one hole."""
        if mark == "=":
            return self._dice.choice(scope.write[kind]), []
        if mark == "+":
            return "$", [Node(kind, self._constant(kind, zero=False))]
        if mark:
            places = (scope.places if mark == "@" else scope.atomic_places)[UNSIGNED.get(kind, kind)]
            node = self.fill(self._dice.choice(places), scope, depth)
            return (f"(*({kind} *)&{node.text})" if kind in UNSIGNED else node.text), node.kids
        if kind == "i":
            return "$", [self._index(scope, uniform=uniform)]
        return "$", [self.expression(kind, scope, depth - 1, uniform=uniform)]

    def _index(self, scope: Scope, *, uniform: bool) -> Node:
        chance = self._dice.below(10)
        if chance < 4:
            return Node("u32", f"{self._dice.below(16)}u")
        if chance < 6 and not uniform and not scope.in_function:
            return Node("u32", self._dice.choice(("tid", "lane", "(tid >> 2)")))
        return self.expression("u32", scope, 0 if chance < 9 else 1, uniform=uniform)

    def expression(self, kind: str, scope: Scope, depth: int, *, uniform: bool = False) -> Node:
        """An expression of a type, or `b` for a condition, of a maximum depth; `uniform` as in `fill`."""
        if depth <= 0 or self._dice.chance(0.15):
            return self._leaf(kind, scope, uniform=uniform)
        if not uniform and kind == "u32" and self.functions and not scope.in_function and self._dice.chance(0.04):
            return self.call(scope, depth)
        return self.fill(self._dice.choice(self._templates[kind]), scope, depth, kind, uniform=uniform)

    def call(self, scope: Scope, depth: int, *, statement: bool = False) -> Node:
        """A call of a function, as a word of its result. Only a call that is a statement may change an array."""
        name, kinds, takes_array = self._dice.choice(self.functions)
        kids: list[Node | list[Node]] = [self.expression(kind, scope, depth - 1) for kind in kinds]
        array = [self._dice.choice(("m32", "la32"))] if takes_array else []
        name = name if statement or not takes_array else f"pure_{name}"
        return Node("u32", f"{name}({', '.join([*array, *('$' for _ in kids)])}).a", kids)

    def _leaf(self, kind: str, scope: Scope, *, uniform: bool) -> Node:
        dice = self._dice
        if kind == "b":
            return self.fill(dice.choice(("($u32 & 1u)", "($u32 < $u32)")), scope, 1, "b", uniform=uniform)
        chance = dice.below(10)
        if uniform and chance < 7:
            return Node(kind, f"({kind}){dice.choice(scope.uniform)}")
        if not uniform and chance < 6 and kind in scope.read:
            return Node(kind, dice.choice(scope.read[kind]))
        if chance < 8 and not scope.in_function:
            own = not uniform and scope.places.get(UNSIGNED.get(kind, kind)) and dice.chance(0.5)
            load = f"$@{kind}" if own else dice.choice(LISTS[f"load {kind}"])
            return self.fill(load, scope, 0, kind, uniform=uniform)
        if not uniform and kind != "u32" and dice.chance(0.5):
            return Node(kind, f"({kind}){dice.choice(scope.read['u32'])}")
        return Node(kind, self._constant(kind))

    def _constant(self, kind: str, *, zero: bool = True) -> str:
        """Small numbers, powers of two, masks, their complements, and random numbers."""
        dice = self._dice
        if kind in ("f32", "f64"):
            return f"{'(f64)' if kind == 'f64' else ''}{dice.choice(REALS)}"
        bits = BITS[kind]
        value = dice.choice((
            dice.below(16), dice.below(16), 1 << dice.below(bits), (1 << dice.below(bits)) - 1, -1 - dice.below(4),
            -(1 << dice.below(bits)), dice.below(1 << bits), dice.below(1 << 16), dice.below(256) << 8 * dice.below(8),
        )) & (1 << bits) - 1
        if not (value or zero):
            value = 1 + dice.below(12)
        number = f"{value}{'ull' if bits == 64 else 'u'}"
        return number if kind in ("u32", "u64") else f"({kind}){number}"
