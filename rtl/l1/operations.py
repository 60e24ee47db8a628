"""What an atomic of a bank stores (docs/contract/l1.md, *Operations*)."""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.l1 import OPERATION_BITS, WORD_BITS, Operation


class AtomicUnit(wiring.Component):
    """The new word of an atomic, combinational; unspecified for READ and WRITE.

    Members
    -------
    operation : the atomic.
    old, data, compare : the word in the cache and the operands, of 32 bits.
    result : the word to store.
    """

    def __init__(self) -> None:
        super().__init__({
            "operation": In(OPERATION_BITS), "old": In(WORD_BITS), "data": In(WORD_BITS), "compare": In(WORD_BITS),
            "result": Out(WORD_BITS),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        signed, less, takes = Signal(), Signal(), Signal()
        m.d.comb += [
            signed.eq(self.operation.matches(Operation.MIN, Operation.MAX)),
            less.eq((self.data ^ (signed << WORD_BITS - 1)) < (self.old ^ (signed << WORD_BITS - 1))),
            self.result.eq(Mux(takes, self.data, self.old)),
        ]
        with m.Switch(self.operation):
            with m.Case(Operation.ADD):
                m.d.comb += self.result.eq(self.old + self.data)
            with m.Case(Operation.AND):
                m.d.comb += self.result.eq(self.old & self.data)
            with m.Case(Operation.OR):
                m.d.comb += self.result.eq(self.old | self.data)
            with m.Case(Operation.XOR):
                m.d.comb += self.result.eq(self.old ^ self.data)
            with m.Case(Operation.MIN, Operation.UMIN):
                m.d.comb += takes.eq(less)
            with m.Case(Operation.MAX, Operation.UMAX):
                m.d.comb += takes.eq(~less)
            with m.Case(Operation.CAS):
                m.d.comb += takes.eq(self.old == self.compare)
            with m.Default():
                m.d.comb += takes.eq(1)
        return m
