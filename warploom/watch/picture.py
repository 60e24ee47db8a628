"""A picture of some cycles of a Perfetto trace, for a page or a paper, PNG or SVG:

    python -m warploom.watch.picture FILE.perfetto-trace FIRST LAST PICTURE.png
"""

import argparse
import io
import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import matplotlib as mpl
from google.protobuf.message import DecodeError
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TracePacket, TrackEvent

from warploom.files import why_not, write_whole

COLOURS = [mpl.colormaps[name](number) for name, count in (("Set3", 12), ("Set2", 8)) for number in range(count)]

HEIGHT, WIDTH = 0.17, 11.0
"""Inches of a row, and of the picture."""

LETTERS = 125
"""Letters that the slices of a row have space for."""

GREY = "#dddddd"


@dataclass
class Row:
    """A track: its name, its depth below the root, and its slices (begin, end, name) in some cycles."""

    name: str
    depth: int
    slices: list[tuple[int, int, str]] = field(default_factory=list)


def rows(path: Path, first: int, last: int) -> list[Row]:
    """The tracks of a trace that have slices in cycles `first` to `last` - 1, and those above them, in their order."""
    tracks: dict[int, tuple[int, Row]] = {}
    names: dict[int, str] = {}
    opened: dict[int, tuple[int, str]] = {}
    for packet in _packets(path):
        names |= {entry.iid: entry.name for entry in packet.interned_data.event_names}
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            depth = tracks[track.parent_uuid][1].depth + 1 if track.HasField("parent_uuid") else 0
            tracks[track.uuid] = track.parent_uuid, Row(track.name, depth)
        elif packet.track_event.type == TrackEvent.TYPE_SLICE_BEGIN:
            opened[packet.track_event.track_uuid] = packet.timestamp, names[packet.track_event.name_iid]
        elif packet.track_event.type == TrackEvent.TYPE_SLICE_END:
            begin, name = opened.pop(packet.track_event.track_uuid)
            if begin < last and packet.timestamp > first:
                tracks[packet.track_event.track_uuid][1].slices.append((begin, packet.timestamp, name))
    return [row for row in _used(tracks, 0) if row.depth]


def _used(tracks: dict[int, tuple[int, Row]], parent: int) -> Iterator[Row]:
    """The tracks below one, depth first, without those that have no slices at all."""
    for number, (above, row) in tracks.items():
        if above == parent:
            below = list(_used(tracks, number))
            if row.slices or below:
                yield row
                yield from below


def _packets(path: Path) -> Iterator[TracePacket]:
    trace = Trace()
    trace.ParseFromString(path.read_bytes())
    if not trace.packet:
        raise DecodeError("it has no packets")
    for outer in trace.packet:
        inner = Trace()
        inner.ParseFromString(zlib.decompress(outer.compressed_packets))
        yield from inner.packet


def draw(shown: Sequence[Row], first: int, last: int, kind: str) -> bytes:
    """The picture, `kind` png or svg. Slices of one name have one colour."""
    names = dict.fromkeys(name for row in shown for _, _, name in sorted(row.slices))
    colours = {name: COLOURS[number % len(COLOURS)] for number, name in enumerate(names)}
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "warploom", "font.family": "DejaVu Sans Mono",
                         "font.size": 7}):
        figure = Figure(figsize=(WIDTH, HEIGHT * (len(shown) + 3)), layout="constrained")
        axes = figure.subplots()
        for place, row in enumerate(shown):
            for begin, end, name in row.slices:
                left, right = max(begin, first), min(end, last)
                axes.broken_barh([(left, right - left)], (place - 0.45, 0.9), facecolors=[colours[name]],
                                 edgecolors="white", linewidth=0.5)
                if len(name) <= LETTERS * (right - left) / (last - first):
                    axes.text((left + right) / 2, place, name, ha="center", va="center", fontsize=6)
        axes.legend([Patch(color=colour) for colour in colours.values()], colours, ncols=12, frameon=False,
                    loc="upper center", bbox_to_anchor=(0.4, -1.7 / len(shown)), handlelength=1, columnspacing=1)
        axes.set(xlim=(first, last), ylim=(len(shown) - 0.5, -0.5), xlabel="cycle")
        axes.set_yticks(range(len(shown)), ["  " * (row.depth - 1) + row.name for row in shown], ha="left")
        axes.tick_params(axis="y", length=0, pad=110)
        axes.grid(axis="x", color=GREY, linewidth=0.5)
        axes.set_axisbelow(True)
        axes.spines[["top", "right", "left"]].set_visible(False)
        data = io.BytesIO()
        figure.savefig(data, format=kind, dpi=100, metadata={"Software": None} if kind == "png" else {"Date": None})
        return data.getvalue()


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw some cycles of a trace."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", type=Path)
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("picture", type=Path)
    options = parser.parse_args(arguments)
    if options.picture.suffix not in (".png", ".svg"):
        parser.error(f"{options.picture}: must end in .png or .svg")
    if wrong := why_not(options.picture):
        parser.error(f"{options.picture}: {os.strerror(wrong)}")
    try:
        shown = rows(options.trace, options.first, options.last)
    except OSError as error:
        parser.error(f"{options.trace}: {error.strerror}")
    except (DecodeError, zlib.error, LookupError) as error:
        parser.error(f"{options.trace}: not a trace of warploom trace: {error}")
    if not shown:
        parser.error(f"{options.trace}: nothing happens in cycles {options.first} to {options.last}")
    write_whole(options.picture, draw(shown, options.first, options.last, options.picture.suffix[1:]))


if __name__ == "__main__":
    main()
