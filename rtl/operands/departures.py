"""Departures: the instructions that leave by any of the dispatch ports."""

from amaranth import Cat, Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.rtl.sizes import check_positive


class Departures(wiring.Component):
    """Combinational: a holder's instruction leaves if one of the ports selects it.

    A module of its own for synthesis: a selection drives the multiplexers of whole operands, too, and the holder, which
    may take another instruction in the same cycle, must not wait for their buffers.

    Parameters
    ----------
    holders, ports : number of holders of instructions, and of dispatch ports.

    Members
    -------
    selected : for each port, the mask of holders (at most one) whose instruction it dispatches.
    dispatched : the holders whose instruction leaves at the end of the cycle.

    Raises
    ------
    ValueError
        If a size is not positive.
    """

    def __init__(self, *, holders: int, ports: int) -> None:
        check_positive(holders=holders, ports=ports)
        super().__init__({"selected": In(data.ArrayLayout(holders, ports)), "dispatched": Out(holders)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for holder, leaves in enumerate(self.dispatched):
            m.d.comb += leaves.eq(Cat(selected[holder] for selected in self.selected).any())
        return m
