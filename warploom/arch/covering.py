"""Covering arrays: a few configurations in which all legal pairs of settings occur."""

from collections.abc import Hashable, Iterable, Mapping
from itertools import combinations
from typing import TypeVar

Setting = tuple[str, object]
"""A field and its value."""

Pair = tuple[Setting, Setting]

T = TypeVar("T", bound=Hashable)


def pairs(settings: Iterable[Setting]) -> frozenset[Pair]:
    """All pairs of settings of a configuration, whose fields are always in the same order."""
    return frozenset(combinations(settings, 2))


def covering(legal: Mapping[T, frozenset[Pair]]) -> list[T]:
    """Enough of the legal configurations that each pair is in one of them: at each step the one with the most pairs
    that none before it has."""
    missing = frozenset[Pair]().union(*legal.values())
    found = []
    while missing:
        best = max(legal, key=lambda one: len(legal[one] & missing))
        missing -= legal[best]
        found.append(best)
    return found
