"""Mask buffer: the encoding of each warp register ([RADAIDEH], section 3.6.2.8)."""

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In

from warploom.arch.config import SmConfig
from warploom.arch.layout import metadata_banks, metadata_rows
from warploom.rtl import ports
from warploom.rtl.interfaces import ENCODING
from warploom.rtl.placement import entry_in_group
from warploom.rtl.shared import check_length


class MaskBuffer(wiring.Component):
    """The encodings of all warp registers of a group, in flip-flops, because an SRAM could not be reset.

    With `Alignment.WRITE` an encoding is stored with its side, in 4 bits; otherwise in 3, and its side is that of the
    address. After reset registers are one byte wide and positive, and a stored side is right in even entries, left in
    odd ones. Reads are combinational; a write shows in the next cycle.

    Parameters
    ----------
    config : sizes, and whether sides are stored.

    Members
    -------
    lookup : the encodings of the registers of an instruction, in the same cycle (`warploom.rtl.ports.table_lookup`).
    renewal : for each write path, a new encoding; never two for the same address (`warploom.rtl.ports.table_renewal`).
    """

    def __init__(self, *, config: SmConfig) -> None:
        self._config, self._banks = config, metadata_banks(config)
        self._entries = self._banks * metadata_rows(config)
        self._sides = config.stores_sides
        self._bits = ENCODING.size if self._sides else ENCODING["left"].offset
        check_length(f"encodings of banks = {config.banks} of rows = {config.rows}", self._bits * self._entries)
        super().__init__({
            "lookup": In(ports.table_lookup(config, ENCODING)),
            "renewal": In(ports.table_renewal(config, ENCODING)).array(len(config.write_paths)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        encodings = Signal(self._bits * self._entries, init=self._reset())
        for renewal in self.renewal:
            with m.If(renewal.enable):
                m.d.sync += self._entry(encodings, renewal.address).eq(renewal.metadata.as_value())
        for address, encoding in zip(self.lookup.address, self.lookup.found, strict=True):
            m.d.comb += encoding.as_value().eq(self._entry(encodings, address))
            if not self._sides:
                m.d.comb += encoding.left.eq(address.left)
        return m

    def _reset(self) -> int:
        """All encodings after reset: zero, except the sides of odd entries."""
        left = ENCODING.const({"left": 1}).as_value().value if self._sides else 0
        return sum(left << self._bits * number for number in range(self._entries) if number // self._banks % 2)

    def _entry(self, encodings: Signal, address: data.View) -> Value:
        """The stored bits of an address: the banks have their entries in turn."""
        bank, entry = entry_in_group(self._config, address)
        return encodings.word_select(Cat(bank, entry), self._bits)
