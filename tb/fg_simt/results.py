"""Random results of units, as the lanes' storage gets them, and what their readers must see."""

import random
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

from warploom.arch.fg_simt.sizes import GROUPS, LANES
from warploom.tb.bench import Coverage

EVERY = (1 << LANES) - 1

Row = tuple[int, int]
"""A register or predicate, and a group."""

POINTS = ("from the banks", "from a write port", "from a result", "lanes from both stages", "lanes from all three",
          "written without a result", "other group", "no lane executes")


class Result(NamedTuple):
    """Values of the lanes of a row; those that do not execute mean nothing."""

    row: Row
    execute: int
    values: tuple[int, ...]


Stage = list[Result | None]
"""One for each unit."""


def initial(rng: random.Random, units: int, numbers: int, bits: int) -> Iterator[Stage]:
    """Results that write all rows, in all lanes."""
    rows = [(number, group) for number in range(numbers) for group in range(GROUPS)]
    for first in range(0, len(rows), units):
        some = [_result(rng, row, bits)._replace(execute=EVERY) for row in rows[first : first + units]]
        yield [*some, *[None] * (units - len(some))]


def random_results(rng: random.Random, units: int, numbers: int, bits: int) -> Iterator[Stage]:
    """Results without end, now and then of few registers. No row comes twice in a cycle."""
    while True:
        named = rng.sample(range(numbers), rng.choice((1, 2, numbers)))
        for _ in range(rng.randrange(10, 60)):
            rows = {(rng.choice(named), rng.randrange(GROUPS)): None for _ in range(units)}
            some: Stage = [_result(rng, row, bits) if rng.random() < 0.8 else None for row in rows]
            yield [*some, *[None] * (units - len(some))]


def stages(rng: random.Random, units: int, numbers: int, bits: int) -> Iterator[tuple[Stage, Stage]]:
    """Results of each cycle, and what is written: those of the cycle before, or of a division."""
    before: Stage = [None] * units
    for results in chain(initial(rng, units, numbers, bits), random_results(rng, units, numbers, bits)):
        writes = list(before)
        row = rng.randrange(numbers), rng.randrange(GROUPS)
        if writes[1] is None and row not in [write.row for write in writes if write]:
            writes[1] = _result(rng, row, bits)
        yield results, writes
        before = results


def _result(rng: random.Random, row: Row, bits: int) -> Result:
    execute = rng.choice((0, 0xFF, rng.getrandbits(LANES), rng.getrandbits(LANES)))
    return Result(row, execute, tuple(rng.getrandbits(bits) for _ in range(LANES)))


def read_rows(rng: random.Random, readers: int, numbers: int, stage: Sequence[Result | None]) -> list[Row]:
    """Rows for the readers, mostly such as results have, or other groups of their registers."""
    rows = [result.row for result in stage if result] or [(0, 0)]
    return [(rng.choice((rng.choice(rows)[0], rng.choice(rows)[0], rng.randrange(numbers))),
             rng.choice((rng.choice(rows)[1], rng.randrange(GROUPS)))) for _ in range(readers)]


class Storage:
    """The rows as they are stored, and what a reader sees."""

    def __init__(self, coverage: Coverage) -> None:
        self._coverage = coverage
        self._stored: dict[Row, list[int]] = {}
        self._results: Stage = []
        self._writes: Stage = []

    def begin(self, results: Stage, writes: Stage) -> None:
        """A cycle, with its results."""
        hit = self._coverage.hit
        hit("written without a result", any(write and write not in self._results for write in writes))
        self._results, self._writes = results, writes
        hit("no lane executes", any(result and not result.execute for result in results))

    def read(self, row: Row) -> list[int] | None:
        """The newest values of a row, None if it was never written as a whole."""
        if row not in self._stored:
            return None
        values, sources = list(self._stored[row]), [0] * LANES
        for number, stage in ((1, self._writes), (2, self._results)):
            for result in stage:
                for lane in range(LANES):
                    if result is not None and result.row == row and result.execute >> lane & 1:
                        values[lane], sources[lane] = result.values[lane], number
        self._count(row, {*sources})
        return values

    def end(self) -> None:
        """The end of the cycle: results are written."""
        for write in filter(None, self._writes):
            old = self._stored.get(write.row)
            if old is not None or write.execute == EVERY:
                self._stored[write.row] = [new if write.execute >> lane & 1 else kept for lane, (new, kept) in
                                           enumerate(zip(write.values, old or write.values, strict=True))]

    def _count(self, row: Row, sources: set[int]) -> None:
        hit = self._coverage.hit
        for number, point in enumerate(POINTS[:3]):
            hit(point, number in sources)
        hit("lanes from both stages", sources >= {1, 2})
        hit("lanes from all three", len(sources) == len(POINTS[:3]))
        hit("other group", any(result and result.row[0] == row[0] and result.row != row for result in self._results))


def fields(results: Stage, name: str, values: str, *, joined: bool) -> dict[str, Any]:
    """Results as fields of a port: `name` is what is written, `values` the field of its values."""
    return {str(unit): {
        "group": result.row[1], name: {"valid": 1, "number": result.row[0]}, "execute": result.execute,
        values: sum(bit << lane for lane, bit in enumerate(result.values)) if joined else
        {str(lane): word for lane, word in enumerate(result.values)}}
        for unit, result in enumerate(results) if result is not None}
