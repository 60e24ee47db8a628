"""Register bank: four sub-banks side by side (seed 000, Fig. 2.6 and 3.11a)."""

import random
from collections.abc import Sequence

from amaranth import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from rtl.subbank import BYTES, SubBank
from warploom.arch.config import LANES, SUB_BANKS
from warploom.arch.interfaces import WARP_BITS, index_bits

SUB_BANK_BITS = 8 * BYTES


def powerup_words(rows: int, seed: int) -> list[int]:
    """Random power-up contents of a bank: one 1024-bit integer a row."""
    source = random.Random(seed)
    return [source.getrandbits(WARP_BITS) for _ in range(rows)]


class Bank(wiring.Component):
    """`rows` warp registers of 128 B behind one read-write port.

    Byte-interleaved: sub-bank k holds all four bytes of lanes 8k .. 8k + 7. Every access enables all sub-banks; a
    write stores the bytes of the enabled lanes only. Read data is there in the next cycle.

    Parameters
    ----------
    rows : number of warp registers.
    init : power-up contents, one 1024-bit integer a row; zeros where it ends.

    Members
    -------
    enable, write, row : the access.
    data, lanes : what a write stores, and the lanes it stores.
    read_data : the warp register read in the previous cycle; unspecified after a cycle without a read.

    Raises
    ------
    ValueError
        When `rows` is not positive or `init` is longer than the bank.
    """

    def __init__(self, *, rows: int, init: Sequence[int] = ()) -> None:
        if not isinstance(rows, int) or rows < 1:
            raise ValueError(f"rows must be a positive integer, not {rows!r}")
        if len(init) > rows:
            raise ValueError(f"init must have at most {rows} entries, not {len(init)}")
        self._rows, self._init = rows, init
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
            init = [word >> k * SUB_BANK_BITS & (1 << SUB_BANK_BITS) - 1 for word in self._init]
            m.submodules[f"sub_bank_{k}"] = sub_bank = SubBank(rows=self._rows, init=init)
            m.d.comb += [
                sub_bank.enable.eq(self.enable),
                sub_bank.write.eq(self.write),
                sub_bank.row.eq(self.row),
                sub_bank.data.eq(self.data.word_select(k, SUB_BANK_BITS)),
                sub_bank.byte_enable.eq(byte_enable.word_select(k, BYTES)),
                self.read_data.word_select(k, SUB_BANK_BITS).eq(sub_bank.read_data),
            ]
        return m
