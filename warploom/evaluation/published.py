"""The figures that the sources print, from `published.toml`."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

RELATIONS = ("~", "<=", ">=")
"""*About* if a source compares in words; *at most* and *at least* if it gives the distance of two averages or a
bound."""


@dataclass(frozen=True)
class Published:
    """An average that a source prints, in percent, with `relation` empty or one of `RELATIONS`; or, if it prints each
    kernel separately, their range: from `value` to `most`."""

    value: float
    relation: str = ""
    most: float | None = None

    @classmethod
    def of(cls, entry: float | str) -> "Published":
        """An entry of the file: a number; a relation and a number; or ``least to most``. Raises `ValueError` for
        anything else."""
        if not isinstance(entry, str):
            return cls(float(entry))
        least, to, most = entry.partition(" to ")
        if to:
            return cls(float(least), most=float(most))
        relation, _, number = entry.rpartition(" ")
        if relation and relation not in RELATIONS:
            raise ValueError(f"{entry!r}: the relation must be one of {', '.join(RELATIONS)}")
        return cls(float(number), relation)

    def __str__(self) -> str:
        if self.most is not None:
            return f"{self.value:.1f} to {self.most:.1f}"
        return f"{self.relation} {self.value:.1f}".lstrip()


@cache
def published() -> dict[str, dict[str, Published]]:
    """Averages by figure and series."""
    figures = tomllib.loads(Path(__file__).with_name("published.toml").read_text())
    return {number: {series: Published.of(entry) for series, entry in figure.items()}
            for number, figure in figures.items()}
