"""`Writer`: a Perfetto trace, written in parts as it comes. One cycle is one nanosecond."""

import zlib
from collections.abc import Sequence
from typing import BinaryIO

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import (
    DebugAnnotation,
    Trace,
    TracePacket,
    TrackDescriptor,
    TrackEvent,
)

PACKETS = 10_000
"""Packets that are compressed together, which bound the memory."""

_SEQUENCE = 1
"""All packets are of one sequence, so that they share texts."""


class Writer:
    """Writes tracks, their slices and counters to a file. Texts are written once, then named by a number. Cycles count
    from `start` on. `slices` and `flows` count what was written."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._trace = file, Trace()
        self._tracks: dict[tuple[str, int | None, int], int] = {}
        self._numbers: dict[tuple[str, str], int] = {}
        self._new: list[tuple[str, str, int]] = []
        self.start = self.slices = self.flows = 0
        first = self._packet(0, TracePacket.SEQ_INCREMENTAL_STATE_CLEARED)
        first.first_packet_on_sequence = True

    def track(self, name: str, parent: int | None = None, *, row: int = 0, unit: str | None = None) -> int:
        """The number of the track of this name below a parent; a new one comes after those that the parent has, and is
        a counter if it has a `unit`. Rows are tracks of one name and one parent, which are shown as one."""
        known = self._tracks.get((name, parent, row))
        if known is not None:
            return known
        number = self._tracks[name, parent, row] = len(self._tracks) + 1
        descriptor = self._packet(0).track_descriptor
        descriptor.uuid, descriptor.name = number, _printable(name)
        descriptor.child_ordering, descriptor.sibling_order_rank = TrackDescriptor.EXPLICIT, number
        if parent is not None:
            descriptor.parent_uuid = parent
        if unit is not None:
            descriptor.counter.unit_name = unit
        return number

    def flow(self) -> int:
        """A new number for slices that are connected."""
        self.flows += 1
        return self.flows

    def annotation(self, name: str, value: str | int) -> DebugAnnotation:
        """An argument of slices."""
        number = self._number("debug_annotation_names", name)
        if isinstance(value, int):
            return DebugAnnotation(name_iid=number, uint_value=value)
        return DebugAnnotation(name_iid=number, string_value_iid=self._number("debug_annotation_string_values", value))

    def slice(  # noqa: PLR0917 - what a slice has
        self, track: int, cycles: tuple[int, int], name: str, category: str,
        annotations: Sequence[DebugAnnotation] = (), flow: int | None = None,
    ) -> None:
        """A slice from one cycle to another. Slices of a track must come in their order, and not overlap; those of one
        `flow` are connected."""
        name_number, category_number = self._number("event_names", name), self._number("event_categories", category)
        event = self._packet(cycles[0]).track_event
        event.type, event.track_uuid, event.name_iid = TrackEvent.TYPE_SLICE_BEGIN, track, name_number
        event.category_iids.append(category_number)
        event.debug_annotations.extend(annotations)
        if flow is not None:
            event.flow_ids.append(flow)
        event = self._packet(cycles[1]).track_event
        event.type, event.track_uuid = TrackEvent.TYPE_SLICE_END, track
        self.slices += 1

    def count(self, track: int, cycle: int, value: int) -> None:
        """The value of a counter from a cycle on."""
        event = self._packet(cycle).track_event
        event.type, event.track_uuid, event.counter_value = TrackEvent.TYPE_COUNTER, track, value

    def close(self) -> None:
        """Write what is left."""
        packet = TracePacket(compressed_packets=zlib.compress(self._trace.SerializeToString()))
        self._file.write(Trace(packet=[packet]).SerializeToString())
        self._trace = Trace()

    def _packet(self, cycle: int, flags: int = TracePacket.SEQ_NEEDS_INCREMENTAL_STATE) -> TracePacket:
        """A new packet, with the texts that are new."""
        if len(self._trace.packet) >= PACKETS:
            self.close()
        packet = self._trace.packet.add()
        packet.timestamp = self.start + cycle
        packet.trusted_packet_sequence_id, packet.sequence_flags = _SEQUENCE, flags
        for kind, text, number in self._new:
            interned = getattr(packet.interned_data, kind).add(iid=number)
            if kind == "debug_annotation_string_values":
                interned.str = text.encode()
            else:
                interned.name = text
        self._new.clear()
        return packet

    def _number(self, kind: str, text: str) -> int:
        """The number of a text among those of its kind."""
        known = self._numbers.get((kind, text))
        if known is None:
            known = self._numbers[kind, text] = len(self._numbers) + 1
            self._new.append((kind, text, known))
        return known


def _printable(name: str) -> str:
    """A name as UTF-8 can have it: bytes of a path that are none become escapes."""
    return name.encode(errors="backslashreplace").decode()
