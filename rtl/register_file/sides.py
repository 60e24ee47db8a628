"""Warp sides: the side of each warp's next full result, with `Alignment.WRITE` ([RADAIDEH], section 3.7.1)."""

from amaranth import Array, Cat, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import index_bits


class WarpSides(wiring.Component):
    """One bit for each warp slot, which changes with each full result of the warp; all are right (0) after reset.

    Results that several latches take in one cycle count in the order of the latches. `left` is combinational.

    Parameters
    ----------
    config : numbers of warps and of pipes.

    Members
    -------
    full : the latches that take, in this cycle, a full result for a register.
    warp : for each latch, the warp of the result at its port.
    left : for each latch, whether a full result of this warp goes to the left.
    """

    def __init__(self, *, config: SmConfig) -> None:
        self._warps, self._latches = config.warps, len(config.pipes)
        super().__init__({
            "full": In(self._latches),
            "warp": In(data.ArrayLayout(index_bits(config.warps), self._latches)),
            "left": Out(self._latches),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        sides, changes = Signal(self._warps), Signal(self._warps)
        for i, warp in enumerate(self.warp):
            before = Cat(self.full[j] & (self.warp[j] == warp) for j in range(i))
            m.d.comb += self.left[i].eq(Array(sides)[warp] ^ before.xor())
        for w in range(self._warps):
            m.d.comb += changes[w].eq(Cat(self.full[i] & (self.warp[i] == w) for i in range(self._latches)).xor())
        m.d.sync += sides.eq(sides ^ changes)
        return m
