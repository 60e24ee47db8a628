"""Two reads that share a bank or a collector, with writes: all their outcomes, at every priority diagonal.

Random requests would almost never find an error in one pair of cells of one wavefront.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from random import Random

from warploom.arch.config import SUB_BANKS
from warploom.arch.interfaces import SIDES
from warploom.arch.isa import Pipe
from warploom.golden_model.coalescing.arbiter import Read, Write
from warploom.tb.bench import Coverage

Cell = tuple[int, int, int]
"""Bank, side and collector."""

Requests = tuple[list[Write | None], list[Read]]


class Pairs:
    """Requests for every pair of cells, and their coverage points. The *earlier* one of a pair has priority in the
    wavefront of a diagonal."""

    def __init__(self, banks: int, collectors: int, writers: Sequence[str]) -> None:
        self._size, self._writers = max(banks, collectors), writers
        self._cells = list(product(range(banks), range(len(SIDES)), range(collectors)))
        self._pairs = [(one, other) for one, other in combinations(self._cells, 2)
                       if one[0] == other[0] or one[2] == other[2]]

    def points(self) -> Iterator[str]:
        """The points of `cover`."""
        for diagonal in range(self._size):
            for earlier, later in (self._in_order(diagonal, *pair) for pair in self._pairs):
                yield _lost(diagonal, later, _name(earlier))
                yield _spared(diagonal, later, earlier)
                if earlier[1] != later[1]:
                    yield _beside(diagonal, later, earlier)
            for cell in self._cells:
                yield from (_lost(diagonal, cell, writer) for writer in self._writers)
                yield from (_unhindered(diagonal, cell, self._writers[writer]) for writer in (Pipe.SFU, Pipe.MEM))

    def requests(self, rng: Random) -> Iterator[Requests]:
        """Requests of one cycle each, repeated for every diagonal."""
        for found in self._cases(rng):
            yield from [found] * self._size

    def cover(self, coverage: Coverage, diagonal: int, reads: Sequence[Read], granted: Sequence[Read]) -> None:
        """Hit the points of a cycle with two reads."""
        masks, passed = {read[:3]: read.mask for read in reads}, {read[:3] for read in granted}
        earlier, later = self._in_order(diagonal, *masks)
        meet = masks[earlier] & masks[later]
        coverage.hit(_lost(diagonal, later, _name(earlier)), meet and passed == {earlier})
        coverage.hit(_spared(diagonal, later, earlier), meet and passed == {later})
        if earlier[1] != later[1]:
            coverage.hit(_beside(diagonal, later, earlier), not meet and len(passed) == 2)

    def cover_writes(self, coverage: Coverage, diagonal: int, writes: Sequence[tuple[Write, bool] | None], read: Read,
                     granted: bool) -> None:
        """Hit the points of a cycle with one read; for each writer, its request and whether it is granted."""
        for writer, found in zip(self._writers, writes, strict=True):
            if found:
                (bank, side, width), written = found
                if bank == read.bank and Read(bank, side, read.collector, width).mask & read.mask:
                    point = (_lost if written else _unhindered)(diagonal, read[:3], writer)
                    coverage.hit(point, granted is not written)

    def _in_order(self, diagonal: int, one: Cell, other: Cell) -> list[Cell]:
        def turn(cell: Cell) -> tuple[int, int]:
            bank, side, collector = cell
            return (bank + collector - diagonal) % self._size, side

        return sorted((one, other), key=turn)

    def _cases(self, rng: Random) -> Iterator[Requests]:
        for one, other in self._pairs:
            yield self._by(None), _reads(one, other, _widths(rng, one, other, meet=True))
            yield self._with_a_write(rng, one, other)
            yield self._with_a_write(rng, other, one)
            if one[1] != other[1]:
                yield self._by(None), _reads(one, other, _widths(rng, one, other, meet=False))
        for bank, side, collector in self._cells:
            for writer in range(len(self._writers)):
                yield self._by((bank, side, rng.randint(1, SUB_BANKS)), writer), [
                    Read(bank, side, collector, rng.randint(1, SUB_BANKS))]
            width = rng.randint(1, SUB_BANKS - 1)
            before: Write = (bank, 1 - side, rng.randint(1, SUB_BANKS - width))  # it does not overlap the read
            for writer in (Pipe.SFU, Pipe.MEM):
                writes = self._by((bank, side, SUB_BANKS), writer)
                writes[Pipe.SP] = before
                yield writes, [Read(bank, side, collector, width)]

    def _by(self, write: Write | None, writer: int = Pipe.SP) -> list[Write | None]:
        return [write if number == writer else None for number in range(len(self._writers))]

    def _with_a_write(self, rng: Random, loser: Cell, other: Cell) -> Requests:
        """Two reads that overlap, of which only the first overlaps a write."""
        bank, side, _ = loser
        if bank != other[0]:
            widths, written = _widths(rng, loser, other, meet=True), (side, rng.randint(1, SUB_BANKS))
        else:
            width = rng.randint(1, SUB_BANKS - 1)  # of the other
            if side == other[1]:
                widths, written = (rng.randint(width + 1, SUB_BANKS), width), (1 - side, SUB_BANKS - width)
            else:
                widths, written = (rng.randint(SUB_BANKS + 1 - width, SUB_BANKS), width), (side, SUB_BANKS - width)
        return self._by((bank, *written), rng.randrange(len(self._writers))), _reads(loser, other, widths)


def _name(cell: Cell) -> str:
    bank, side, collector = cell
    return f"{SIDES[side]} of bank {bank} for {collector}"


def _lost(diagonal: int, cell: Cell, winner: str) -> str:
    return f"{diagonal}: {_name(cell)} loses to {winner}"


def _spared(diagonal: int, cell: Cell, other: Cell) -> str:
    return f"{diagonal}: {_name(cell)} is granted as {_name(other)} loses to a write"


def _beside(diagonal: int, cell: Cell, other: Cell) -> str:
    return f"{diagonal}: {_name(cell)} is granted beside {_name(other)}"


def _unhindered(diagonal: int, cell: Cell, writer: str) -> str:
    return f"{diagonal}: {_name(cell)} is granted as {writer} waits"


def _reads(one: Cell, other: Cell, widths: tuple[int, int]) -> list[Read]:
    return [Read(*one, widths[0]), Read(*other, widths[1])]


def _widths(rng: Random, one: Cell, other: Cell, *, meet: bool) -> tuple[int, int]:
    """Widths of two reads, so that they overlap or do not. On one side they always do."""
    if one[1] == other[1]:
        return rng.randint(1, SUB_BANKS), rng.randint(1, SUB_BANKS)
    first = rng.randint(1, SUB_BANKS if meet else SUB_BANKS - 1)
    return first, rng.randint(SUB_BANKS + 1 - first, SUB_BANKS) if meet else rng.randint(1, SUB_BANKS - first)

