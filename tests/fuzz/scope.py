"""Random choices, and the names that a piece of program may use."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any


class Dice:
    """Reproducible choices: only `random()` of `random.Random` is guaranteed to be the same in all versions of
    Python."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random

    def below(self, bound: int) -> int:
        """A number from 0 to `bound` - 1."""
        return int(self._random() * bound)

    def choice(self, items: Sequence[Any]) -> Any:
        """One of the items."""
        return items[self.below(len(items))]

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self._random() < probability


Names = dict[str, list[str]]
"""Names by type."""


@dataclass(frozen=True)
class Scope:
    """The names in scope: variables to read and to write, elements of the thread's arrays (those that atomics access
    are listed separately), and `uniform` words, equal in all participating threads.

    Depending on `level`, these are the threads of a block, those of a warp, or a single lane. `work` limits the
    iterations of a loop. Inside a function, names of the kernel are unknown.
    """

    read: Names
    write: Names
    places: Names
    atomic_places: Names
    uniform: tuple[str, ...]
    level: str = "lane"
    depth: int = 0
    work: int = 24
    in_loop: bool = False
    may_return: bool = False
    in_function: bool = False

    def at(self, level: str) -> "Scope":
        """The scope of a branch in which the threads of a level take part; if these are fewer than outside, they may
        not leave a loop."""
        return replace(self, level=level, depth=self.depth + 1, in_loop=self.in_loop and level == self.level)

    def agreeing(self, level: str) -> "Scope":
        """The scope of a condition that is the same in the threads of a level."""
        return replace(self, uniform=(*self.uniform, "(tid >> 5)")) if level == "warp" else self

    def loop(self, level: str, variable: str, times: int) -> "Scope":
        """The scope of a loop's body."""
        uniform = self.uniform if level == "lane" else (*self.uniform, variable)
        read = {**self.read, "u32": [*self.read["u32"], variable]}
        return replace(self.at(level), in_loop=True, work=self.work // (times + 1), read=read, uniform=uniform)
