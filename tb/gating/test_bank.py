"""Bench of both banks with columns: hardware against their models, and poison in all columns that were not read."""

import random
from collections.abc import Iterator
from typing import Any

import cocotb
import pytest

from warploom.arch.config import COLUMNS, SUB_BANKS, SmConfig
from warploom.arch.interfaces import SIDES, WARP_BITS
from warploom.golden_model.byte_order import sub_bank_mask
from warploom.golden_model.dual_bank import DualBank
from warploom.rtl.subbank import POISON
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source
from warploom.tb.codec import join

CYCLES = 2000
ALL_COLUMNS = (1 << COLUMNS) - 1
BYTES = WARP_BITS // 8
POISONED = POISON * ((1 << WARP_BITS) - 1) // 0xFF
POINTS = ("some columns read", "none read", "some bytes written", "nothing written", "idle")

Access = dict[str, Any]


def ones(mask: int, parts: int, width: int = WARP_BITS) -> int:
    """The mask of `width` bits of a mask of sub-banks, columns or bytes."""
    bits = width // parts
    return join([(1 << bits) - 1 if mask >> i & 1 else 0 for i in range(parts)], bits)


def stimuli(ports: Ports) -> Iterator[Stimulus]:
    """Fill every row, then random accesses to a few rows."""
    rng, dual = source(), "right" in ports.inputs
    for row in range(ports.config.rows):
        access = {"enable": 1, "write": 1, "row": row}
        yield {**({"right": access | {"mask": 15}} if dual else access), "data": rng.getrandbits(WARP_BITS),
               "byte_enable": (1 << BYTES) - 1}
    few = rng.sample(range(ports.config.rows), 4)
    for _ in range(CYCLES):
        accesses = _sides(rng, few) if dual else _access(rng, few)
        enabled = rng.choice((0, rng.getrandbits(BYTES), rng.getrandbits(BYTES) & rng.getrandbits(BYTES)))
        columns = rng.choice((ALL_COLUMNS, 0, rng.getrandbits(COLUMNS)))
        if dual:  # only in sub-banks that are written, or read
            enabled &= ones(_used(accesses, writes=True), SUB_BANKS, BYTES)
            columns &= ones(_used(accesses, writes=False), SUB_BANKS, COLUMNS)
        yield {**accesses, "data": rng.getrandbits(WARP_BITS), "byte_enable": enabled, "columns": columns}


def _used(accesses: Access, *, writes: bool) -> int:
    """The sub-banks of those accesses that write, or read."""
    return sum(one["mask"] for one in accesses.values() if one["enable"] and one["write"] == writes)


def _access(rng: random.Random, rows: list[int]) -> Access:
    return {"enable": rng.random() < 0.8, "write": rng.random() < 0.5, "row": rng.choice(rows)}


def _sides(rng: random.Random, rows: list[int]) -> Access:
    width = rng.randint(0, 4)
    masks = (sub_bank_mask(width, False) if width else 0, sub_bank_mask(4 - width, True) if width < 4 else 0)
    accesses = [_access(rng, rows) for _ in SIDES]
    return {side: access | {"mask": mask if access["enable"] else 0}
            for side, access, mask in zip(SIDES, accesses, masks, strict=True)}


class ColumnCheck:
    """Each column shows the data that it read in the previous cycle, as in the model, and poison if it did not read."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._codecs, self._checker, self._coverage = ports.codecs, checker, coverage
        self._model = DualBank(ports.config.rows)
        self._expected = POISONED

    def __call__(self, seen: Observation) -> None:
        """Check one cycle."""
        self._checker.equal("read_data", seen["read_data"], self._expected)
        expected, accesses = POISONED, self._accesses(seen)
        for access in accesses:  # two accesses never share a sub-bank, so their order does not matter
            within = ones(access["mask"], SUB_BANKS)
            read = 0 if access["write"] else ones(seen["columns"], COLUMNS) & within
            expected = expected & ~read | self._model.read(access["row"]) & read
            if access["write"]:
                written = ones(seen["byte_enable"], BYTES) & within
                self._model.write(access["row"], seen["data"], written)
                self._coverage.hit("some bytes written" if written else "nothing written")
            else:
                self._coverage.hit("some columns read" if read else "none read")
        self._coverage.hit("idle", not accesses)
        self._expected = expected

    def _accesses(self, seen: Observation) -> list[Access]:
        """The accesses of the cycle; that of a bank with one port uses all sub-banks."""
        if "right" not in seen:
            return [{"write": seen["write"], "row": seen["row"], "mask": 15}] if seen["enable"] else []
        sides: list[Any] = [self._codecs[side].unpack(seen[side]) for side in SIDES]
        return [access for access in sides if access["enable"]]


@cocotb.test()
async def random_accesses(dut: cocotb.handle.SimHandleBase) -> None:
    """Random accesses, columns and bytes."""
    ports, checker, coverage = Ports(dut), Checker(minimum=CYCLES), Coverage(*POINTS)
    await exercise(ports, stimuli(ports), ColumnCheck(ports, checker, coverage), checker)
    coverage.finish()


@pytest.mark.rtl
@pytest.mark.parametrize("unit", ["GatedBank", "GatedDualBank"])
def test_bank(unit: str, seed: int) -> None:
    runner.run(runner.build(SmConfig.preset("small"), unit), "warploom.tb.gating.test_bank", seed)
