"""The observed values of a cycle, collected from the tree of parts (docs/contract/counting.md, *Observation*)."""

from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable


@runtime_checkable
class Part(Protocol):
    """A part with observed values. The names in `observed` are those of its counterpart in hardware; they are fixed
    when the part is made."""

    observed: Sequence[str]

    def observe(self) -> Sequence[int]:
        """A value for each name, in the same order: of this cycle, once its wires have settled."""


def shown_by(part: Part) -> dict[str, int]:
    """The observed values of a part in this cycle, by name."""
    return dict(zip(part.observed, part.observe(), strict=True))


class Gathered:
    """The observed values of several parts; parts without any are left out.

    The names of a part given by keyword get the keyword as prefix: `evict=unit` shows `evict_valid`, and a list
    `collector=units` shows `collector0_busy` and so on. Raises `ValueError` if two parts show the same name.
    """

    def __init__(self, *parts: object, **named: object) -> None:
        shown = [("", part) for part in parts if isinstance(part, Part)]
        shown += [(prefix, part) for name, given in named.items() for prefix, part in _prefixed(name, given)]
        self.observed = tuple(prefix + name for prefix, part in shown for name in part.observed)
        if len(set(self.observed)) < len(self.observed):
            raise ValueError(f"two parts show the same name, among {', '.join(self.observed)}")
        self._parts = [part.observe for _, part in shown]

    def observe(self) -> list[int]:
        """See `Part`."""
        values: list[int] = []
        for observe in self._parts:
            values += observe()
        return values


def _prefixed(name: str, given: object) -> Iterator[tuple[str, Part]]:
    """A part, or each of several, with the prefix of its names."""
    if isinstance(given, Sequence):
        yield from ((f"{name}{number}_", part) for number, part in enumerate(given) if isinstance(part, Part))
    elif isinstance(given, Part):
        yield f"{name}_", given
