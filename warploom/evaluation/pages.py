"""Tables of the pages of docs/, made from the committed results of the experiments in docs/results.

Blocks of Python in a page, which cog runs (`make docs`), call `results` and put the table that another function returns
below the block.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from warploom.evaluation.energy.assumptions import FIGURES
from warploom.evaluation.figures import AVERAGE
from warploom.evaluation.figures import averages as averages_of

RESULTS = Path(__file__).absolute().parents[2] / "docs" / "results"


class Quantity(NamedTuple):
    """A percentage of each workload; the mean over the first group of workloads; the published value, if there is one;
    and the means over all groups, by name."""

    kernels: dict[str, float]
    average: float
    published: str | None
    averages: dict[str, float]

    @property
    def ours(self) -> dict[str, float]:
        """The means by the heads of their columns."""
        return self.averages if len(self.averages) > 1 else {"ours": self.average}

    def only(self, workloads: Sequence[str]) -> "Quantity":
        """The quantity of these workloads alone, with the mean over them."""
        kernels = {name: self.kernels[name] for name in workloads}
        return Quantity(kernels, fmean(kernels.values()), self.published, {})


Row = tuple[str, Sequence[Quantity]]
"""A label and the quantities of a row."""


@cache
def document(experiment: str) -> dict[str, Any]:
    """The committed results of an experiment (docs/json.md, *evaluate*), by the name of their file."""
    found: dict[str, Any] = json.loads((RESULTS / f"{experiment}.json").read_text(encoding="utf-8"))
    return found


def results(experiment: str) -> Callable[..., list[Quantity]]:
    """A function that takes the number of a figure, keys of its series and its note, and returns their quantities.
    Raises `KeyError` if there is none."""
    figures = {(figure["figure"], figure["note"]): figure["series"] for figure in document(experiment)["figures"]}

    def quantities(number: str, *keys: str, note: str = "") -> list[Quantity]:
        return [_quantity(figures[number, note][key]) for key in keys]

    return quantities


def _quantity(series: dict[str, Any]) -> Quantity:
    return Quantity(series["kernels"], series["average"], series["published"], series.get("averages", {}))


def quantity(experiment: str, values: dict[str, float]) -> Quantity:
    """Something that an experiment has found for each workload."""
    groups = document(experiment).get("groups", {AVERAGE: list(values)})
    means = averages_of(values, groups)
    return Quantity(values, next(iter(means.values())), None, means)


def joined(parts: Mapping[str, Quantity]) -> Quantity:
    """A quantity of several sets of workloads, with the mean of each by its name, and of all."""
    kernels = {name: value for part in parts.values() for name, value in part.kernels.items()}
    means = {name: fmean(part.kernels.values()) for name, part in parts.items()}
    average = fmean(kernels.values())
    return Quantity(kernels, average, next(iter(parts.values())).published, {**means, "all": average})


def made_with(experiment: str) -> str:
    """The machine and the version of a result, and what its averages are over, as a line of a page."""
    found = document(experiment)
    groups = list(found.get("groups", ()))
    averaged = f"\nAverages: {' / '.join(groups)}." if len(groups) > 1 else ""
    machine = found["configuration"]
    kind = "GPU" if "sm" in machine else "Preset"
    blocks = f", {found['blocks']} blocks of each launch" if found.get("blocks") else ""
    size = f", {found['size']} size" if "size" in found else ""
    return f"{kind} `{machine['name']}`{size}{blocks}, {version(experiment)}.{averaged}\n"


def version(experiment: str) -> str:
    """The commit that a result is of and, if others have counted, theirs."""
    found = document(experiment)
    simulated = " and ".join(f"`{commit[:12]}`" for commit in found.get("simulated", ()) if commit != found["commit"])
    return f"commit `{found['commit'][:12]}`{f', counts of commit {simulated}' if simulated else ''}"


def averages(rows: Sequence[tuple[str, str, Sequence[Quantity]]]) -> str:
    """A table of averages beside the published values: figure, name and quantities of each row."""
    groups = list(rows[0][2][0].ours)
    return table(["figure", "quantity, %", *groups, "published"], [
        [figure, name, *(", ".join(_number(quantity.ours[group]) for quantity in quantities) for group in groups),
         _published(quantities)]
        for figure, name, quantities in rows])


def published(experiment: str) -> str:
    """A table of everything of an experiment that has a published value, with the averages over all groups."""
    return averages([
        (", ".join(filter(None, (figure["figure"], figure["note"]))), key, [_quantity(series)])
        for figure in document(experiment)["figures"] for key, series in figure["series"].items()
        if series["published"] is not None])


def by_kernel(rows: Sequence[Row], head: str = "%") -> str:
    """A table with a column for each kernel: the first quantity of each row, the average and the published value. With
    several groups it has a line for each workload, and a column for each quantity."""
    first = [(name, quantities[0]) for name, quantities in rows]
    kernels, groups = list(first[0][1].kernels), list(first[0][1].ours)
    lines = [[name, *(_number(quantity.kernels[kernel]) for kernel in kernels),
              *(_number(quantity.ours[group]) for group in groups), _published([quantity])] for name, quantity in first]
    if len(groups) == 1:
        return table([head, *kernels, "average", "published"], lines)
    heads, *columns = zip(*lines, strict=True)
    return table([head, *heads], [[name, *column] for name, column in zip(
        [*kernels, *groups, "published"], columns, strict=True)])


def grid(head: Sequence[str], rows: Iterable[Row]) -> str:
    """A table of averages with a column for each quantity of a row; those of several groups are side by side."""
    return table(head, [[name, *(" / ".join(map(_number, quantity.ours.values())) for quantity in quantities)]
                         for name, quantities in rows])


def records(experiment: str, key: str, columns: Sequence[str]) -> str:
    """A table of the records that a document has at a key."""
    return table(columns, [[_cell(record[column]) for column in columns] for record in document(experiment)[key]])


def turned(experiment: str, key: str, head: str, names: Sequence[str]) -> str:
    """A table of records with a column for each, under what it has at `head`, and a line for each of the names."""
    found = document(experiment)[key]
    return table([head, *(str(record[head]) for record in found)],
                 [[name, *(_cell(record[name]) for record in found)] for name in names])


def units(key: str, labels: Mapping[str, str]) -> str:
    """A table of units without and with a mechanism: area of the logic in µm², and the longest path in ps."""
    found = {entry["unit"]: entry for entry in document("hardware_units")[key]}
    head = ["unit", "count", "off, µm²", "on, µm²", "ratio", "adds in all", "off, ps", "on, ps"]
    return table(head, [_unit(label, found[unit]) for unit, label in labels.items()])


def _unit(label: str, entry: dict[str, Any]) -> list[str]:
    areas, paths = ([f"{row[key]:,.0f}" if row and row[key] else "-" for row in (entry["before"], entry["after"])]
                    for key in ("logic_um2", "delay_ps"))
    ratio = "new" if entry["before"] is None else f"x {entry['area_ratio']:.3g}" if entry["area_ratio"] else "-"
    return [label, str(entry["after"]["instances"]), *areas, ratio, f"{entry['added_um2']:,.0f}", *paths]


def assumptions() -> str:
    """A table of the assumptions on energy, with their ranges and sources."""
    return table(["assumption", "what", "value", "range", "why"], [
        [f"`{name}`", entry["what"], f"{entry['value']:g}", f"{entry['least']:g} to {entry['most']:g}", entry["source"]]
        for name, entry in FIGURES["assumptions"].items()])


def carried(experiment: str) -> str:
    """A table of assumptions: for each figure its average with the least and with the most of the assumption."""
    rows = document(experiment)["sensitivity"]
    figures = {row["figure"]: row for row in rows}
    known = {(row["assumption"], row["figure"]): row for row in rows}
    head = [f"{name}: ours {row['ours']:.1f}, published {row['published']}" for name, row in figures.items()]
    return table(["assumption", *head], [
        [f"`{name}`", *(_ends(known.get((name, figure))) for figure in figures)]
        for name in FIGURES["assumptions"] if any((name, figure) in known for figure in figures)])


def _ends(row: dict[str, Any] | None) -> str:
    return f"{row['with least']:.1f} to {row['with most']:.1f}" if row else ""


def summed(quantities: Sequence[Quantity]) -> Quantity:
    """The sum of shares."""
    kernels = {kernel: sum(quantity.kernels[kernel] for quantity in quantities) for kernel in quantities[0].kernels}
    means = {group: sum(quantity.averages[group] for quantity in quantities) for group in quantities[0].averages}
    return Quantity(kernels, sum(quantity.average for quantity in quantities), None, means)


def _published(quantities: Sequence[Quantity]) -> str:
    if all(quantity.published is None for quantity in quantities):
        return ""
    return ", ".join(quantity.published or "-" for quantity in quantities)


def _number(value: float) -> str:
    return f"{value:.1f}"


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of texts."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
