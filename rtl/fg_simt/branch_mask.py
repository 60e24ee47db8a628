"""The branch resolution mask register (docs/contract/fg_simt.md, *Issue unit*)."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.sizes import EIGHT_LANES, THREADS, Sizes
from warploom.rtl.fg_simt.issue_ports import SAUS

EXECUTE = 1
"""The first step in which a group executes, and its lanes are known."""


class BranchMask(wiring.Component):
    """Gathers the lanes of a collect, group by group. There is one collect at a time.

    Parameters
    ----------
    sizes : lanes of the engine.

    Members
    -------
    collects, second : a collect issues in this cycle; to SAU1.
    holds : for each SAU, of the group that executes in this cycle, the executing lanes in which the predicate holds.
    discard : the mask is not wanted.
    mask, complete : the mask; it is complete, two cycles after the last group has read.
    """

    def __init__(self, *, sizes: Sizes = EIGHT_LANES) -> None:
        self._sizes = sizes
        super().__init__({
            "collects": In(1), "second": In(1), "holds": In(data.ArrayLayout(sizes.lanes, SAUS)), "discard": In(1),
            "mask": Out(THREADS), "complete": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        complete = EXECUTE + self._sizes.groups
        steps, second = Signal(complete + 1), Signal()
        m.d.comb += self.complete.eq(steps[complete])
        m.d.sync += steps.eq(Mux(self.discard, 0, Cat(self.collects, steps)))
        with m.If(self.collects):
            m.d.sync += second.eq(self.second)
        with m.If(steps[EXECUTE:complete].any()):
            m.d.sync += self.mask.eq(Cat(self.mask[self._sizes.lanes:], Mux(second, self.holds[1], self.holds[0])))
        return m
