"""Bench of the gated operand paths: hardware against `warploom.golden_model.register_file.zero_mask`."""

import random
from collections.abc import Iterator

import cocotb
import pytest

from warploom.arch.config import GROUP, LANES, SmConfig
from warploom.arch.interfaces import WARP_BITS, ZERO_BITS, zero_fields
from warploom.golden_model.byte_order import from_sub_banks
from warploom.golden_model.register_file.reorder import reorder
from warploom.golden_model.register_file.zero_mask import Interleaved, LaneOrder, Zero
from warploom.golden_model.words import ALL_LANES
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source
from warploom.tb.narrow_values import decoded, encoding, encoding_at

CYCLES = 1000


def zero(rng: random.Random, config: SmConfig) -> Zero:
    """A random zero mask: all bits, no bits, random bits, or for each group all or none."""
    groups = sum(0b1111 << GROUP * group for group in range(LANES // GROUP) if rng.getrandbits(1))
    mask = rng.choice((0, ALL_LANES, rng.getrandbits(ZERO_BITS), groups, rng.getrandbits(ZERO_BITS) | groups))
    return Zero(mask, *(rng.choice((0, rng.getrandbits(bits))) for name, bits in zero_fields(config)[1:]))


def zero_word(config: SmConfig, known: Zero) -> int:
    """A zero mask as the fields of a port."""
    return known.mask | (known.reorder << ZERO_BITS if len(zero_fields(config)) > 1 else 0)


def zero_of(word: int) -> Zero:
    """The zero mask in the fields of a port."""
    return Zero(word & ALL_LANES, word >> ZERO_BITS)


def stimuli(config: SmConfig) -> Iterator[Stimulus]:
    """Random columns, including marked ones, under all zero masks and encodings."""
    rng = source()
    for _ in range(CYCLES):
        stimulus = {"word": rng.getrandbits(WARP_BITS), "zero": zero_word(config, zero(rng, config))}
        yield stimulus | ({"encoding": decoded(encoding(rng))} if config.has_sides else {})


class OperandCheck:
    """Operand and known lanes equal the model's; a lane that is known to be zero is zero."""

    def __init__(self, config: SmConfig, checker: Checker, coverage: Coverage) -> None:
        self._has_sides = config.has_sides
        self._interleaved, self._lane_order = Interleaved(config.gating), LaneOrder(config.gating)
        self._checker, self._coverage = checker, coverage

    def __call__(self, seen: Observation) -> None:
        """Check one operand."""
        operand, known = self._expected(seen)
        self._checker.equal("operand", seen["operand"], operand)
        self._checker.equal("known", seen["known"], known)
        lanes = [seen["operand"] >> 32 * lane & 0xFFFFFFFF for lane in range(LANES)]
        self._checker.holds("a lane known to be zero is zero",
                            not any(word for lane, word in enumerate(lanes) if seen["known"] >> lane & 1))
        self._coverage.hit("some lanes known", 0 < seen["known"] < ALL_LANES)

    def _expected(self, seen: Observation) -> tuple[int, int]:
        known = zero_of(seen["zero"])
        if self._has_sides:
            stored = encoding_at(seen["encoding"])
            word = from_sub_banks(seen["word"], stored.left)
            self._coverage.hit("negative register on the left", known.mask and stored.sign and stored.left)
            rules = self._interleaved
            return rules.restore(word, known, stored), rules.known_zero(known, stored)
        if known.reorder:
            self._coverage.hit("reordered groups", known.mask)
        word = reorder(seen["word"], known.reorder)
        return self._lane_order.restore(word, known), self._lane_order.known_zero(known)


@cocotb.test()
async def random_operands(dut: cocotb.handle.SimHandleBase) -> None:
    """Operands with all zero masks."""
    ports, checker = Ports(dut), Checker(minimum=3 * CYCLES)
    points = ["some lanes known"]
    if ports.config.has_sides:
        points.append("negative register on the left")
    elif ports.config.zeros_by_granule:
        points.append("reordered groups")
    coverage = Coverage(*points)
    await exercise(ports, stimuli(ports.config), OperandCheck(ports.config, checker, coverage), checker)
    coverage.finish()


@pytest.mark.sample(2)
@pytest.mark.rtl
@pytest.mark.parametrize("gating", ["cross_lane", "in_lane"])
@pytest.mark.parametrize(("unit", "switch"), [("GatedOperandPath", "off"), ("GatedCoalescingOperandPath", "on")])
def test_operand(unit: str, switch: str, gating: str, seed: int) -> None:
    config = SmConfig.preset("small").with_settings([f"gating={gating}", f"coalescing={switch}"])
    runner.run(runner.build(config, unit), "warploom.tb.gating.test_operand", seed)
