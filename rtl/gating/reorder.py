"""Byte-position order: bytes of one significance side by side, in groups of four lanes ([RADAIDEH], Fig. 4.5)."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import GROUP
from warploom.arch.interfaces import REORDER_BITS, WARP_BITS


def exchange(word: Signal, reorder: Value) -> Value:
    """A word with part j of column i and part i of column j exchanged in the groups whose bit is 1: six 2x2 switches in
    each. A column has four parts, a group four columns; done twice it changes nothing."""
    width = len(word) // len(reorder) // GROUP**2
    groups = [word.word_select(g, width * GROUP**2) for g in range(len(reorder))]
    return Cat(Mux(reordered, group.word_select(GROUP * j + i, width), group.word_select(GROUP * i + j, width))
               for group, reordered in zip(groups, reorder, strict=True) for i in range(GROUP) for j in range(GROUP))


class Reorder(wiring.Component):
    """Converts a word from lane order to the order in the bank, and back. Combinational, one multiplexer deep.

    Members
    -------
    word : in one of the two orders.
    groups : the groups that are, or shall be, reordered: R-bits.
    reordered : the word in the other order.
    """

    def __init__(self) -> None:
        super().__init__({"word": In(WARP_BITS), "groups": In(REORDER_BITS), "reordered": Out(WARP_BITS)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.reordered.eq(exchange(self.word, self.groups))
        return m
