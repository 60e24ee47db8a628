"""Bench of the SGU: hardware against `warploom.golden_model.fg_simt.lanes`."""

import random
from collections.abc import Iterator
from itertools import product

import cocotb
import numpy as np
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.fg_simt.image import HIGH_WORDS, LaunchBlock
from warploom.arch.fg_simt.sizes import Cause
from warploom.arch.isa import Instruction, Op
from warploom.arch.modifiers import Access, Space
from warploom.golden_model.fg_simt.lanes import locate
from warploom.rtl.fg_simt.address import NAMES, WINDOWS
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source
from warploom.tb.codec import join
from warploom.tb.fg_simt.eight_lanes import GROUPS, LANES

BENCH = "warploom.tb.fg_simt.test_address"
CYCLES = 4000

FIELDS = {Space.SHARED: ("shared", "shared_bytes"), Space.LOCAL: ("local", "local_bytes"),
          Space.CONST: ("constants", "constant_bytes"), Space.PARAM: ("parameters", "parameter_bytes")}
"""Fields of the launch block with the base and the size of a space."""

BYTES = (Access.U8, Access.U16, Access.B32)
HIGH = (*HIGH_WORDS, *(window >> 32 for window in WINDOWS.values()))
"""High words of the spaces."""

POINTS = (*(space.name for space in Space), "generic in a window", "high word is wrong", "high word does not count",
          "last legal byte", "first byte behind", "window is too small", "write of constants", "misaligned",
          "offset wraps", "bus error before misalignment", "lane does not execute")


def window(rng: random.Random, space: Space) -> dict[str, int]:
    """Any base, and the size of a window; some are empty. Local memory has a power of two of bytes."""
    size = 1 << rng.randrange(2, 20) if space is Space.LOCAL else rng.choice((0, 1, 3, 64, rng.getrandbits(16)))
    return {"base": rng.getrandbits(27) << 5, "size": size}


def stimuli() -> Iterator[Stimulus]:
    """Generic accesses whose high word differs from that of a space in a bit; then all kinds, many of them at the ends
    of their windows."""
    rng = source()
    for word, bit in product(HIGH, range(32)):
        yield {"space": Space.GENERIC, "wide": 1, "windows": {NAMES[space]: {"size": 64} for space in WINDOWS},
               "executing": 0xFF, "high": join([word ^ 1 << bit] * LANES, 32)}
    for _ in range(CYCLES):
        windows = {NAMES[space]: window(rng, space) for space in WINDOWS}
        log_size, offset = rng.randrange(3), rng.choice((0, 4, rng.getrandbits(32), 0xFFFFFFFC))
        end = rng.choice(list(windows.values()))["size"]
        start = rng.choice((end, end, rng.getrandbits(16), rng.getrandbits(32))) - offset
        steps = [rng.choice((-8, -4, -2, -1, 0, 1, 4 * lane)) for lane in range(LANES)]
        yield {"space": rng.choice(list(Space)), "log_size": log_size, "wide": rng.random() < 0.8,
               "writes": rng.random() < 0.3, "offset": offset, "windows": windows, "group": rng.randrange(GROUPS),
               "executing": rng.choice((0xFF, rng.getrandbits(LANES))),
               "low": join([start + step & 0xFFFFFFFF for step in steps], 32),
               "high": join([rng.choice((*HIGH, rng.getrandbits(32))) for _ in range(LANES)], 32)}


class AddressCheck:
    """Causes of all lanes, and addresses of those without a fault, equal the model's, a cycle after the access."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._codecs, self._checker, self._coverage = ports.codecs, checker, coverage
        self._entered: Observation | None = None

    def __call__(self, seen: Observation) -> None:
        """Check one cycle."""
        if self._entered is not None:
            self._compare(self._entered, seen)
        self._entered = seen

    def _compare(self, entered: Observation, seen: Observation) -> None:
        i = Instruction(op=Op.ST if entered["writes"] else Op.LD, imm=entered["offset"], wide=bool(entered["wide"]),
                        space=Space(entered["space"]), access=BYTES[entered["log_size"]])
        fields = dict.fromkeys(LaunchBlock._fields, 0)
        for space, names in FIELDS.items():
            word = self._codecs["windows"].field(entered["windows"], NAMES[space])
            fields |= dict(zip(names, (word & 0xFFFFFFFF, word >> 32), strict=True))
        block, here = LaunchBlock(**fields), slice(LANES * entered["group"], LANES * entered["group"] + LANES)
        executing, low, high = np.zeros(32, bool), np.zeros(32, np.uint32), np.zeros(32, np.uint32)
        executing[here] = entered["executing"] >> np.arange(LANES) & 1
        low[here], high[here] = (self._codecs[name].array(entered[name]) for name in ("low", "high"))
        place = locate(i, executing, low, high, block)
        causes, found = place.cause[here].tolist(), self._codecs["address"].array(seen["address"])
        self._checker.equal(f"cause of {i}", self._codecs["cause"].array(seen["cause"]), causes)
        legal = [lane for lane in range(LANES) if executing[here][lane] and not causes[lane]]
        self._checker.equal(f"address of {i}", [found[lane] for lane in legal],
                            place.address[here][legal].tolist())
        for lane in range(LANES):
            self._count(i, block, int(low[here][lane]), int(high[here][lane]), causes[lane])
        self._coverage.hit("lane does not execute", not executing[here].all())

    def _count(self, i: Instruction, block: LaunchBlock, low: int, high: int, cause: int) -> None:
        hit, space = self._coverage.hit, i.space
        hit(space.name)
        if space is Space.GENERIC and i.wide:
            space = next((other for other, base in WINDOWS.items() if base >> 32 == high), space)
            hit("generic in a window", space is not Space.GENERIC)
        hit("high word is wrong", i.wide and cause == Cause.BUS and high not in HIGH)
        hit("high word does not count", not i.wide and space is Space.GLOBAL and not cause and high not in HIGH)
        hit("misaligned", cause == Cause.MISALIGNED)
        hit("offset wraps", low + i.imm >> 32 and not cause)
        if space not in FIELDS:
            return
        size, last = getattr(block, FIELDS[space][1]), (low + i.imm & 0xFFFFFFFF) + i.access.size
        hit("last legal byte", last == size and not cause)
        hit("first byte behind", last == size + 1 and cause == Cause.BUS)
        hit("window is too small", size < i.access.size and cause == Cause.BUS)
        hit("write of constants", i.op is Op.ST and space in (Space.CONST, Space.PARAM) and last <= size and cause)
        hit("bus error before misalignment", cause == Cause.BUS and last % i.access.size)


@cocotb.test()
async def random_accesses(dut: cocotb.handle.SimHandleBase) -> None:
    """Accesses of all spaces, legal and not."""
    ports, checker, coverage = Ports(dut), Checker(minimum=CYCLES), Coverage(*POINTS)
    await exercise(ports, stimuli(), AddressCheck(ports, checker, coverage), checker)
    coverage.finish()


@pytest.mark.rtl
def test_address(seed: int) -> None:
    runner.run(runner.build(SmConfig.preset("small"), "AddressUnit"), BENCH, seed)
