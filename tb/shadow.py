"""A shadow of the hardware's register file: the stored data, compared with the values that instructions wrote.

With windows the register file gets a value late, or never. So the shadow tracks its contents write by write, and also
the last value of each register, wherever that is. An eviction must write this value.
"""

from collections import defaultdict
from functools import lru_cache
from typing import NamedTuple

from warploom.arch.config import LANES, SUB_BANKS, SmConfig
from warploom.arch.interfaces import WARP_BITS
from warploom.golden_model.byte_order import byte_mask, from_sub_banks, to_sub_banks
from warploom.golden_model.register_file.reorder import reorder
from warploom.golden_model.register_file.width import Encoding
from warploom.golden_model.register_file.zero_mask import Interleaved, LaneOrder, Zero
from warploom.golden_model.words import merge, spread

_byte_mask = lru_cache(maxsize=1 << 16)(byte_mask)

Address = tuple[int, int]
"""Bank and row of a warp register."""

BYTES = WARP_BITS // 8

_ONES, _ALL_BYTES = (1 << WARP_BITS) - 1, (1 << BYTES) - 1

POISON = int.from_bytes(b"\xa5" * BYTES, "little")
"""The shadow of a register that was not stored yet."""


class Form(NamedTuple):
    """The stored form of a warp register in its columns. By default all its bytes are stored, in lane order."""

    encoding: Encoding = Encoding(width=SUB_BANKS, sign=0, left=False)
    zero: Zero = Zero(0)


class Shadow:
    """Every warp register twice: as columns that the hardware's writes change, and as a plain word of 32 values.

    `known` are the lanes of each register whose value is defined by the kernel and is still in the register file: a
    full write, which may move the register to other columns, loses lanes that are no longer live. `last` is the last
    value that instructions wrote to each register, and its lanes that the kernel defines. `_behind`, by warp slot, are
    the lanes for which the register file has an older value.
    """

    def __init__(self, config: SmConfig) -> None:
        self.known: dict[Address, int] = {}
        self.last: dict[Address, tuple[int, int]] = {}
        self._behind: defaultdict[int, dict[Address, int]] = defaultdict(dict)
        self._stored: dict[Address, int] = {}
        self._values: dict[Address, int] = {}
        self._coalescing = config.has_sides
        self._moves = self._coalescing or config.zeros_by_granule
        self._interleaved, self._lane_order = Interleaved(config.gating), LaneOrder(config.gating)

    def store(self, address: Address, form: Form, data: int, enables: int) -> None:
        """Write the columns of a register of this form: 1024 bits, and an enable for each byte."""
        written = _byte_mask(enables & self.enables(form))
        self._stored[address] = self._stored.get(address, POISON) & ~written | data & written

    def restart(self, warp: int) -> None:
        """Another warp begins in a slot: values of the previous warp that the register file did not get are dropped."""
        self._behind[warp].clear()

    def renew(self, address: Address) -> None:
        """A row is given to another register: what it holds is undefined until that is written."""
        for found in (self.known, self.last):
            found.pop(address, None)

    def complete(self, warp: int, address: Address, word: int, lanes: int, defined: int) -> None:
        """An instruction writes new values to the lanes of the mask, some of which are defined."""
        old, known = self.last.get(address, (0, 0))
        self.last[address] = merge(old, word, lanes), known & ~lanes | lanes & defined
        self._behind[warp][address] = self.behind(warp, address) | lanes

    def assign(self, warp: int, address: Address, lanes: int, full: bool) -> None:
        """The register file gets the last values of the lanes of the mask."""
        word, defined = self.last[address]
        kept = 0 if full and self._moves else self.known.get(address, 0) & ~lanes
        self.known[address] = kept | lanes & defined
        self._values[address] = merge(self._values.get(address, 0), word, lanes)
        self._behind[warp][address] &= ~lanes

    def behind(self, warp: int, address: Address) -> int:
        """The lanes for which the register file has an older value."""
        return self._behind[warp].get(address, 0)

    def current(self, warp: int, address: Address, dirty: int) -> int:
        """The lanes whose last value is defined and still stored, in the register file or, for lanes of the mask, in a
        collector. With hints a value that is never read again may be lost."""
        return self.known.get(address, 0) & ~self.behind(warp, address) | self.last[address][1] & dirty

    def stored(self, address: Address, form: Form) -> int:
        """The 32 values in the columns of a register of this form."""
        columns, (encoding, zero) = self._stored[address], form
        if self._coalescing:
            return self._interleaved.restore(from_sub_banks(columns, encoding.left), zero, encoding)
        return self._lane_order.restore(reorder(columns, zero.reorder), zero)

    def columns(self, address: Address, form: Form) -> tuple[int, int]:
        """The required contents of the columns of a register of this form, and the mask of these bits: the stored bits
        of the known lanes. Raises `AssertionError` if the form implies other values for the bits that are not
        stored."""
        encoding, zero = form
        interleaved, value = self._coalescing, self._values[address]
        low, high = (self._interleaved.restore(word, zero, encoding) if interleaved else
                     self._lane_order.restore(word, zero) for word in (0, _ONES))
        told = ~(low ^ high) & spread(self.known[address])
        assert not (value ^ low) & told, f"the model stores {value:#x} as {form}"
        stored = (low ^ high) & spread(self.known[address])
        if interleaved:
            return to_sub_banks(value & stored, encoding.left), to_sub_banks(stored, encoding.left)
        return reorder(value & stored, zero.reorder), reorder(stored, zero.reorder)

    def enables(self, form: Form) -> int:
        """The bytes whose enables belong to a register of this form; with sides the others belong to another
        register."""
        return _sub_banks(form.encoding.mask) if self._coalescing else _ALL_BYTES

    def value(self, address: Address) -> int:
        """The 32 values that were written to the register file."""
        return self._values[address]


@lru_cache
def _sub_banks(mask: int) -> int:
    """The mask over 128 bytes of a mask over sub-banks."""
    return sum((1 << LANES) - 1 << LANES * k for k in range(SUB_BANKS) if mask >> k & 1)
