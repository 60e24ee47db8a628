"""Claims: assigns free collectors to the instructions of issue ports (docs/contract/issue.md)."""

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.fields import index_bits
from warploom.rtl.select import count, merge


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
            turns = Cat(self.claim[port] & (before == k) for k in range(self._ports))
            m.d.comb += [
                self.take[port].eq(merge(turns, lowest)),
                self.granted[port].eq(merge(turns, [collector.any() for collector in lowest])),
            ]
        return m

    def _lowest(self, m: Module) -> list[Value]:
        """The lowest free collector, the second lowest, and so on: one for each port, none if too few are free. Which
        are free comes late, so each collector by itself counts those below it."""
        free = Signal(self._collectors, name="free_collectors")
        m.d.comb += free.eq(~self.busy)
        below = [count(m, list(free[:c]), self._ports - 1, f"below_{c}") for c in range(self._collectors)]
        return [Cat(free[c] & found[k] for c, found in enumerate(below)) for k in range(self._ports)]

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
