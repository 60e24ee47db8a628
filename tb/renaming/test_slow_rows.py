"""Bench of arbiters of banks with slow rows, or with two ports: hardware against `warploom.golden_model.slow_arbiter`.
"""

from collections.abc import Callable, Iterator, Sequence

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.mechanisms.renaming import SLOW_ROWS as SLOW
from warploom.golden_model.observation import shown_by
from warploom.tb import pipes, runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source
from warploom.tb.narrow_values import some_widths
from warploom.tb.renaming.requests import Cell, Granted, Model, Request, Requests, SingleModel

CYCLES = 12000

TWO_PORTS = ("bank_ports=2",)

POINTS = ("a read waits for an open collector", "a read waits for an open bank", "a write waits for an open bank",
          "a fast access beside open ones")
BEHIND = "the first latch of a path waits for an open one behind it"
BESIDE = "a read and a write in one bank"


class ArbiterBench:
    """Random requests, more or less often slow, until they are granted."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage, model: Callable[[Requests], Model]) -> None:
        self._config, self._checker, self._coverage, self._rng = ports.config, checker, coverage, source()
        self._requests = Requests(ports.config, model)
        self._expected: Granted = [], []

    def stimuli(self) -> Iterator[Stimulus]:
        """Phases with another share of slow requests each, few or many requests, and other widths."""
        rng, config, requests = self._rng, self._config, self._requests
        active = [busy(rng, 0.5) for _ in config.pipes]
        for cycle in range(CYCLES):
            if cycle % 20 == 0:
                density, slow, widths = rng.choice((0.03, 0.1, 0.4)), rng.choice((0, 0.3, 0.7, 1)), some_widths(rng)
                slow *= config.tfet_rows > 0
            for writer, asks in enumerate(active):
                if requests.writes[writer] is None and next(asks):
                    bank, side = rng.randrange(config.banks), rng.randrange(requests.sides)
                    requests.writes[writer] = requests.random(rng, bank, side, widths, slow)
            for cell in requests.cells:
                if cell not in requests.reads and rng.random() < density:
                    requests.reads[cell] = requests.random(rng, *cell[:2], widths, slow)
            self._expected = requests.decide()
            yield requests.stimulus(rng)

    def check(self, seen: Observation) -> None:
        """Grants are those of the model, and what is open is granted."""
        equal, requests = self._checker.equal, self._requests
        writers, reads = self._expected
        equal("write_grant", seen["write_grant"], sum(1 << writer for writer in writers))
        equal("read_grant", seen["read_grant"], sum(1 << requests.cells.index(cell) for cell in reads))
        for name, value in shown_by(requests.model.arbiter).items():
            equal(name, seen[name], value)
        granted = self._granted(seen)
        if self._config.has_sides:
            self._check_slices(seen, reads)
        if self._config.tfet_rows:
            self._check_open(seen, granted)
        self._cover(granted)
        if self._config.tfet_rows:
            self._cover_open(granted)
        requests.leave(writers, reads)

    def _granted(self, seen: Observation) -> dict[int | Cell, Request]:
        """The requests that the hardware grants."""
        requests, granted = self._requests, dict[int | Cell, Request]()
        for writer, write in enumerate(requests.writes):
            if write is not None and seen["write_grant"] >> writer & 1:
                granted[writer] = write
        for number, cell in enumerate(requests.cells):
            if cell in requests.reads and seen["read_grant"] >> number & 1:
                granted[cell] = requests.reads[cell]
        return granted

    def _check_slices(self, seen: Observation, reads: Sequence[Cell]) -> None:
        banks, collectors = self._config.banks, self._config.collectors
        slices = sum(1 << (k * banks + cell[0]) * collectors + cell[2] for cell in reads for k in range(4)
                     if self._requests.reads[cell].mask >> k & 1)
        self._checker.equal("slice_grant", seen["slice_grant"], slices)

    def _check_open(self, seen: Observation, granted: dict[int | Cell, Request]) -> None:
        """A slow request is granted if it was opened before, and at once then."""
        one_port = self._config.bank_ports == 1
        kinds = {"open": (int, tuple)} if one_port else {"open_reads": (tuple,), "open_writes": (int,)}
        for name, kind in kinds.items():
            slow = [request for who, request in granted.items() if isinstance(who, kind) and request.slow]
            bits = sum(1 << self._requests.sides * request.bank + request.side for request in slow)
            self._checker.equal(f"{name}, of what is granted", bits, seen[name])
        opened = sum(1 << who for who, request in granted.items() if isinstance(who, int) and request.slow)
        self._checker.equal("write_open", seen["write_open"], opened)
        if not self._config.has_sides:
            collectors = [who[2] for who in granted if isinstance(who, tuple)]
            self._checker.holds("one operand for a collector", len(collectors) == len(set(collectors)))

    def _cover(self, granted: dict[int | Cell, Request]) -> None:
        if BESIDE in self._coverage.hits:
            self._coverage.hit(BESIDE, any(
                isinstance(one, int) and isinstance(other, tuple) and granted[one].bank == granted[other].bank
                for one in granted for other in granted))

    def _cover_open(self, granted: dict[int | Cell, Request]) -> None:
        hit, requests = self._coverage.hit, self._requests
        opened = {who: request for who, request in granted.items() if request.slow}
        reads = {who for who in opened if isinstance(who, tuple)}
        banks = {request.bank for request in opened.values()}
        waiting = [cell for cell in requests.reads if cell not in granted]
        hit("a read waits for an open collector", any(cell[2] == read[2] and cell[0] not in banks
                                                      for cell in waiting for read in reads))
        hit("a read waits for an open bank", any(cell[0] in banks for cell in waiting))
        hit("a write waits for an open bank", any(
            write is not None and writer not in granted and write.bank in banks
            for writer, write in enumerate(requests.writes)))
        hit("a fast access beside open ones", opened and len(opened) < len(granted))
        if BEHIND in self._coverage.hits:
            hit(BEHIND, any(requests.writes[path[0]] is not None and any(latch in opened for latch in path[1:])
                            for path in self._config.write_paths))


def points(config: SmConfig) -> list[str]:
    """Coverage points of a configuration."""
    beside = [BESIDE] if config.bank_ports == 2 or config.has_sides else []
    behind = [BEHIND] if any(len(path) > 1 for path in config.write_paths) else []
    return [*beside, *([*POINTS, *behind] if config.tfet_rows else [])]


async def compare(dut: cocotb.handle.SimHandleBase, model: Callable[[Requests], Model]) -> None:
    """Compare an arbiter with its model on random requests."""
    ports, checker = Ports(dut), Checker(minimum=3 * CYCLES)
    coverage = Coverage(*points(ports.config))
    bench = ArbiterBench(ports, checker, coverage, model)
    await exercise(ports, bench.stimuli(), bench.check, checker)
    coverage.finish()


@cocotb.test()
async def random_requests(dut: cocotb.handle.SimHandleBase) -> None:
    """Constrained random requests."""
    await compare(dut, SingleModel)


@pytest.mark.rtl
@pytest.mark.parametrize("settings", [
    SLOW,
    (*SLOW, *TWO_PORTS),
    pytest.param((*SLOW, *pipes.TWO_SP), marks=pytest.mark.long),
    pytest.param((*SLOW, "banks=8", "collectors=3"), marks=pytest.mark.long),
], ids=" ".join)
def test_slow_arbiter(settings: Sequence[str], seed: int) -> None:
    made = runner.build(SmConfig.preset("small").with_settings([*settings]), "SlowArbiter")
    runner.run(made, "warploom.tb.renaming.test_slow_rows", seed)


@pytest.mark.rtl
def test_two_ports(seed: int) -> None:
    made = runner.build(SmConfig.preset("small").with_settings([*TWO_PORTS]), "Arbiter")
    runner.run(made, "warploom.tb.renaming.test_slow_rows", seed)
