"""Bench of a port's register: hardware against `warploom.golden_model.pipelined.selection.ReadPort`."""

from collections.abc import Iterator, Sequence

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.mechanisms.pipelined import SETTING
from warploom.golden_model.pipelined.selection import ReadPort
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source

CYCLES = 5000

PHASE = 200
"""Cycles with requests of one density."""

POINTS = ("one is granted and the next selected", "one is granted, and none waits", "some wait for the register",
          "the turn passes collector 0", "one is selected into an empty register", "all others go first")


class PortBench:
    """Drives a port and its model with random requests and grants, and compares all outputs in each cycle."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._codecs, self._checker, self._coverage = ports.codecs, checker, coverage
        self._collectors, self._rng = ports.config.collectors, source()
        self._model = ReadPort()
        self._read = self._requests = 0  # the fields of the read in the register; collectors that wait
        self._waited: dict[int, int] = {}  # by collector, the selections of others since it began to wait
        self._width = self._codecs["read"].width

    def stimuli(self) -> Iterator[Stimulus]:
        """Collectors that wait until they are selected, few or all; a grant only of what the register holds."""
        rng, grants = self._rng, busy(self._rng, 0.6)
        for _ in range(CYCLES // PHASE):
            density = rng.choice((0.1, 0.4, 1, self._collectors)) / self._collectors
            for _ in range(PHASE):
                self._requests |= sum((rng.random() < density) << c for c in range(self._collectors))
                yield {
                    "request": self._requests,
                    "reads": rng.getrandbits(self._width * self._collectors),
                    "grant": self._model.client is not None and next(grants),
                }

    def check(self, seen: Observation) -> None:
        """Check one cycle, and end it."""
        model, equal, hit = self._model, self._checker.equal, self._coverage.hit
        held, waiting, granted = model.client, seen["request"], seen["grant"]
        equal("valid", seen["valid"], held is not None)
        equal("granted", seen["granted"], 1 << held if granted and held is not None else 0)
        if held is not None:
            equal("who", seen["who"], 1 << held)
            equal("read", seen["read"], self._read)
        hit("some wait for the register", held is not None and waiting and not granted)
        hit("one is granted, and none waits", granted and not waiting)
        if granted:
            model.client = None
        selected = None
        if waiting and model.client is None:
            selected = model.select(waiting)
            self._requests ^= 1 << selected
            self._read = seen["reads"] >> self._width * selected & (1 << self._width) - 1
            hit("one is granted and the next selected", granted)
            hit("one is selected into an empty register", not granted)
            hit("the turn passes collector 0", held is not None and selected <= held)
            self._count(waiting, selected)
        equal("selected", seen["selected"], 0 if selected is None else 1 << selected)

    def _count(self, waiting: int, selected: int) -> None:
        """Another one is selected: no collector sees that C times while it waits."""
        self._waited = {c: self._waited.get(c, 0) + 1 for c in range(self._collectors)
                        if waiting >> c & 1 and c != selected}
        longest = max(self._waited.values(), default=0)
        self._checker.holds("no read starves", longest < self._collectors)
        self._coverage.hit("all others go first", longest == self._collectors - 1)


@cocotb.test()
async def random_requests(dut: cocotb.handle.SimHandleBase) -> None:
    """Random requests and grants."""
    ports, checker, coverage = Ports(dut), Checker(minimum=3 * CYCLES), Coverage(*POINTS)
    bench = PortBench(ports, checker, coverage)
    await exercise(ports, bench.stimuli(), bench.check, checker)
    coverage.finish()


@pytest.mark.sample(1)
@pytest.mark.rtl
@pytest.mark.parametrize(("preset", "settings"), [
    ("small", ["bypass=bow"]), ("narrow", ["bypass=bow_wr", "coalescing=on", "gating=cross_lane"]),
], ids=["small", "narrow"])
def test_read_port(preset: str, settings: Sequence[str], seed: int) -> None:
    config = SmConfig.preset(preset).with_settings([*settings, SETTING])
    runner.run(runner.build(config, "ReadPort"), "warploom.tb.pipelined.test_read_port", seed)
