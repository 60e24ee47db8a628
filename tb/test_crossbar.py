"""Bench of the crossbar: hardware against `warploom.golden_model.crossbar`."""

from collections.abc import Iterator

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import WARP_BITS
from warploom.golden_model.crossbar import Crossbar
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source
from warploom.tb.codec import join

CYCLES = 1000


def stimuli(ports: Ports) -> Iterator[Stimulus]:
    """Random words, and random grants that use each bank and collector at most once."""
    rng = source()
    banks, collectors = ports.config.banks, ports.config.collectors
    for _ in range(CYCLES):
        chosen = rng.sample(range(collectors), collectors) + [None] * banks
        grants = [collector if rng.random() < 0.7 else None for collector in chosen[:banks]]
        rng.shuffle(grants)
        yield {
            "grant": join([0 if c is None else 1 << c for c in grants], collectors),
            "read_data": join([rng.getrandbits(WARP_BITS) for _ in range(banks)], WARP_BITS),
        }


class CrossbarCheck:
    """Operands equal the model's; a collector without a grant sees zero."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._codecs, self._checker, self._coverage = ports.codecs, checker, coverage
        self._model = Crossbar(ports.config.banks, ports.config.collectors)
        self._connected: list[int | None] = [None] * ports.config.banks

    def __call__(self, seen: Observation) -> None:
        """Check one cycle: grants of the previous cycle connect."""
        words = self._codecs["read_data"].array(seen["read_data"])
        for collector, word in enumerate(self._model.route(words, self._connected)):
            operand = seen[f"operand__{collector}"]
            if word is None:
                self._checker.holds("a collector without a grant sees zero", operand == 0)
            else:
                self._checker.equal(f"operand[{collector}]", operand, word)
        for bank, connected in enumerate(self._connected):
            self._coverage.hit("straight", connected == bank)
            self._coverage.hit("crossed", connected is not None and connected != bank)
        self._coverage.hit("nothing", self._connected.count(None) == len(words))
        rows = self._codecs["grant"].array(seen["grant"])
        self._connected = [row.bit_length() - 1 if row else None for row in rows]


@cocotb.test()
async def random_routes(dut: cocotb.handle.SimHandleBase) -> None:
    """Random grants and words."""
    ports, checker, coverage = Ports(dut), Checker(minimum=CYCLES), Coverage("straight", "crossed", "nothing")
    await exercise(ports, stimuli(ports), CrossbarCheck(ports, checker, coverage), checker)
    coverage.finish()


@pytest.mark.rtl
def test_crossbar(seed: int) -> None:
    runner.run(runner.build(SmConfig.preset("small"), "Crossbar"), "warploom.tb.test_crossbar", seed)
