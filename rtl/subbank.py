"""Sub-bank: the SRAM of which the register file is built ([RADAIDEH], Fig. 2.6)."""

from amaranth import Const, Module, Mux, Signal, unsigned
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from warploom.arch.fields import index_bits
from warploom.rtl.sizes import check_positive

BYTES = 32
"""Width of a sub-bank: one entry holds the 32-bit registers of eight lanes, or with coalescing a byte of all lanes."""

POISON = 0xA5
"""The value of each byte that a poisoned sub-bank did not read."""


class SubBank(wiring.Component):
    """One SRAM of `rows` entries of 32 B with byte write enables, divided into columns of the same width.

    With one port a read and a write share the address, so each cycle is one or the other. With two, a cycle may have
    both, of different entries. Each column is a separate memory. Read data is valid in the next cycle; the output of a
    column that was not read is unspecified. There is no reset: an entry that was never written has undefined power-up
    contents.

    Parameters
    ----------
    rows : number of entries.
    columns : number of parts of the entry with separate enables.
    ports : one port for reads and writes, or one for each.
    poison : show `POISON` where the output is unspecified, to test that it is never used.

    Members
    -------
    read : the columns that are read; with one port none in a cycle with a write.
    row : the entry; with two ports that of a read.
    write_row : with two ports, the entry of a write.
    data, byte_enable : the data of a write, and the bytes that it stores; with one port none in a cycle with a read.
    read_data : the entry read in the previous cycle.

    Raises
    ------
    ValueError
        If `rows` or `columns` is not positive, or columns do not divide the entry evenly.
    """

    def __init__(self, *, rows: int, columns: int = 1, ports: int = 1, poison: bool = False) -> None:
        check_positive(rows=rows, columns=columns)
        if BYTES % columns:
            raise ValueError(f"columns must divide {BYTES}, not {columns!r}")
        self._rows, self._columns, self._ports, self._poison = rows, columns, ports, poison
        super().__init__({
            "read": In(columns),
            "row": In(index_bits(rows)),
            **({"write_row": In(index_bits(rows))} if ports == 2 else {}),
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
        size = BYTES // self._columns
        name = "cells" if self._columns == 1 else f"cells_{column}"
        m.submodules[name] = cells = Memory(shape=unsigned(8 * size), depth=self._rows, init=())
        write_port, read_port = cells.write_port(granularity=8), cells.read_port()
        shown = read_port.data
        if self._poison:
            was_read = Signal(name=f"was_read_{column}")
            m.d.sync += was_read.eq(read_port.en)
            shown = Mux(was_read, shown, Const(POISON, 8).replicate(size))
        m.d.comb += [
            write_port.addr.eq(self.row if self._ports == 1 else self.write_row),
            write_port.data.eq(self.data.word_select(column, 8 * size)),
            write_port.en.eq(self.byte_enable.word_select(column, size)),
            read_port.addr.eq(self.row),
            read_port.en.eq(self.read[column]),
            self.read_data.word_select(column, 8 * size).eq(shown),
        ]
