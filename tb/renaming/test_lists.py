"""Bench of the lists of free rows of a bank: hardware against `warploom.golden_model.renaming.lists`."""

from collections.abc import Iterator, Mapping
from typing import Any

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.golden_model.renaming.lists import Kind, Lists
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source

CYCLES = 6000
PHASE = 100
"""Cycles in which more rows are taken than released, or the other way round."""

SETTINGS = ("renaming=mem_ra", "tfet_rows=5", "rows=16")
POINTS = ("the last CMOS row", "the last TFET row", "no row is shown", "a never used row", "a released row",
          "a swept row waits", "a row enters and one is taken", "all rows are free again")


def powered_rows(config: SmConfig) -> int:
    """The CMOS rows that a run uses."""
    return config.cmos_rows - 2


class Stimuli:
    """Rows are taken, and some of those that are in use released or swept: in some phases all on one side."""

    def __init__(self, ports: Ports) -> None:
        self._ports, self._rng, self._config = ports, source(), ports.config
        self._in_use: list[int] = []

    def __iter__(self) -> Iterator[Stimulus]:
        sides = 2 if self._config.has_sides else 1
        for cycle in range(CYCLES):
            filling, entries = cycle // PHASE % 2, range(sides)
            if sides == 2 and not filling:
                entries = (range(2), range(1), range(1, 2))[cycle // (2 * PHASE) % 3]
            shown, rows = self._ports.peek("shown"), self._ports.codecs["row"].array(self._ports.peek("row"))
            kinds = [kind for kind in Kind if shown >> kind & 1 and self._rng.random() < (0.2, 0.6)[filling]]
            released = [self._leave((0.6, 0.15)[filling]) if side in entries else None for side in range(sides)]
            swept = self._leave((0.4, 0.1)[filling]) if 0 in entries and not self._waits() else None
            taken = self._rng.choice(kinds) if kinds else None
            if taken is not None:
                self._in_use.append(rows[taken])
            yield {"powered": powered_rows(self._config), "take": 0 if taken is None else 1 << taken,
                   "released": {str(side): _entry(row) for side, row in enumerate(released)}, "swept": _entry(swept)}

    def _leave(self, chance: float) -> int | None:
        """A row that is no longer in use, if any."""
        if not self._in_use or self._rng.random() > chance:
            return None
        return self._in_use.pop(self._rng.randrange(len(self._in_use)))

    def _waits(self) -> bool:
        """Whether a swept row has not entered: `waits` is a function of inputs too, so that of the cycle before."""
        return bool(self._ports.peek("left"))


def _entry(row: int | None) -> Mapping[str, Any]:
    return {"valid": row is not None, "row": row or 0}


class ListsCheck:
    """Shown rows and counts equal the model's; a swept row enters when no other one does."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._codecs, self._checker, self._coverage = ports.codecs, checker, coverage
        self._powered, self._tfet_rows = powered_rows(ports.config), ports.config.tfet_rows
        self._model = Lists(ports.config, self._powered)
        self._waiting: int | None = None
        self._seen: set[int] = set()

    def __call__(self, seen: Observation) -> None:
        model, equal = self._model, self._checker.equal
        shown, rows = seen["shown"], self._codecs["row"].array(seen["row"])
        equal("given", self._codecs["given"].array(seen["given"]), list(model.observe()[:2]))
        for kind in Kind:
            row = model.shows(0, kind)
            equal(f"{kind.name} shown", shown >> kind & 1, row is not None)
            if row is not None:
                equal(f"{kind.name} row", rows[kind], row)
        entering = self._entering(seen)
        self._cover(seen, rows, entering)
        for kind in Kind:
            if seen["take"] >> kind & 1:
                model.take(0, kind)
        for row, side in entering:
            model.release(0, row, side)
        model.clock()

    def _entering(self, seen: Observation) -> list[tuple[int, int]]:
        """The rows that enter in this cycle, each with its side."""
        entering = self._rows(seen, "released")
        swept = self._codecs["swept"].unpack(seen["swept"])
        if swept["valid"]:
            self._waiting = swept["row"]
        self._checker.equal("waits", seen["waits"], self._waiting is not None)
        self._checker.equal("left", seen["left"], bool(entering) and self._waiting is not None)
        if self._waiting is not None and not entering:
            entering, self._waiting = [(self._waiting, 0)], None
        self._checker.equal("entering", self._rows(seen, "entering"), entering)
        return entering

    def _rows(self, seen: Observation, port: str) -> list[tuple[int, int]]:
        """The rows that a port shows, each with its side."""
        sides = self._codecs[port].unpack(seen[port]).values()
        return [(each["row"], side) for side, each in enumerate(sides) if each["valid"]]

    def _cover(self, seen: Observation, rows: list[int], entering: list[tuple[int, int]]) -> None:
        hit, shown, rows_of = self._coverage.hit, seen["shown"], (self._powered, self._tfet_rows)
        hit("no row is shown", not shown)
        hit("a swept row waits", seen["left"])
        hit("a row enters and one is taken", entering and seen["take"])
        for kind, name in ((Kind.CMOS, "the last CMOS row"), (Kind.TFET, "the last TFET row")):
            if seen["take"] >> kind & 1:
                hit(name, self._model.observe()[kind] + 1 == rows_of[kind])
                hit("a released row" if rows[kind] in self._seen else "a never used row")
                self._seen.add(rows[kind])
        hit("all rows are free again", self._seen and not sum(self._model.observe()[:2]))


@cocotb.test()
async def random_rows(dut: cocotb.handle.SimHandleBase) -> None:
    """Rows are taken and released at random."""
    ports = Ports(dut)
    checker, coverage = Checker(minimum=CYCLES), Coverage(*POINTS)
    await exercise(ports, Stimuli(ports), ListsCheck(ports, checker, coverage), checker)
    coverage.finish()


@pytest.mark.rtl
@pytest.mark.parametrize("settings", [(), ("coalescing=on",), ("tfet_rows=1",)], ids=" ".join)
def test_lists(settings: tuple[str, ...], seed: int) -> None:
    config = SmConfig.preset("small").with_settings(["sp.result_queue=2", *SETTINGS, *settings])
    runner.run(runner.build(config, "BankLists"), "warploom.tb.renaming.test_lists", seed)
