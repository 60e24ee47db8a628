"""Bench of the divider: hardware against the golden model."""

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.isa import Instruction, Op
from warploom.arch.modifiers import Rounding
from warploom.rtl.float.divide import CONTROL
from warploom.tb import runner
from warploom.tb.bench import Checker, Ports, exercise
from warploom.tb.float.bench import run_cases
from warploom.tb.float.cases import FLAGS, Axes, Family
from warploom.tb.float.words import SPECIAL_FLOATS, SPECIAL_INTEGERS, multiples, quotients, squares

MODES: Axes = {"rounding": tuple(Rounding), "ftz": FLAGS}
SIGNED: Axes = {"signed": FLAGS}

FAMILIES = (Family(Op.FDIV, MODES, 2, SPECIAL_FLOATS, quotients),
            Family(Op.FRCP, MODES, 1, SPECIAL_FLOATS, quotients),
            Family(Op.FSQRT, MODES, 1, SPECIAL_FLOATS, squares),
            Family(Op.IDIV, SIGNED, 2, SPECIAL_INTEGERS, multiples),
            Family(Op.IREM, SIGNED, 2, SPECIAL_INTEGERS, multiples))

CASES, LATENCY, INTERVAL = 4000, 20, 16


def control(instruction: Instruction) -> dict[str, object]:
    """The control fields of an instruction."""
    return {**CONTROL[instruction.op], **{name: int(getattr(instruction, name)) for name in (*MODES, *SIGNED)}}


@cocotb.test()
async def random_operations(dut: cocotb.handle.SimHandleBase) -> None:
    """Special and random operands with all modifiers."""
    await run_cases(dut, FAMILIES, control, CASES, latency=LATENCY, interval=INTERVAL)


@cocotb.test()
async def too_early(dut: cocotb.handle.SimHandleBase) -> None:
    """An operation enters, and another one in the next cycle."""
    ports, checker = Ports(dut), Checker(minimum=0)
    await exercise(ports, [{"valid": 1}] * 3, lambda seen: None, checker, partial=True)


@pytest.mark.rtl
def test_divide(seed: int) -> None:
    runner.run(runner.build(SmConfig.preset("small"), "Divider"), "warploom.tb.float.test_divide", seed,
               testcase="random_operations")


@pytest.mark.rtl
def test_that_none_enters_too_early(seed: int) -> None:
    made, bench = runner.build(SmConfig.preset("small"), "Divider"), "warploom.tb.float.test_divide"
    with pytest.raises(AssertionError, match="an operation enters, and the divider is not ready"):
        runner.run(made, bench, seed, testcase="too_early")
    runner.run(made, bench, seed, testcase="too_early", asserted=False)
