"""The registers that have the latest values of others in hint mode ([HAWS], section 5.3.4)."""

from amaranth import Cat, Module, Mux
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.order_hints import REGISTER_BITS
from warploom.rtl.hints.interfaces import COLLECTION, HELD
from warploom.rtl.interfaces import SLOTS
from warploom.rtl.select import lowest, merge_many


class Names(wiring.Component):
    """Looks up registers in the entries of a warp, last entry first. Combinational.

    Members
    -------
    entries : those of the warp.
    entry : the one after them.
    registers : the sources of an instruction.
    renamed : the registers that have their values.
    """

    def __init__(self) -> None:
        super().__init__({
            "entries": In(COLLECTION),
            "entry": In(HELD),
            "registers": In(data.ArrayLayout(REGISTER_BITS, SLOTS)),
            "renamed": Out(data.ArrayLayout(REGISTER_BITS, SLOTS)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        last_first = [self.entry, *reversed(list(self.entries))]
        for register, renamed in zip(self.registers, self.renamed, strict=True):
            found = Cat(~entry.control & (entry.dst == register) for entry in last_first)
            found &= Cat(1, *(entry.valid for entry in last_first[1:]))
            has = merge_many(lowest(found), [entry.renamed for entry in last_first])
            m.d.comb += renamed.eq(Mux(found.any(), has, register))
        return m
