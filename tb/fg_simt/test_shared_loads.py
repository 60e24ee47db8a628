"""Bench of the shared-load cache: hardware against `warploom.golden_model.fg_simt.shared_loads`, and a property without
a model: a hit is the word that was filled last at this address. Two words are looked up in each cycle."""

from collections.abc import Iterator

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.fg_simt.sizes import SHARED_LOADS
from warploom.golden_model.fg_simt.shared_loads import SharedLoads
from warploom.rtl.fg_simt.shared_loads import NUMBER_BITS, PLACE_BITS
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source

BENCH = "warploom.tb.fg_simt.test_shared_loads"
CYCLES = 4000
SOME = 50
"""Cycles in which words have the same tags."""

PLACES, TAG_BITS = 8, NUMBER_BITS - PLACE_BITS

POINTS = ("hit", "miss of another address", "one of two hits", "all words", "fill and invalidate", "filled anew")


def stimuli() -> Iterator[Stimulus]:
    """Words of few addresses, whose tags differ for some time in one bit, which may be any; seldom all become invalid,
    sometimes with a word that is filled."""
    rng = source()
    for cycle in range(CYCLES):
        together = cycle % 1000 == 999
        if cycle % SOME == 0:
            tag, places = rng.getrandbits(TAG_BITS), rng.sample(range(SHARED_LOADS), PLACES)
            tags = [tag, *(tag ^ 1 << bit for bit in rng.sample(range(TAG_BITS), 2))]
        number, second, filled = (
            rng.choice(tags) * SHARED_LOADS + rng.choice((rng.choice(places), rng.randrange(SHARED_LOADS)))
            for _ in range(3))
        yield {"number": number, "second_number": second, "fill_number": filled,
               "fill": int(together or rng.random() < 0.5), "filled": rng.getrandbits(32),
               "invalidate": int(together or rng.random() < 0.001)}


@cocotb.test()
async def random_words(dut: cocotb.handle.SimHandleBase) -> None:
    """All outputs of every cycle are the model's."""
    ports, checker, coverage = Ports(dut), Checker(minimum=3 * CYCLES), Coverage(*POINTS)
    model, written = SharedLoads(), dict[int, int]()  # written: words by number, as memory has them

    def check(seen: Observation) -> None:
        found = {prefix: model.find(4 * seen[f"{prefix}number"]) for prefix in ("", "second_")}
        probe = ports.codecs["probe"].unpack(seen["probe"])
        checker.equal("observed", [probe[name] for name in SharedLoads.observed], model.observe())
        for prefix, word in found.items():
            number, hit, given = (seen[prefix + name] for name in ("number", "hit", "word"))
            checker.equal(f"{prefix}found", given if hit else None, word)
            if hit:
                checker.equal(f"{prefix}memory", given, written.get(number))
            coverage.hit("hit", word is not None)
            coverage.hit("miss of another address", word is None and number in written)
        coverage.hit("one of two hits", list(found.values()).count(None) == 1)
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
