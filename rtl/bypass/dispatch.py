"""Dispatcher of collectors that belong to warps: they take turns."""

from amaranth import Module, Value
from amaranth.lib import wiring

from rtl.bypass.rotate import in_turn
from rtl.dispatch import Dispatcher


class RoundRobinDispatcher(Dispatcher):
    """`Dispatcher` for collectors whose instructions are all of one warp and leave in order of issue.

    Nothing has to be remembered of the order among collectors: of those that are ready, and whose pipe takes their
    instruction, the next one after the collector selected last, cyclically, is selected; at reset collector 0 goes
    first.

    Members
    -------
    busy, ready : masks of collectors that hold an instruction, and whose oldest has all its operands.
    pipe, timing : of the oldest instruction in each collector.
    others : `Dispatcher`; it has no `issue`.
    """

    def _order_ports(self) -> dict[str, wiring.Member]:
        return {}

    def _select(self, m: Module, available: Value) -> None:
        m.d.comb += self.select.eq(in_turn(m, self.busy & available))
