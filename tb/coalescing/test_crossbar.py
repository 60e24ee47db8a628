"""Bench of the sliced crossbar: hardware against its model, and the examples of [RADAIDEH], section 3.6.2.6."""

from collections.abc import Iterator

import cocotb
import pytest

from warploom.arch.config import SUB_BANKS, SmConfig
from warploom.arch.interfaces import WARP_BITS
from warploom.golden_model.coalescing.crossbar import SlicedCrossbar
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source
from warploom.tb.codec import join

CYCLES = 1000
SLICE_BITS = WARP_BITS // SUB_BANKS
POINTS = ("a bank for two collectors", "a collector from two banks", "a slice of nobody", "nothing")

Grants = list[list[int]]
"""For each slice and bank, a mask over collectors."""


def pack(grants: Grants, collectors: int) -> int:
    """The port `grant`."""
    return join([mask for row in grants for mask in row], collectors)


def stimuli(ports: Ports) -> Iterator[Stimulus]:
    """Random words, and random grants that use each bank and collector at most once in each slice."""
    rng = source()
    banks, collectors = ports.config.banks, ports.config.collectors
    for _ in range(CYCLES):
        chance = rng.choice((0, 0.5, 1))
        grants: Grants = []
        for _ in range(SUB_BANKS):
            chosen = [*rng.sample(range(collectors), collectors), *[None] * banks][:banks]
            rng.shuffle(chosen)
            grants.append([0 if c is None or rng.random() >= chance else 1 << c for c in chosen])
        words = [rng.getrandbits(WARP_BITS) for _ in range(banks)]
        yield {"grant": pack(grants, collectors), "read_data": join(words, WARP_BITS)}


class CrossbarCheck:
    """Operands equal the model's, whose slices without a grant are zero."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._codecs, self._checker, self._coverage = ports.codecs, checker, coverage
        self._banks, self._collectors = ports.config.banks, ports.config.collectors
        self._model = SlicedCrossbar(self._banks, self._collectors)
        self._connected: Grants = [[0] * self._banks for _ in range(SUB_BANKS)]

    def __call__(self, seen: Observation) -> None:
        """Check one cycle: grants of the previous cycle connect."""
        words = self._codecs["read_data"].array(seen["read_data"])
        for collector, word in enumerate(self._model.route(words, self._connected)):
            self._checker.equal(f"operand[{collector}]", seen[f"operand__{collector}"], word)
        self._cover()
        width = self._collectors
        rows = self._codecs["grant"].array(seen["grant"])
        self._connected = [[row >> width * bank & (1 << width) - 1 for bank in range(self._banks)] for row in rows]

    def _cover(self) -> None:
        cover, rows = self._coverage.hit, self._connected
        by_bank = [{row[bank] for row in rows} - {0} for bank in range(self._banks)]
        sources = [{bank for row in rows for bank in range(self._banks) if row[bank] >> c & 1}
                   for c in range(self._collectors)]
        cover("a bank for two collectors", any(len(masks) > 1 for masks in by_bank))
        cover("a collector from two banks", any(len(banks) > 1 for banks in sources))
        cover("a slice of nobody", any(by_bank) and not all(any(row) for row in rows))
        cover("nothing", not any(by_bank))


@cocotb.test()
async def random_routes(dut: cocotb.handle.SimHandleBase) -> None:
    """Random grants and words."""
    ports, checker, coverage = Ports(dut), Checker(minimum=CYCLES), Coverage(*POINTS)
    await exercise(ports, stimuli(ports), CrossbarCheck(ports, checker, coverage), checker)
    coverage.finish()


Routes = list[tuple[int, int, int]]
"""Bank, collector and mask of each granted read."""

SECTION_3_6_2_6: list[Routes] = [
    [(0, 0, 0b0001), (0, 1, 0b1100)],
    [(0, 0, 0b0011), (1, 0, 0b1100)],
]
"""Two collectors coalesced at bank 0; one collector served by two banks."""


@cocotb.test()
async def section_3_6_2_6(dut: cocotb.handle.SimHandleBase) -> None:
    """Each sub-bank's data arrives in its slice of the granted collector, and nowhere else."""
    ports, checker = Ports(dut), Checker(minimum=len(SECTION_3_6_2_6))
    rng = source()
    collectors = ports.config.collectors
    words = [rng.getrandbits(WARP_BITS) for _ in range(ports.config.banks)]
    routes: Iterator[Routes] = iter([[], *SECTION_3_6_2_6])

    def cycles() -> Iterator[Stimulus]:
        for granted in [*SECTION_3_6_2_6, []]:
            grants = [[sum(1 << c for b, c, mask in granted if b == bank and mask >> k & 1)
                       for bank in range(len(words))] for k in range(SUB_BANKS)]
            yield {"grant": pack(grants, collectors), "read_data": join(words, WARP_BITS)}

    def check(seen: Observation) -> None:
        expected = [0] * collectors
        for bank, collector, mask in next(routes):
            expected[collector] |= words[bank] & join([(1 << SLICE_BITS) - 1 if mask >> k & 1 else 0
                                                       for k in range(SUB_BANKS)], SLICE_BITS)
        for collector, word in enumerate(expected):
            checker.equal(f"operand[{collector}]", seen[f"operand__{collector}"], word)

    await exercise(ports, cycles(), check, checker, partial=True)


def _build(*settings: str) -> runner.Build:
    return runner.build(SmConfig.preset("small").with_settings(["coalescing=on", *settings]), "SlicedCrossbar")


@pytest.mark.rtl
@pytest.mark.parametrize("settings", [(), ("banks=4", "collectors=3")])
def test_crossbar(settings: tuple[str, ...], seed: int) -> None:
    runner.run(_build(*settings), "warploom.tb.coalescing.test_crossbar", seed, testcase="random_routes")


@pytest.mark.rtl
def test_000_section_3_6_2_6(seed: int) -> None:
    runner.run(_build(), "warploom.tb.coalescing.test_crossbar", seed, testcase="section_3_6_2_6")
