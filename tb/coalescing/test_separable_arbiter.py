"""Bench of the separable arbiter of a coalescing register file: hardware against
`warploom.golden_model.coalescing.separable_arbiter`, with the checks of the coalescing arbiter; and the examples of
docs/contract/register_file.md."""

from collections.abc import Sequence

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.mechanisms.baseline import TWO_SP
from warploom.arch.mechanisms.separable import SETTING
from warploom.golden_model.coalescing.arbiter import Read
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, exercise
from warploom.tb.coalescing.test_arbiter import CYCLES, LEFT, POINTS, RIGHT, ArbiterCheck, Matrix, stimuli

COALESCING_BENCH = "warploom.tb.coalescing.test_arbiter"
LOST = "a request that overlaps no granted one is refused"
RIGHT_REFUSED = "a right request of a bank is refused, and the overlapping left one is granted"

REQUESTS = [Read(0, RIGHT, 0, 3), Read(0, LEFT, 1, 2), Read(1, LEFT, 1, 1), Read(3, RIGHT, 1, 2)]

GRANTS = {
    0: [(0, RIGHT, 0), (3, RIGHT, 1)],
    1: [(0, LEFT, 1), (3, RIGHT, 1)],
    2: [(0, RIGHT, 0), (1, LEFT, 1), (3, RIGHT, 1)],
    3: [(0, RIGHT, 0), (3, RIGHT, 1)],
}
"""(bank, side, collector) granted, by the priority diagonal."""


class SidesCheck(ArbiterCheck):
    """It also happens that a selection is lost, and that a right request gives way."""

    def __call__(self, seen: Observation) -> None:
        """Check one cycle."""
        super().__call__(seen)
        _, reads = self._matrix.requests(seen)
        granted = self._matrix.granted(seen, reads)
        for read in set(reads) - set(granted):
            rivals = [other for other in granted if other.mask & read.mask
                      and (other.bank == read.bank or other.collector == read.collector)]
            self._coverage.hit(LOST, not rivals and not seen["write_request"])
            self._coverage.hit(RIGHT_REFUSED, read.side == RIGHT and any(
                other.side == LEFT and other.bank == read.bank for other in rivals))


@cocotb.test()
async def random_requests(dut: cocotb.handle.SimHandleBase) -> None:
    """Constrained random requests."""
    ports, checker = Ports(dut), Checker(minimum=CYCLES)
    matrix, coverage = Matrix(ports.config), Coverage(*POINTS, LOST, RIGHT_REFUSED)
    await exercise(ports, stimuli(matrix), SidesCheck(matrix, checker, coverage), checker)
    coverage.finish()


@cocotb.test()
async def example(dut: cocotb.handle.SimHandleBase) -> None:
    """The example of the contract, at each priority diagonal."""
    ports = Ports(dut)
    matrix, checker = Matrix(ports.config), Checker(minimum=len(GRANTS))

    def check(seen: Observation) -> None:
        granted = sorted(read[:3] for read in matrix.granted(seen, REQUESTS))
        checker.equal("read_grant", granted, sorted(GRANTS[seen["diagonal"]]))

    none = [None] * len(matrix.writers)
    await exercise(ports, (matrix.stimulus(none, REQUESTS) for _ in GRANTS), check, checker, partial=True)


@pytest.mark.rtl
@pytest.mark.parametrize(("preset", "settings"), [
    ("small", ["banks=4", "collectors=3"]), ("small", ["collectors=5", *TWO_SP]), ("narrow", []),
    pytest.param("gtx480", [], marks=pytest.mark.long)],
    ids=lambda value: value if isinstance(value, str) else ",".join(value))
def test_arbiter(preset: str, settings: Sequence[str], seed: int) -> None:
    run(preset, settings, "warploom.tb.coalescing.test_separable_arbiter", "random_requests", seed)


@pytest.mark.rtl
def test_example(seed: int) -> None:
    run("narrow", [], "warploom.tb.coalescing.test_separable_arbiter", "example", seed)


@pytest.mark.rtl
@pytest.mark.parametrize("testcase", ["fig_3_16b", "fig_3_6"])
def test_figures(testcase: str, seed: int) -> None:
    run("narrow", [], COALESCING_BENCH, testcase, seed)


def run(preset: str, settings: Sequence[str], bench: str, testcase: str, seed: int) -> None:
    config = SmConfig.preset(preset).with_settings([SETTING, "coalescing=on", *settings])
    runner.run(runner.build(config, "SeparableCoalescingArbiter"), bench, seed, testcase=testcase)
