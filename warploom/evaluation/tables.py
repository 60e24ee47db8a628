"""Figures as tables on the terminal: a row for each kernel, their averages, and the published value below them."""

from collections.abc import Iterable, Mapping
from math import isclose

from rich import box
from rich.markup import escape
from rich.table import Table

from warploom import report
from warploom.evaluation.figures import Measured, averages

IN_ALL = "in all"
"""The column of the sum of stacked bars."""


def show(measured: Measured) -> None:
    """Print one figure."""
    columns = _columns(measured)
    rows = [[kernel, *(f"{column[kernel]:.1f}" for column in columns.values())] for kernel in measured.kernels]
    for group in measured.groups:
        rows.append([group, *(f"{averages(column, measured.groups)[group]:.1f}" for column in columns.values())])
    if measured.figure.published:
        rows.append(["published", *(_published(measured, key) for key in columns)])
    _print(measured.figure.heading, ["kernel", *columns], rows, rule=len(measured.kernels))


def show_averages(figures: Iterable[Measured]) -> None:
    """Print all averages that have a published value."""
    found = list(figures)
    groups = dict.fromkeys(group for measured in found for group in measured.groups)
    rows = [[measured.figure.heading, key, *_in(groups, averages(column, measured.groups)), published]
            for measured in found for key, column in _columns(measured).items()
            if (published := _published(measured, key)) != "-"]
    _print("Averages beside the published ones, %", ["figure", "bar", *groups, "published"], rows, words=2)


def _in(groups: Iterable[str], values: Mapping[str, float]) -> list[str]:
    """The average over each group, a dash for groups that a figure does not have."""
    return [f"{values[group]:.1f}" if group in values else "-" for group in groups]


def _columns(measured: Measured) -> dict[str, dict[str, float]]:
    """By bar, then by kernel; with the sum of stacked bars, unless it is always 100."""
    columns = {key: dict(values) for key, values in measured.values.items()}
    sums = {kernel: sum(column[kernel] for column in columns.values()) for kernel in measured.kernels}
    if measured.figure.stacked and not all(isclose(total, 100) for total in sums.values()):
        columns[IN_ALL] = sums
    return columns


def _published(measured: Measured, key: str) -> str:
    known = measured.figure.published
    if key == IN_ALL and known.keys() == measured.values.keys():
        return f"{sum(average.value for average in known.values()):.1f}"
    return str(known[key]) if key in known else "-"


def _print(title: str, columns: list[str], rows: list[list[str]], *, words: int = 1, rule: int | None = None) -> None:
    """A table whose first `words` columns are text, with a rule after row number `rule`."""
    table = Table(box=box.SIMPLE_HEAD)
    for number, column in enumerate(columns):
        table.add_column(escape(column), justify="left" if number < words else "right", overflow="fold")
    for number, row in enumerate(rows, start=1):
        table.add_row(*map(escape, row), end_section=number == rule)
    report.console().print(f"[bold]{escape(title)}[/bold]", table)
