"""``warploom annotate``: what a run spends on each line of its PTX or CUDA."""

import argparse
import dataclasses
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from warploom import report
from warploom.golden_model.front_end.stalls import Stall
from warploom.golden_model.functional.executor import Stream
from warploom.running import find, run
from warploom.verbs import Body, configuration
from warploom.watch.profile import Spent, profile
from warploom.watch.source import Place, Source

GAP = 10
"""Lines without instructions that are shown between two lines with some."""

COLUMNS = ("line", "executed", "share", "stalls", "share", "mostly", "lanes", "read", "written")
"""Warp instructions, scheduler-cycles without an issue, and means: executing lanes, bytes of a source and of a result.
"""


def main(options: argparse.Namespace) -> Body:
    """Run the kernel on the golden SM, and print its source with the counts of each line."""
    config = configuration(options)
    file = find(options.kernel, options.size)
    executed = run(file, config, record=False)
    source = Source(executed.program)
    if options.cuda:
        source.need_cuda()
    with report.working("timing"):
        found = profile(config, Stream(executed.program, file.launch))
    spent = found.by_line([lines.cuda if options.cuda else lines.ptx for lines in source.lines])
    statistics = found.statistics
    body = {
        "configuration": dataclasses.asdict(config), "source": "cuda" if options.cuda else "ptx",
        "kernel": statistics.kernel, "cycles": statistics.cycles, "warp_instructions": statistics.warp_instructions,
        "stalls": statistics.stalls, "stalls_without_instruction": _causes(found.stalls.without),
        "lines": [_described(place, line, source) for place, line in spent.items()],
    }
    _show(spent, source, body)
    return body


def _causes(counts: np.ndarray | list[int]) -> dict[str, float]:
    """Cycles by cause, without those that have none; parts of cycles to three digits."""
    return {cause.name.lower(): round(float(counts[cause]), 3) for cause in Stall if counts[cause]}


def _described(place: Place | None, line: Spent, source: Source) -> Body:
    return {
        "file": place and place.file, "line": place and place.line, "text": place and source.at(place),
        "instructions": [source.lines[pc].machine for pc in line.pcs], "executed": line.executed,
        "stalls": _causes(line.stalls), "mean_lanes": line.lanes / line.executed if line.executed else None,
        "source_widths": line.sources.tolist(), "result_widths": line.results.tolist(),
    }


# ---------------------------------------------------------------- the text


def _show(spent: Mapping[Place | None, Spent], source: Source, body: Body) -> None:
    """Print the files one after the other, with the lines around those that have instructions."""
    executed, idle = body["warp_instructions"], sum(body["stalls"].values())
    for file in dict.fromkeys(place.file for place in spent if place):
        here = {place.line: line for place, line in spent.items() if place and place.file == file}
        rows = [(_cells(number, here.get(number), executed, idle), text)
                for number, text in _excerpt(here, source.text(file))]
        print(file, *_aligned(rows), sep="\n")
    if None in spent:
        rows = [(_cells(0, spent[None], executed, idle), "")]
        print("without a line", *_aligned(rows), sep="\n")
    rest = ", ".join(f"{count:,.0f} {cause}" for cause, count in body["stalls_without_instruction"].items())
    print(f"{body['kernel']}: {body['cycles']:,} cycles, {executed:,} warp instructions, {idle:,} stalls of schedulers"
          f"{f', without an instruction: {rest}' if rest else ''}")


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
