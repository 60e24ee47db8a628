"""The registers of a thread (docs/contract/fg_simt.md, *Lanes in hardware*)."""

from amaranth import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.sizes import REGISTERS
from warploom.arch.l1 import WORD_BITS
from warploom.rtl.fg_simt.issue_ports import REGISTER, SOURCES


class RegisterBank(wiring.Component):
    """32 registers, in flip-flops: three read ports and one write port. A word is read in the cycle in which its number
    is given, also one that is written in this cycle. Words have no reset.

    Members
    -------
    numbers, words : of each read port.
    write, word : the register that is written, if any.
    """

    def __init__(self) -> None:
        self._stored = Signal(data.ArrayLayout(WORD_BITS, REGISTERS), name="stored", reset_less=True)
        super().__init__({
            "numbers": In(data.ArrayLayout(range(REGISTERS), SOURCES)),
            "words": Out(data.ArrayLayout(WORD_BITS, SOURCES)),
            "write": In(REGISTER), "word": In(WORD_BITS),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        with m.If(self.write.valid):
            m.d.sync += self._stored[self.write.number].eq(self.word)
        for number, word in zip(self.numbers, self.words, strict=True):
            is_written = self.write.valid & (self.write.number == number)
            m.d.comb += word.eq(Mux(is_written, self.word, self._stored[number]))
        return m
