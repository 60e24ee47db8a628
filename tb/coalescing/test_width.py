"""Bench of the width detector: hardware against `warploom.golden_model.register_file.width`."""

from collections.abc import Iterator

import cocotb
import pytest

from warploom.arch.config import LANES, SmConfig
from warploom.arch.interfaces import WARP_BITS
from warploom.golden_model.register_file.width import detect
from warploom.golden_model.words import broadcast, split, spread
from warploom.rtl.coalescing.width import WidthDetector
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source
from warploom.tb.narrow_values import lane_mask, narrow_word

CYCLES = 2000


def stimuli() -> Iterator[Stimulus]:
    """Each bit of a word on its own, against both signs; then random words in random lanes."""
    for bit in range(WARP_BITS):
        for background in (0, broadcast(0xFFFFFFFF)):
            yield {"data": background ^ 1 << bit, "lanes": (1 << LANES) - 1}
    rng = source()
    for _ in range(CYCLES):
        lanes = lane_mask(rng)
        yield {"data": narrow_word(rng, lanes), "lanes": lanes}


class WidthCheck:
    """Size and sign equal the model's. They restore every executing lane, and no smaller size with this sign does."""

    def __init__(self, checker: Checker, coverage: Coverage) -> None:
        self._checker, self._coverage = checker, coverage

    def __call__(self, seen: Observation) -> None:
        """Check one word."""
        width, sign = detect(seen["data"], seen["lanes"])
        self._checker.equal("size", seen["size"], width - 1)
        self._checker.equal("sign", seen["sign"], sign)
        size = seen["size"]
        self._checker.holds("wide enough", restores(seen, size))
        self._checker.holds("no wider than needed", size == 0 or not restores(seen, size - 1))
        signs = {value >> 31 for lane, value in enumerate(split(seen["data"])) if seen["lanes"] >> lane & 1}
        self._coverage.hit("both signs" if len(signs) == 2 else f"width {width}, sign {sign}")
        others = seen["data"] | spread(seen["lanes"])
        self._coverage.hit("other lanes do not count", detect(others, (1 << LANES) - 1) != (width, sign))


def restores(seen: Observation, size: int) -> bool:
    """Whether the lowest `size` + 1 bytes and the sign restore every executing lane."""
    stored = (1 << 8 * (size + 1)) - 1
    fill = 0xFFFFFFFF & ~stored if seen["sign"] else 0
    return all(not seen["lanes"] >> lane & 1 or value & stored | fill == value
               for lane, value in enumerate(split(seen["data"])))


@cocotb.test()
async def random_words(dut: cocotb.handle.SimHandleBase) -> None:
    """Words of all widths and signs."""
    ports, checker = Ports(dut), Checker(minimum=4 * CYCLES)
    coverage = Coverage("both signs", "other lanes do not count",
                        *(f"width {width}, sign {sign}" for width in (1, 2, 3, 4) for sign in (0, 1)))
    await exercise(ports, stimuli(), WidthCheck(checker, coverage), checker)
    coverage.finish()


@pytest.mark.rtl
def test_width(seed: int) -> None:
    made = runner.build(SmConfig.preset("small"), "WidthDetector", component=WidthDetector())
    runner.run(made, "warploom.tb.coalescing.test_width", seed)
