"""Stimuli and checks of a memory with one read-write port, for the benches of sub-bank and bank."""

from collections.abc import Iterator
from typing import Protocol

from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, source


class MemoryModel(Protocol):
    """A golden memory."""

    def step(self, enable: bool, write: bool, row: int, data: int, lanes: int, /) -> int | None:
        """One cycle; returns the word that the previous cycle read."""


POINTS = ("partial write", "write of nothing", "read after write", "write after read", "disabled write")


def stimuli(ports: Ports, mask: str, cycles: int) -> Iterator[Stimulus]:
    """Fill every row, then random accesses to a few rows. `mask` is the port of write enables."""
    rng = source()
    rows, width, parts = ports.config.rows, ports.codecs["data"].width, ports.codecs[mask].width
    full = (1 << parts) - 1
    for row in range(rows):
        yield {"enable": 1, "write": 1, "row": row, "data": rng.getrandbits(width), mask: full}
    few = rng.sample(range(rows), 6)
    for _ in range(cycles):
        enables = rng.choice((0, full, rng.getrandbits(parts), rng.getrandbits(parts)))
        yield {"enable": rng.random() < 0.8, "write": rng.random() < 0.5, "row": rng.choice(few),
               "data": rng.getrandbits(width), mask: enables}


class MemoryCheck:
    """Read data equals the model's, and a part has the same value in two reads unless it was written between them."""

    def __init__(self, ports: Ports, mask: str, model: MemoryModel, checker: Checker, coverage: Coverage) -> None:
        self._mask, self._model, self._checker, self._coverage = mask, model, checker, coverage
        self._parts = ports.codecs[mask].width
        self._part_bits = ports.codecs["data"].width // self._parts
        self._last_read: dict[int, int] = {}
        self._written: dict[int, int] = {}
        self._previous: tuple[bool, bool, int] = (False, False, 0)

    def __call__(self, seen: Observation) -> None:
        """Check one cycle."""
        enable, write, row, enables = bool(seen["enable"]), bool(seen["write"]), seen["row"], seen[self._mask]
        expected = self._model.step(enable, write, row, seen["data"], enables)
        if expected is not None:
            self._checker.equal("read_data", seen["read_data"], expected)
            self._untouched(self._previous[2], seen["read_data"])
        if enable and write:
            self._written[row] = self._written.get(row, 0) | enables
        was_enabled, was_write, last = self._previous
        points = {
            "partial write": enable and write and 0 < enables < (1 << self._parts) - 1,
            "write of nothing": enable and write and not enables,
            "read after write": was_enabled and was_write and enable and not write and row == last,
            "write after read": was_enabled and not was_write and enable and write and row == last,
            "disabled write": write and not enable,
        }
        for point in self._coverage.hits:
            self._coverage.hit(point, points[point])
        self._previous = enable, write, row

    def _untouched(self, row: int, word: int) -> None:
        written = self._written.get(row, 0)
        kept = sum(((1 << self._part_bits) - 1) << k * self._part_bits for k in range(self._parts)
                   if not written >> k & 1)
        if row in self._last_read:
            self._checker.equal("parts that were not written", word & kept, self._last_read[row] & kept)
        self._last_read[row], self._written[row] = word, 0
