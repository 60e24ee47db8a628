# amaranth: UnusedElaboratable=no
"""Dual-access register bank: a right and a left access a cycle, in different sub-banks ([RADAIDEH], Fig. 3.15b)."""

from amaranth import Cat, Module, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import COLUMNS, SUB_BANKS
from warploom.arch.fields import index_bits
from warploom.arch.interfaces import WARP_BITS
from warploom.rtl.bank import SUB_BANK_BITS, SUB_BANK_COLUMNS
from warploom.rtl.select import merge
from warploom.rtl.shared import share
from warploom.rtl.sizes import check_positive
from warploom.rtl.subbank import BYTES, SubBank


def access_layout(rows: int) -> data.StructLayout:
    """One of the two accesses of a bank: `mask` gives the sub-banks that it uses."""
    return data.StructLayout({"enable": 1, "write": 1, "row": index_bits(rows), "mask": SUB_BANKS})


class DualBank(wiring.Component):
    """`rows` warp registers of 128 B behind a right and a left port, each for reading or writing.

    Sub-bank form: sub-bank k holds one byte of each of the 32 lanes. Only the sub-banks of an access are enabled, each
    with the row of the access that uses it: one multiplexer for each address. The arbiter ensures that the two masks
    never overlap. Read data is valid in the next cycle.

    A gated bank enables, in these sub-banks, only the columns that a read needs, or in which a write stores a byte;
    column c is bits 32c .. 32c + 31 of a word.

    No enable waits for the choice of a side: masks, bytes and columns are zero unless a write or read was granted them.

    Parameters
    ----------
    rows : number of warp registers.
    gated : enable columns one by one.
    poison : show `warploom.rtl.subbank.POISON` where read data is unspecified.

    Members
    -------
    right, left : the accesses (`access_layout`).
    data, byte_enable : the word of writes, with sub-bank k in bits 256k .. 256k + 255, and its bytes that are stored,
        with sub-bank k in bits 32k .. 32k + 31. Two writes share both, each in its own sub-banks; no byte is enabled in
        other sub-banks.
    columns : gated: the columns that reads enable. Two reads share it, each in its own sub-banks; no column is enabled
        in other sub-banks.
    read_data : in bits 256k .. 256k + 255 what sub-bank k read in the previous cycle; unspecified after a cycle in
        which it did not read, and in columns that were not enabled.

    Raises
    ------
    ValueError
        If `rows` is not positive.
    """

    def __init__(self, *, rows: int, gated: bool = False, poison: bool = False) -> None:
        check_positive(rows=rows)
        self._rows, self._gated, self._poison = rows, gated, poison
        super().__init__({
            "right": In(access_layout(rows)),
            "left": In(access_layout(rows)),
            "data": In(WARP_BITS),
            "byte_enable": In(SUB_BANKS * BYTES),
            **({"columns": In(COLUMNS)} if gated else {}),
            "read_data": Out(WARP_BITS),
        })
        self._sides = self.right, self.left

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for k in range(SUB_BANKS):
            sub_bank = SubBank(rows=self._rows, columns=SUB_BANK_COLUMNS if self._gated else 1, poison=self._poison)
            m.submodules[f"sub_bank_{k}"] = share(platform, "sub_bank", sub_bank)
            m.d.comb += [
                sub_bank.read.eq(self._read(k)),
                sub_bank.row.eq(merge((side.mask[k] for side in self._sides), (side.row for side in self._sides))),
                sub_bank.data.eq(self.data.word_select(k, SUB_BANK_BITS)),
                sub_bank.byte_enable.eq(self.byte_enable.word_select(k, BYTES)),
                self.read_data.word_select(k, SUB_BANK_BITS).eq(sub_bank.read_data),
            ]
        return m

    def _read(self, k: int) -> Value:
        """The columns of sub-bank `k` that are read."""
        if self._gated:
            return self.columns.word_select(k, SUB_BANK_COLUMNS)
        return Cat(~side.write & side.mask[k] for side in self._sides).any()
