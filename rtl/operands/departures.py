"""Departures: the instructions that leave by any of the dispatch ports."""

from amaranth import Cat, Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import SmConfig


class Departures(wiring.Component):
    """Combinational: a holder's instruction leaves if one of the ports that it is offered to selects it.

    A module of its own for synthesis: a selection drives the multiplexers of whole operands, too, and the holder, which
    may take another instruction in the same cycle, must not wait for their buffers.

    Parameters
    ----------
    config : the holders of instructions, and those of each dispatch port.

    Members
    -------
    selected : for each port, the mask of holders (at most one) whose instruction it dispatches.
    dispatched : the holders whose instruction leaves at the end of the cycle.
    """

    def __init__(self, *, config: SmConfig) -> None:
        offered = [config.holders_of(port) for port in range(len(config.dispatch_ports))]
        self._ports = [[port for port, holders in enumerate(offered) if holder in holders]
                       for holder in range(config.holders)]
        super().__init__({
            "selected": In(data.ArrayLayout(config.holders, len(offered))),
            "dispatched": Out(config.holders),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for holder, ports in enumerate(self._ports):
            m.d.comb += self.dispatched[holder].eq(Cat(self.selected[port][holder] for port in ports).any())
        return m
