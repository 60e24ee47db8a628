"""Bench of the separable arbiter: hardware against `warploom.golden_model.separable.arbiter`, with the checks of the
other one; and the example of docs/contract/register_file.md."""

from collections.abc import Sequence

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.mechanisms.baseline import TWO_SP
from warploom.arch.mechanisms.separable import SETTING
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, exercise
from warploom.tb.test_arbiter import CYCLES, ArbiterCheck, points, served, stimuli

LOST = "a bank is idle because its collector took another one"

REQUESTS = [{1, 2}, set(), set(), {1}]
"""Collectors that request to read each bank."""

GRANTS = [{(3, 1)}, {(0, 1)}, {(0, 2)}]
"""(bank, collector) granted in each cycle."""


class SeparableCheck(ArbiterCheck):
    """It also happens that a bank's selection is lost."""

    def __call__(self, seen: Observation) -> None:
        """Check one cycle."""
        super().__call__(seen)
        reads, granted = (self._codecs[name].array(seen[name]) for name in ("read_request", "read_grant"))
        taken = 0
        for mask in granted:
            taken |= mask
        idle = any(wanted & ~taken and not mask for wanted, mask in zip(reads, granted, strict=True))
        self._coverage.hit(LOST, idle and not seen["write_request"])


@cocotb.test()
async def random_requests(dut: cocotb.handle.SimHandleBase) -> None:
    """Constrained random requests."""
    ports, checker = Ports(dut), Checker(minimum=CYCLES)
    coverage = Coverage(*points(ports.config), LOST)
    await exercise(ports, stimuli(ports), SeparableCheck(ports, checker, coverage), checker)
    coverage.finish()


@cocotb.test()
async def a_selection_is_lost(dut: cocotb.handle.SimHandleBase) -> None:
    """Bank 0 selects collector 1, which takes bank 3; a wavefront would grant bank 0 to collector 2."""
    await served(dut, REQUESTS, GRANTS)


@pytest.mark.rtl
@pytest.mark.parametrize(("preset", "settings"), [
    ("small", ["banks=4", "collectors=3"]), ("small", ["collectors=5", *TWO_SP]), ("narrow", []), ("gtx480", [])],
    ids=lambda value: value if isinstance(value, str) else ",".join(value))
def test_arbiter(preset: str, settings: Sequence[str], seed: int) -> None:
    run(preset, settings, "random_requests", seed)


@pytest.mark.rtl
def test_a_selection_is_lost(seed: int) -> None:
    run("narrow", [], "a_selection_is_lost", seed)


def run(preset: str, settings: Sequence[str], testcase: str, seed: int) -> None:
    config = SmConfig.preset(preset).with_settings([SETTING, *settings])
    runner.run(runner.build(config, "SeparableArbiter"), "warploom.tb.separable.test_arbiter", seed, testcase=testcase)
