"""Bench of the dual-access bank: hardware against its model, and the examples of [RADAIDEH], Fig. 3.6(a) to (c)."""

import random
from collections.abc import Iterator
from functools import reduce
from operator import or_
from typing import Any

import cocotb
import pytest

from warploom.arch.config import SUB_BANKS, SmConfig
from warploom.arch.interfaces import SIDES, WARP_BITS
from warploom.golden_model.byte_order import sub_bank_mask
from warploom.golden_model.dual_bank import DualBank
from warploom.rtl.subbank import POISON
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source
from warploom.tb.codec import join

CYCLES = 3000
SLICE_BITS = WARP_BITS // SUB_BANKS
BYTES = SLICE_BITS // 8
POISONED = POISON * ((1 << WARP_BITS) - 1) // 0xFF
POINTS = ("two reads", "two writes", "read and write", "two rows", "read back", "partial write", "disabled access",
          "unused sub-bank")

Access = dict[str, Any]


def access(write: bool, row: int, width: int, side: str) -> Access:
    """One side's port."""
    return {"enable": 1, "write": write, "row": row, "mask": sub_bank_mask(width, side == "left")}


def slices(mask: int, bits: int = SLICE_BITS) -> int:
    """All `bits` bits of each sub-bank of a mask."""
    return join([(1 << bits) - 1 if mask >> k & 1 else 0 for k in range(SUB_BANKS)], bits)


def stimuli(ports: Ports) -> Iterator[Stimulus]:
    """Fill every row, then one or two accesses to a few rows, with masks that do not overlap."""
    rng = source()
    for row in range(ports.config.rows):
        yield {"right": access(True, row, 4, "right"), "data": rng.getrandbits(WARP_BITS),
               "byte_enable": slices(15, BYTES)}
    few = rng.sample(range(ports.config.rows), 4)
    for _ in range(CYCLES):
        accesses = _accesses(rng, few)
        enabled = rng.choice((slices(15, BYTES), rng.getrandbits(SUB_BANKS * BYTES))) & slices(written(accesses), BYTES)
        yield {**accesses, "data": rng.getrandbits(WARP_BITS), "byte_enable": enabled}


def written(accesses: dict[str, Access]) -> int:
    """The sub-banks that some access writes."""
    return reduce(or_, (one["mask"] for one in accesses.values() if one["enable"] and one["write"]), 0)


def _accesses(rng: random.Random, rows: list[int]) -> dict[str, Access]:
    width = rng.randint(1, 4)
    sides: dict[str, Access] = {}
    for side, widest in zip(rng.sample(SIDES, 2), (width, 4 - width), strict=True):
        drawn = access(rng.random() < 0.5, rng.choice(rows), rng.randint(1, widest or 4), side)
        sides[side] = drawn if widest and rng.random() < 0.9 else {**drawn, "enable": 0, "mask": 0}
    return sides


class BankCheck:
    """Each sub-bank shows the data that it read in the previous cycle, as in the model, and poison if it did not read:
    it has one port."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._codecs, self._checker, self._coverage = ports.codecs, checker, coverage
        self._model = DualBank(ports.config.rows)
        self._expected = POISONED
        self._written: set[int] = set()

    def __call__(self, seen: Observation) -> None:
        """Check one cycle."""
        self._checker.equal("read_data", seen["read_data"], self._expected)
        ports = [self._codecs[side].unpack(seen[side]) for side in SIDES]
        used = [port for port in ports if port["enable"]]
        masks = [port["mask"] for port in used]
        self._checker.holds("masks do not meet", len(masks) < 2 or not masks[0] & masks[1])
        self._expected = POISONED
        for port in used:  # their order does not matter, since the sub-banks differ
            if port["write"]:
                self._write(port, seen["data"], seen["byte_enable"])
            else:
                read = slices(port["mask"])
                self._expected = self._expected & ~read | self._model.read(port["row"]) & read
        self._cover(used, ports)

    def _write(self, port: Access, word: int, byte_enable: int) -> None:
        enabled = byte_enable & slices(port["mask"], BYTES)
        byte_mask = sum(0xFF << 8 * i for i in range(SUB_BANKS * BYTES) if enabled >> i & 1)
        self._model.write(port["row"], word, byte_mask)
        self._coverage.hit("partial write", 0 < enabled < slices(port["mask"], BYTES))

    def _cover(self, used: list[Access], ports: list[Access]) -> None:
        cover, kinds = self._coverage.hit, [port["write"] for port in used]
        cover("two reads", kinds == [0, 0])
        cover("two writes", kinds == [1, 1])
        cover("read and write", len(set(kinds)) == 2)
        cover("two rows", len({port["row"] for port in used}) == 2)
        cover("read back", any(not port["write"] and port["row"] in self._written for port in used))
        cover("disabled access", any(port["row"] and not port["enable"] for port in ports))
        cover("unused sub-bank", used and sum(port["mask"] for port in used) != 15)
        self._written = {port["row"] for port in used if port["write"]}


@cocotb.test()
async def random_accesses(dut: cocotb.handle.SimHandleBase) -> None:
    """Random pairs of accesses."""
    ports, checker, coverage = Ports(dut), Checker(minimum=CYCLES), Coverage(*POINTS)
    await exercise(ports, stimuli(ports), BankCheck(ports, checker, coverage), checker)
    coverage.finish()


@cocotb.test()
async def fig_3_6(dut: cocotb.handle.SimHandleBase) -> None:
    """(a) Two narrow writes to two rows, (b) a read of the first with a write, (c) reads of two rows."""
    ports, checker = Ports(dut), Checker(minimum=2)
    rng = source()
    first, second = rng.getrandbits(WARP_BITS), rng.getrandbits(WARP_BITS)
    low, high, every, upper = slices(0b0011), slices(0b1100), slices(15, BYTES), slices(0b1100, BYTES)
    right, left = "right", "left"
    cycles: list[Stimulus] = [
        {right: access(True, 3, 2, right), left: access(True, 5, 2, left), "data": first, "byte_enable": every},
        {right: access(False, 3, 2, right), left: access(True, 7, 2, left), "data": second, "byte_enable": upper},
        {right: access(False, 3, 2, right), left: access(False, 5, 2, left)},
        {left: access(False, 7, 2, left)},
        {},
    ]
    expected = iter([(0, 0), (0, 0), (low, first), (low | high, first), (high, second)])

    def check(seen: Observation) -> None:
        bits, word = next(expected)
        checker.equal("read_data", seen["read_data"] & bits, word & bits)

    await exercise(ports, cycles, check, checker, partial=True)


def _build() -> runner.Build:
    return runner.build(SmConfig.preset("small").with_settings(["coalescing=on"]), "DualBank")


@pytest.mark.rtl
def test_bank(seed: int) -> None:
    runner.run(_build(), "warploom.tb.coalescing.test_bank", seed, testcase="random_accesses")


@pytest.mark.rtl
def test_000_fig_3_6(seed: int) -> None:
    runner.run(_build(), "warploom.tb.coalescing.test_bank", seed, testcase="fig_3_6")
