"""Age matrix: the order of issue of the instructions in the collectors."""

from amaranth import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.rtl.sizes import check_positive


class AgeMatrix(wiring.Component):
    """Stores the order of issue among holders of instructions: one bit for each pair of them.

    A holder that takes an instruction is younger than all others from the next cycle on, except those of higher number
    that take one in the same cycle. Bits of empty holders are unspecified.

    Parameters
    ----------
    holders : number of holders.

    Members
    -------
    take : the holders that take an instruction at the end of the cycle.
    older : for each holder, the mask of holders whose instruction was issued before its own.

    Raises
    ------
    ValueError
        If there is no holder.
    """

    def __init__(self, *, holders: int) -> None:
        check_positive(holders=holders)
        super().__init__({"take": In(holders), "older": Out(data.ArrayLayout(holders, holders))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        holders = len(self.take)
        for i in range(holders):
            m.d.comb += self.older[i][i].eq(0)  # driven: otherwise Amaranth makes that of a single holder an input
            for j in range(i + 1, holders):
                first = Signal(name=f"older_{i}_{j}", reset_less=True)
                with m.If(self.take[i] | self.take[j]):
                    m.d.sync += first.eq(self.take[j])
                m.d.comb += [self.older[j][i].eq(first), self.older[i][j].eq(~first)]
        return m
