"""The ends of a warp: the values of its first and its last lane, and a lane that computes with them."""

from amaranth import Cat, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.compact import STRIDE_BITS
from warploom.arch.config import LANES
from warploom.rtl.interfaces import COMPACT
from warploom.rtl.lane_stages import COMPUTED, CONDITIONED, OPERANDS, Compute, Condition, Finish
from warploom.rtl.multiply import compress

ENDS = data.StructLayout({"first": 32, "last": 32, "wraps": 1, "wraps_signed": 1})
"""Values of lanes 0 and 31; whether the exact value of lane 31 does not fit an unsigned, or a signed, word."""


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
    """The operations of `warploom.rtl.lane.Lane`, with the same latency, for the first or the last lane of the warp.

    Operands come late in their cycle, from an SRAM and an addition, so they enter a register first and are conditioned
    in the next cycle.

    Members
    -------
    operands : as for a lane.
    conditioned : the output of stage 1, one cycle later.
    computed : the output of stage 2, two cycles later.
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
            given = Signal.like(value, name=f"register_{number}", reset_less=True)
            m.d.sync += given.eq(value)
            m.d.comb += later.eq(given)
        m.d.comb += [
            self.conditioned.eq(condition.conditioned),
            compute.conditioned.eq(condition.conditioned),
            finish.computed.eq(self.computed),
        ]
        return m
