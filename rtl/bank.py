# amaranth: UnusedElaboratable=no
"""Register bank: four sub-banks side by side (seed 000, Fig. 2.6 and 3.11a)."""

from amaranth import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from rtl.shared import share
from rtl.sizes import check_positive
from rtl.subbank import BYTES, SubBank
from warploom.arch.config import LANES, SUB_BANKS
from warploom.arch.interfaces import WARP_BITS, index_bits

SUB_BANK_BITS = 8 * BYTES


class Bank(wiring.Component):
    """`rows` warp registers of 128 B behind one read-write port.

    Byte-interleaved: sub-bank k holds all four bytes of lanes 8k .. 8k + 7. Every access enables all sub-banks; a
    write stores the bytes of the enabled lanes only. Read data is there in the next cycle.

    Parameters
    ----------
    rows : number of warp registers.

    Members
    -------
    enable, write, row : the access.
    data, lanes : what a write stores, and the lanes it stores.
    read_data : the warp register read in the previous cycle; unspecified after a cycle without a read.

    Raises
    ------
    ValueError
        When `rows` is not positive.
    """

    def __init__(self, *, rows: int) -> None:
        check_positive(rows=rows)
        self._rows = rows
        super().__init__({
            "enable": In(1),
            "write": In(1),
            "row": In(index_bits(rows)),
            "data": In(WARP_BITS),
            "lanes": In(LANES),
            "read_data": Out(WARP_BITS),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        byte_enable = Cat(lane.replicate(4) for lane in self.lanes)
        for k in range(SUB_BANKS):
            sub_bank = SubBank(rows=self._rows)
            m.submodules[f"sub_bank_{k}"] = share(platform, "sub_bank", sub_bank)
            m.d.comb += [
                sub_bank.enable.eq(self.enable),
                sub_bank.write.eq(self.write),
                sub_bank.row.eq(self.row),
                sub_bank.data.eq(self.data.word_select(k, SUB_BANK_BITS)),
                sub_bank.byte_enable.eq(byte_enable.word_select(k, BYTES)),
                self.read_data.word_select(k, SUB_BANK_BITS).eq(sub_bank.read_data),
            ]
        return m
