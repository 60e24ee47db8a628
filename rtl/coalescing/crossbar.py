# amaranth: UnusedElaboratable=no
"""Sliced crossbar: one for each sub-bank of the banks ([RADAIDEH], Fig. 3.18b)."""

from amaranth import Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import SUB_BANKS
from warploom.arch.interfaces import WARP_BITS
from warploom.rtl.bank import SUB_BANK_BITS
from warploom.rtl.crossbar import Crossbar
from warploom.rtl.interfaces import words
from warploom.rtl.shared import share
from warploom.rtl.sizes import check_positive


class SlicedCrossbar(wiring.Component):
    """Routes the slice that each sub-bank read to the collector that was granted it: slice k of a collector's operand
    comes from sub-bank k of any bank.

    Four crossbars with ports of 32 B, and the latency of `Crossbar`: one cycle from grant to connection, none from
    input to output. A slice that was not granted is zero.

    Parameters
    ----------
    banks, collectors : number of inputs and outputs.

    Members
    -------
    grant : for each slice and bank, the mask of collectors (at most one) to which it is granted; each collector at most
        once in a slice.
    read_data : the outputs of the banks, slice k in bits 256k .. 256k + 255.
    operand : the word for each collector, in the same form, a port each.

    Raises
    ------
    ValueError
        If a size is not positive.
    """

    def __init__(self, *, banks: int, collectors: int) -> None:
        check_positive(banks=banks, collectors=collectors)
        self._banks, self._collectors = banks, collectors
        super().__init__({
            "grant": In(data.ArrayLayout(data.ArrayLayout(collectors, banks), SUB_BANKS)),
            "read_data": In(words(banks)),
            "operand": Out(WARP_BITS).array(collectors),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for k in range(SUB_BANKS):
            crossbar = Crossbar(banks=self._banks, collectors=self._collectors, width=SUB_BANK_BITS)
            m.submodules[f"slice_{k}"] = share(platform, "crossbar_slice", crossbar)
            m.d.comb += crossbar.grant.eq(self.grant[k])
            for bank, word in enumerate(self.read_data):
                m.d.comb += crossbar.read_data[bank].eq(word.word_select(k, SUB_BANK_BITS))
            for collector, word in enumerate(self.operand):
                m.d.comb += word.word_select(k, SUB_BANK_BITS).eq(crossbar.operand[collector])
        return m
