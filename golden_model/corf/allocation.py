"""Locations of registers with CORF: `MaskTable` by register, `Allocator` by entry ([RADAIDEH], Fig. 3.8, Table 3.4)."""

from typing import NamedTuple

from warploom.golden_model.byte_order import sub_bank_mask


class Location(NamedTuple):
    """An entry of a bank, and the sub-banks that hold a register there: the lowest ones (right) or the highest
    (left)."""

    row: int
    mask: int  # 0: nothing is stored

    @property
    def width(self) -> int:
        """Stored bytes of each lane."""
        return self.mask.bit_count()

    @property
    def left(self) -> bool:
        """Whether it is on the left. A register of full width, or one that is not stored, counts as on the right."""
        return self.mask & 0b1001 == 0b1000


NOWHERE = Location(0, 0)
"""The location of a register that was never written."""


class MaskTable:
    """The sub-banks of each (warp, register) in its entry; 0 after reset."""

    def __init__(self) -> None:
        self._masks: dict[tuple[int, int], int] = {}

    def read(self, warp: int, register: int) -> int:
        """The mask of a register."""
        return self._masks.get((warp, register), 0)

    def write(self, warp: int, register: int, mask: int) -> None:
        """The end of the cycle in which the register is written."""
        self._masks[warp, register] = mask


class Allocator:
    """The free register map of one bank: for each of `rows` entries the sub-banks in use. All are free after reset."""

    def __init__(self, rows: int) -> None:
        self.used = [0] * rows

    def choose(self, width: int, left: bool, own: Location, partner: Location) -> Location:
        """The new location of a register that is written as a whole: beside its partner if it fits there. Otherwise it
        gets an entry of its own, on the side of the hint `left`: its present entry (`own`) if no other register shares
        it, else the lowest free one.

        `partner` is `NOWHERE` if there is none. Raises `IndexError` when no entry is free.
        """
        if partner.mask:
            others = self._others(partner.row, own)
            for side in (False, True):
                mask = sub_bank_mask(width, side)
                if not others & mask:
                    return Location(partner.row, mask)
        alone = sub_bank_mask(width, left)
        if own.mask and not self._others(own.row, own):
            return Location(own.row, alone)
        return Location(self._free(), alone)

    def move(self, own: Location, to: Location) -> None:
        """The end of the cycle in which the register is written."""
        self.used[own.row] &= ~own.mask
        self.used[to.row] |= to.mask

    def _others(self, row: int, own: Location) -> int:
        """The sub-banks of an entry that other registers use."""
        return self.used[row] & ~own.mask if row == own.row else self.used[row]

    def _free(self) -> int:
        try:
            return self.used.index(0)
        except ValueError:
            raise IndexError("no entry is free") from None
