"""Bench of the shifters: hardware against `warploom.golden_model.corf.shifter`."""

from collections.abc import Callable, Iterator

import cocotb
import pytest

from warploom.arch.config import SUB_BANKS, SmConfig
from warploom.arch.interfaces import WARP_BITS
from warploom.golden_model.byte_order import SLICE_BITS
from warploom.golden_model.corf.shifter import shift_down, shift_up
from warploom.rtl.corf.shifter import Shifter
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source

CYCLES = 300
SLICE = (1 << SLICE_BITS) - 1


def stimuli() -> Iterator[Stimulus]:
    """Random words, all distances."""
    rng = source()
    for _ in range(CYCLES):
        yield {"word": rng.getrandbits(WARP_BITS), "positions": rng.randrange(SUB_BANKS)}


async def shift(dut: cocotb.handle.SimHandleBase, model: Callable[[int, int], int]) -> None:
    """Every slice into which another is moved equals the model's, at all distances."""
    checker, coverage = Checker(minimum=2 * CYCLES), Coverage(*map(str, range(SUB_BANKS)))

    def check(seen: Observation) -> None:
        positions = seen["positions"]
        expected, moved = model(seen["word"], positions), model((1 << WARP_BITS) - 1, positions)
        for k in range(SUB_BANKS):
            if moved >> SLICE_BITS * k & 1:
                checker.equal(f"slice {k}", *(word >> SLICE_BITS * k & SLICE for word in (seen["shifted"], expected)))
        coverage.hit(str(positions))

    await exercise(Ports(dut), stimuli(), check, checker)
    coverage.finish()


@cocotb.test()
async def up(dut: cocotb.handle.SimHandleBase) -> None:
    """To the left side."""
    await shift(dut, shift_up)


@cocotb.test()
async def down(dut: cocotb.handle.SimHandleBase) -> None:
    """To the right side."""
    await shift(dut, shift_down)


@pytest.mark.rtl
@pytest.mark.parametrize("direction", ["up", "down"])
def test_shifter(direction: str, seed: int) -> None:
    made = runner.build(SmConfig.preset("small"), "Shifter", component=Shifter(up=direction == "up"))
    runner.run(made, "warploom.tb.corf.test_shifter", seed, testcase=direction)
