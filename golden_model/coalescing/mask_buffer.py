"""`MaskBuffer`: how each warp register is stored (docs/timing.md, section 9; seed 000, section 3.6.2.8)."""

from golden_model.coalescing.width import Code
from warploom.arch.config import Alignment, SmConfig

_CODES = [Code(width, sign, left) for left in (False, True) for sign in (0, 1) for width in (1, 2, 3, 4)]
"""By `Code.packed`."""

_SIDELESS = 0b111
"""The bits of a packed code without its side."""


class MaskBuffer:
    """The code of every (bank, row). The side is stored with `Alignment.WRITE` only; otherwise it is the reader's.

    After reset a register is one byte wide and positive, and where the side is stored, on the left in odd rows.
    """

    def __init__(self, config: SmConfig) -> None:
        self._stores_side = config.alignment is Alignment.WRITE
        rows = [Code(1, 0, self._stores_side and row % 2 == 1).packed for row in range(config.rows)]
        self._packed = [rows.copy() for _ in range(config.banks)]

    def read(self, bank: int, row: int, left: bool) -> Code:
        """The code of a row; `left` is the side by register number (`warploom.arch.layout.left`)."""
        packed = self._packed[bank][row]
        return _CODES[packed if self._stores_side else packed & _SIDELESS | left << 3]

    def write(self, bank: int, row: int, code: Code) -> None:
        """The end of the cycle in which the register is written."""
        self._packed[bank][row] = code.packed
