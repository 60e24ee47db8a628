"""MUFU: the functions that PTX leaves approximate, computed in float64 and rounded once to float32.

That is within every error bound that PTX documents, and special values are those of its tables; the bits are not those
of any chip. The f64 forms look at the high word of their operand and give a result whose low word is zero.
"""

import numpy as np

from golden_model.operations.common import Function, Operands, Outcome, value
from golden_model.operations.float32 import reader, writer
from golden_model.operations.ieee import DOUBLE
from warploom.arch.isa import Function as Approximate
from warploom.arch.isa import Instruction, Op

APPROXIMATE = frozenset({Op.MUFU})
"""Operations whose results PTX bounds and does not fix; what is lowered to them (`div.approx`) is approximate too."""

FUNCTIONS = {
    Approximate.RCP: lambda x: 1 / x, Approximate.RSQ: lambda x: 1 / np.sqrt(x), Approximate.SQRT: np.sqrt,
    Approximate.SIN: np.sin, Approximate.COS: np.cos, Approximate.LG2: np.log2, Approximate.EX2: np.exp2,
    Approximate.TANH: np.tanh,
}  # fmt: skip


def _single(i: Instruction) -> Function:
    read, write, function = reader(i), writer(i), FUNCTIONS[i.function]
    return value(lambda a, b, c: write(function(read(a).astype(np.float64)).astype(np.float32)))


def _double(i: Instruction) -> Function:
    root = i.function is Approximate.RSQ64H

    def approximate(x: Operands) -> Outcome:
        high = np.where(x.b & np.uint32(0x7FF00000) == 0, x.b & np.uint32(0x80000000), x.b)  # subnormals are flushed
        operand = (high.astype(np.uint64) << np.uint64(32)).view(np.float64)
        result = 1 / np.sqrt(operand) if root else 1 / operand
        result = np.where(np.abs(result) < 2.0**-1022, np.copysign(0.0, result), result)
        bits = np.where(np.isnan(result), DOUBLE.nan, result.view(np.uint64))
        word = (bits >> np.uint64(32)).astype(np.uint32)
        return Outcome(np.zeros_like(word), word)

    return approximate


def _build(i: Instruction) -> Function:
    return _double(i) if i.function in (Approximate.RCP64H, Approximate.RSQ64H) else _single(i)


OPERATIONS = {Op.MUFU: _build}
"""How to make the function of an approximate instruction."""
