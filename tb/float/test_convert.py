"""Bench of the converter: hardware against the golden model."""

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.isa import Instruction, Op
from warploom.arch.modifiers import DType, Rounding
from warploom.rtl.float.convert import KINDS
from warploom.tb import runner
from warploom.tb.float.bench import run_cases
from warploom.tb.float.cases import FLAGS, Axes, Family
from warploom.tb.float.words import SPECIAL_FLOATS, SPECIAL_INTEGERS, integers, reals

INTEGERS = tuple(kind for kind in KINDS if kind is not DType.F32)
SINGLE = (DType.F32,)
MODES: Axes = {"rounding": tuple(Rounding), "ftz": FLAGS, "sat": FLAGS}

FAMILIES = (
    Family(Op.CVT, {"src_type": SINGLE, "dst_type": INTEGERS, **MODES}, 1, SPECIAL_FLOATS, reals),
    Family(Op.CVT, {"src_type": INTEGERS, "dst_type": SINGLE, **MODES}, 1, SPECIAL_INTEGERS, integers),
    Family(Op.CVT, {"src_type": INTEGERS, "dst_type": INTEGERS, "sat": FLAGS}, 1, SPECIAL_INTEGERS, integers),
    Family(Op.CVT, {"src_type": SINGLE, "dst_type": SINGLE, "integral": FLAGS, **MODES}, 1, SPECIAL_FLOATS, reals),
)

CASES, LATENCY = 20000, 3


def control(instruction: Instruction) -> dict[str, object]:
    """The control fields of an instruction."""
    return {"source": KINDS[instruction.src_type], "target": KINDS[instruction.dst_type],
            "integral": int(instruction.integral), "modes": {name: int(getattr(instruction, name)) for name in MODES}}


@cocotb.test()
async def random_operations(dut: cocotb.handle.SimHandleBase) -> None:
    """Special and random operands with all types and modifiers."""
    await run_cases(dut, FAMILIES, control, CASES, latency=LATENCY)


@pytest.mark.rtl
def test_convert(seed: int) -> None:
    runner.run(runner.build(SmConfig.preset("small"), "Converter"), "warploom.tb.float.test_convert", seed)
