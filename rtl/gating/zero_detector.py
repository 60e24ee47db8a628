"""Zero detection ([RADAIDEH], Fig. 4.4). A *granule* (g, k) is byte k of the four lanes of group g."""

from amaranth import Cat, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import GROUP, LANES
from warploom.arch.interfaces import WARP_BITS, ZERO_BITS

BYTES = 4
"""Bytes of a lane."""

GROUPS = LANES // GROUP


class ZeroDetector(wiring.Component):
    """Finds lanes and granules of a result that are zero; lanes that do not execute count as zero. Combinational.

    Members
    -------
    data : the word, lane l in bits 32l .. 32l + 31.
    lanes : the executing lanes.
    zero_lanes : bit l for lane l.
    zero_granules : bit 4g + k for granule (g, k).
    """

    def __init__(self) -> None:
        super().__init__({
            "data": In(WARP_BITS), "lanes": In(LANES), "zero_lanes": Out(LANES), "zero_granules": Out(ZERO_BITS),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        zero = Signal(data.ArrayLayout(BYTES, LANES))
        for lane, executes in enumerate(self.lanes):
            word = self.data.word_select(lane, 32)
            m.d.comb += zero[lane].eq(Cat(~(word.word_select(k, 8).any() & executes) for k in range(BYTES)))
        groups = [[zero[GROUP * g + j] for j in range(GROUP)] for g in range(GROUPS)]
        m.d.comb += [
            self.zero_lanes.eq(Cat(lane.all() for lane in zero)),
            self.zero_granules.eq(Cat(Cat(lane[k] for lane in group).all() for group in groups for k in range(BYTES))),
        ]
        return m
