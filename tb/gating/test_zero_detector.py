"""Bench of the zero detector: hardware against the words themselves, and [RADAIDEH], Fig. 4.4."""

from collections.abc import Iterator

import cocotb
import pytest

from warploom.arch.config import GROUP, LANES, SmConfig
from warploom.arch.interfaces import WARP_BITS
from warploom.golden_model.words import ALL_LANES, join, split
from warploom.tb import runner, sparse
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source
from warploom.tb.gating.figures import FIG_4_4

CYCLES = 1000
GROUPS = LANES // GROUP


def stimuli() -> Iterator[Stimulus]:
    """Each bit of a word on its own, in lanes that execute; then random words in random lanes."""
    yield from ({"data": 1 << bit, "lanes": ALL_LANES} for bit in range(WARP_BITS))
    rng = source()
    for _ in range(CYCLES):
        lanes = sparse.lanes(rng)
        yield {"data": sparse.word(rng, lanes), "lanes": lanes}


class ZeroCheck:
    """A lane is zero if its value is zero or it does not execute; a granule, if that byte of all lanes of its group
    is."""

    def __init__(self, checker: Checker, coverage: Coverage) -> None:
        self._checker, self._coverage = checker, coverage

    def __call__(self, seen: Observation) -> None:
        """Check one word."""
        values = [value if seen["lanes"] >> i & 1 else 0 for i, value in enumerate(split(seen["data"]))]
        for lane, value in enumerate(values):
            self._checker.equal(f"lane {lane}", seen["zero_lanes"] >> lane & 1, int(value == 0))
        for bit in range(LANES):
            group, k = divmod(bit, GROUP)
            used = [value >> 8 * k & 0xFF for value in values[GROUP * group : GROUP * (group + 1)]]
            self._checker.equal(f"granule {bit}", seen["zero_granules"] >> bit & 1, int(not any(used)))
            no_lane = not seen["zero_lanes"] >> GROUP * group & 15
            self._coverage.hit("a granule but no lane of its group", not any(used) and no_lane)
        self._coverage.hit("a lane does not count", seen["lanes"] != ALL_LANES)


@cocotb.test()
async def random_words(dut: cocotb.handle.SimHandleBase) -> None:
    """Single bits and sparse words."""
    ports, checker = Ports(dut), Checker(minimum=2 * LANES * CYCLES)
    coverage = Coverage("a granule but no lane of its group", "a lane does not count")
    await exercise(ports, stimuli(), ZeroCheck(checker, coverage), checker)
    coverage.finish()


@cocotb.test()
async def fig_4_4(dut: cocotb.handle.SimHandleBase) -> None:
    """The values of the figure in every group: both masks."""
    ports, checker = Ports(dut), Checker(minimum=2 * len(FIG_4_4))
    examples = iter(FIG_4_4)

    def check(seen: Observation) -> None:
        example = next(examples)
        checker.equal("in lane", seen["zero_lanes"], example.in_lane * (ALL_LANES // 15))
        checker.equal("cross lane", seen["zero_granules"], example.cross_lane * (ALL_LANES // 15))

    stimuli = [{"data": join(example.lanes * GROUPS), "lanes": ALL_LANES} for example in FIG_4_4]
    await exercise(ports, stimuli, check, checker, partial=True)


def _build() -> runner.Build:
    return runner.build(SmConfig.preset("small"), "ZeroDetector")


@pytest.mark.rtl
def test_zero_detector(seed: int) -> None:
    runner.run(_build(), "warploom.tb.gating.test_zero_detector", seed, testcase="random_words")


@pytest.mark.rtl
def test_000_fig_4_4(seed: int) -> None:
    runner.run(_build(), "warploom.tb.gating.test_zero_detector", seed, testcase="fig_4_4")
