"""Sub-bank: the SRAM that the register file is built of ([RADAIDEH], Fig. 2.6)."""

from amaranth import Const, Module, Mux, Signal, unsigned
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from warploom.arch.interfaces import index_bits
from warploom.rtl.sizes import check_positive

BYTES = 32
"""Width of a sub-bank: one entry holds the 32-bit registers of eight lanes, or with coalescing a byte of all lanes."""

POISON = 0xA5
"""What a poisoned sub-bank shows in each byte that it did not read."""


class SubBank(wiring.Component):
    """One single-port SRAM of `rows` entries of 32 B with byte write enables, cut into columns of the same width.

    A read and a write share the address, so each cycle is one or the other. Each column is a memory of its own. Read
    data is there in the next cycle; what a column shows after a cycle in which it was not read is unspecified. There is
    no reset: an entry that was never written reads whatever the power-up left there.

    Parameters
    ----------
    rows : number of entries.
    columns : how many parts of the entry are enabled by themselves.
    poison : show `POISON` where the output is unspecified: for tests that nobody looks there.

    Members
    -------
    enable : for each column, whether it is used.
    write : the port writes.
    row : the entry.
    data, byte_enable : what a write stores, and in which bytes of the enabled columns.
    read_data : the entry read in the previous cycle.

    Raises
    ------
    ValueError
        When `rows` or `columns` is not positive, or columns do not share the entry evenly.
    """

    def __init__(self, *, rows: int, columns: int = 1, poison: bool = False) -> None:
        check_positive(rows=rows, columns=columns)
        if BYTES % columns:
            raise ValueError(f"columns must divide {BYTES}, not {columns!r}")
        self._rows, self._columns, self._poison = rows, columns, poison
        super().__init__({
            "enable": In(columns),
            "write": In(1),
            "row": In(index_bits(rows)),
            "data": In(8 * BYTES),
            "byte_enable": In(BYTES),
            "read_data": Out(8 * BYTES),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for column in range(self._columns):
            self._connect_column(m, column)
        return m

    def _connect_column(self, m: Module, column: int) -> None:
        """The memory of a column."""
        size, enable = BYTES // self._columns, self.enable[column]
        name = "cells" if self._columns == 1 else f"cells_{column}"
        m.submodules[name] = cells = Memory(shape=unsigned(8 * size), depth=self._rows, init=())
        write_port, read_port = cells.write_port(granularity=8), cells.read_port()
        shown = read_port.data
        if self._poison:
            was_read = Signal(name=f"was_read_{column}")
            m.d.sync += was_read.eq(read_port.en)
            shown = Mux(was_read, shown, Const(POISON, 8).replicate(size))
        m.d.comb += [
            write_port.addr.eq(self.row),
            write_port.data.eq(self.data.word_select(column, 8 * size)),
            write_port.en.eq(Mux(enable & self.write, self.byte_enable.word_select(column, size), 0)),
            read_port.addr.eq(self.row),
            read_port.en.eq(enable & ~self.write),
            self.read_data.word_select(column, 8 * size).eq(shown),
        ]
