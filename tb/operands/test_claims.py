"""Bench of the claims: hardware against a list of the free collectors and one of the ports in claim order."""

from collections.abc import Iterator
from functools import reduce
from operator import or_

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source

CYCLES = 800


class ClaimsBench:
    """Random collectors are busy, random ports claim, and the first port is random."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._collectors, self._ports = ports.config.collectors, ports.config.issue_inputs
        self._codec, self._checker, self._coverage = ports.codecs["take"], checker, coverage

    def stimuli(self) -> Iterator[Stimulus]:
        """Random claims."""
        rng = source()
        for _ in range(CYCLES):
            busy = rng.getrandbits(self._collectors) | rng.getrandbits(self._collectors)
            yield {"busy": busy, "claim": rng.getrandbits(self._ports) | rng.getrandbits(self._ports),
                   "first": rng.randrange(self._ports)}

    def check(self, seen: Observation) -> None:
        """The first port that claims takes the lowest free collector, and so on; no collector is taken twice."""
        free = [number for number in range(self._collectors) if not seen["busy"] >> number & 1]
        order = [(seen["first"] + turn) % self._ports for turn in range(self._ports)]
        claims = [port for port in order if seen["claim"] >> port & 1]
        taken = dict(zip(claims, free, strict=False))
        actual = self._codec.array(seen["take"])
        self._checker.equal("take", actual, [1 << taken[port] if port in taken else 0 for port in range(self._ports)])
        self._checker.equal("granted", seen["granted"], sum(1 << port for port in taken))
        self._checker.equal("free", seen["free"], min(len(free), self._ports))
        self._checker.holds("each collector is taken once", sum(actual) == reduce(or_, actual))
        self._coverage.hit("all ports claim and get one", len(taken) == self._ports)
        if self._ports > 1:
            self._coverage.hit("too few are free", 0 < len(free) < len(claims))
            self._coverage.hit("a higher port goes first", claims != sorted(claims) and len(taken) > 1)


@cocotb.test()
async def random_claims(dut: cocotb.handle.SimHandleBase) -> None:
    """Random claims of random ports."""
    ports, checker = Ports(dut), Checker(minimum=4 * CYCLES)
    several = ("too few are free", "a higher port goes first") if ports.config.issue_ports > 1 else ()
    coverage = Coverage("all ports claim and get one", *several)
    bench = ClaimsBench(ports, checker, coverage)
    await exercise(ports, bench.stimuli(), bench.check, checker)
    coverage.finish()


@pytest.mark.rtl
@pytest.mark.parametrize("ports", [1, 2, 4])
def test_claims(ports: int, seed: int) -> None:
    config = SmConfig.preset("small").with_settings(["collectors=5", "schedulers=4", f"issue_ports={ports}"])
    runner.run(runner.build(config, "CollectorClaims"), "warploom.tb.operands.test_claims", seed)
