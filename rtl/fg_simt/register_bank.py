"""A lane's bank of the SIMT register file (docs/contract/fg_simt.md, *Lanes in hardware*)."""

from amaranth import Module
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
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
    """Four threads * 32 registers. A word is read in the cycle in which its row is given; what is written is there from
    the next cycle on. Words have no reset.

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
        m.submodules.words = words = Memory(shape=WORD_BITS, depth=1 << ROW.size, init=())
        for number, row in enumerate(self.rows):
            reader = words.read_port(domain="comb")
            m.d.comb += [reader.addr.eq(row), self.words[number].eq(reader.data)]
        for write in self.writes:
            writer = words.write_port()
            m.d.comb += [writer.addr.eq(write.row), writer.data.eq(write.word), writer.en.eq(write.enable)]
        return m
