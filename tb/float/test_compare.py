"""Bench of the comparison unit: hardware against the golden model."""

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.isa import Instruction, Op
from warploom.arch.modifiers import Combine, Cond
from warploom.rtl.float.compare import COMPARISON, MODIFIERS
from warploom.tb import runner
from warploom.tb.float.bench import run_cases
from warploom.tb.float.cases import FLAGS, Axes, Family
from warploom.tb.float.words import SPECIAL_FLOATS, alike

EXTREME: Axes = {"ftz": FLAGS, "nan": FLAGS, "xorsign": FLAGS}

FAMILIES = (
    Family(Op.FMIN, EXTREME, 2, SPECIAL_FLOATS, alike), Family(Op.FMAX, EXTREME, 2, SPECIAL_FLOATS, alike),
    Family(Op.FSETP, {"cond": tuple(Cond), "combine": tuple(Combine), "ftz": FLAGS, "psrc": (0,)}, 2,
           SPECIAL_FLOATS, alike),
)

CASES, LATENCY = 20000, 1


def control(instruction: Instruction) -> dict[str, object]:
    """The control fields of an instruction."""
    return {"operation": COMPARISON[instruction.op], **{name: int(getattr(instruction, name)) for name in MODIFIERS}}


@cocotb.test()
async def random_operations(dut: cocotb.handle.SimHandleBase) -> None:
    """Special and random operands with all modifiers."""
    await run_cases(dut, FAMILIES, control, CASES, latency=LATENCY)


@pytest.mark.rtl
def test_compare(seed: int) -> None:
    runner.run(runner.build(SmConfig.preset("small"), "FloatCompare"), "warploom.tb.float.test_compare", seed)
