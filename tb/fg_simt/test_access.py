"""Bench of SGU and SSU together: hardware against `warploom.golden_model.fg_simt.lanes`."""

from collections.abc import Iterator
from typing import Any

import cocotb
import numpy as np
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.fg_simt.micro import Kind, Unit
from warploom.arch.fg_simt.sizes import SLWQ_ENTRIES
from warploom.arch.isa import MEMORY_OPS
from warploom.golden_model.fg_simt.lanes import Lanes, mask_of
from warploom.golden_model.fg_simt.micro import Micro
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source
from warploom.tb.codec import join
from warploom.tb.fg_simt.accesses import Memory
from warploom.tb.fg_simt.eight_lanes import LANES
from warploom.tb.fg_simt.lane_traffic import warp
from warploom.tb.fg_simt.micros import pool, random_micro
from warploom.tb.fg_simt.row_check import RowCheck

BENCH = "warploom.tb.fg_simt.test_access"
CYCLES = 4000

POINTS = (*(op.name for op in MEMORY_OPS), "vector load", "vector loads in turn",
          "vector load with a fault", "lane with a fault", "no lane executes", "discarded row", "discarded last row")

Row = dict[str, Any]


class Traffic:
    """Accesses, one group in each cycle; after a discard the rest of one is left out. `rows` are those that must arrive
    in the next cycle."""

    def __init__(self, coverage: Coverage) -> None:
        self._rng, self._coverage, self._lanes = source(), coverage, Lanes()
        self._block = warp(self._rng).block
        self.row: Row | None = None

    def stimuli(self) -> Iterator[Stimulus]:
        """The inputs of each cycle."""
        rng = self._rng
        while True:
            if rng.random() < 0.1:
                self._block = warp(rng).block
            self._lanes.registers[:] = np.array([rng.getrandbits(32) for _ in range(32 * 32)]).reshape(32, 32)
            self._lanes.predicates[:] = np.array([rng.random() < 0.7 for _ in range(7 * 32)]).reshape(7, 32)
            yield from self._groups(self._access(), rng.randrange(SLWQ_ENTRIES))
            for _ in range(rng.choice((0, 0, 0, 1, 3))):
                self.row = None
                yield {"block": self._block._asdict(), "low": rng.getrandbits(256)}

    def _access(self) -> Micro:
        mood = self._rng.choice(("memory", "lines"))
        return next(micro for micro in iter(lambda: random_micro(self._rng, mood, pool(self._rng)), None)
                    if micro.unit is Unit.SGU)

    def _groups(self, micro: Micro, entry: int) -> Iterator[Stimulus]:
        lanes, hit = self._lanes, self._coverage.hit
        stored = np.broadcast_to(lanes.read(micro.operands[2]), 32).copy()
        memory = Memory(micro, lanes.addresses(micro, self._block), stored)
        low, high = (np.broadcast_to(lanes.read(operand), 32) for operand in micro.operands[:2])
        is_vector, executing = micro.kind is Kind.VECTOR, mask_of(memory.lanes.executing)
        hit(micro.op.name)
        hit("vector load", is_vector)
        hit("vector load with a fault", is_vector and memory.lanes.cause.any())
        hit("vector loads in turn", is_vector and self.row is not None and self.row["row"]["instruction"]["vector"])
        for group, row in enumerate(memory.rows(entry)):
            of, discard = slice(LANES * group, LANES * (group + 1)), self._rng.random() < 0.03
            executes = self._rng.getrandbits(LANES) if is_vector else executing >> LANES * group & 0xFF
            hit("no lane executes", not executes)
            self.row = None if discard else row
            yield {"block": self._block._asdict(), "discard": int(discard), "executing": executes,
                   "sgu__valid": 1, "sgu__group": group, "sgu__operation": _fields(micro, entry),
                   "low": join(low[of].tolist(), 32), "high": join(high[of].tolist(), 32),
                   "data": join(stored[of].tolist(), 32)}
            if discard:
                hit("discarded row", row["row"]["instruction"]["loads"])
                hit("discarded last row", row["row"]["instruction"]["last"])
                return


def _fields(micro: Micro, entry: int) -> dict[str, Any]:
    """What the issue unit sends of an access."""
    return {"operation": {"pc": micro.pc, "mask": micro.mask, "payload": {
                "op": micro.op, "modifiers": micro.modifiers, "offset": micro.offset}},
            "load": int(micro.loads), "vector": int(micro.kind is Kind.VECTOR), "place": entry}


@cocotb.test()
async def random_accesses(dut: cocotb.handle.SimHandleBase) -> None:
    """Each group that reads is a row in the next cycle."""
    ports, checker, coverage = Ports(dut), Checker(minimum=2 * CYCLES), Coverage(*POINTS)
    traffic, check_row, expected = Traffic(coverage), RowCheck(ports, checker), list[Row | None]([None])
    given = traffic.stimuli()

    def check(seen: Observation) -> None:
        coverage.hit("lane with a fault", check_row(seen, expected.pop()))
        expected.append(traffic.row)

    await exercise(ports, (next(given) for _ in range(CYCLES)), check, checker)
    coverage.finish()


@pytest.mark.rtl
def test_access(seed: int) -> None:
    runner.run(runner.build(SmConfig.preset("small"), "AccessUnit"), BENCH, seed)
