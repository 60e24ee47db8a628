# amaranth: UnusedElaboratable=no
"""Operand paths that restore the zeros that were not read ([RADAIDEH], Fig. 4.7)."""

from functools import reduce
from operator import and_

from amaranth import Cat, Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import GROUP, LANES, SmConfig
from warploom.arch.interfaces import REORDER_BITS, WARP_BITS
from warploom.rtl.byte_order import swap
from warploom.rtl.coalescing.alignment import filled
from warploom.rtl.gating.reorder import Reorder
from warploom.rtl.interfaces import DECODED, zero_layout
from warploom.rtl.shared import share


class GatedOperandPath(wiring.Component):
    """Restores a word in lane order: marked columns become zero, and reordered groups get lane order.

    Combinational: one gate for each bit, and with R-bits a multiplexer.

    Parameters
    ----------
    config : the form of the zero mask.

    Members
    -------
    word : the operand in the operand register; marked columns are unspecified.
    zero : its zero mask.
    operand : the word that the lanes read.
    known : the lanes that are known to be zero.
    """

    def __init__(self, *, config: SmConfig) -> None:
        self._reordered = config.zeros_by_granule
        super().__init__({
            "word": In(WARP_BITS), "zero": In(zero_layout(config)), "operand": Out(WARP_BITS), "known": Out(LANES),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        cleared = without(self.word, self.zero.zero)
        if not self._reordered:
            m.d.comb += [self.operand.eq(cleared), self.known.eq(self.zero.zero)]
            return m
        order = Reorder()
        m.submodules.reorder = share(platform, "reorder", order, clocked=False)
        m.d.comb += [order.word.eq(cleared), order.groups.eq(self.zero.reorder), self.operand.eq(order.reordered)]
        for g, reordered in enumerate(self.zero.reorder):
            marked = self.zero.zero.word_select(g, GROUP)
            m.d.comb += self.known.word_select(g, GROUP).eq(Mux(reordered, marked.all().replicate(GROUP), marked))
        return m


class GatedCoalescingOperandPath(wiring.Component):
    """Restores a register of the coalescing register file; the parts that its zero mask marks become zero.

    Combinational: one gate for each bit beside `OperandPath`.

    Parameters
    ----------
    config : the form of the zero mask.

    Members
    -------
    word : the operand in sub-bank form; columns that the register does not use, or that are marked, are unspecified.
    encoding, zero : of the register, the former decoded.
    operand : the byte-interleaved word.
    known : the lanes that are known to be zero.
    """

    def __init__(self, *, config: SmConfig) -> None:
        self._by_granule = config.zeros_by_granule
        super().__init__({
            "word": In(WARP_BITS), "encoding": In(DECODED), "zero": In(zero_layout(config)),
            "operand": Out(WARP_BITS), "known": Out(LANES),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        zero, ordered = self.zero.zero, swap(self.word, self.encoding.left)
        if self._by_granule:
            m.d.comb += [
                self.operand.eq(filled(m, without(ordered, zero), self.encoding)),
                self.known.eq(self._zero_lanes()),
            ]
        else:
            m.d.comb += [self.operand.eq(without(filled(m, ordered, self.encoding), zero)), self.known.eq(zero)]
        return m

    def _zero_lanes(self) -> Value:
        """The lanes of the groups whose granules are all zero; those above the width are zero if the sign is 0."""
        above = (~self.encoding.sign).replicate(REORDER_BITS)
        granules = [Mux(used, self.zero.zero.word_select(k, REORDER_BITS), above)
                    for k, used in enumerate(self.encoding.stored)]
        return Cat(group.replicate(GROUP) for group in reduce(and_, granules))


def without(word: Value, zero: Value) -> Value:
    """A word whose 32-bit parts become zero if their bit is set."""
    return word & ~Cat(marked.replicate(32) for marked in zero)
