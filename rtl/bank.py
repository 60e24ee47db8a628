# amaranth: UnusedElaboratable=no
"""Register bank: four sub-banks side by side ([RADAIDEH], Fig. 2.6 and 3.11a)."""

from amaranth import Cat, Const, Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import COLUMNS, LANES, SUB_BANKS
from warploom.arch.fields import index_bits
from warploom.arch.interfaces import WARP_BITS
from warploom.rtl.shared import share
from warploom.rtl.sizes import check_positive
from warploom.rtl.subbank import BYTES, SubBank

SUB_BANK_BITS = 8 * BYTES

SUB_BANK_COLUMNS = COLUMNS // SUB_BANKS
"""Columns of a sub-bank when they are enabled one by one."""


class Bank(wiring.Component):
    """`rows` warp registers of 128 B behind one port for reads and writes, or one for each.

    Byte-interleaved: sub-bank k holds all four bytes of lanes 8k .. 8k + 7. Every access enables all sub-banks; a write
    stores the bytes of the enabled lanes only. Read data is valid in the next cycle.

    A gated bank enables only the columns that a read needs, or in which a write stores a byte; column c is bits 32c ..
    32c + 31 of a word.

    Parameters
    ----------
    rows : number of warp registers.
    gated : enable columns one by one.
    ports : 1 or 2. With two, a cycle may have a read and a write, of different rows.
    poison : show `warploom.rtl.subbank.POISON` where read data is unspecified.

    Members
    -------
    enable, write, row : with one port, the access.
    read, row, write, write_row : with two ports, whether there is a read, and of which row; and likewise a write.
    data : the word of a write.
    lanes : not gated: the lanes that a write stores.
    columns, byte_enable : gated: the columns that a read enables, and the bytes that a write stores.
    read_data : the warp register read in the previous cycle; unspecified after a cycle without a read, and in columns
        that were not enabled.

    Raises
    ------
    ValueError
        If `rows` is not positive.
    """

    def __init__(self, *, rows: int, gated: bool = False, ports: int = 1, poison: bool = False) -> None:
        check_positive(rows=rows)
        self._rows, self._gated, self._ports, self._poison = rows, gated, ports, poison
        super().__init__({
            **({"enable": In(1)} if ports == 1 else {"read": In(1), "write_row": In(index_bits(rows))}),
            "write": In(1),
            "row": In(index_bits(rows)),
            "data": In(WARP_BITS),
            **({"columns": In(COLUMNS), "byte_enable": In(SUB_BANKS * BYTES)} if gated else {"lanes": In(LANES)}),
            "read_data": Out(WARP_BITS),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        byte_enable = self.byte_enable if self._gated else Cat(lane.replicate(4) for lane in self.lanes)
        reads, writes = self._made()
        for k in range(SUB_BANKS):
            sub_bank = SubBank(rows=self._rows, columns=SUB_BANK_COLUMNS if self._gated else 1, ports=self._ports,
                               poison=self._poison)
            m.submodules[f"sub_bank_{k}"] = share(platform, "sub_bank", sub_bank)
            columns = self.columns.word_select(k, SUB_BANK_COLUMNS) if self._gated else Const(1, 1)
            m.d.comb += [
                sub_bank.read.eq(Mux(reads, columns, 0)),
                sub_bank.row.eq(self.row),
                sub_bank.data.eq(self.data.word_select(k, SUB_BANK_BITS)),
                sub_bank.byte_enable.eq(Mux(writes, byte_enable.word_select(k, BYTES), 0)),
                self.read_data.word_select(k, SUB_BANK_BITS).eq(sub_bank.read_data),
            ]
            if self._ports == 2:
                m.d.comb += sub_bank.write_row.eq(self.write_row)
        return m

    def _made(self) -> tuple[Value, Value]:
        """Whether there is a read, and a write."""
        if self._ports == 2:
            return self.read, self.write
        return self.enable & ~self.write, self.enable & self.write
