"""Covering arrays: a few configurations in which all legal pairs of settings occur."""

from collections.abc import Hashable, Iterable, Mapping
from itertools import chain, combinations
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
    numbers = {pair: number for number, pair in enumerate(dict.fromkeys(chain.from_iterable(legal.values())))}
    covered = {one: sum(1 << numbers[pair] for pair in those) for one, those in legal.items()}
    missing, found = (1 << len(numbers)) - 1, []
    while missing:
        best = max(covered, key=lambda one: (covered[one] & missing).bit_count())
        missing &= ~covered[best]
        found.append(best)
    return found
