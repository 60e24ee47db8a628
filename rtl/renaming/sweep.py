"""Sweep: unmaps the registers of warps that have ended, a virtual row of each bank at a time."""

from amaranth import Const, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import index_bits
from warploom.arch.mechanisms import Layout
from warploom.rtl.observation import Shown
from warploom.rtl.placement import STRIDE_BITS
from warploom.rtl.select import lowest, merge_many


class Sweep(wiring.Component):
    """Steps over the virtual rows of one warp slot after the other, in cycles in which no instruction issues and no row
    of the step before waits.

    Parameters
    ----------
    config : number of warp slots and banks, and the layout.

    Members
    -------
    retired : slots whose warps have ended.
    stride : virtual rows of a warp in a bank that holds it; static during a launch.
    issues : an instruction issues in this cycle.
    waits, left : a row of the step before has not entered its list before this cycle, or does not in it.
    sweeping : slots that have registers still to be unmapped; of these the lowest one is begun next.
    step, row : the banks whose virtual row is read in this cycle, and which.
    """

    def __init__(self, *, config: SmConfig) -> None:
        self._config = config
        super().__init__({
            "retired": In(config.warps), "stride": In(STRIDE_BITS), "issues": In(1), "waits": In(1), "left": In(1),
            "sweeping": Out(config.warps), "step": Out(config.banks), "row": Out(index_bits(config.rows)),
        })

    def observe(self) -> Shown:
        """Slots with registers to be unmapped."""
        return {"sweeping": self.sweeping}

    def elaborate(self, platform: object) -> Module:
        m = Module()
        warps = self._config.warps
        begun, number = Signal(warps), Signal(STRIDE_BITS)
        current, warp, steps, ends = Signal(warps), Signal(index_bits(warps)), Signal(), Signal()
        m.d.comb += [
            current.eq(Mux(begun.any(), begun, lowest(self.sweeping))),
            warp.eq(merge_many(current, range(warps))),
            steps.eq(current.any() & (number != self.stride) & ~self.issues & ~self.waits),
            ends.eq(current.any() & (number == self.stride) & ~self.left),
        ]
        with m.If(steps):
            m.d.sync += [begun.eq(current), number.eq(number + 1)]
        with m.If(ends):
            m.d.sync += [begun.eq(0), number.eq(0)]
        m.d.sync += self.sweeping.eq(self.sweeping & ~Mux(ends, current, 0) | self.retired)
        self._place(m, warp, number, steps)
        return m

    def _place(self, m: Module, warp: Signal, number: Signal, steps: Signal) -> None:
        """The virtual row of a step, and its banks."""
        bits, banks = exact_log2(self._config.banks), self._config.banks
        if self._config.layout is Layout.WID:
            place, where = warp >> bits, Const(1, banks) << warp[:bits]
        else:
            place, where = warp, Const(-1, signed(banks))
        m.d.comb += [self.row.eq(place * self.stride + number), self.step.eq(Mux(steps, where, 0))]
