"""Bench of the arithmetic units SAU0 and SAU1."""

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.fg_simt.sizes import FIRST_SAU, SECOND_SAU
from warploom.arch.isa import Op
from warploom.rtl.fg_simt.simple import SIMPLE
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Ports, exercise, source
from warploom.tb.fg_simt.sau_check import DIVISION_POINTS, POINTS, SauCheck
from warploom.tb.fg_simt.sau_traffic import Traffic

BENCH = "warploom.tb.fg_simt.test_sau"


async def _random(
    dut: cocotb.handle.SimHandleBase, operations: frozenset[Op], points: tuple[str, ...], cycles: int
) -> None:
    ports, checker = Ports(dut), Checker(minimum=cycles)
    coverage = Coverage(*points, *(op.name for op in (*SIMPLE, *operations)))
    traffic = Traffic(source(), (*SIMPLE, *sorted(operations)))
    await exercise(ports, traffic.stimuli(cycles), SauCheck(ports, checker, coverage), checker)
    coverage.finish()


@cocotb.test()
async def first(dut: cocotb.handle.SimHandleBase) -> None:
    """All operations of SAU0, as close to each other as they may be."""
    await _random(dut, FIRST_SAU, POINTS, 2500)


@cocotb.test()
async def second(dut: cocotb.handle.SimHandleBase) -> None:
    """All operations of SAU1, as close to each other as they may be."""
    await _random(dut, SECOND_SAU, (*POINTS, *DIVISION_POINTS), 5000)


@pytest.mark.long
@pytest.mark.rtl
@pytest.mark.parametrize(("unit", "testcase"), [
    pytest.param("FirstSau", "first", marks=pytest.mark.long), ("SecondSau", "second"),
])
def test_sau(seed: int, unit: str, testcase: str) -> None:
    runner.run(runner.build(SmConfig.preset("small"), unit), BENCH, seed, testcase=testcase)
