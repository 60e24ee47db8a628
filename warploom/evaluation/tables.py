"""Figures as tables on the terminal: a row for each kernel, their average, and what is published below it."""

from collections.abc import Iterable

from rich import box
from rich.markup import escape
from rich.table import Table

from warploom import report
from warploom.evaluation.figures import Measured


def show(measured: Measured) -> None:
    """Print one figure."""
    figure, keys = measured.figure, list(measured.values)
    rows = [[kernel, *(f"{measured.values[key][kernel]:.1f}" for key in keys)] for kernel in measured.kernels]
    rows.append(["average", *(f"{measured.average(key):.1f}" for key in keys)])
    if figure.published:
        rows.append(["published", *(_published(measured, key) for key in keys)])
    _print(figure.heading, ["kernel", *keys], rows, rule=len(measured.kernels))


def show_averages(figures: Iterable[Measured]) -> None:
    """Print all averages that have a published one beside them."""
    rows = [[measured.figure.heading, key, f"{measured.average(key):.1f}", _published(measured, key)]
            for measured in figures for key in measured.values if key in measured.figure.published]  # fmt: skip
    _print("Averages beside the published ones, %", ["figure", "bar", "ours", "published"], rows, words=2)


def _published(measured: Measured, key: str) -> str:
    known = measured.figure.published
    return str(known[key]) if key in known else "-"


def _print(title: str, columns: list[str], rows: list[list[str]], *, words: int = 1, rule: int | None = None) -> None:
    """A table whose first `words` columns are text, with a rule after row number `rule`."""
    table = Table(box=box.SIMPLE_HEAD)
    for number, column in enumerate(columns):
        table.add_column(escape(column), justify="left" if number < words else "right", overflow="fold")
    for number, row in enumerate(rows, start=1):
        table.add_row(*map(escape, row), end_section=number == rule)
    report.console().print(f"[bold]{escape(title)}[/bold]", table)
