"""Bench of constant operands: words with a base and a stride."""

from collections.abc import Iterator

import cocotb
import pytest

from warploom.arch.compact import STRIDE_BITS
from warploom.arch.config import SmConfig
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source
from warploom.tb.fg_simt.eight_lanes import GROUPS, LANES

BENCH = "warploom.tb.fg_simt.test_constants"
CYCLES = 3000

LEAST, MOST = -1 << STRIDE_BITS - 1, (1 << STRIDE_BITS - 1) - 1
POINTS = ("no stride", "falling", "smallest stride", "largest stride", "wraps upward", "wraps downward",
          *(f"group {group}" for group in range(GROUPS)))


def stimuli() -> Iterator[Stimulus]:
    """Bases near the ends of the words, strides near theirs, and any."""
    rng = source()
    for _ in range(CYCLES):
        stride = rng.choice((0, 1, -1, 4, LEAST, MOST, rng.randint(LEAST, MOST)))
        base = rng.choice((0, 1, 0xFFFFFFFF, 0x7FFFFFFF, rng.getrandbits(32), rng.getrandbits(32)))
        yield {"base": base, "stride": stride % (1 << STRIDE_BITS), "group": rng.randrange(GROUPS)}


@cocotb.test()
async def random_constants(dut: cocotb.handle.SimHandleBase) -> None:
    """The words of all lanes."""
    ports, checker, coverage = Ports(dut), Checker(minimum=CYCLES), Coverage(*POINTS)

    def check(seen: Observation) -> None:
        base, group, stride = seen["base"], seen["group"], seen["stride"]
        stride -= (1 << STRIDE_BITS) * (stride > MOST)
        values = [base + (LANES * group + lane) * stride for lane in range(LANES)]
        checker.equal(f"{base:#x} + {stride} a thread, group {group}", ports.codecs["words"].array(seen["words"]),
                      [value % (1 << 32) for value in values])
        for point, holds in (("no stride", not stride), ("falling", stride < 0), ("smallest stride", stride == LEAST),
                             ("largest stride", stride == MOST), ("wraps upward", values[-1] >> 32 > 0),
                             ("wraps downward", values[-1] < 0), (f"group {group}", True)):
            coverage.hit(point, holds)

    await exercise(ports, stimuli(), check, checker)
    coverage.finish()


@pytest.mark.rtl
def test_constants(seed: int) -> None:
    runner.run(runner.build(SmConfig.preset("small"), "Constants"), BENCH, seed)
