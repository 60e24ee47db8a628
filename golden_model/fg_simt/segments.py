"""`Segments`: the contents of a memory image."""

from bisect import bisect_right

import numpy as np

from warploom.arch.fg_simt.image import Image, Segment
from warploom.arch.fg_simt.sizes import LINE


class Segments:
    """Memory that can be written. Nothing is outside the segments of its image."""

    def __init__(self, image: Image) -> None:
        segments = sorted(image)
        self._bases = [segment.base for segment in segments]
        self._arrays = [np.frombuffer(segment.contents, np.uint8).copy() for segment in segments]

    def image(self) -> Image:
        """The segments as they are now."""
        return tuple(Segment(base, array.tobytes()) for base, array in zip(self._bases, self._arrays, strict=True))

    def find(self, address: int, size: int) -> np.ndarray | None:
        """The bytes at an address (a view), None if they are in no segment."""
        number = bisect_right(self._bases, address) - 1
        if number < 0 or address + size > self._bases[number] + len(self._arrays[number]):
            return None
        offset = address - self._bases[number]
        return self._arrays[number][offset : offset + size]

    def load(self, address: int) -> bytes | None:
        """A line; see `warploom.golden_model.l1.memory.Lines`."""
        place = self.find(address, LINE)
        return None if place is None else place.tobytes()

    def store(self, address: int, line: bytes) -> bool:
        """Write a line; see `warploom.golden_model.l1.memory.Lines`."""
        place = self.find(address, LINE)
        if place is None:
            return False
        place[:] = np.frombuffer(line, np.uint8)
        return True
