"""Stall predictor: which warps have time to lose before their next request to memory ([TFET], section 4.1.2)."""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.rtl.observation import Shown
from warploom.rtl.select import lowest, merge_many
from warploom.rtl.sizes import check_positive

CYCLE_BITS = 11
"""Bits of a counter of cycles, which saturates."""

THRESHOLD = 10
"""`thr_acc`: cycles of an access that no other one delays."""

REFERENCE_BITS = 7
"""`ref_acc`, 128 cycles, as a shift."""

PERIOD_BITS = 10
"""A new sample is due every 1,024 cycles."""


def excess(cycles: Value) -> Value:
    """The cycles of an access beyond the threshold."""
    return Mux(cycles > THRESHOLD, cycles - THRESHOLD, 0)[:CYCLE_BITS]


class StallCycles(wiring.Component):
    """Equation (1) of [TFET], combinational: the stall to expect of a warp's next access, from the `excess` of its last
    one, scaled by a sampled one as long as that is shorter than the reference. The quotient is a shift of the product.

    Members
    -------
    over : cycles of the warp's last access, `prev_acc`, beyond the threshold.
    sample : cycles of the sampled access, `sample_acc`.
    cycles : the predicted stall.
    """

    over: In(CYCLE_BITS)
    sample: In(CYCLE_BITS)
    cycles: Out(CYCLE_BITS)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        product = Signal(CYCLE_BITS + REFERENCE_BITS)
        m.d.comb += [
            product.eq(self.sample[:REFERENCE_BITS] * self.over),
            self.cycles.eq(Mux(self.sample[REFERENCE_BITS:].any(), self.over, product >> REFERENCE_BITS)),
        ]
        return m


class StallPredictor(wiring.Component):
    """A counter for each warp slot: it measures the time from a warp's first request beyond the L1 cache to the last
    answer, and then holds the predicted stall, which each served request for a TFET row shortens by two cycles.

    A slot is idle, `measuring` or `stopped`. In each cycle the lowest stopped one is taken; its stall is computed in
    the next cycle, from whose end on it counts.

    Parameters
    ----------
    slots : number of warp slots.

    Members
    -------
    began, ended : masks of slots: the warp's first request of those outstanding is made, the last one is answered.
    served : a request of the warp got a TFET row.
    wants : slots whose warp has time for slow rows: idle, with a counter larger than 1.
    stall : idle slots whose counter is not 0.
    measuring, stopped : the states of slots.
    sample : `sample_acc`, an access of any warp, renewed every 1,024 cycles.

    Raises
    ------
    ValueError
        If there is no slot.
    """

    def __init__(self, *, slots: int) -> None:
        check_positive(slots=slots)
        super().__init__({
            **{name: In(slots) for name in ("began", "ended", "served")},
            **{name: Out(slots) for name in ("wants", "stall", "measuring", "stopped")},
            "sample": Out(CYCLE_BITS),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.equation = equation = StallCycles()
        slots = len(self.began)
        counters = [Signal(CYCLE_BITS, name=f"counter_{slot}") for slot in range(slots)]
        taken, computed = Signal(slots), Signal(slots)
        previous, over = Signal(CYCLE_BITS), Signal(CYCLE_BITS, reset_less=True)
        m.d.comb += [
            taken.eq(lowest(self.stopped)),
            previous.eq(merge_many(taken, counters)),
            equation.over.eq(over),
            equation.sample.eq(self.sample),
        ]
        m.d.sync += [
            self.measuring.eq(self.measuring & ~self.ended | self.began),
            self.stopped.eq((self.stopped & ~taken | self.measuring & self.ended) & ~self.began),
            computed.eq(taken & ~self.began),
            over.eq(excess(previous)),
        ]
        self._renew_sample(m, taken.any(), previous)
        for slot, counter in enumerate(counters):
            busy = self.measuring[slot] | self.stopped[slot] | computed[slot]
            m.d.comb += [
                self.wants[slot].eq(counter[1:].any() & ~busy),
                self.stall[slot].eq(counter.any() & ~busy),
            ]
            with m.If(self.began[slot]):
                m.d.sync += counter.eq(0)
            with m.Elif(computed[slot]):
                m.d.sync += counter.eq(equation.cycles)
            with m.Elif(self.measuring[slot]):
                m.d.sync += counter.eq(Mux(counter.all(), counter, counter + 1))
            with m.Elif(self.served[slot]):
                m.d.sync += counter.eq(Mux(counter[1:].any(), counter - 2, 0))
        return m

    def observe(self) -> Shown:
        """The states of slots, and the sample."""
        return {"measuring": self.measuring, "stopped": self.stopped, "sample": self.sample}

    def _renew_sample(self, m: Module, takes: Signal, cycles: Signal) -> None:
        """The first access that is taken when a sample is due becomes the sample."""
        cycle, due = Signal(PERIOD_BITS), Signal()
        m.d.sync += cycle.eq(cycle + 1)
        with m.If(takes & due):
            m.d.sync += [self.sample.eq(cycles), due.eq(0)]
        with m.If(cycle.all()):
            m.d.sync += due.eq(1)
