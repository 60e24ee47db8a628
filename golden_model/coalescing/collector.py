"""`CoalescingCollector`: a collector whose port has four slices (docs/timing.md, section 9; seed 000, Fig. 3.19)."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from golden_model.coalescing.arbiter import Read
from golden_model.coalescing.width import Code, restore
from golden_model.collector import SLOTS, Slots
from golden_model.placement import Place
from warploom.arch.config import COLUMNS, SUB_BANKS, SmConfig
from warploom.arch.mechanisms import Alignment

NO_REGISTER = Code(width=SUB_BANKS, sign=0, left=False)
"""The code of an operand that comes from no register: it passes as it is."""


_COLUMNS = [COLUMNS // SUB_BANKS * width for width in range(SUB_BANKS + 1)]
"""Columns of a slot that an operand of so many bytes takes."""

_request = cache(Read)  # few, and they recur


class CoalescingCollector(Slots):
    """Takes several operands a cycle; `codes` tells how each slot's register is stored.

    `words` hold what the banks put out, bytes that were not stored included: only `operands` are what the lanes read.
    Within a cycle call `capture` for the operands granted in the previous cycle, then `grant`, then `release` or
    `issue`.
    """

    def __init__(self, config: SmConfig, index: int) -> None:
        super().__init__(index)
        self.codes: Sequence[Code] = (NO_REGISTER,) * len(SLOTS)
        self._sided = config.alignment in (Alignment.REG, Alignment.WRITE)
        self._offers: dict[Read, int] = {}
        self._offered: int | None = None  # the slots waiting when `_offers` was made

    def issue(
        self, fields: Mapping[str, Any], sources: Sequence[Place], destination: Place, codes: Sequence[Code]
    ) -> None:
        """The end of the issue cycle: take an instruction, given as the fields of the issue port, its places and the
        codes of its sources (`NO_REGISTER` for slots that read none) and, last, of its destination."""
        columns = [_COLUMNS[code.width] for code in codes[:-1]]
        self._hold(fields, sources, destination, codes, codes[-1].fields, columns)

    def _hold(  # noqa: PLR0917 - what `_take` takes, and codes
        self, fields: Mapping[str, Any], sources: Sequence[Place], destination: Place, codes: Sequence[Code],
        stored: Mapping[str, int], columns: Sequence[int],
    ) -> None:  # fmt: skip
        self._take(fields, sources, destination, stored, columns)
        self.codes, self._offered = codes[:-1], None

    def offers(self) -> dict[Read, int]:
        """For each bank and side the lowest waiting slot there. With the bounds, where sides mean nothing, the lowest
        waiting slot of each bank is on side 0 and the next one on side 1."""
        if self._offered != self.waiting:
            self._offered = self.waiting
            self._offers = self._find()
        return self._offers

    def _find(self) -> dict[Read, int]:
        offers: dict[Read, int] = {}
        taken = set()  # bank and side
        for slot in SLOTS:
            if self.waiting >> slot & 1:
                bank, code = self.sources[slot].bank, self.codes[slot]
                side = int(code.left if self._sided else (bank, 0) in taken)
                if (bank, side) not in taken:
                    taken.add((bank, side))
                    offers[_request(bank, side, self.index, code.width)] = slot
        return offers

    def grant(self, read: Read) -> int:
        """One of the offers of this cycle is granted: its slot. The word is captured in the next cycle."""
        slot = self._offers[read]
        self.waiting &= ~(1 << slot)
        return slot

    def capture(self, slot: int, word: int) -> None:
        """The word of a slot granted in the previous cycle arrives."""
        self._fill(slot, word)

    def operands(self) -> tuple[int, int, int]:
        """The three operands with all their bytes; meaningful when ready."""
        a, b, c = map(restore, self.words, self.codes)
        return a, b, c
