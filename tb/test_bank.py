"""Bench of the bank: hardware against `warploom.golden_model.bank`."""

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.golden_model.bank import Bank
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Ports, exercise
from warploom.tb.memory_bench import POINTS, MemoryCheck, stimuli

CYCLES = 2000


@cocotb.test()
async def random_accesses(dut: cocotb.handle.SimHandleBase) -> None:
    """Random reads and partial writes."""
    ports, checker, coverage = Ports(dut), Checker(minimum=CYCLES // 4), Coverage(*POINTS)
    check = MemoryCheck(ports, "lanes", Bank(ports.config.rows), checker, coverage)
    await exercise(ports, stimuli(ports, "lanes", CYCLES), check, checker)
    coverage.finish()


@pytest.mark.rtl
def test_bank(seed: int) -> None:
    runner.run(runner.build(SmConfig.preset("small"), "Bank"), "warploom.tb.test_bank", seed)
