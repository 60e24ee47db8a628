"""Bench of the coalescing decision: hardware against `warploom.golden_model.fg_simt.coalescing`."""

import random
from collections.abc import Iterator
from itertools import product

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.fg_simt.sizes import LINE
from warploom.golden_model.fg_simt.coalescing import are_consecutive, coalesces, in_one_line
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source
from warploom.tb.codec import join
from warploom.tb.fg_simt.eight_lanes import LANES

BENCH = "warploom.tb.fg_simt.test_coalesce"
CYCLES = 4000
LINE_BITS = 27
"""Of an address, those that say in which line it is."""

POINTS = ("one address", "consecutive", "consecutive with holes", "one line in disorder", "equal in several lines",
          "consecutive over the end of a line", "consecutive but for a line", "alone")


def addresses(rng: random.Random, size: int) -> list[int]:
    """Addresses of the lanes, in forms that are rare at random, some of them with one that does not fit."""
    line = LINE * rng.getrandbits(LINE_BITS)
    offset = size * rng.randrange(LINE // size)
    start = line + rng.choice((offset, 0, LINE - LANES * size))
    made = {
        "equal": [line + offset] * LANES,
        "consecutive": [start + lane * size for lane in range(LANES)],
        "rotated": [line + (offset + lane * size) % LINE for lane in range(LANES)],
        "in a line": [line + size * rng.randrange(LINE // size) for _ in range(LANES)],
        "anywhere": [size * rng.randrange((1 << 32) // size) for _ in range(LANES)],
    }[rng.choice(("equal", "consecutive", "rotated", "in a line", "anywhere"))]
    if rng.random() < 0.3:
        made[rng.randrange(LANES)] ^= rng.choice((size, LINE << rng.randrange(LINE_BITS)))
    return [address % (1 << 32) for address in made]


def stimuli() -> Iterator[Stimulus]:
    """Rows in which the line of one lane differs in a bit, for every lane and bit; then random ones of all sizes, in
    which often few lanes execute."""
    rng = source()
    for lane, bit in product(range(LANES), range(LINE_BITS)):
        line, own = LINE * rng.getrandbits(LINE_BITS), LINE << bit
        for first in (line & ~own, line | own):
            yield {"execute": 0xFF, "size": 0, "address": join(
                [first ^ own * (other == lane) for other in range(LANES)], 32)}
    for _ in range(CYCLES):
        size = rng.randrange(3)
        execute = rng.choice((0xFF, 0xFF & rng.getrandbits(8) & rng.getrandbits(8), rng.getrandbits(8)))
        yield {"execute": execute or 1 << rng.randrange(LANES), "size": size,
               "address": join(addresses(rng, 1 << size), 32)}


class CoalescerCheck:
    """Outputs equal the model's."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._codecs, self._checker, self._coverage = ports.codecs, checker, coverage

    def __call__(self, seen: Observation) -> None:
        """Check one row."""
        words, size = self._codecs["address"].array(seen["address"]), 1 << seen["size"]
        row = {lane: words[lane] for lane in range(LANES) if seen["execute"] >> lane & 1}
        wide, consecutive = coalesces(row, size), are_consecutive(row, size)
        self._checker.equal("wide", seen["wide"], int(wide))
        if in_one_line(row):
            self._checker.equal("consecutive", seen["consecutive"], int(consecutive))
        if wide:
            self._checker.equal("line", seen["line"], min(row.values()) // LINE * LINE)
        self._count(row, size, wide=wide, consecutive=consecutive)

    def _count(self, row: dict[int, int], size: int, *, wide: bool, consecutive: bool) -> None:
        hit, several, lines = self._coverage.hit, len(row) > 1, len({address // LINE for address in row.values()})
        offsets = {address % LINE for address in row.values()}
        hit("alone", not several)
        hit("one address", several and wide and not consecutive)
        hit("consecutive", several and wide and consecutive)
        hit("consecutive with holes", wide and consecutive and 1 < len(row) <= max(row) - min(row))
        hit("one line in disorder", lines == 1 and not wide)
        hit("equal in several lines", lines > 1 and len(offsets) == 1)
        hit("consecutive over the end of a line", consecutive and not wide)
        hit("consecutive but for a line", lines == 1 and not wide and len(
            {(address - lane * size) % LINE for lane, address in row.items()}) == 1)


@cocotb.test()
async def random_rows(dut: cocotb.handle.SimHandleBase) -> None:
    """Random and nearly coalesced rows."""
    ports, checker, coverage = Ports(dut), Checker(minimum=CYCLES), Coverage(*POINTS)
    await exercise(ports, stimuli(), CoalescerCheck(ports, checker, coverage), checker)
    coverage.finish()


@pytest.mark.rtl
def test_coalescer(seed: int) -> None:
    runner.run(runner.build(SmConfig.preset("small"), "Coalescer"), BENCH, seed)
