"""Cases as values of the port `operands` of a unit."""

from collections.abc import Callable

import numpy as np

from warploom.arch.isa import Instruction
from warploom.tb.codec import Codec
from warploom.tb.float.cases import Cases

Control = Callable[[Instruction], dict[str, object]]
"""The fields of the port that follow from an instruction; the others are operands, by their names."""


def packed(port: Codec, cases: Cases, control: Control) -> np.ndarray:
    """The port's value for each case, as a row of 32-bit words, the lowest first."""
    rows = np.zeros((len(cases), -(-port.width // 32) + 1), np.uint32)
    fixed = port.pack(control(cases.instruction))
    rows[:] = np.frombuffer(fixed.to_bytes(4 * rows.shape[1], "little"), "<u4")
    columns = {"pred": cases.pred, **dict(zip("abc", cases.operands, strict=True))}
    for name, column in columns.items():
        if name in port.spans:
            word, bit = divmod(port.spans[name][0], 32)
            moved = column.astype(np.uint64) << np.uint64(bit)
            rows[:, word] |= moved.astype(np.uint32)
            rows[:, word + 1] |= (moved >> np.uint64(32)).astype(np.uint32)
    return rows[:, :-1]
