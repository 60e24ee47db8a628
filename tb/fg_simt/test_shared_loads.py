"""Bench of the shared-load cache: hardware against `warploom.golden_model.fg_simt.shared_loads`, and a property without
a model: a hit is the word that was filled last at this address."""

from collections.abc import Iterator

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.fg_simt.sizes import SHARED_LOADS
from warploom.golden_model.fg_simt.shared_loads import SharedLoads
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source

BENCH = "warploom.tb.fg_simt.test_shared_loads"
CYCLES = 4000
TAGS = (3 << 22, 3 << 22 | 1, 1 << 22)
"""They differ in one bit."""

POINTS = ("hit", "miss of another address", "all words", "fill and invalidate", "filled anew")


def stimuli() -> Iterator[Stimulus]:
    """Words of few addresses; seldom all become invalid, sometimes with a word that is filled."""
    rng = source()
    for cycle in range(CYCLES):
        together = cycle % 1000 == 999
        number, filled = (rng.choice(TAGS) * SHARED_LOADS + rng.randrange(SHARED_LOADS) for _ in range(2))
        yield {"number": number, "fill_number": filled,
               "fill": int(together or rng.random() < 0.5), "filled": rng.getrandbits(32),
               "invalidate": int(together or rng.random() < 0.001)}


@cocotb.test()
async def random_words(dut: cocotb.handle.SimHandleBase) -> None:
    """All outputs of every cycle are the model's."""
    ports, checker, coverage = Ports(dut), Checker(minimum=2 * CYCLES), Coverage(*POINTS)
    model, written = SharedLoads(), dict[int, int]()  # written: words by number, as memory has them

    def check(seen: Observation) -> None:
        number, found = seen["number"], model.find(4 * seen["number"])
        probe = ports.codecs["probe"].unpack(seen["probe"])
        checker.equal("observed", [probe[name] for name in SharedLoads.observed], model.observe())
        checker.equal("found", seen["word"] if seen["hit"] else None, found)
        if seen["hit"]:
            checker.equal("memory", seen["word"], written.get(number))
        coverage.hit("hit", found is not None)
        coverage.hit("miss of another address", found is None and number in written)
        coverage.hit("all words", model.observe() == [SHARED_LOADS])
        coverage.hit("fill and invalidate", seen["fill"] and seen["invalidate"])
        filled = seen["fill_number"]
        coverage.hit("filled anew", seen["fill"] and model.find(4 * filled) is not None)
        if seen["fill"]:
            model.fill(4 * filled, seen["filled"])
            written[filled] = seen["filled"]
        if seen["invalidate"]:
            model.invalidate()

    await exercise(ports, stimuli(), check, checker)
    coverage.finish()


@pytest.mark.rtl
def test_shared_loads(seed: int) -> None:
    runner.run(runner.build(SmConfig.preset("small"), "SharedLoads"), BENCH, seed)
