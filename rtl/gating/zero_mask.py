# amaranth: UnusedElaboratable=no
"""Zero detection, and the zero mask of a register as a result changes it ([RADAIDEH], Fig. 4.4, 4.3.2 to 4.3.4).

A *granule* (g, k) is byte k of the four lanes of group g.
"""

from itertools import combinations

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from rtl.coalescing.alignment import bytes_below
from rtl.interfaces import stored_layout, zero_layout
from warploom.arch.config import GROUP, LANES, SmConfig
from warploom.arch.interfaces import WARP_BITS, ZERO_BITS
from warploom.arch.mechanisms import Coalescing, Gating

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


class ZeroLatch(wiring.Component):
    """Works out, while a result enters its write latch, what will be known to be zero of its register: here for
    `Gating.IN_LANE`, where executing lanes are known anew and the others as before. Latency one cycle.

    Parameters
    ----------
    config : the form of the zero mask.

    Members
    -------
    take : the write latch takes the result; outputs change at the end of the cycle.
    data, lanes, full : the result, its executing lanes, and whether these are all live lanes.
    old : how its register is stored so far.
    zero : what will be known to be zero.
    fill : not with `Gating.IN_LANE`: the granules of which lanes that do not execute are written too, in the order of
        the zero mask.
    """

    def __init__(self, *, config: SmConfig) -> None:
        super().__init__({
            "take": In(1),
            "data": In(WARP_BITS),
            "lanes": In(LANES),
            "full": In(1),
            "old": In(stored_layout(config)),
            "zero": Out(zero_layout(config)),
            **({"fill": Out(ZERO_BITS)} if config.gating is Gating.CROSS_LANE else {}),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.detector = detector = ZeroDetector()
        m.d.comb += [detector.data.eq(self.data), detector.lanes.eq(self.lanes)]
        with m.If(self.take):
            self._renew(m, detector)
        return m

    def _renew(self, m: Module, seen: ZeroDetector) -> None:
        """The next state of the outputs."""
        m.d.sync += self.zero.zero.eq(seen.zero_lanes & (self.lanes | self.old.zero))

    def _free(self) -> Value:
        """The groups of which all is known anew: their lanes execute, or those that do not are not live."""
        return Cat(self.full | self.lanes.word_select(g, GROUP).all() for g in range(GROUPS))


class ReorderLatch(ZeroLatch):
    """The same with R-bits: each free group is reordered if that makes more columns zero; others keep their order."""

    def _renew(self, m: Module, seen: ZeroDetector) -> None:
        free, reorder = Signal(GROUPS), Signal(GROUPS)
        better = Cat(_more(seen.zero_granules.word_select(g, GROUP), seen.zero_lanes.word_select(g, GROUP))
                     for g in range(GROUPS))
        m.d.comb += [free.eq(self._free()), reorder.eq((free & better) | (~free & self.old.reorder))]
        whole, reordered = (Cat(bit.replicate(GROUP) for bit in bits) for bits in (free, reorder))
        seen_zero = (seen.zero_granules & reordered) | (seen.zero_lanes & ~reordered)
        m.d.sync += [
            self.zero.zero.eq(seen_zero & (whole | self.old.zero | (self.lanes & ~reordered))),
            self.zero.reorder.eq(reorder),
            self.fill.eq(self.old.zero & reordered & ~whole),
        ]


class GranuleLatch(ZeroLatch):
    """The same for thread-interleaved registers, in which granules lie side by side as they are."""

    def _renew(self, m: Module, seen: ZeroDetector) -> None:
        stored, old = (Signal(ZERO_BITS, name=name) for name in ("stored", "old_zero"))
        m.d.comb += [
            stored.eq(Cat(used.replicate(GROUPS) for used in bytes_below(self.old.size))),
            old.eq((self.old.zero & stored) | (~stored & ~self.old.sign.replicate(ZERO_BITS))),
        ]
        zero = Cat(seen.zero_granules[BYTES * g + k] for k in range(BYTES) for g in range(GROUPS))
        m.d.sync += [
            self.zero.zero.eq(zero & (self._free().replicate(BYTES) | old)),
            self.fill.eq(Mux(self.full, 0, self.old.zero | ~stored)),
        ]


def zero_latch(config: SmConfig) -> ZeroLatch:
    """The latch for the zero masks of a configuration."""
    if config.gating is Gating.IN_LANE:
        return ZeroLatch(config=config)
    return GranuleLatch(config=config) if config.coalescing is Coalescing.ON else ReorderLatch(config=config)


def _more(these: Value, those: Value) -> Value:
    """Whether more bits are 1 of these than of those: for some n, n of these but not n of those."""
    counts = range(1, len(these) + 1)
    return Cat(_at_least(n, these) & ~_at_least(n, those) for n in counts).any()


def _at_least(count: int, bits: Value) -> Value:
    """Whether this many of the bits are 1."""
    return Cat(Cat(chosen).all() for chosen in combinations(bits, count)).any()
