"""`MaskBuffer`: the encoding of each warp register (docs/contract/stored_forms.md; [RADAIDEH], section 3.6.2.8)."""

from warploom.arch.config import SmConfig
from warploom.arch.layout import metadata_rows
from warploom.golden_model.register_file.width import ENCODINGS, Encoding


class MaskBuffer:
    """The encoding of every (part, entry): a part for each bank, with several issue ports of each of their groups of
    warps. The side is stored with `Alignment.WRITE` only; otherwise it is the reader's.

    After reset a register is one byte wide and positive, and where the side is stored, on the left in odd entries.
    """

    def __init__(self, config: SmConfig) -> None:
        self._stores_side = config.stores_sides
        entries = [Encoding(1, 0, self._stores_side and entry % 2 == 1) for entry in range(metadata_rows(config))]
        self._encodings = [entries.copy() for _ in range(config.banks * config.issue_ports)]

    def read(self, part: int, entry: int, left: bool) -> Encoding:
        """The encoding of an entry; `left` is the side by register number (`warploom.arch.layout.left`)."""
        encoding = self._encodings[part][entry]
        return encoding if self._stores_side else ENCODINGS[encoding.width][encoding.sign][left]

    def write(self, part: int, entry: int, encoding: Encoding) -> None:
        """The end of the cycle in which the register is written."""
        self._encodings[part][entry] = encoding
