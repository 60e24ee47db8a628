"""Bench of the sub-bank: hardware against `warploom.golden_model.subbank`."""

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.golden_model.subbank import SubBank
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Ports, exercise
from warploom.tb.memory_bench import POINTS, MemoryCheck, stimuli

CYCLES = 2000


@cocotb.test()
async def random_accesses(dut: cocotb.handle.SimHandleBase) -> None:
    """Random reads and partial writes."""
    ports, checker, coverage = Ports(dut), Checker(minimum=CYCLES // 4), Coverage(*POINTS)
    check = MemoryCheck(ports, "byte_enable", SubBank(ports.config.rows), checker, coverage)
    await exercise(ports, stimuli(ports, "byte_enable", CYCLES), check, checker)
    coverage.finish()


@pytest.mark.rtl
def test_subbank(seed: int) -> None:
    runner.run(runner.build(SmConfig.preset("small"), "SubBank"), "warploom.tb.test_subbank", seed)
