"""`MaskBuffer`: how each warp register is stored (docs/contract/stored_forms.md; [RADAIDEH], section 3.6.2.8)."""

from warploom.arch.config import SmConfig
from warploom.golden_model.register_file.width import Encoding


class MaskBuffer:
    """The encoding of every (bank, row). The side is stored with `Alignment.WRITE` only; otherwise it is the reader's.

    After reset a register is one byte wide and positive, and where the side is stored, on the left in odd rows.
    """

    def __init__(self, config: SmConfig) -> None:
        self._stores_side = config.stores_sides
        rows = [Encoding(1, 0, self._stores_side and row % 2 == 1) for row in range(config.rows)]
        self._encodings = [rows.copy() for _ in range(config.banks)]

    def read(self, bank: int, row: int, left: bool) -> Encoding:
        """The encoding of a row; `left` is the side by register number (`warploom.arch.layout.left`)."""
        encoding = self._encodings[bank][row]
        return encoding if self._stores_side or encoding.left == left else encoding._replace(left=left)

    def write(self, bank: int, row: int, encoding: Encoding) -> None:
        """The end of the cycle in which the register is written."""
        self._encodings[bank][row] = encoding
