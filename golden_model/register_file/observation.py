"""Observed values that both register files have in common."""

from collections.abc import Iterable, Sequence
from itertools import chain


def names_of_accesses(ports: Sequence[str], fields: Sequence[str], banks: Sequence[str]) -> list[str]:
    """The names of the accesses of each port, and of the enabled columns, of each of `banks`."""
    return [*(f"{port}_{field}" for port in ports for field in fields), *(f"{bank}_columns" for bank in banks)]


def enabled_columns(banks: int, *accesses: Iterable[tuple[int, int]]) -> list[int]:
    """For each bank, the columns that its accesses enable."""
    columns = [0] * banks
    for bank, enabled in chain.from_iterable(accesses):
        columns[bank] |= enabled
    return columns
