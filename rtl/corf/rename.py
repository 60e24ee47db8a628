"""Rename table: which entry of the register file holds a warp register ([RADAIDEH], Table 3.4)."""

from amaranth import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from warploom.arch.config import SmConfig
from warploom.arch.fields import index_bits
from warploom.rtl.corf.names import PATHS, REGISTER_BITS, REGISTERS, SOURCES, name_layout


class RenameTable(wiring.Component):
    """The entry number of every warp register, in SRAM; unspecified before the first write.

    Each bank of the register file that has warps has a part of the table, for their registers, so two writes go to two
    parts. A part is `COPIES` memories with one read and one write port each: an instruction looks up its sources and
    its destination in one cycle, and both write paths the partners of their registers, which may be in one part. Read
    data is valid in the next cycle. A look-up of a partner that is written in the same cycle gives the new value. For a
    source it is unspecified: no instruction issues that reads a register which is being written.

    Parameters
    ----------
    config : sizes.

    Members
    -------
    warp, source : the warp of the instruction that issues, and its registers.
    source_entry : their entries, one cycle later.
    partner, partner_entry : for each write path, a register and, one cycle later, its entry.
    write : for each write path, a register and its new entry; never two for the same bank.
    """

    COPIES = SOURCES + PATHS

    def __init__(self, *, config: SmConfig) -> None:
        self._config = config
        self._bank_bits = exact_log2(config.banks)
        self.bits = config.warps * REGISTERS * self._entry_bits
        """Bits in use, in one copy."""
        super().__init__({
            "warp": In(index_bits(config.warps)),
            "source": In(data.ArrayLayout(REGISTER_BITS, SOURCES)),
            "source_entry": Out(data.ArrayLayout(self._entry_bits, SOURCES)),
            "partner": In(data.ArrayLayout(name_layout(config), PATHS)),
            "partner_entry": Out(data.ArrayLayout(self._entry_bits, PATHS)),
            "write": In(data.ArrayLayout(data.StructLayout(
                {"enable": 1, "name": name_layout(config), "entry": self._entry_bits}), PATHS)),
        })

    @property
    def _entry_bits(self) -> int:
        return index_bits(self._config.banks * self._config.rows)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        reads = [(self.warp, register) for register in self.source]
        reads += [(partner.warp, partner.register) for partner in self.partner]
        outputs = [*self.source_entry, *self.partner_entry]
        found = [self._parts(m, copy, *read) for copy, read in enumerate(reads)]
        for (warp, _), entries, output in zip(reads, found, outputs, strict=True):
            bank = Signal(index_bits(self._config.banks))
            m.d.sync += bank.eq(warp[: self._bank_bits])
            m.d.comb += output.eq(Array(entries)[bank])
        for partner, output in zip(self.partner, self.partner_entry, strict=True):
            self._bypass(m, partner, output)
        return m

    def _parts(self, m: Module, copy: int, warp: Value, register: Value) -> list[Value]:
        """One copy of the table: the outputs of a look-up in the next cycle, by bank."""
        depth = -(-self._config.warps // self._config.banks) << REGISTER_BITS
        entries = []
        for bank in range(min(self._config.banks, self._config.warps)):  # banks with a warp
            memory = Memory(shape=self._entry_bits, depth=depth, init=())
            m.submodules[f"copy_{copy}_bank_{bank}"] = memory
            write, read = memory.write_port(), memory.read_port()
            first, second = (path.enable & self._in_bank(path.name.warp, bank) for path in self.write)
            chosen = Mux(first, self.write[0].as_value(), self.write[1].as_value())
            update = data.View(self.write[0].shape(), chosen)
            m.d.comb += [
                write.en.eq(first | second),
                write.addr.eq(self._address(update.name.warp, update.name.register)),
                write.data.eq(update.entry),
                read.en.eq(1),
                read.addr.eq(self._address(warp, register)),
            ]
            entries.append(read.data)
        return entries

    def _bypass(self, m: Module, partner: data.View, output: Value) -> None:
        """A partner that is written in the cycle of its look-up."""
        written, entry = Signal(), Signal(self._entry_bits)
        first, second = (write.enable & (write.name.as_value() == partner.as_value()) for write in self.write)
        m.d.sync += [written.eq(first | second), entry.eq(Mux(first, self.write[0].entry, self.write[1].entry))]
        with m.If(written):
            m.d.comb += output.eq(entry)

    def _in_bank(self, warp: Value, bank: int) -> Value:
        return warp[: self._bank_bits] == bank

    def _address(self, warp: Value, register: Value) -> Value:
        return Cat(register, warp[self._bank_bits :])
