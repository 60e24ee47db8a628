"""Bench of the sub-bank: hardware against `warploom.golden_model.subbank`."""

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.golden_model.subbank import SubBank
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise
from warploom.tb.memory_bench import MemoryCheck, stimuli

CYCLES = 2000
POINTS = ("partial write", "read after write", "write after read")


def separated(access: Stimulus) -> Stimulus:
    """An access of one port, as a sub-bank takes it: the column that is read, and the bytes that are written."""
    enable, write = access["enable"], access["write"]
    return {"read": int(enable and not write), "row": access["row"], "data": access["data"],
            "byte_enable": access["byte_enable"] if enable and write else 0}


def joined(seen: Observation) -> Observation:
    """The access of one port that was made."""
    write = seen["byte_enable"] != 0
    return {**seen, "enable": int(write or seen["read"]), "write": int(write)}


@cocotb.test()
async def random_accesses(dut: cocotb.handle.SimHandleBase) -> None:
    """Random reads and partial writes."""
    ports, checker, coverage = Ports(dut), Checker(minimum=CYCLES // 4), Coverage(*POINTS)
    check = MemoryCheck(ports, "byte_enable", SubBank(ports.config.rows), checker, coverage)
    await exercise(ports, map(separated, stimuli(ports, "byte_enable", CYCLES)), lambda seen: check(joined(seen)),
                   checker)
    coverage.finish()


@pytest.mark.rtl
def test_subbank(seed: int) -> None:
    runner.run(runner.build(SmConfig.preset("small"), "SubBank"), "warploom.tb.test_subbank", seed)
