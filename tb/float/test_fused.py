"""Bench of the fused multiply-add unit: hardware against the golden model."""

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.isa import Instruction, Op
from warploom.arch.modifiers import Rounding
from warploom.rtl.float.fused import ARITHMETIC
from warploom.tb import runner
from warploom.tb.float.bench import run_cases
from warploom.tb.float.cases import FLAGS, Axes, Family
from warploom.tb.float.words import SPECIAL_FLOATS, cancellations, products, sums

AXES: Axes = {"rounding": tuple(Rounding), "ftz": FLAGS, "sat": FLAGS}

FAMILIES = (Family(Op.FADD, AXES, 2, SPECIAL_FLOATS, sums), Family(Op.FMUL, AXES, 2, SPECIAL_FLOATS, products),
            Family(Op.FFMA, AXES, 3, SPECIAL_FLOATS, products),
            Family(Op.FFMA, {**AXES, "ftz": (True,)}, 3, SPECIAL_FLOATS, cancellations))

CASES, LATENCY = 20000, 5


def control(instruction: Instruction) -> dict[str, object]:
    """The control fields of an instruction."""
    modes = {name: int(getattr(instruction, name)) for name in AXES}
    return {"operation": ARITHMETIC[instruction.op], "modes": modes}


@cocotb.test()
async def random_operations(dut: cocotb.handle.SimHandleBase) -> None:
    """Special and random operands with all modifiers."""
    await run_cases(dut, FAMILIES, control, CASES, latency=LATENCY)


@pytest.mark.rtl
def test_fused(seed: int) -> None:
    runner.run(runner.build(SmConfig.preset("small"), "FusedMultiplyAdd"), "warploom.tb.float.test_fused", seed)
