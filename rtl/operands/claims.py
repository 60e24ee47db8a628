"""Claims: assigns free collectors to the instructions of issue ports (docs/contract/issue.md)."""

from amaranth import Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.interfaces import index_bits


class CollectorClaims(wiring.Component):
    """Combinational: the k-th port that claims, in claim order, gets the k-th lowest free collector.

    Parameters
    ----------
    collectors, ports : number of collectors and of issue ports.

    Members
    -------
    busy : collectors that hold an instruction.
    free : number of free collectors, at most one for each port.
    claim, first : the ports that request a collector, and the first one in claim order; the others follow cyclically.
    granted, take : the ports that get a collector, and for each port its collector.
    """

    def __init__(self, *, collectors: int, ports: int) -> None:
        self._collectors, self._ports = collectors, ports
        super().__init__({
            "busy": In(collectors),
            "free": Out(range(ports + 1)),
            "claim": In(ports),
            "first": In(index_bits(ports)),
            "granted": Out(ports),
            "take": Out(data.ArrayLayout(collectors, ports)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        lowest = self._lowest(m)
        m.d.comb += self.free.eq(sum(collector.any() for collector in lowest))
        for port, before in enumerate(self._before(m)):
            turns = [self.claim[port] & (before == k) for k in range(self._ports)]
            given = Signal(self._collectors, name=f"given_{port}")
            for turn, collector in zip(turns, lowest, strict=True):
                with m.If(turn):
                    m.d.comb += [given.eq(collector), self.granted[port].eq(collector.any())]
            m.d.comb += self.take[port].eq(given)
        return m

    def _lowest(self, m: Module) -> list[Signal]:
        """The lowest free collector, the second lowest, and so on: one for each port, none if too few are free."""
        free, found = Signal(self._collectors, name="free_collectors"), []
        m.d.comb += free.eq(~self.busy)
        left: Value = free
        for k in range(self._ports):
            lowest = Signal(self._collectors, name=f"lowest_{k}")
            m.d.comb += lowest.eq(left & (~left + 1))
            found.append(lowest)
            left = left & ~lowest
        return found

    def _before(self, m: Module) -> list[Signal]:
        """For each port, how many claims go before its own."""
        before = [Signal(index_bits(self._ports), name=f"before_{port}") for port in range(self._ports)]
        with m.Switch(self.first):
            for first in range(self._ports):
                with m.Case(first):
                    order = [(first + k) % self._ports for k in range(self._ports)]
                    m.d.comb += [before[port].eq(sum(self.claim[ahead] for ahead in order[:k]))
                                 for k, port in enumerate(order)]
        return before
