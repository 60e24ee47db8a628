"""Sweep: unmaps the registers of warps that have ended, a virtual row of each bank at a time."""

from amaranth import Const, Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from warploom.arch.config import SmConfig
from warploom.arch.fields import index_bits
from warploom.arch.mechanisms import Layout
from warploom.rtl.observation import Shown
from warploom.rtl.placement import STRIDE_BITS
from warploom.rtl.select import lowest, merge_many


class Sweep(wiring.Component):
    """Steps over the virtual rows of one warp slot after the other, in cycles in which no instruction is offered and
    no row of the step before waits.

    Parameters
    ----------
    config : number of warp slots and banks, and the layout.

    Members
    -------
    retired : slots whose warps have ended.
    stride : virtual rows of a warp in a bank that holds it; static during a launch.
    offered : an instruction is offered in this cycle, which the stage takes or not.
    waits, left : a row of the step before has not entered its list before this cycle, or does not in it.
    sweeping : slots that have registers still to be unmapped; of these the lowest one is begun next.
    step, row : the banks whose virtual row is read in this cycle, and which.
    """

    def __init__(self, *, config: SmConfig) -> None:
        self._config = config
        self._bank_bits = exact_log2(config.banks) if config.layout is Layout.WID else 0
        super().__init__({
            "retired": In(config.warps), "stride": In(STRIDE_BITS), "offered": In(1), "waits": In(1), "left": In(1),
            "sweeping": Out(config.warps), "step": Out(config.banks), "row": Out(index_bits(config.rows)),
        })

    def observe(self) -> Shown:
        """Slots with registers to be unmapped."""
        return {"sweeping": self.sweeping}

    def elaborate(self, platform: object) -> Module:
        m = Module()
        begun, slot = Signal(name="begun"), Signal(index_bits(self._config.warps), name="slot")
        number, row = Signal(STRIDE_BITS, name="number"), Signal.like(self.row, name="next_row")
        current, steps, ends = Signal.like(slot), Signal(), Signal()
        exists, following = self._follow(m, begun, slot)
        m.d.comb += [
            current.eq(Mux(begun, slot, following)),
            steps.eq((begun | exists) & (number != self.stride) & ~self.offered & ~self.waits),
            ends.eq(begun & (number == self.stride) & ~self.left),
            self.row.eq(Mux(begun, row, self._first(following))),
            self.step.eq(Mux(steps, self._where(current), 0)),
        ]
        m.d.sync += self.sweeping.eq(self.sweeping & ~(ends << slot) | self.retired)
        with m.If(steps):
            m.d.sync += [begun.eq(1), slot.eq(current), number.eq(number + 1), row.eq(self.row + 1)]
        with m.If(ends):
            m.d.sync += [begun.eq(0), number.eq(0)]
        return m

    def _follow(self, m: Module, begun: Signal, slot: Signal) -> tuple[Signal, Signal]:
        """Whether a slot may be begun in this cycle, and which: the lowest one, found in the cycle before, without the
        slot that was begun then. Unspecified if one is begun now."""
        exists, following = Signal(name="exists"), Signal.like(slot, name="following")
        others = Signal.like(self.sweeping, name="others")
        m.d.comb += others.eq(self.sweeping & ~(begun << slot) | self.retired)
        m.d.sync += [exists.eq(others.any()), following.eq(merge_many(lowest(others), range(len(others))))]
        return exists, following

    def _first(self, slot: Value) -> Value:
        """The first virtual row of a slot."""
        return (slot >> self._bank_bits) * self.stride

    def _where(self, slot: Value) -> Value:
        """The banks of its virtual rows."""
        banks = self._config.banks
        return Const(1, banks) << slot[: self._bank_bits] if self._bank_bits else Const(-1, signed(banks))
