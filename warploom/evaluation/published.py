"""The figures that the seeds print, from `published.toml`."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

RELATIONS = ("~", "<=")
"""*About*, where the seed compares in words, and *at most*, where it says how near two averages are."""


@dataclass(frozen=True)
class Published:
    """An average that a seed prints, in percent. `relation` is empty or one of `RELATIONS`."""

    value: float
    relation: str = ""

    @classmethod
    def of(cls, entry: float | str) -> "Published":
        """An entry of the file: a number, or a relation and a number. Raises `ValueError` for anything else."""
        relation, _, number = entry.rpartition(" ") if isinstance(entry, str) else ("", "", entry)
        if relation and relation not in RELATIONS:
            raise ValueError(f"{entry!r}: the relation must be one of {', '.join(RELATIONS)}")
        return cls(float(number), relation)

    def __str__(self) -> str:
        return f"{self.relation} {self.value:.1f}".lstrip()


@cache
def published() -> dict[str, dict[str, Published]]:
    """Averages by figure and series."""
    figures = tomllib.loads(Path(__file__).with_name("published.toml").read_text())
    return {number: {series: Published.of(entry) for series, entry in figure.items()}
            for number, figure in figures.items()}  # fmt: skip
