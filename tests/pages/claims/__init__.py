"""What sentences of the pages claim, a module for each page; `tests/pages/test_prose.py` compares them with the
committed results."""

from typing import NamedTuple


class Within(NamedTuple):
    """A ratio or an amount that a sentence states in words, and the bounds within which the words fit."""

    least: float
    value: float
    most: float


Claim = tuple[str | float | Within, ...]
"""A piece of a sentence, with `{}` for numbers; then the values of these numbers, or one `Within`."""
