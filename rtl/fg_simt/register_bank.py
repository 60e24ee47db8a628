"""A lane's bank of the SIMT register file (docs/contract/fg_simt.md, *Lanes in hardware*)."""

from amaranth import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.sizes import GROUPS, REGISTERS
from warploom.arch.l1 import WORD_BITS

READERS = 9
"""Three of each SAU, two of the SGU, one of the SSU."""

WRITERS = 3
"""SAU0, SAU1 and SLU."""

ROW = data.StructLayout({"number": range(REGISTERS), "group": range(GROUPS)})
"""A register of a thread of this lane."""

WRITE = data.StructLayout({"enable": 1, "row": ROW, "word": WORD_BITS})


class RegisterBank(wiring.Component):
    """Four threads * 32 registers, in flip-flops. A word is read in the cycle in which its row is given; what is
    written is there from the next cycle on. Words have no reset.

    Members
    -------
    rows, words : of each reader.
    writes : of each writer; those of one cycle have different rows.
    """

    def __init__(self) -> None:
        super().__init__({"rows": In(data.ArrayLayout(ROW, READERS)), "writes": In(data.ArrayLayout(WRITE, WRITERS)),
                          "words": Out(data.ArrayLayout(WORD_BITS, READERS))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        words = Signal(data.ArrayLayout(WORD_BITS, 1 << ROW.size), reset_less=True)
        for number, row in enumerate(self.rows):
            m.d.comb += self.words[number].eq(words[row.as_value()])
        for write in self.writes:
            with m.If(write.enable):
                m.d.sync += words[write.row.as_value()].eq(write.word)
        return m
