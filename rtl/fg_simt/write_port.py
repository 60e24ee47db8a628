"""Claims of the write port of an SAU, and of the SRF, in advance (docs/contract/fg_simt.md, *Issue unit*)."""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.sizes import EIGHT_LANES, Sizes
from warploom.rtl.fg_simt.issue_ports import LATENCY_BITS, SRF_CLAIMS, port_claims


class WritePort(wiring.Component):
    """An operation of latency L that issues in t claims a cycle for each group, from t + 2 + L on.

    Parameters
    ----------
    sizes : lanes of the engine.

    Members
    -------
    latency : of the first operation of the SIQ: 1, 3 or 5.
    free : its cycles are not claimed. Combinational.
    claim : it issues, and claims them.
    claimed : the state: bit k is set if the port is claimed after k cycles, bit 0 for this one.
    """

    def __init__(self, *, sizes: Sizes = EIGHT_LANES) -> None:
        self._sizes = sizes
        super().__init__({
            "latency": In(LATENCY_BITS), "free": Out(1), "claim": In(1), "claimed": Out(port_claims(sizes))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        wanted = Signal(len(self.claimed) + 1)
        one, three, five = (Const((1 << self._sizes.groups) - 1 << latency + 2, len(wanted)) for latency in (1, 3, 5))
        m.d.comb += [
            wanted.eq(Mux(self.latency[2], five, Mux(self.latency[1], three, one))),
            self.free.eq(~(self.claimed & wanted).any()),
        ]
        m.d.sync += self.claimed.eq((self.claimed | Mux(self.claim, wanted, 0)) >> 1)
        return m


class StorageClaims(wiring.Component):
    """The cycles from which on groups are written to the SRF, one after the other: t + 2 + L of what issues in t.

    Members
    -------
    latency : of the first operation of the SIQ: 1, 3 or 5.
    free, free_for_load : an operation, a write-back may issue: its cycle is not claimed. Combinational.
    claim, claim_for_load : it issues.
    divides : a group of a division claims the cycle eight cycles later, before any other could.
    claimed : the state, as of `WritePort`.
    """

    def __init__(self) -> None:
        super().__init__({
            "latency": In(LATENCY_BITS), "free": Out(1), "free_for_load": Out(1),
            "claim": In(1), "claim_for_load": In(1), "divides": In(1), "claimed": Out(SRF_CLAIMS)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        wanted = Signal(SRF_CLAIMS + 1)
        one, three, five = (Const(1 << latency + 2, SRF_CLAIMS + 1) for latency in (1, 3, 5))
        taken = Mux(self.claim, wanted, 0) | Cat(Const(0, 2), self.claim_for_load, Const(0, 5), self.divides)
        m.d.comb += [
            wanted.eq(Mux(self.latency[2], five, Mux(self.latency[1], three, one))),
            self.free.eq(~(self.claimed & wanted).any()), self.free_for_load.eq(~self.claimed[2]),
        ]
        m.d.sync += self.claimed.eq((self.claimed | taken) >> 1)
        return m
