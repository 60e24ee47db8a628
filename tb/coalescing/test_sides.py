"""Bench of the warp sides: hardware against `warploom.golden_model.register_file.sides`, in the order of latches."""

from collections.abc import Iterator

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.golden_model.register_file.sides import WarpSides
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source
from warploom.tb.codec import join

CYCLES = 2000


def stimuli(ports: Ports) -> Iterator[Stimulus]:
    """Results of few warps, often of one warp in several latches; also of all warps."""
    rng, warps, latches = source(), ports.config.warps, len(ports.config.pipes)
    for _ in range(CYCLES):
        among = rng.choice((1, 2, warps))
        named = [rng.randrange(warps - among, warps) for _ in range(latches)]
        bits = ports.codecs["warp"].width // latches
        masks = {name: rng.getrandbits(latches) | rng.getrandbits(latches) for name in ("full", "ready", "old")}
        yield masks | {"warp": join(named, bits)}


class SidesCheck:
    """Full results get the sides of the model, in the order of their latches, and change them if they are taken."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._model, self._codec, self._latches = WarpSides(), ports.codecs["warp"], len(ports.config.pipes)
        self._checker, self._coverage = checker, coverage

    def __call__(self, seen: Observation) -> None:
        """Check one cycle."""
        warps = self._codec.array(seen["warp"])
        taken, refused = seen["full"] & seen["ready"], seen["full"] & ~seen["ready"]
        writing = [i for i in range(self._latches) if taken >> i & 1]
        waiting = {warps[i] for i in range(self._latches) if refused >> i & 1}
        for i in range(self._latches):
            if not seen["full"] >> i & 1:
                self._checker.equal(f"left[{i}]", seen["left"] >> i & 1, seen["old"] >> i & 1)
            elif i in writing:
                self._checker.equal(f"left[{i}]", seen["left"] >> i & 1, int(self._model.take(warps[i])))
                self._coverage.hit("one of the same warp waits", warps[i] in waiting)
        together = len(writing) - len({warps[i] for i in writing})
        self._coverage.hit("two of one warp", together == 1)
        self._coverage.hit("three of one warp", together == 2)
        self._coverage.hit("of several warps", len({warps[i] for i in writing}) > 1)


@cocotb.test()
async def random_writes(dut: cocotb.handle.SimHandleBase) -> None:
    """Random full results."""
    ports, checker = Ports(dut), Checker(minimum=CYCLES)
    coverage = Coverage("two of one warp", "three of one warp", "of several warps", "one of the same warp waits")
    await exercise(ports, stimuli(ports), SidesCheck(ports, checker, coverage), checker)
    coverage.finish()


@pytest.mark.rtl
def test_warp_sides(seed: int) -> None:
    config = SmConfig.preset("small").with_settings(["coalescing=on", "alignment=write"])
    runner.run(runner.build(config, "WarpSides"), "warploom.tb.coalescing.test_sides", seed)
