"""MUFU: the functions that PTX defines as approximate, computed in float64 and rounded once to float32.

The results are within every error bound that PTX documents, and special values are those of its tables. The bits are
not those of any chip. The f64 forms with `ftz` use only the high word of their operand, and the low word of their
result is zero.
"""

from collections.abc import Callable

import numpy as np

from warploom.arch.isa import Instruction, Op
from warploom.arch.modifiers import Function as Approximate
from warploom.golden_model.functional.operations.common import Function, Operands, Outcome, Words, join, value
from warploom.golden_model.functional.operations.float32 import reader, writer
from warploom.golden_model.functional.operations.float64 import pair_of, write_double

APPROXIMATE = frozenset({Op.MUFU})
"""Operations for which PTX gives only an error bound; PTX operations lowered to them (`div.approx`) are approximate
too."""

FUNCTIONS: dict[Approximate, Callable[[np.ndarray], np.ndarray]] = {
    Approximate.RCP: lambda x: 1 / x, Approximate.RSQ: lambda x: 1 / np.sqrt(x), Approximate.SQRT: np.sqrt,
    Approximate.SIN: np.sin, Approximate.COS: np.cos, Approximate.LG2: np.log2, Approximate.EX2: np.exp2,
    Approximate.TANH: np.tanh,
}


def _single(i: Instruction) -> Function:
    read, write, function = reader(i), writer(i), FUNCTIONS[i.function]

    def approximate(a: Words, b: Words, c: Words) -> Words:
        result = function(read(a).astype(np.float64))
        return write(result.astype(np.float32), lambda: (result, None))

    return value(approximate)


def _double(i: Instruction) -> Function:
    root = i.function is Approximate.RSQ64H

    def function(operand: np.ndarray) -> np.ndarray:
        return 1 / np.sqrt(operand) if root else 1 / operand

    def gross(x: Operands) -> Outcome:
        high = join(np.zeros_like(x.b), x.b).view(np.float64)
        result = flush_double(function(flush_double(high)))
        return write_double(result)._replace(result=np.zeros(result.shape, np.uint32))

    return gross if i.ftz else lambda x: write_double(function(pair_of(x)))


def flush_double(values: np.ndarray) -> np.ndarray:
    """Subnormal float64 become zeros with their sign."""
    return np.where(np.abs(values) < 2.0**-1022, np.copysign(0.0, values), values)


def _build(i: Instruction) -> Function:
    return _double(i) if i.function in (Approximate.RCP64H, Approximate.RSQ64H) else _single(i)


OPERATIONS = {Op.MUFU: _build}
"""Makes the function of an approximate instruction."""
