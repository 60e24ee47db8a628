"""Bench of the reordering switches: hardware against `warploom.golden_model.register_file.reorder`, and [RADAIDEH],
Fig. 4.5."""

from collections.abc import Iterator

import cocotb
import pytest

from warploom.arch.config import GROUP, LANES, SmConfig
from warploom.arch.interfaces import REORDER_BITS, WARP_BITS
from warploom.golden_model.register_file.reorder import reorder
from warploom.golden_model.words import join
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source
from warploom.tb.gating.figures import FIG_4_5, Four

CYCLES = 500
ALL = (1 << REORDER_BITS) - 1


def stimuli() -> Iterator[Stimulus]:
    """Each bit on its own, in order and reordered; then random words."""
    for bit in range(WARP_BITS):
        yield from ({"word": 1 << bit, "groups": groups} for groups in (0, ALL))
    rng = source()
    for _ in range(CYCLES):
        yield {"word": rng.getrandbits(WARP_BITS), "groups": rng.getrandbits(REORDER_BITS)}


class ReorderCheck:
    """The word equals the model's; no bit is lost, and groups in lane order do not change."""

    def __init__(self, checker: Checker, coverage: Coverage) -> None:
        self._checker, self._coverage = checker, coverage

    def __call__(self, seen: Observation) -> None:
        """Check one word."""
        self._checker.equal("reordered", seen["reordered"], reorder(seen["word"], seen["groups"]))
        self._checker.equal("ones", seen["reordered"].bit_count(), seen["word"].bit_count())
        for group in range(REORDER_BITS):
            before, after = (seen[name] >> 128 * group & (1 << 128) - 1 for name in ("word", "reordered"))
            self._checker.holds("in order", bool(seen["groups"] >> group & 1) or before == after)
            self._coverage.hit("moved", before != after)


@cocotb.test()
async def random_words(dut: cocotb.handle.SimHandleBase) -> None:
    """Single bits and random words."""
    ports, checker, coverage = Ports(dut), Checker(minimum=2 * CYCLES), Coverage("moved")
    await exercise(ports, stimuli(), ReorderCheck(checker, coverage), checker)
    coverage.finish()


@cocotb.test()
async def fig_4_5(dut: cocotb.handle.SimHandleBase) -> None:
    """The values of the figure in every group, reordered and restored."""
    ports, checker = Ports(dut), Checker(minimum=2 * len(FIG_4_5))
    pairs = [(_everywhere(a), _everywhere(b)) for a, b in FIG_4_5]
    pairs += [(columns, lanes) for lanes, columns in pairs]
    expected = iter([after for _, after in pairs])
    await exercise(ports, [{"word": before, "groups": ALL} for before, _ in pairs],
                   lambda seen: checker.equal("reordered", seen["reordered"], next(expected)), checker)


def _everywhere(four: Four) -> int:
    return join(four * (LANES // GROUP))


def _build() -> runner.Build:
    return runner.build(SmConfig.preset("small"), "Reorder")


@pytest.mark.rtl
def test_reorder(seed: int) -> None:
    runner.run(_build(), "warploom.tb.gating.test_reorder", seed, testcase="random_words")


@pytest.mark.rtl
def test_000_fig_4_5(seed: int) -> None:
    runner.run(_build(), "warploom.tb.gating.test_reorder", seed, testcase="fig_4_5")
