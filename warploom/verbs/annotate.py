"""``warploom annotate``: what a run spends on each line of its PTX or CUDA."""

import argparse
import dataclasses
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from warploom import report
from warploom.golden_model.front_end.stalls import Stall
from warploom.golden_model.statistics import total
from warploom.verbs import Body, configuration
from warploom.watch.launches import launches
from warploom.watch.profile import Profiles, Spent
from warploom.watch.source import Place, at

Texts = Mapping[str, Sequence[str]]
"""The lines of each file."""

GAP = 10
"""Lines without instructions that are shown between two lines with some."""

COLUMNS = ("line", "executed", "share", "stalls", "share", "mostly", "lanes", "read", "written")
"""Warp instructions, scheduler-cycles without an issue, and means: executing lanes, bytes of a source and of a result.
"""


def main(options: argparse.Namespace) -> Body:
    """Run the kernel or program on the golden SM, and print its source with the counts of each line."""
    config = configuration(options)
    profiles = Profiles(cuda=options.cuda)
    with report.working("timing"):
        runs = launches(options, config, profiles.launch)
    spent, texts, statistics = profiles.by_line(), profiles.texts(), total(runs)
    body = {
        "configuration": dataclasses.asdict(config), "source": "cuda" if options.cuda else "ptx",
        "kernel": statistics.kernel, "launches": len(runs), "cycles": statistics.cycles,
        "warp_instructions": statistics.warp_instructions, "stalls": statistics.stalls,
        "stalls_without_instruction": _causes(profiles.without),
        "lines": [_described(place, line, texts) for place, line in spent.items()],
    }
    _show(spent, texts, body)
    return body


def _causes(counts: np.ndarray) -> dict[str, float]:
    """Cycles by cause, without those that have none; parts of cycles to three digits."""
    return {cause.name.lower(): round(float(counts[cause]), 3) for cause in Stall if counts[cause]}


def _described(place: Place | None, line: Spent, texts: Texts) -> Body:
    return {
        "file": place and place.file, "line": place and place.line, "text": place and at(texts[place.file], place.line),
        "instructions": line.instructions, "executed": line.executed,
        "stalls": _causes(line.stalls), "mean_lanes": line.lanes / line.executed if line.executed else None,
        "source_widths": line.sources.tolist(), "result_widths": line.results.tolist(),
    }


# ---------------------------------------------------------------- the text


def _show(spent: Mapping[Place | None, Spent], texts: Texts, body: Body) -> None:
    """Print the files one after the other, with the lines around those that have instructions."""
    executed, idle = body["warp_instructions"], sum(body["stalls"].values())
    for file, lines in texts.items():
        here = {place.line: line for place, line in spent.items() if place and place.file == file}
        rows = [(_cells(number, here.get(number), executed, idle), text) for number, text in _excerpt(here, lines)]
        print(file, *_aligned(rows), sep="\n")
    if None in spent:
        rows = [(_cells(0, spent[None], executed, idle), "")]
        print("without a line", *_aligned(rows), sep="\n")
    rest = ", ".join(f"{count:,.0f} {cause}" for cause, count in body["stalls_without_instruction"].items())
    launched = f"{body['launches']:,} launches, " if body["launches"] > 1 else ""
    print(f"{body['kernel']}: {launched}{body['cycles']:,} cycles, {executed:,} warp instructions, {idle:,} stalls of "
          f"schedulers{f', without an instruction: {rest}' if rest else ''}")


def _excerpt(lines: Mapping[int, Spent], text: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Numbers and texts of the lines to show; 0 for a gap."""
    last = min(lines)
    for number in sorted(lines):
        if number - last - 1 > GAP:
            yield 0, "..."
            last = number - 1
        for shown in range(min(last + 1, number), number + 1):
            yield shown, text[shown - 1].expandtabs(4) if shown <= len(text) else ""
        last = number


def _cells(number: int, line: Spent | None, executed: int, idle: int) -> list[str]:
    """The text of each of the `COLUMNS`; empty where a line has no instructions."""
    start = str(number or "")
    if line is None:
        return [start, *[""] * (len(COLUMNS) - 1)]
    stalls = line.stalls.sum()
    return [start, f"{line.executed:,}", f"{line.executed / executed:.1%}", f"{stalls:,.0f}",
            f"{stalls / max(idle, 1):.1%}", Stall(int(line.stalls.argmax())).name.lower() if stalls else "",
            f"{line.lanes / line.executed:.1f}" if line.executed else "", _mean(line.sources), _mean(line.results)]


def _mean(widths: np.ndarray) -> str:
    """The mean of a histogram of bytes, 1 to 4."""
    return f"{widths @ np.arange(1, len(widths) + 1) / widths.sum():.1f}" if widths.any() else ""


def _aligned(rows: list[tuple[list[str], str]]) -> Iterator[str]:
    """The lines of a table under the names of its columns, with a text after each."""
    widths = [max(map(len, column)) for column in zip(COLUMNS, *(cells for cells, _ in rows), strict=True)]
    for cells, text in [(COLUMNS, ""), *rows]:
        yield "  ".join([*(cell.rjust(width) for cell, width in zip(cells, widths, strict=True)), text]).rstrip()
