"""Perfetto traces for tests: parsed by the library, as tracks with slices and counters."""

import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TracePacket, TrackEvent

KINDS = ("event_names", "event_categories", "debug_annotation_names", "debug_annotation_string_values")


@dataclass
class Slice:
    """A slice of a track."""

    track: str
    begin: int
    end: int
    name: str
    category: str
    arguments: dict[str, str | int]
    flow: int | None

    @property
    def cycles(self) -> int:
        return self.end - self.begin


@dataclass
class Read:
    """A trace. Tracks are named by their path from the root, without it; those of one path are one."""

    root: str = ""
    slices: list[Slice] = field(default_factory=list)
    counters: dict[str, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))

    def on(self, start: str) -> list[Slice]:
        """The slices of all tracks whose path starts so."""
        return [each for each in self.slices if each.track.startswith(start)]

    def cycles(self, start: str) -> Counter[str]:
        """The cycles of slices by name."""
        found: Counter[str] = Counter()
        for each in self.on(start):
            found[each.name] += each.cycles
        return found


def packets(path: Path) -> Iterator[TracePacket]:
    """All packets, decompressed."""
    trace = Trace()
    trace.ParseFromString(path.read_bytes())
    for outer in trace.packet:
        inner = Trace()
        inner.ParseFromString(zlib.decompress(outer.compressed_packets))
        yield from inner.packet


def read(path: Path) -> Read:
    """Parse a file. Checks that slices of a track do not overlap, and come in their order, and that all end."""
    found, texts, tracks = Read(), defaultdict(dict), {}
    opened: dict[int, Slice] = {}
    last: dict[int, int] = defaultdict(int)
    for number, packet in enumerate(packets(path)):
        assert packet.sequence_flags == (1 if number == 0 else 2)
        for kind in KINDS:
            for entry in getattr(packet.interned_data, kind):
                assert entry.iid not in texts[kind]
                texts[kind][entry.iid] = entry.str.decode() if kind.endswith("values") else entry.name
        if packet.HasField("track_descriptor"):
            descriptor = packet.track_descriptor
            parent = tracks.get(descriptor.parent_uuid)
            if parent is None:
                found.root = descriptor.name
            tracks[descriptor.uuid] = "" if parent is None else f"{parent}/{descriptor.name}"
        elif packet.HasField("track_event"):
            event = packet.track_event
            track, cycle = event.track_uuid, packet.timestamp
            if event.type == TrackEvent.TYPE_COUNTER:
                found.counters[tracks[track]].append((cycle, event.counter_value))
                continue
            assert cycle >= last[track]
            last[track] = cycle
            if event.type == TrackEvent.TYPE_SLICE_BEGIN:
                assert track not in opened
                opened[track] = _begun(tracks[track], cycle, event, texts)
            else:
                ended = opened.pop(track)
                ended.end = cycle
                found.slices.append(ended)
    assert not opened
    return found


def _begun(track: str, cycle: int, event: TrackEvent, texts: dict[str, dict[int, str]]) -> Slice:
    arguments = {
        texts["debug_annotation_names"][each.name_iid]:
            each.uint_value if each.HasField("uint_value")
            else texts["debug_annotation_string_values"][each.string_value_iid] for each in event.debug_annotations}
    category, = event.category_iids
    return Slice(track, cycle, 0, texts["event_names"][event.name_iid], texts["event_categories"][category], arguments,
                 event.flow_ids[0] if event.flow_ids else None)
