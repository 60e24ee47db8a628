"""Zero buffer: the zero mask of each warp register ([RADAIDEH], section 4.3.2: its "mask buffer")."""

from functools import reduce
from itertools import product
from operator import or_

from amaranth import Cat, Module, Mux, ResetSignal, Signal, Value, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In

from warploom.arch.config import SmConfig
from warploom.arch.fields import index_bits
from warploom.arch.layout import metadata_banks, metadata_rows
from warploom.rtl import ports
from warploom.rtl.interfaces import zero_layout
from warploom.rtl.placement import entry_in_group


class ZeroBuffer(wiring.Component):
    """The zero masks, and R-bits, of all warp registers of a group.

    One SRAM with a read and a write port for each reader and each bank (with sides, each side of a bank): at most one
    register of it is written in a cycle. A look-up is valid in the next cycle, and reads only the SRAM that has the
    register. No register is looked up in the cycle in which it is written: hazards prevent its readers from issuing.

    While the reset is asserted, one entry of each SRAM is cleared in each cycle, by a counter that is not reset. The
    reset must last for at least `rows` cycles.

    Parameters
    ----------
    config : sizes, and the form of the zero mask.

    Members
    -------
    lookup : the zero masks of the registers of a taken instruction, in the next cycle; unspecified for others
        (`warploom.rtl.ports.table_lookup`). `left` of an address is the side on which the register is stored.
    renewal : for each write path, the zero mask from the next cycle on (`warploom.rtl.ports.table_renewal`); `left` is
        the new side of the register.
    """

    def __init__(self, *, config: SmConfig) -> None:
        self._config, layout = config, zero_layout(config)
        self._sides = ports.accesses(config)
        super().__init__({
            "lookup": In(ports.table_lookup(config, layout)),
            "renewal": In(ports.table_renewal(config, layout)).array(len(config.write_paths)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        cleared = Signal(index_bits(metadata_rows(self._config)), reset_less=True)
        with m.If(ResetSignal()):
            m.d.sync += cleared.eq(cleared + 1)
        parts = [self._part(m, bank, side, cleared)
                 for bank, side in product(range(metadata_banks(self._config)), range(self._sides))]
        for found, shown in zip(self.lookup.found, zip(*parts, strict=True), strict=True):
            m.d.comb += found.eq(reduce(or_, shown))
        return m

    def _part(self, m: Module, bank: int, side: int, cleared: Value) -> list[Value]:
        """The SRAMs of a bank, or of a side of it. Returns the output of each, zero if nothing was looked up."""
        name, clearing = f"bank_{bank}_{side}", ResetSignal()
        written = Signal(len(self.renewal), name=f"written_{name}")
        m.d.comb += written.eq(Cat(
            renewal.enable & self._lies(renewal.address, bank, side) for renewal in self.renewal))
        *before, last = self.renewal
        entry, zero = self._entry(last.address), last.metadata.as_value()
        for number, renewal in reversed(list(enumerate(before))):
            entry = Mux(written[number], self._entry(renewal.address), entry)
            zero = Mux(written[number], renewal.metadata.as_value(), zero)
        entry, zero = Mux(clearing, cleared, entry), Mux(clearing, 0, zero)
        shown = []
        for reader, address in enumerate(self.lookup.address):
            m.submodules[f"{name}_reader_{reader}"] = cells = Memory(
                shape=unsigned(len(zero)), depth=metadata_rows(self._config), init=())
            read_port, write_port = cells.read_port(), cells.write_port()
            here = Signal(name=f"found_{name}_reader_{reader}")
            m.d.sync += here.eq(read_port.en)
            m.d.comb += [
                read_port.addr.eq(self._entry(address)),
                read_port.en.eq(self.lookup.taken[reader] & self._lies(address, bank, side)),
                write_port.addr.eq(entry),
                write_port.data.eq(zero),
                write_port.en.eq(written.any() | clearing),
            ]
            shown.append(Mux(here, read_port.data, 0))
        return shown

    def _entry(self, address: data.View) -> Value:
        """The entry of an address, in its part."""
        return entry_in_group(self._config, address)[1]

    def _lies(self, address: data.View, bank: int, side: int) -> Value:
        """Whether an address is in this part."""
        in_bank = entry_in_group(self._config, address)[0] == bank
        return in_bank & (address.left == side) if self._sides > 1 else in_bank
