"""Sub-bank: the SRAM that the register file is built of (seed 000, Fig. 2.6)."""

from amaranth import Module, Mux, unsigned
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from rtl.sizes import check_positive
from warploom.arch.interfaces import index_bits

BYTES = 32
"""Width of a sub-bank: one entry holds the 32-bit registers of eight lanes, or with coalescing a byte of all lanes."""


class SubBank(wiring.Component):
    """One single-port SRAM of `rows` entries of 32 B with byte write enables.

    A read and a write share the address, so each cycle is one or the other. Read data is there in the next cycle;
    what the output shows after a cycle without a read is unspecified. There is no reset: an entry that was never
    written reads whatever the power-up left there.

    Parameters
    ----------
    rows : number of entries.

    Members
    -------
    enable, write : the port is used; it writes.
    row : the entry.
    data, byte_enable : what a write stores, and in which bytes.
    read_data : the entry read in the previous cycle.

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
            "data": In(8 * BYTES),
            "byte_enable": In(BYTES),
            "read_data": Out(8 * BYTES),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.cells = cells = Memory(shape=unsigned(8 * BYTES), depth=self._rows, init=())
        write_port = cells.write_port(granularity=8)
        read_port = cells.read_port()
        m.d.comb += [
            write_port.addr.eq(self.row),
            write_port.data.eq(self.data),
            write_port.en.eq(Mux(self.enable & self.write, self.byte_enable, 0)),
            read_port.addr.eq(self.row),
            read_port.en.eq(self.enable & ~self.write),
            self.read_data.eq(read_port.data),
        ]
        return m
