"""The output of a verb: tables for people on the terminal, one JSON document for programs (`docs/json.md`)."""

import contextlib
import io
import json
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path

import numpy as np
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from warploom import __version__
from warploom.files import write_whole
from warploom.origin import commit

SCHEMA_VERSION = 2
"""Version of the JSON document: raised when a key changes its meaning or disappears, not when one is added."""

PLAIN_WIDTH = 120
"""Columns of a table if standard output is no terminal."""

LONGEST_WORD = 30
"""Columns that a word of a table gets in any case; longer ones, such as paths, may be folded."""

BETWEEN = 3
"""Columns between two columns of a table."""

LINE_SECONDS = 60
"""Time between lines of progress where there is no terminal."""

SPEED_LINES = 10
"""Lines whose speed an estimate of the time that is left follows."""


def table(title: str, columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Print a table. Numbers are aligned right, integers with thousands separators, floats with four digits."""
    cells = [list(row) for row in rows]
    texts = [[_text(cell) for cell in row] for row in cells]
    result, needed = Table(box=box.SIMPLE_HEAD), 1
    for number, name in enumerate(columns):
        numeric = all(isinstance(row[number], int | float | None) for row in cells)
        words = (word for text in (name, *(row[number] for row in texts)) for word in text.split())
        width = min(max(map(len, words), default=0), LONGEST_WORD)
        result.add_column(escape(name), justify="right" if numeric else "left", overflow="fold", min_width=width)
        needed += width + BETWEEN
    for row in texts:
        result.add_row(*map(escape, row))
    shown = console()
    shown.width = max(shown.width, needed)
    shown.print(f"[bold]{escape(title)}[/bold]", result, crop=False)


def records(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> list[dict[str, object]]:
    """Print a table, and return its rows as JSON has them: by column."""
    rows = list(rows)
    table(title, columns, rows)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def fields(title: str, values: Mapping[str, object]) -> None:
    """Print names and values, one pair a line."""
    result = Table(box=box.SIMPLE, show_header=False)
    for name, value in values.items():
        result.add_row(escape(name), escape(_text(value)))
    console().print(f"[bold]{escape(title)}[/bold]", result)


def text(title: str, content: str) -> None:
    """Print a text unchanged, on separate lines."""
    console().print(f"[bold]{escape(title)}[/bold]")
    print(content, end="" if content.endswith("\n") else "\n")
    print(flush=True)


def console() -> Console:
    """Standard output, as wide as the terminal, or `PLAIN_WIDTH`."""
    return Console(highlight=False) if sys.stdout.isatty() else Console(highlight=False, width=PLAIN_WIDTH)


@contextlib.contextmanager
def working(what: str) -> Iterator[None]:
    """Show a moving bar with the elapsed time on standard error while the body runs; nothing if it is no terminal."""
    errors = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as progress:
        progress.add_task(what, total=None)
        yield


@contextlib.contextmanager
def counting(what: str, total: int) -> Iterator[Callable[[str], None]]:
    """Show a growing bar on standard error, and an estimate of the time that is left, while the body runs: call the
    yielded function with the name of each of `total` finished items. Where standard error is no terminal, it gets a
    line in a minute."""
    errors = Console(stderr=True)
    if not errors.is_terminal:
        yield _Lines(what, total).count
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
               TextColumn("left:"), TimeRemainingColumn())
    with Progress(*columns, console=errors, transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda name: progress.update(task, advance=1, description=f"{what}: {name}")


class _Lines:
    """Progress in a log. The estimate is by the speed of the last lines, since items that are cached take no time."""

    def __init__(self, what: str, total: int) -> None:
        self._what, self._total, self._finished = what, total, 0
        self._started = time.monotonic()
        self._shown = deque([(self._started, 0)], maxlen=SPEED_LINES)

    def count(self, name: str) -> None:
        """An item is finished."""
        self._finished += 1
        now, (last, _), (first, before) = time.monotonic(), self._shown[-1], self._shown[0]
        if now - last >= LINE_SECONDS:
            left = (now - first) / (self._finished - before) * (self._total - self._finished)
            print(f"{self._what}: {self._finished:,} of {self._total:,} in {_clock(now - self._started)}, about "
                  f"{_clock(left)} left", file=sys.stderr, flush=True)
            self._shown.append((now, self._finished))


def _clock(seconds: float) -> str:
    """Hours, minutes and seconds."""
    return str(timedelta(seconds=round(seconds)))


def document(verb: str, body: Mapping[str, object]) -> dict[str, object]:
    """The JSON document of a verb: schema and origin, then the body."""
    return {"schema": SCHEMA_VERSION, "verb": verb, "version": __version__, "commit": commit(), **body}


def write_json(path: str | Path, content: Mapping[str, object]) -> None:
    """Write a document atomically. Raises `OSError`."""
    write_whole(Path(path), (json.dumps(content, indent=2, allow_nan=False) + "\n").encode())


def write_npy(path: Path, array: np.ndarray) -> None:
    """Write an array as .npy atomically. Raises `OSError`."""
    data = io.BytesIO()
    np.save(data, array, allow_pickle=False)
    write_whole(path, data.getvalue())


def _text(cell: object) -> str:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if cell is None:
        return "-"
    if isinstance(cell, int):
        return f"{cell:,}"
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
