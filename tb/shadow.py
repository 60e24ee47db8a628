"""The register file beside the hardware's: what the hardware stored, against what the instructions wrote."""

from functools import lru_cache

from golden_model.coalescing.alignment import byte_mask, from_sub_banks
from golden_model.coalescing.width import Code, restore
from golden_model.words import merge
from warploom.arch.config import LANES, SUB_BANKS, Coalescing, SmConfig
from warploom.arch.interfaces import WARP_BITS

_byte_mask = lru_cache(maxsize=1 << 16)(byte_mask)

Place = tuple[int, int]
"""Bank and row of a warp register."""

BYTES = WARP_BITS // 8

POISON = int.from_bytes(b"\xa5" * BYTES, "little")
"""What the shadow holds where nothing was stored yet."""

UNCODED = Code(width=SUB_BANKS, sign=0, left=False)
"""A register of the baseline: all its bytes are stored."""


class Shadow:
    """Every warp register twice: as sub-banks that are written as the hardware says, and as a plain word of 32 values.

    `known` are the lanes of each register whose value the kernel defines and the register file keeps: with coalescing a
    full write moves the register to other sub-banks and leaves lanes that are no longer live behind.
    """

    def __init__(self, config: SmConfig) -> None:
        self.known: dict[Place, int] = {}
        self._stored: dict[Place, int] = {}
        self._values: dict[Place, int] = {}
        self._coalescing = config.coalescing is Coalescing.ON

    def store(self, place: Place, code: Code, data: int, enables: int) -> None:
        """What the bank's sub-banks take for a register of this code: 1024 bits, and an enable for each byte."""
        if self._coalescing:
            enables &= _sub_banks(code.mask)
        written = _byte_mask(enables)
        self._stored[place] = self._stored.get(place, POISON) & ~written | data & written

    def assign(self, place: Place, word: int, lanes: int, defined: int, full: bool) -> None:
        """An instruction gives the lanes of the mask new values, of which some are defined."""
        moved = full and self._coalescing
        kept = 0 if moved else self.known.get(place, 0) & ~lanes
        self.known[place] = kept | lanes & defined
        self._values[place] = merge(self._values.get(place, 0), word, lanes)

    def stored(self, place: Place, code: Code) -> int:
        """The 32 values that the sub-banks hold, for a register of this code."""
        if not self._coalescing:
            return self._stored[place]
        return restore(from_sub_banks(self._stored[place], code.left), code)

    def value(self, place: Place) -> int:
        """The 32 values that instructions wrote."""
        return self._values[place]


@lru_cache
def _sub_banks(mask: int) -> int:
    """The mask over 128 bytes of a mask over sub-banks."""
    return sum((1 << LANES) - 1 << LANES * k for k in range(SUB_BANKS) if mask >> k & 1)
