"""Crossbar: ports from the banks to the operand collectors ([RADAIDEH], Fig. 3.18)."""

from amaranth import Const, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.interfaces import WARP_BITS
from warploom.rtl.sizes import check_positive


class Crossbar(wiring.Component):
    """Routes each bank's word to the collector that was granted it.

    The grants of a cycle are stored in a register and connect in the next cycle, when the banks output their words:
    latency one cycle from grant to connection, none from input to output. A collector without a grant sees zero.

    Parameters
    ----------
    banks, collectors : number of inputs and outputs.
    width : bits of a port, a warp register unless given.

    Members
    -------
    grant : for each bank, the mask of collectors (at most one) to which it is granted; each collector at most once.
    read_data : the output of each bank, `width` bits.
    operand : the word for each collector, a port each: together they may have more bits than a signal can.

    Raises
    ------
    ValueError
        If a size is not positive.
    """

    def __init__(self, *, banks: int, collectors: int, width: int = WARP_BITS) -> None:
        check_positive(banks=banks, collectors=collectors, width=width)
        self._banks, self._collectors, self._width = banks, collectors, width
        super().__init__({
            "grant": In(data.ArrayLayout(collectors, banks)),
            "read_data": In(data.ArrayLayout(width, banks)),
            "operand": Out(width).array(collectors),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        connected = Signal(data.ArrayLayout(self._collectors, self._banks))
        m.d.sync += connected.eq(self.grant)
        for collector in range(self._collectors):
            merged = Const(0, self._width)
            for bank in range(self._banks):
                merged |= self.read_data[bank] & connected[bank][collector].replicate(self._width)
            m.d.comb += self.operand[collector].eq(merged)
        return m
