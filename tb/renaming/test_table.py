"""Bench of the rename table: hardware against `warploom.golden_model.renaming.table`."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.golden_model.renaming.table import Table
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source

CYCLES = 8000
SOURCES, DESTINATION = range(3), 3
REGISTERS = (*SOURCES, DESTINATION)

SETTINGS = ("sp.result_queue=2", "renaming=cmos_first", "rows=16")
POINTS = ("issues as another one leaves", "waits", "all registers in one bank", "sources are unmapped",
          "a mapped destination", "a new destination", "a step finds a register", "a step finds nothing",
          "a step while an instruction waits", "a step after a step", "what was swept is looked up")

Place = tuple[int, int]
"""Bank and virtual row of a register."""


class Held(NamedTuple):
    """An instruction in the stage: its registers, the mask of those that it reads or, the last one, writes, and the
    rows that the table had as it issued."""

    places: Sequence[Place]
    names: int
    rows: Sequence[int | None]

    @property
    def named(self) -> set[Place]:
        """The registers that it reads or writes."""
        return {place for register, place in enumerate(self.places) if self.names >> register & 1}


class TableBench:
    """Instructions look up their registers, wait, and leave; sweeps step in cycles without an instruction. What changes
    in a cycle is not looked up in it, since the front end observes hazards."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._codecs, self._checker, self._coverage, self._rng = ports.codecs, checker, coverage, source()
        self._banks, self._rows = range(ports.config.banks), ports.config.rows
        self._places: list[Place] = list(product(self._banks, range(self._rows)))
        self._model = Table(ports.config)
        self._held: Held | None = None
        self._issuing: Held | None = None
        self._leaves = self._waits = False
        self._unmapped: set[Place] = set()  # as the instruction leaves
        self._written: dict[Place, int] = {}
        self._step: tuple[int, int] = 0, 0  # banks and virtual row
        self._stepped: set[Place] = set()  # in the cycle before
        self._swept: set[Place] = set()

    # ------------------------------------------------------------------ inputs

    def stimuli(self) -> Iterator[Stimulus]:
        """Phases in which instructions wait more or less often, and name many registers or few. In most of them nothing
        is swept, so that many registers are mapped."""
        active, waiting, stepping, few = busy(self._rng, 0.7), 0.0, 0.0, self._places
        for cycle in range(CYCLES):
            if cycle % 50 == 0:
                waiting, stepping = self._rng.choice((0, 0.3, 0.8)), self._rng.choice((0, 0, 0.5))
                few = self._rng.sample(self._places, self._rng.choice((2, 6, *[len(self._places)] * 2)))
            self._leave(self._held, self._rng.random() < waiting)
            changing = self._unmapped | self._written.keys() | self._stepped
            free = self._held is None or self._leaves
            self._issuing = self._instruction(few, changing) if free and next(active) else None
            self._step = 0, self._rng.randrange(self._rows)
            if self._issuing is None and self._rng.random() < stepping:
                self._begin_step(changing)
            yield self._inputs()

    def _leave(self, held: Held | None, waits: bool) -> None:
        """The instruction in the stage leaves: some of its sources are unmapped, and its destination gets a row."""
        self._unmapped, self._written = set(), {}
        self._leaves = held is not None and not waits
        if held is None or waits:
            return
        mapped = {held.places[slot] for slot in SOURCES if held.names >> slot & 1 and held.rows[slot] is not None}
        if held.names >> DESTINATION & 1:
            row = held.rows[DESTINATION]
            keeps = row is not None and self._rng.random() < 0.5
            self._written = {held.places[DESTINATION]: row if keeps and row is not None else self._any_row()}
        self._unmapped = {place for place in sorted(mapped - self._written.keys()) if self._rng.random() < 0.4}

    def _any_row(self) -> int:
        return self._rng.randrange(self._rows)

    def _instruction(self, few: Sequence[Place], changing: set[Place]) -> Held | None:
        """An instruction that names some of a few registers, none of which changes."""
        places = self._rng.choices(few, k=len(REGISTERS))
        held = Held(places, self._rng.getrandbits(len(REGISTERS)), [self._model.row(*place) for place in places])
        return None if held.named & changing else held

    def _begin_step(self, changing: set[Place]) -> None:
        """A step in one bank or in all, for registers that no instruction in the stage names."""
        everywhere = (1 << len(self._banks)) - 1
        banks, row = self._rng.choice((everywhere, 1 << self._rng.choice(self._banks))), self._any_row()
        named = self._held.named if self._held is not None else set()
        if not self._read_by(banks, row) & (changing | named):
            self._step = banks, row

    def _read_by(self, banks: int, row: int) -> set[Place]:
        """The registers that a step reads."""
        return {(bank, row) for bank in self._banks if banks >> bank & 1}

    def _inputs(self) -> Stimulus:
        issuing, held = self._issuing, self._held
        places = [] if held is None else held.places
        return {
            "read": 0 if issuing is None else issuing.names, "address": self._addresses(issuing),
            "held": self._addresses(held), "write": len(self._written),
            "unmap": sum(1 << slot for slot in SOURCES if places and places[slot] in self._unmapped
                         and held is not None and held.names >> slot & 1),
            "new_row": next(iter(self._written.values()), self._any_row()),
            "step": self._step[0], "step_row": self._step[1],
        }

    def _addresses(self, held: Held | None) -> Mapping[str, Any]:
        """Of an instruction's registers; without one any."""
        places = self._rng.choices(self._places, k=len(REGISTERS)) if held is None else held.places
        return {str(register): {"bank": bank, "row": row} for register, (bank, row) in enumerate(places)}

    # ------------------------------------------------------------------ checks

    def check(self, seen: Observation) -> None:
        """What an instruction has looked up stays as it was, and a step finds what is mapped; then the cycle ends."""
        if self._held is not None:
            self._check_held(self._held, seen)
        found = self._check_found(seen)
        self._cover(found)
        for place in self._unmapped | found:
            self._model.unmap(*place)
        for (bank, virtual), row in self._written.items():
            self._model.assign(bank, virtual, row)
        self._swept = (self._swept | found) - self._written.keys()
        self._waits = self._held is not None and not self._leaves
        if not self._waits:
            self._held = self._issuing
        self._stepped = self._read_by(*self._step)

    def _check_held(self, held: Held, seen: Observation) -> None:
        rows = self._codecs["row"].array(seen["row"])
        for register, row in enumerate(held.rows):
            if held.names >> register & 1:
                self._checker.equal(f"register {register} mapped", seen["mapped"] >> register & 1, row is not None)
                if row is not None:
                    self._checker.equal(f"register {register} row", rows[register], row)

    def _check_found(self, seen: Observation) -> set[Place]:
        """The registers that the step of the cycle before has found."""
        mapped = {place for place in self._stepped if self._model.row(*place) is not None}
        self._checker.equal("found", seen["found"], sum(1 << bank for bank, _ in mapped))
        rows = self._codecs["found_row"].array(seen["found_row"])
        for bank, virtual in mapped:
            self._checker.equal(f"bank {bank} found row", rows[bank], self._model.row(bank, virtual))
        return mapped

    def _cover(self, found: set[Place]) -> None:
        hit, held, issuing = self._coverage.hit, self._held, self._issuing
        hit("issues as another one leaves", self._leaves and issuing)
        hit("waits", self._waits)
        hit("sources are unmapped", len(self._unmapped) > 1)
        hit("a step finds a register", found)
        hit("a step finds nothing", self._stepped and not found)
        hit("a step while an instruction waits", self._step[0] and held is not None and not self._leaves)
        hit("a step after a step", self._step[0] and self._stepped)
        if issuing is not None:
            hit("all registers in one bank", len({bank for bank, _ in issuing.places}) == 1 < len(issuing.named))
            hit("what was swept is looked up", issuing.named & self._swept)
            if issuing.names >> DESTINATION & 1:
                hit("a new destination" if issuing.rows[DESTINATION] is None else "a mapped destination")


@cocotb.test()
async def random_instructions(dut: cocotb.handle.SimHandleBase) -> None:
    """Random instructions and steps."""
    ports = Ports(dut)
    checker, coverage = Checker(minimum=CYCLES), Coverage(*POINTS)
    bench = TableBench(ports, checker, coverage)
    await exercise(ports, bench.stimuli(), bench.check, checker)
    coverage.finish()


@pytest.mark.rtl
@pytest.mark.parametrize("banks", [2, 4])
def test_table(banks: int, seed: int) -> None:
    config = SmConfig.preset("small").with_settings([*SETTINGS, f"banks={banks}"])
    runner.run(runner.build(config, "RowTable"), "warploom.tb.renaming.test_table", seed)
