"""Figures as bar charts, PNG and SVG: the same figure, the same bytes."""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.patches import Patch

from warploom.evaluation.figures import Measured
from warploom.evaluation.published import Published
from warploom.files import write_whole

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
"""Okabe and Ito's palette, which colour-blind readers can distinguish."""

PUBLISHED = "published"
GROUP = 0.8
"""Width of a group of bars; groups are 1 apart."""

LABEL = 12
"""Characters of a line of a label."""

METADATA: dict[str, dict[str, str | None]] = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}
"""Metadata of the time and the program that wrote a file."""

STYLE: dict[Any, Any] = {
    "svg.hashsalt": "warploom", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False,
    "axes.axisbelow": True, "hatch.linewidth": 0.6,
}

Heights = Mapping[str, tuple[float, float] | None]
"""Start and height of the bars of one series, by group: kernels, averages, published. All start at 0 except those of a
published range."""


def draw(measured: Measured, folder: Path, caption: str) -> list[Path]:
    """Write `<folder>/<figure>.png` and `.svg` and return the paths; `caption` describes the run. Raises `OSError`."""
    paths = []
    with mpl.rc_context():
        mpl.rcdefaults()  # independent of the user's style
        mpl.rcParams.update(STYLE)
        canvas = _draw(measured, caption)
        for kind, metadata in METADATA.items():
            data = io.BytesIO()
            canvas.savefig(data, format=kind, dpi=110, metadata=metadata)
            paths.append(folder / f"{measured.figure.name}.{kind}")
            write_whole(paths[-1], data.getvalue())
    return paths


def _draw(measured: Measured, caption: str) -> Canvas:
    figure = measured.figure
    heights = {key: _heights(measured, key) for key in measured.values}
    groups = list(next(iter(heights.values())))
    canvas = Canvas(figsize=(0.9 * len(groups) + 2.5, 3.4), layout="constrained")
    axes = canvas.subplots()
    (_stack if figure.stacked else _side_by_side)(axes, list(heights.values()))
    axes.set_title(figure.heading, loc="left", fontsize=10)
    axes.set_ylabel("%")
    axes.set_xlabel(caption, loc="left", fontsize=7, color="dimgrey")
    axes.set_xticks(range(len(groups)), [fill(group, LABEL, break_on_hyphens=False) for group in groups])
    axes.set_xlim(-0.6, len(groups) - 0.4)
    axes.axhline(0, color="black", linewidth=0.6)
    axes.axvline(len(measured.kernels) - 0.5, color="grey", linewidth=0.6, linestyle=":")
    axes.grid(axis="y", linewidth=0.4, alpha=0.6)
    if len(heights) > 1:
        patches = [Patch(color=colour) for colour, _ in zip(COLOURS, heights, strict=False)]
        axes.legend(patches, heights, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    return canvas


def _heights(measured: Measured, key: str) -> Heights:
    ours = {**measured.values[key], **measured.averages(key)}
    heights: dict[str, tuple[float, float] | None] = {group: (0.0, value) for group, value in ours.items()}
    if known := measured.figure.published:
        heights[PUBLISHED] = _extent(known[key]) if key in known else None
    return heights


def _extent(known: Published) -> tuple[float, float]:
    return (0.0, known.value) if known.most is None else (known.value, known.most - known.value)


def _stack(axes: Axes, series: Sequence[Heights]) -> None:
    """Stacked bars; those below zero extend downwards."""
    ends: dict[tuple[str, bool], float] = {}
    for heights, colour in zip(series, COLOURS, strict=False):
        for place, (group, bar) in enumerate(heights.items()):
            if bar is not None:
                start, height = bar
                end = group, height < 0
                _bar(axes, group, place, height, colour, bottom=ends.get(end, 0.0) + start)
                ends[end] = ends.get(end, 0.0) + height


def _side_by_side(axes: Axes, series: Sequence[Heights]) -> None:
    width = GROUP / len(series)
    for number, (heights, colour) in enumerate(zip(series, COLOURS, strict=False)):
        offset = (number - (len(series) - 1) / 2) * width
        for place, (group, bar) in enumerate(heights.items()):
            if bar is not None:
                start, height = bar
                _bar(axes, group, place + offset, height, colour, width=width, bottom=start)


def _bar(axes: Axes, group: str, place: float, height: float, colour: str, *, width: float = GROUP,
         bottom: float = 0.0) -> None:
    """One bar; hatched if it is published rather than ours."""
    hatch = "////" if group == PUBLISHED else None
    axes.bar(place, height, width, bottom, color=colour, edgecolor="white", linewidth=0.4, hatch=hatch)
