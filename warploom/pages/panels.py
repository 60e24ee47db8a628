"""Panels: one chart, the table of its numbers, and what stands beside them."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isclose
from statistics import fmean

from warploom.evaluation.published import Published
from warploom.pages.document import Document, Figure, Point, Series
from warploom.pages.links import run_link
from warploom.pages.why import Why, why

AVERAGE, PUBLISHED, IN_ALL = "average", "published", "in all"

PROGRAM = "program"

NONE = "\u2013"
"""The cell of a number that there is not: a dash."""

ON_FRONT = "on the front"
"""What is said of a machine on the Pareto front."""

PRESSURE = ("issuing", "collector", "port", "other")
"""What schedulers do with their cycles, in the document's *pressure*."""

Values = Sequence[float | None]


@dataclass(frozen=True)
class Compared:
    """A published average beside ours, in percent; `difference` in points, from the nearer end of a range."""

    bar: str
    published: str
    ours: float
    difference: float


@dataclass(frozen=True)
class Panel:
    """Numbers by row and column. `averages` are further rows; `published` has texts as the source prints them; `links`
    lead from a row to the statistics of its runs, `settings` names these by column; `notes` are columns of text.
    `others` are rows of the table without bars, since their unit is another one. Bars start at `base`, or at 0. A
    panel with `marks` is a plot of its second column over the first, in which each group of rows has a mark of its own;
    if both are `alike`, its axes are logarithmic, and it has a line on which they are equal."""

    key: str
    title: str
    columns: Sequence[str]
    rows: Mapping[str, Values]
    row_name: str = PROGRAM
    unit: str = "%"
    digits: int = 1
    stacked: bool = False
    averages: Mapping[str, Values] = field(default_factory=dict)
    published: Mapping[str, str] = field(default_factory=dict)
    compared: Sequence[Compared] = ()
    why: Why | None = None
    links: Mapping[str, str] = field(default_factory=dict)
    settings: Sequence[Sequence[str]] = ()
    notes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    others: Mapping[str, Values] = field(default_factory=dict)
    base: float | None = None
    marks: Mapping[str, Sequence[str]] = field(default_factory=dict)
    alike: bool = False

    @property
    def caption(self) -> str:
        """Title and unit."""
        return f"{self.title}, {self.unit}" if self.unit else self.title

    @property
    def is_by_program(self) -> bool:
        """Whether the table has a row for each program."""
        return self.row_name == PROGRAM

    @property
    def in_all(self) -> bool:
        """Whether the sums of stacked bars say something: they are not all 100."""
        return self.stacked and not all(isclose(total, 100, abs_tol=0.1) for total in map(total_of, self.rows.values()))

    @property
    def table_columns(self) -> list[str]:
        """Columns of numbers in the table."""
        return [*self.columns, *([IN_ALL] if self.in_all else [])]

    @property
    def table_rows(self) -> dict[str, Values]:
        """Rows of the table, those without bars last."""
        return {**self.rows, **self.others}

    def cells(self, values: Values) -> list[str]:
        """A row of the table."""
        shown = [*values, *([total_of(values)] if self.in_all else [])]
        return [NONE if value is None else f"{value:,.{self.digits}f}" for value in shown]

    @property
    def published_cells(self) -> list[str]:
        """The row of published values; the sum where all are numbers."""
        cells = [self.published.get(column, NONE) for column in self.columns]
        if self.in_all:
            known = [Published.of(text).value for text in self.published.values()]
            cells.append(f"{sum(known):.1f}" if len(known) == len(self.columns) else NONE)
        return cells

    @property
    def described(self) -> str:
        """The chart in words, for who cannot see it."""
        bars = "; ".join(f"{column} {cell}" for column, cell in zip(self.columns, self._summary(), strict=False))
        kind = "Marks" if self.marks else "Stacked bars" if self.stacked else "Bars"
        kind += "" if self.base is None else f" from {self.base:,.{self.digits}f}"
        return f"{kind}: {self.caption}, by {self.row_name}. {bars}. All numbers are in the table below."

    def _summary(self) -> list[str]:
        first = next(iter(self.averages.values()), None)
        if first is not None:
            return [f"{cell} on average" for cell in self.cells(first)]
        return [f"from {min(known):,.{self.digits}f} to {max(known):,.{self.digits}f}" if known else "none"
                for known in ([value for value in column if value is not None] for column in self._by_column())]

    def _by_column(self) -> list[tuple[float | None, ...]]:
        return list(zip(*self.rows.values(), strict=True))

    def to_csv(self) -> str:
        """All numbers in full, a line for each row."""
        text = io.StringIO()
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow([self.row_name, *self.columns])
        lines.writerows([name, *values] for name, values in {**self.table_rows, **self.averages}.items())
        if self.published:
            lines.writerow([PUBLISHED, *(self.published.get(column) for column in self.columns)])
        return text.getvalue()

    def to_json(self) -> dict[str, object]:
        """All numbers by column; `null` where there is none."""
        return {
            "title": self.title, "unit": self.unit, "columns": list(self.columns),
            "rows": {name: list(values) for name, values in self.table_rows.items()},
            "averages": {name: list(values) for name, values in self.averages.items()},
            "published": dict(self.published),
        }


def of_figure(document: Document, slug: str, figure: Figure) -> Panel:
    """A figure of a source."""
    kernels = list(dict.fromkeys(name for series in figure.series.values() for name in series.kernels))
    published = {key: series.published for key, series in figure.series.items() if series.published is not None}
    settings = list(dict.fromkeys(name for series in figure.series.values() for name in series.settings))
    return Panel(
        f"{slug}-{identifier(figure.figure, figure.note)}",
        f"{figure.figure}: {figure.title}{f', {figure.note}' if figure.note else ''}", list(figure.series),
        {name: [series.kernels.get(name) for series in figure.series.values()] for name in kernels},
        stacked=figure.stacked or _are_shares(figure),
        averages=_averages(list(figure.series.values())),
        published=published,
        compared=_compared(figure, published),
        why=why(figure.figure) if published else None,
        links=_links(document, slug, kernels, settings),
        settings=[series.settings for series in figure.series.values()],
    )


def _averages(every: Sequence[Series]) -> dict[str, list[float | None]]:
    """The rows of averages: over each group of workloads, where a document has groups."""
    if not every[0].averages:
        return {AVERAGE: [series.average for series in every]}
    return {name: [series.averages.get(name) for series in every] for name in every[0].averages}


def _compared(figure: Figure, published: Mapping[str, str]) -> list[Compared]:
    """Every published average beside ours."""
    return [Compared(key, text, average := figure.series[key].average, difference(text, average))
            for key, text in published.items()]


def of_pressure(document: Document, slug: str) -> list[Panel]:
    """What the schedulers do with their cycles, under some of the settings."""
    found = []
    for setting in dict.fromkeys(entry.setting for entry in document.pressure):
        entries = [entry for entry in document.pressure if entry.setting == setting]
        rows = {entry.kernel: [getattr(entry, key) for key in PRESSURE] for entry in entries}
        found.append(_shares(document, slug, f"Cycles of the schedulers, {setting}", PRESSURE, rows,
                             settings=[setting]))
    return found


def of_stalls(document: Document, slug: str) -> list[Panel]:
    """Cycles without an issue by cause, under the settings of the pressure, or the first one."""
    settings = list(dict.fromkeys(entry.setting for entry in document.pressure)) or _settings(document)[:1]
    found = []
    for setting in settings:
        stalls = {name: of[setting]["stalls"] for name, of in document.runs.items() if setting in of}
        causes = list(dict.fromkeys(cause for by_cause in stalls.values() for cause in by_cause))
        rows = {name: percent([by_cause.get(cause, 0) for cause in causes]) for name, by_cause in stalls.items()}
        title = f"Scheduler cycles without an issue, by cause, {setting}"
        found.append(_shares(document, slug, title, causes, rows, settings=[setting]))
    return found


def of_widths(document: Document, slug: str) -> list[Panel]:
    """Bytes that register operands need, which are the same under every setting of a workload: those of its first."""
    settings = _settings(document)[:1]
    bytes_ = ["1 byte", "2 bytes", "3 bytes", "4 bytes"]
    runs = {name: next(iter(of.values())) for name, of in document.runs.items()}
    return [_shares(document, slug, f"Register {what} by bytes", bytes_,
                    {name: percent(of[f"{key}_widths"]) for name, of in runs.items()}, settings=[setting])
            for setting in settings for what, key in (("sources", "source"), ("results", "destination"))]


def of_calibration(document: Document, slug: str) -> list[Panel]:
    """Instructions per cycle beside those of GPGPU-Sim."""
    if not document.calibration:
        return []
    rows = {f"{row['kernel']}, {row['machine']}": [float(row["IPC"]), float(row["GPGPU-Sim"])]
            for row in document.calibration}
    links = {f"{row['kernel']}, {row['machine']}": link for row in document.calibration
             if (link := _link(document, slug, str(row["kernel"]), [str(row["machine"])]))}
    return [Panel(f"{slug}-ipc", "Instructions per cycle", ["ours", "GPGPU-Sim"], rows, "kernel and machine",
                  "instructions per cycle", 2, links=links)]


def of_workloads(document: Document, slug: str) -> list[Panel]:
    """What the workloads of each list are made of, beside what a source prints of its own."""
    found = []
    for figure in dict.fromkeys(str(entry["figure"]) for entry in document.averages):
        entries = {str(entry["quantity"]): entry for entry in document.averages if entry["figure"] == figure}
        rows = {group: [float(entry[group]) for entry in entries.values()] for group in document.groups}
        published = {key: str(entry["published"]) for key, entry in entries.items() if entry["published"]}
        title = next((f"{figure}: {entry['title']}" for entry in entries.values() if "title" in entry), figure)
        found.append(Panel(f"{slug}-{identifier(figure)}", title, list(entries), rows, "list", stacked=len(entries) > 1,
                           published=published))
    return found


def of_combinations(document: Document, slug: str) -> list[Panel]:
    """Every combination of mechanisms beside the baseline, and what independent gains would give."""
    return [Panel(f"{slug}-{metric}", f"{title}, times the baseline's", ["measured", "if gains were independent"],
                  {str(entry["combination"]): [float(entry[metric]), float(entry[f"{metric}_expected"])]
                   for entry in document.combinations}, "combination", "", 2)
            for metric, title in (("ipc", "Instructions per cycle"), ("accesses", "Bank accesses"),
                                  ("energy", "Dynamic energy of the register file")) if document.combinations]


def of_samples(document: Document, slug: str) -> list[Panel]:
    """The errors of what samples of blocks estimate."""
    return [Panel(f"{slug}-{metric}", f"Error of {title}, by blocks of each launch", list(columns), rows)
            for metric, title in (("ipc", "instructions per cycle"), ("accesses", "bank accesses"))
            for columns, rows in [_by_sample(document, metric)] if rows]


def _by_sample(document: Document, metric: str) -> tuple[dict[str, None], dict[str, list[float | None]]]:
    """Columns by number of blocks, and the errors of each workload; None where it has no more blocks."""
    columns = dict.fromkeys(f"{entry['sample']} blocks" for entry in document.samples)
    rows: dict[str, list[float | None]] = {}
    for entry in document.samples:
        row = rows.setdefault(str(entry["workload"]), [None] * len(columns))
        row[list(columns).index(f"{entry['sample']} blocks")] = float(entry[metric])
    return columns, rows


def of_sweep(document: Document, slug: str) -> list[Panel]:
    """Speed of the machines of a sweep over energy, and over area, or without synthesis over storage."""
    if not document.points:
        return []
    synthesised = all(point.area_um2 is not None for point in document.points)
    speed = "IPC x GHz" if synthesised else "IPC"
    size = "area, \u00b5m\u00b2" if synthesised else "storage, bits"
    return [_plot(slug, document.points, "energy of a warp instruction, pJ", speed, lambda point: point.energy_pj),
            _plot(slug, document.points, size, speed,
                  lambda point: point.storage_bits if point.area_um2 is None else point.area_um2)]


def _plot(slug: str, points: Sequence[Point], across: str, speed: str, value: Callable[[Point], float]) -> Panel:
    names = {", ".join(f"{name}={text}" for name, text in point.values.items()): point for point in points}
    front = {name for name, point in names.items() if point.front}
    return Panel(f"{slug}-{identifier(across)}", f"{speed} over {across}", [across, speed],
                 {name: [value(point), point.speed] for name, point in names.items()}, "machine", "", 3,
                 marks={ON_FRONT: sorted(front), "others": [name for name in names if name not in front]},
                 notes={"": [ON_FRONT], **{name: ["yes" if name in front else "no"] for name in names}})


def percent(counts: Sequence[float]) -> list[float]:
    """Counts as shares of their sum."""
    total = sum(counts)
    return [100 * count / total if total else 0.0 for count in counts]


def total_of(values: Values) -> float:
    """The sum of what is known."""
    return sum(value for value in values if value is not None)


def difference(published: str, ours: float) -> float:
    """Ours minus the published value; from the nearer end of a range, 0 inside it."""
    known = Published.of(published)
    if known.most is None:
        return ours - known.value
    return min(ours - known.value, 0.0) + max(ours - known.most, 0.0)


def _shares(document: Document, slug: str, title: str, columns: Sequence[str], rows: Mapping[str, Sequence[float]], *,
            settings: list[str]) -> Panel:
    averages = {AVERAGE: [fmean(column) for column in zip(*rows.values(), strict=True)]} if rows else {}
    return Panel(f"{slug}-{identifier(title)}", title, columns, rows, stacked=True, averages=averages,
                 links=_links(document, slug, list(rows), settings), settings=[settings] * len(columns))


def _are_shares(figure: Figure) -> bool:
    """Whether the bars of each workload add up to 100, in a document that does not say what is stacked."""
    every = list(figure.series.values())
    return len(every) > 1 and all(isclose(sum(series.kernels[name] for series in every), 100, abs_tol=0.1)
                                  for name in every[0].kernels if all(name in series.kernels for series in every))


def _settings(document: Document) -> list[str]:
    return list(next(iter(document.runs.values()), {}))


def _links(document: Document, slug: str, names: Sequence[str], settings: Sequence[str]) -> dict[str, str]:
    return {name: link for name in names if (link := _link(document, slug, name, settings))}


def _link(document: Document, slug: str, name: str, settings: Sequence[str]) -> str | None:
    """The place of a workload's statistics under some settings; None if the document does not have them."""
    known = [setting for setting in settings if setting in document.runs.get(name, {})]
    return run_link(slug, name, known) if known else None


def identifier(*words: str) -> str:
    """Words as a part of an identifier."""
    text = "".join(character if character.isalnum() else " " for character in " ".join(words).lower())
    return "-".join(text.split())
