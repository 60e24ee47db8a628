"""Random results of units that the lanes' storage gets, and what its readers must see."""

import random
from collections.abc import Iterator
from typing import Any, NamedTuple

from warploom.rtl.fg_simt.issue_ports import SOURCES
from warploom.tb.bench import Coverage
from warploom.tb.fg_simt.eight_lanes import GROUPS, LANES

EVERY = (1 << LANES) - 1

Row = tuple[int, int]
"""A register or predicate, and a group."""

POINTS = ("from the banks", "from a write port", "lanes from both", "other group", "several writes", "no lane executes")


class Result(NamedTuple):
    """Values of the lanes of a row; those that do not execute mean nothing. A unit may have a result that it does not
    write here: its row means nothing either."""

    row: Row
    execute: int
    values: tuple[int, ...]
    is_written: bool = True


Stage = list[Result]
"""One for each unit."""


def initial(rng: random.Random, units: int, numbers: int, bits: int) -> Iterator[Stage]:
    """Results that write all rows, in all lanes."""
    rows = [(number, group) for number in range(numbers) for group in range(GROUPS)]
    for first in range(0, len(rows), units):
        some = [_result(rng, row, bits)._replace(execute=EVERY) for row in rows[first : first + units]]
        yield [*some, *[some[0]._replace(is_written=False)] * (units - len(some))]


def random_results(rng: random.Random, units: int, numbers: int, bits: int) -> Iterator[Stage]:
    """Results without end, now and then of few registers. No group comes twice in a cycle."""
    while True:
        named = rng.sample(range(numbers), rng.choice((1, 2, numbers)))
        for _ in range(rng.randrange(10, 60)):
            rows = [(rng.choice(named), group) for group in rng.sample(range(GROUPS), units)]
            yield [_result(rng, row, bits)._replace(is_written=rng.random() < 0.8) for row in rows]


def stages(rng: random.Random, units: int, numbers: int, bits: int) -> Iterator[Stage]:
    """What is written in each cycle."""
    yield from initial(rng, units, numbers, bits)
    yield from random_results(rng, units, numbers, bits)


def _result(rng: random.Random, row: Row, bits: int) -> Result:
    execute = rng.choice((0, 0xFF, rng.getrandbits(LANES), rng.getrandbits(LANES)))
    return Result(row, execute, tuple(rng.getrandbits(bits) for _ in range(LANES)))


def read_numbers(rng: random.Random, numbers: int, stage: Stage) -> list[int]:
    """Registers for a reader, mostly such as results have."""
    named = [result.row[0] for result in stage]
    return [rng.choice((rng.choice(named), rng.choice(named), rng.randrange(numbers))) for _ in range(SOURCES)]


class Storage:
    """The rows as they are stored, and what a reader sees."""

    def __init__(self, coverage: Coverage) -> None:
        self._coverage = coverage
        self._stored: dict[Row, list[int]] = {}
        self._writes: Stage = []

    def begin(self, writes: Stage) -> None:
        """A cycle, with what is written in it."""
        self._writes = [write for write in writes if write.is_written]
        self._coverage.hit("several writes", len(self._writes) > 1)
        self._coverage.hit("no lane executes", any(not write.execute for write in self._writes))

    def read(self, row: Row) -> list[int] | None:
        """The newest values of a row, None if it was never written as a whole."""
        if row not in self._stored:
            return None
        values, is_new = list(self._stored[row]), [False] * LANES
        for write in self._writes:
            for lane in range(LANES):
                if write.row == row and write.execute >> lane & 1:
                    values[lane], is_new[lane] = write.values[lane], True
        self._count(row, {*is_new})
        return values

    def end(self) -> None:
        """The end of the cycle: results are written."""
        for write in self._writes:
            old = self._stored.get(write.row)
            if old is not None or write.execute == EVERY:
                self._stored[write.row] = [new if write.execute >> lane & 1 else kept for lane, (new, kept) in
                                           enumerate(zip(write.values, old or write.values, strict=True))]

    def _count(self, row: Row, is_new: set[bool]) -> None:
        hit = self._coverage.hit
        hit("from the banks", False in is_new)
        hit("from a write port", True in is_new)
        hit("lanes from both", len(is_new) > 1)
        hit("other group", any(write.row[0] == row[0] and write.row != row for write in self._writes))


def fields(results: Stage, name: str, values: str, *, joined: bool) -> dict[str, Any]:
    """Results as fields of a port: `name` is what is written, `values` the field of its values."""
    return {str(unit): {
        "group": result.row[1], name: {"valid": int(result.is_written), "number": result.row[0]},
        "execute": result.execute,
        values: sum(bit << lane for lane, bit in enumerate(result.values)) if joined else
        {str(lane): word for lane, word in enumerate(result.values)}}
        for unit, result in enumerate(results)}
