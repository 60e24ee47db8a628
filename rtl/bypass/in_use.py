"""Whether an entry of a bypassing collector is in use."""

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class InUse(wiring.Component):
    """A bit that an instruction sets, and that the end of the use clears.

    It is always a module of its own (`warploom.rtl.verilog.APART`): `evicted` comes late, since all collectors compete
    for it, and would otherwise be mapped into what ends the use for other reasons.

    Members
    -------
    starts : an instruction that is taken names the entry; this overrides all else.
    leaves, evicted : the entry is the collector's next one to leave, and the collector evicts that one.
    ends : the use ends for any other reason.
    used : the entry is in use.
    """

    def __init__(self) -> None:
        super().__init__({"starts": In(1), "ends": In(1), "leaves": In(1), "evicted": In(1), "used": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.sync += self.used.eq(self.starts | (self.used & ~self.ends & ~(self.leaves & self.evicted)))
        return m
