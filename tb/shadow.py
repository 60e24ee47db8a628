"""The register file beside the hardware's: what the hardware stored, against what the instructions wrote."""

from functools import lru_cache
from typing import NamedTuple

from golden_model.coalescing.alignment import byte_mask, from_sub_banks
from golden_model.coalescing.width import Code
from golden_model.gating.reorder import reorder
from golden_model.gating.zero_mask import Interleaved, LaneOrder, Zero
from golden_model.words import merge
from warploom.arch.config import LANES, SUB_BANKS, Coalescing, Gating, SmConfig
from warploom.arch.interfaces import WARP_BITS

_byte_mask = lru_cache(maxsize=1 << 16)(byte_mask)

Place = tuple[int, int]
"""Bank and row of a warp register."""

BYTES = WARP_BITS // 8

POISON = int.from_bytes(b"\xa5" * BYTES, "little")
"""What the shadow holds where nothing was stored yet."""


class Form(NamedTuple):
    """How the columns hold a warp register. Left alone, all its bytes are stored, in lane order."""

    code: Code = Code(width=SUB_BANKS, sign=0, left=False)
    zero: Zero = Zero(0)


class Shadow:
    """Every warp register twice: as columns that are written as the hardware says, and as a plain word of 32 values.

    `known` are the lanes of each register whose value the kernel defines and the register file keeps: a full write that
    may move the register to other columns leaves lanes that are no longer live behind.
    """

    def __init__(self, config: SmConfig) -> None:
        self.known: dict[Place, int] = {}
        self._stored: dict[Place, int] = {}
        self._values: dict[Place, int] = {}
        self._coalescing = config.coalescing is Coalescing.ON
        self._moves = self._coalescing or config.gating is Gating.CROSS_LANE
        self._interleaved, self._lane_order = Interleaved(config.gating), LaneOrder(config.gating)

    def store(self, place: Place, form: Form, data: int, enables: int) -> None:
        """What the bank's columns take for a register of this form: 1024 bits, and an enable for each byte."""
        if self._coalescing:
            enables &= _sub_banks(form.code.mask)
        written = _byte_mask(enables)
        self._stored[place] = self._stored.get(place, POISON) & ~written | data & written

    def assign(self, place: Place, word: int, lanes: int, defined: int, full: bool) -> None:
        """An instruction gives the lanes of the mask new values, of which some are defined."""
        kept = 0 if full and self._moves else self.known.get(place, 0) & ~lanes
        self.known[place] = kept | lanes & defined
        self._values[place] = merge(self._values.get(place, 0), word, lanes)

    def stored(self, place: Place, form: Form) -> int:
        """The 32 values that the columns hold, for a register of this form."""
        columns, (code, zero) = self._stored[place], form
        if self._coalescing:
            return self._interleaved.restore(from_sub_banks(columns, code.left), zero, code)
        return self._lane_order.restore(reorder(columns, zero.reorder), zero)

    def value(self, place: Place) -> int:
        """The 32 values that instructions wrote."""
        return self._values[place]


@lru_cache
def _sub_banks(mask: int) -> int:
    """The mask over 128 bytes of a mask over sub-banks."""
    return sum((1 << LANES) - 1 << LANES * k for k in range(SUB_BANKS) if mask >> k & 1)
