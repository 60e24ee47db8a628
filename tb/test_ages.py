"""Bench of the age matrix: hardware against a list of the holders in the order of issue."""

from collections.abc import Iterator

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source

CYCLES = 600


class AgesBench:
    """Holders take instructions in any order."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._holders = ports.config.holders
        self._codec, self._checker, self._coverage = ports.codecs["older"], checker, coverage
        self._order: list[int] = []  # holders, the oldest instruction first

    def stimuli(self) -> Iterator[Stimulus]:
        """Random holders, one or several at once, bursts and pauses."""
        rng = source()
        takes = busy(rng, 0.5)
        for _ in range(CYCLES):
            take = rng.choice((1 << rng.randrange(self._holders), rng.getrandbits(self._holders)))
            yield {"take": take if next(takes) else 0}

    def check(self, seen: Observation) -> None:
        """Check the order of all that took an instruction."""
        for number, older in enumerate(self._codec.array(seen["older"])):
            if number in self._order:
                before = self._order[: self._order.index(number)]
                known = sum(1 << holder for holder in self._order if holder != number)
                self._checker.equal(f"older than {number}", older & known, sum(1 << holder for holder in before))
        self._coverage.hit("several at once", seen["take"].bit_count() > 1)
        for number in range(self._holders):
            if seen["take"] >> number & 1:
                self._coverage.hit("again", number in self._order)
                self._order = [holder for holder in self._order if holder != number] + [number]
        self._coverage.hit("all hold one", len(self._order) == self._holders)


@cocotb.test()
async def random_order(dut: cocotb.handle.SimHandleBase) -> None:
    """Random holders take instructions."""
    ports, checker = Ports(dut), Checker(minimum=CYCLES)
    coverage = Coverage("again", "all hold one", "several at once")
    bench = AgesBench(ports, checker, coverage)
    await exercise(ports, bench.stimuli(), bench.check, checker)
    coverage.finish()


@pytest.mark.rtl
@pytest.mark.parametrize("collectors", [2, 5])
def test_ages(collectors: int, seed: int) -> None:
    config = SmConfig.preset("small").with_settings([f"collectors={collectors}"])
    runner.run(runner.build(config, "AgeMatrix"), "warploom.tb.test_ages", seed)
