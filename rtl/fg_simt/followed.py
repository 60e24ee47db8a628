"""`Followed`: what the first decoded instruction reads (docs/contract/fg_simt.md, *Affine unit in hardware*)."""

from typing import Any

from amaranth import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out


def known(value: Any) -> data.StructLayout:
    """What the control processor knows of a register or predicate: whether all lanes follow from a value, and that
    value, otherwise unspecified."""
    return data.StructLayout({"known": 1, "value": value})


class Followed(wiring.Component):
    """Copies of some entries of a file, read in the cycle before their instruction becomes the first one. What is
    written at the end of that cycle is in them. Later only the instruction itself can make an entry unknown.

    Parameters
    ----------
    number_bits, value : the number of an entry, and the layout of its value.
    copies : how many.

    Members
    -------
    ahead, found : the entries of the instruction that comes next, and what they hold in this cycle.
    advance : at the end of the cycle it becomes the first one.
    written : the entry that is written at the end of the cycle, if `valid`; nothing known without `advance`.
    reset : nothing is known, whatever is written.
    held : the entries of the first instruction.
    """

    def __init__(self, number_bits: int, value: Any, copies: int) -> None:
        entry = known(value)
        written = data.StructLayout({"valid": 1, "number": number_bits, "entry": entry})
        super().__init__({
            "ahead": In(data.ArrayLayout(number_bits, copies)), "found": In(data.ArrayLayout(entry, copies)),
            "advance": In(1), "written": In(written), "reset": In(1), "held": Out(data.ArrayLayout(entry, copies)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        written = self.written
        held = Signal(self.held.shape(), reset_less=True)
        numbers = Signal(self.ahead.shape(), reset_less=True)
        m.d.comb += self.held.eq(held)
        for number, ahead, entry, found in zip(numbers, self.ahead, held, self.found, strict=True):
            with m.If(self.advance):
                comes = written.valid & (ahead == written.number)
                m.d.sync += [number.eq(ahead), entry.eq(Mux(comes, written.entry.as_value(), found.as_value()))]
            with m.Elif(written.valid & (number == written.number)):
                m.d.sync += entry.known.eq(0)
            with m.If(self.reset):
                m.d.sync += entry.known.eq(0)
        return m
