"""A warp that goes on in order passes what it has done in hint mode ([HAWS], Fig. 5.8)."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.isa import PC_BITS
from warploom.arch.order_hints import COLLECTED, LEADS_BITS, TARGET_BITS
from warploom.rtl.hints.interfaces import COLLECTION, ENTRY, LEADS, OFFSET
from warploom.rtl.select import lowest, merge_many


class Passing(wiring.Component):
    """The entries that leave when a warp comes to an instruction, and the instruction at which it then is. It passes
    the first entry if that is the instruction, and with it those that are linked. Combinational.

    Members
    -------
    entries, linked, first : those of the warp (`HintedWarp`).
    comes : the offset of the instruction from the stall point, signed.
    passes : it is that of the first entry.
    leave : if so, the entries that leave.
    offset, step : the sum is where the warp then is: at the instruction in whose place a copy issues, or at the one
        after the last that it passed.
    copy : a copy issues.
    last : the last entry that leaves.
    """

    def __init__(self) -> None:
        super().__init__({
            "entries": In(COLLECTION),
            "linked": In(COLLECTED),
            "first": In(OFFSET),
            "comes": In(PC_BITS),
            "passes": Out(1),
            "leave": Out(COLLECTED),
            "offset": Out(LEADS),
            "step": Out(1),
            "copy": Out(1),
            "last": Out(ENTRY),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        valid, copies, last = (Signal(COLLECTED, name=name) for name in ("valid", "copies", "is_last"))
        low, high, bits = Signal(), Signal(2), TARGET_BITS - 1
        ends = [Signal(LEADS, name=f"ends_{place}") for place in range(COLLECTED)]
        follows = Signal(COLLECTED)
        for place, entry in enumerate(self.entries):
            m.d.comb += [
                valid[place].eq(entry.valid),
                copies[place].eq(~entry.control & (entry.dst != entry.renamed)),
                ends[place].eq(Mux(entry.control, Cat(entry.dst, entry.renamed).as_signed(),
                                   entry.offset.as_signed())),
                follows[place].eq(~entry.control & ~copies[place]),
            ]
        m.d.comb += [
            low.eq(self.comes[:bits] == self.first[:bits]),
            high.eq(Cat(~self.comes[bits:].any(), self.comes[bits:].all())),  # by the sign of the first offset
            self.passes.eq(valid.any() & low & Mux(self.first[bits], high[1], high[0])),
            last.eq(lowest(valid & ~((valid & self.linked) >> 1))),
            self.leave.eq(Cat(valid[place] & ~last[:place].any() for place in range(COLLECTED))),
            self.copy.eq((last & copies).any()),
            self.step.eq((last & follows).any()),
            self.last.as_value().eq(merge_many(last, [entry.as_value() for entry in self.entries])),
            self.offset.eq(merge_many(last, [end[:LEADS_BITS] for end in ends])),
        ]
        return m
