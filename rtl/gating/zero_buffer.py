"""Zero buffer: what is known to be zero of each warp register ([RADAIDEH], section 4.3.2: its "mask buffer")."""

from functools import reduce
from itertools import product
from operator import or_

from amaranth import Cat, Module, Mux, ResetSignal, Signal, Value, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import SIDES, WRITE_PATHS, index_bits
from warploom.arch.mechanisms import Coalescing
from warploom.rtl.interfaces import place_layout, zero_layout

READERS = 4
"""Registers that an instruction names: three sources and the destination."""


def lookup_layout(config: SmConfig) -> data.StructLayout:
    """A read of the zero buffer; `left` of the place is the side on which the register is stored."""
    return data.StructLayout({"enable": 1, "place": place_layout(config)})


def renewal_layout(config: SmConfig) -> data.StructLayout:
    """A write to the zero buffer; `left` of the place is the side on which the register will be stored."""
    return data.StructLayout({"enable": 1, "place": place_layout(config), "zero": zero_layout(config)})


class ZeroBuffer(wiring.Component):
    """The zero masks, and R-bits, of all warp registers.

    One SRAM with a read and a write port for each reader and each bank, with coalescing each side of a bank: no more
    than one register of it is written in a cycle. What is looked up is there in the next cycle; only the SRAM that has
    it is read. No register is looked up in the cycle in which it is written: hazards keep its readers from issuing.

    While the reset is asserted one row of all is cleared in each cycle, by a counter that the reset leaves alone: it
    must last for at least `rows` cycles.

    Parameters
    ----------
    config : sizes, and the form of the zero mask.

    Members
    -------
    lookup : the sources of an instruction, and its destination.
    found : what is known of the registers that were looked up in the previous cycle; unspecified for others.
    write : for each write path, what is known from the next cycle on.
    """

    def __init__(self, *, config: SmConfig) -> None:
        self._config = config
        self._sides = len(SIDES) if config.coalescing is Coalescing.ON else 1
        super().__init__({
            "lookup": In(data.ArrayLayout(lookup_layout(config), READERS)),
            "found": Out(data.ArrayLayout(zero_layout(config), READERS)),
            "write": In(data.ArrayLayout(renewal_layout(config), len(WRITE_PATHS))),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        cleared = Signal(index_bits(self._config.rows), reset_less=True)
        with m.If(ResetSignal()):
            m.d.sync += cleared.eq(cleared + 1)
        parts = [self._part(m, bank, side, cleared)
                 for bank, side in product(range(self._config.banks), range(self._sides))]
        for found, shown in zip(self.found, zip(*parts, strict=True), strict=True):
            m.d.comb += found.eq(reduce(or_, shown))
        return m

    def _part(self, m: Module, bank: int, side: int, cleared: Value) -> list[Value]:
        """The SRAMs of a bank, or of a side of it; what each of them shows, zero where nothing was looked up."""
        name, clearing = f"bank_{bank}_{side}", ResetSignal()
        written = Signal(len(self.write), name=f"written_{name}")
        m.d.comb += written.eq(Cat(write.enable & self._lies(write.place, bank, side) for write in self.write))
        first, second = self.write
        row = Mux(clearing, cleared, Mux(written[0], first.place.row, second.place.row))
        zero = Mux(clearing, 0, Mux(written[0], first.zero.as_value(), second.zero.as_value()))
        shown = []
        for reader, lookup in enumerate(self.lookup):
            m.submodules[f"{name}_reader_{reader}"] = cells = Memory(
                shape=unsigned(len(zero)), depth=self._config.rows, init=())
            read_port, write_port = cells.read_port(), cells.write_port()
            here = Signal(name=f"found_{name}_reader_{reader}")
            m.d.sync += here.eq(read_port.en)
            m.d.comb += [
                read_port.addr.eq(lookup.place.row),
                read_port.en.eq(lookup.enable & self._lies(lookup.place, bank, side)),
                write_port.addr.eq(row),
                write_port.data.eq(zero),
                write_port.en.eq(written.any() | clearing),
            ]
            shown.append(Mux(here, read_port.data, 0))
        return shown

    def _lies(self, place: data.View, bank: int, side: int) -> Value:
        """Whether a place is in this part."""
        in_bank = place.bank == bank
        return in_bank & (place.left == side) if self._sides > 1 else in_bank
