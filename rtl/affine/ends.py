"""The ends of a warp: what its first and its last lane hold, and the lane that computes with it."""

from amaranth import Cat, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import LANES
from warploom.arch.interfaces import STRIDE_BITS
from warploom.rtl.interfaces import COMPACT
from warploom.rtl.lane_stages import COMPUTED, CONDITIONED, OPERANDS, Compute, Condition, Finish
from warploom.rtl.multiply import compress

ENDS = data.StructLayout({"first": 32, "last": 32, "wraps": 1, "wraps_signed": 1})
"""What lanes 0 and 31 hold; whether lane 31, calculated exactly, does not fit a word that is unsigned, or signed."""


class Ends(wiring.Component):
    """Combinational: the ends of a compact register.

    Members
    -------
    value : base and stride.
    ends : its ends.
    """

    value: In(COMPACT)
    ends: Out(ENDS)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        base, stride, ends = self.value.base, self.value.stride, self.ends
        bits = 33
        exact = Signal(bits)
        extended = Cat(stride, stride[-1].replicate(bits - STRIDE_BITS))
        partial = compress(m, [base, extended << (LANES - 1).bit_length(), ~extended], bits)
        m.d.comb += [
            exact.eq(partial[0] + partial[1] + 1),
            ends.first.eq(base),
            ends.last.eq(exact),
            ends.wraps.eq(exact[32]),
            ends.wraps_signed.eq((base[31] == stride[-1]) & (exact[31] != stride[-1])),
        ]
        return m


class EndLane(wiring.Component):
    """Executes what `warploom.rtl.lane.Lane` does in as many cycles, for the first or the last lane of the warp.

    Operands come late in their cycle, from an SRAM and an addition, so a register takes them; they are conditioned in
    the next one.

    Members
    -------
    operands : as a lane takes them.
    conditioned : what they are in the next cycle.
    computed : two cycles later.
    result, verdict, high : three cycles later; `high` is the high word of a * b.
    """

    operands: In(OPERANDS)
    conditioned: Out(CONDITIONED)
    computed: Out(COMPUTED)
    result: Out(32)
    verdict: Out(1)
    high: Out(32)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.condition = condition = Condition()
        m.submodules.compute = compute = Compute()
        m.submodules.finish = finish = Finish()
        stages = [
            (condition.operands, self.operands), (self.computed, compute.computed), (self.result, finish.result),
            (self.verdict, finish.verdict), (self.high, finish.high),
        ]
        for number, (later, value) in enumerate(stages):
            register = Signal.like(value, name=f"register_{number}", reset_less=True)
            m.d.sync += register.eq(value)
            m.d.comb += later.eq(register)
        m.d.comb += [
            self.conditioned.eq(condition.conditioned),
            compute.conditioned.eq(condition.conditioned),
            finish.computed.eq(self.computed),
        ]
        return m
