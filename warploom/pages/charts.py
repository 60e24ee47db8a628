"""Panels as charts of Plotly. Colours and fonts are the page's (`page.js`): a trace names the number of its colour."""

from collections.abc import Sequence
from math import asinh
from textwrap import wrap
from typing import Any

import plotly.graph_objects as go

from warploom.evaluation.published import Published
from warploom.pages.panels import PUBLISHED, Panel

COLOURS = 9
"""Colours of the page, ``--series-0`` and following."""

HATCHED = "/"

LABEL = 16
"""Characters of a label's line."""

BAR, SPACE, GROUP, LEAST = 2, 6, 14, 480
"""The least pixels of a bar, of the space between groups, of a group with its label, and of a chart: all programs fit
a laptop, and a chart scrolls on a phone."""

Json = dict[str, Any]


def chart(panel: Panel) -> Json:
    """A panel's chart."""
    return plot(panel) if panel.marks else bars(panel)


def bars(panel: Panel) -> Json:
    """Bars side by side or stacked: rows, then averages, then the published values, hatched."""
    groups = [*panel.rows, *panel.averages, *([PUBLISHED] if panel.published else [])]
    figure = go.Figure([_trace(panel, number, groups) for number in range(len(panel.columns))])
    figure.update_layout(barmode=_mode(panel), bargap=0.25, bargroupgap=0.04,
                         hovermode="closest", dragmode=False, showlegend=len(panel.columns) > 1)
    figure.update_yaxes(title_text=panel.unit, fixedrange=True)
    figure.update_xaxes(type="category", fixedrange=True, showgrid=False, tickmode="array", tickvals=groups,
                        ticktext=["<br>".join(wrap(group, LABEL, break_long_words=False)) for group in groups])
    if panel.averages:
        figure.add_vline(x=len(panel.rows) - 0.5, line_dash="dot", line_width=1)
    if panel.base is not None:
        figure.add_hline(y=panel.base, line_width=1)
    return _plain(figure, width=_width(panel, len(groups)))


def _mode(panel: Panel) -> str:
    """How the bars of a row stand: those that start at a base, one above and one below it, are in one place."""
    return "relative" if panel.stacked else "group" if panel.base is None else "overlay"


def _trace(panel: Panel, number: int, groups: Sequence[str]) -> go.Bar:
    column = panel.columns[number]
    values = [row[number] for row in (*panel.rows.values(), *panel.averages.values())]
    starts = [panel.base or 0.0 for _ in values]
    values = [None if value is None else value - start for value, start in zip(values, starts, strict=True)]
    if panel.published:
        start, height = _extent(panel, column)
        values, starts = [*values, height], [*starts, start]
    hatches = [HATCHED if group == PUBLISHED else "" for group in groups]
    return go.Bar(
        name=column, x=list(groups), y=values, base=starts if any(starts) else None,
        marker_pattern_shape=hatches, meta={"colour": number % COLOURS, "settings": list(_of(panel, number))},
        hovertemplate=f"%{{x}}, %{{fullData.name}}: %{{y:,.{panel.digits}f}} {panel.unit}<extra></extra>",
    )


def _of(panel: Panel, number: int) -> Sequence[str]:
    return panel.settings[number] if panel.settings else ()


def _extent(panel: Panel, column: str) -> tuple[float, float | None]:
    """Start and height of the bar of a published value; a stacked bar has no start of its own, so a range no bar."""
    if column not in panel.published:
        return 0.0, None
    known = Published.of(panel.published[column])
    if known.most is None:
        return 0.0, known.value
    return (0.0, None) if panel.stacked else (known.value, known.most - known.value)


def _width(panel: Panel, groups: int) -> int:
    """The narrowest legible width."""
    return max(LEAST, groups * max(GROUP, SPACE + BAR * (1 if panel.stacked else len(panel.columns))))


PLOTTED = (("circle", 0), ("circle-open", 8), ("square-open", 4))
"""Symbol and colour of the first groups of rows in a plot."""


def plot(panel: Panel) -> Json:
    """The second column over the first, with a mark for each group of rows."""
    across, up = panel.columns
    figure = go.Figure([
        go.Scatter(name=group, mode="markers", x=[panel.rows[name][0] for name in names], text=list(names),
                   y=[panel.rows[name][1] for name in names],
                   marker={"symbol": PLOTTED[number % len(PLOTTED)][0], "size": 10},
                   meta={"colour": PLOTTED[number % len(PLOTTED)][1]},
                   hovertemplate="%{text}<br>%{x:,.4g}, %{y:,.4g}<extra></extra>")
        for number, (group, names) in enumerate(panel.marks.items())])
    if panel.alike:
        known = [value for row in panel.rows.values() for value in row if value]
        _line(figure, min(known), max(known))
        figure.update_xaxes(type="log", dtick="D2")
        figure.update_yaxes(type="log", dtick="D2")
    figure.update_layout(hovermode="closest", dragmode=False, showlegend=True)
    figure.update_xaxes(title_text=across, fixedrange=True)
    figure.update_yaxes(title_text=up, fixedrange=True)
    return _plain(figure, width=0)


def _line(figure: go.Figure, least: float, most: float) -> None:
    """The line on which both axes have the same value."""
    figure.add_shape(type="line", x0=least, y0=least, x1=most, y1=most, line_dash="dot", line_width=1)


TICKS = (-1000, -300, -100, -30, -10, 0, 10, 30, 100, 300, 1000)
"""The labels of a symmetric logarithmic axis."""


def scatter(points: Sequence[tuple[str, str, float, float]]) -> Json:
    """Ours over the published value of each average: part, name, published, ours; with the line on which both are
    equal. Both axes are symmetric logarithmic: linear about 0, since values have either sign."""
    parts = list(dict.fromkeys(part for part, *_ in points))
    figure = go.Figure([_scattered(part, number, [point for point in points if point[0] == part])
                        for number, part in enumerate(parts)])
    published = [_symmetric(x) for *_, x, _ in points]
    _line(figure, min(0.0, *published), max(published))
    figure.update_layout(hovermode="closest", dragmode=False, showlegend=True)
    axis = {"tickmode": "array", "tickvals": [_symmetric(tick) for tick in TICKS],
            "ticktext": [f"{tick:,}" for tick in TICKS], "fixedrange": True}
    figure.update_xaxes(title_text="published, %", **axis)
    figure.update_yaxes(title_text="ours, %", **axis)
    return _plain(figure, width=0)


LINEAR = 10.0
"""Below about so many percent a symmetric logarithmic axis is linear."""


def _symmetric(value: float) -> float:
    """The place of a value on the axis."""
    return asinh(value / LINEAR)


MARKS = ("circle", "square", "diamond", "cross", "triangle-up", "star")


def _scattered(part: str, number: int, points: Sequence[tuple[str, str, float, float]]) -> go.Scatter:
    return go.Scatter(
        name=part, mode="markers", x=[_symmetric(x) for *_, x, _ in points], y=[_symmetric(y) for *_, y in points],
        text=[f"{name}<br>published {x:.1f} %, ours {y:.1f} %" for _, name, x, y in points],
        marker={"symbol": MARKS[number % len(MARKS)], "size": 9}, meta={"colour": number % COLOURS},
        hovertemplate="%{text}<extra></extra>",
    )


def _plain(figure: go.Figure, width: int) -> Json:
    """The figure without Plotly's colours, and its least width."""
    found: Json = figure.to_plotly_json()
    found["layout"].pop("template", None)
    return {"data": found["data"], "layout": found["layout"], "least": width}
