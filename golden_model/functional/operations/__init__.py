"""The arithmetic of each operation, bit-exact as PTX defines it: pure functions of operand words.

Call `evaluate` for a single execution, or `prepare` once for an instruction that is executed often. Memory operations,
special registers and control are elsewhere, because they need more than their operands.
"""

import numpy as np

from warploom.arch.isa import Instruction, Op
from warploom.golden_model.functional.operations import approx, convert, float32, float64, integer, warp
from warploom.golden_model.functional.operations.common import Builder, Function, Operands, Outcome

BUILDERS: dict[Op, Builder] = (
    integer.OPERATIONS | float32.OPERATIONS | float64.OPERATIONS | convert.OPERATIONS | approx.OPERATIONS
    | warp.OPERATIONS
)
"""Makes the function of an instruction, for every operation that depends on its operands alone."""

WARP_WIDE = frozenset(warp.OPERATIONS)
"""Operations that read across lanes and so need `Operands.lanes`."""


def prepare(instruction: Instruction) -> Function:
    """The function of an instruction. It may warn of floating-point exceptions: call it under `np.errstate`."""
    return BUILDERS[instruction.op](instruction)


def evaluate(instruction: Instruction, operands: Operands) -> Outcome:
    """The results of one instruction for operand words of shape (..., 32), with the same shape. Values of lanes that do
    not execute are unspecified."""
    shape = np.broadcast_shapes(*(word.shape for word in operands[:3]))
    operands = operands._replace(lanes=np.broadcast_to(operands.lanes, shape))
    with np.errstate(all="ignore"):
        outcome = prepare(instruction)(operands)
    return Outcome(*(None if part is None else np.broadcast_to(part, shape) for part in outcome))


__all__ = ["BUILDERS", "WARP_WIDE", "Function", "Operands", "Outcome", "evaluate", "prepare"]
