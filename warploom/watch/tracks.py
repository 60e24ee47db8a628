"""Tracks of a trace: with one label at a time, or with slices that overlap."""

from collections.abc import Sequence
from typing import Any

from warploom.watch.perfetto import Writer


class Labels:
    """A track that has at most one label in each cycle. A slice is written when the label ends."""

    def __init__(self, writer: Writer, track: int, category: str) -> None:
        self._writer, self._track, self._category = writer, track, category
        self._now: tuple[str, Any] | None = None
        self._since = 0
        self._annotations: Sequence[Any] = ()

    def show(self, cycle: int, now: tuple[str, Any] | None, annotations: Sequence[Any] = ()) -> None:
        """From this cycle on the track has a label for some reason, or none: another reason begins another slice."""
        if now == self._now:
            return
        if self._now is not None:
            self._writer.slice(self._track, (self._since, cycle), self._now[0], self._category, self._annotations)
        self._now, self._since, self._annotations = now, cycle, annotations


class Lanes:
    """Tracks of one name, as many as slices overlap, and at least one, so that tracks stand in the order in which they
    are made. Slices must come in the order of their ends."""

    def __init__(self, writer: Writer, name: str, parent: int) -> None:
        self._writer, self._name, self._parent = writer, name, parent
        self._tracks = [writer.track(name, parent)]
        self._ends = [0]

    def add(self, cycles: tuple[int, int], name: str, category: str, annotations: Sequence[Any] = (),
            flow: int | None = None) -> None:
        """See `Writer.slice`."""
        begin, end = cycles
        lane = next((lane for lane, last in enumerate(self._ends) if last <= begin), len(self._ends))
        if lane == len(self._ends):
            self._tracks.append(self._writer.track(self._name, self._parent, row=lane))
            self._ends.append(0)
        self._ends[lane] = end
        self._writer.slice(self._tracks[lane], cycles, name, category, annotations, flow)
