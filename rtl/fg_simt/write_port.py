"""Claims of a write port of the SRF, in advance (docs/contract/fg_simt.md, *Issue unit*)."""

from amaranth import Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.sizes import GROUPS
from warploom.rtl.fg_simt.issue_ports import CLAIMS, LATENCY_BITS


class WritePort(wiring.Component):
    """An operation of latency L that issues in t claims the cycles t + 2 + L .. t + 5 + L.

    Members
    -------
    latency : of the first operation of the SIQ: 1, 3 or 5.
    free : its cycles are not claimed. Combinational.
    claim : it issues, and claims them.
    claimed : the state: bit k is set if the port is claimed after k cycles, bit 0 for this one.
    """

    def __init__(self) -> None:
        super().__init__({"latency": In(LATENCY_BITS), "free": Out(1), "claim": In(1), "claimed": Out(CLAIMS)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        wanted = Signal(CLAIMS + 1)
        one, three, five = (Const((1 << GROUPS) - 1 << latency + 2, CLAIMS + 1) for latency in (1, 3, 5))
        m.d.comb += [
            wanted.eq(Mux(self.latency[2], five, Mux(self.latency[1], three, one))),
            self.free.eq(~(self.claimed & wanted).any()),
        ]
        m.d.sync += self.claimed.eq((self.claimed | Mux(self.claim, wanted, 0)) >> 1)
        return m
