"""The stride of a result, from its ends."""

from functools import reduce
from operator import add

from amaranth import Module, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.interfaces import STRIDE_BITS


class StrideFinder(wiring.Component):
    """Combinational: the stride between two ends.

    For every operation, if the result is compact then last - first = 31 * stride modulo 2^32. Since 31 is odd, only one
    stride satisfies this: with d = first - last it is d / (1 - 32) = d * (1 + 32 + 32^2 + ...). Only its low 16 bits
    are computed; multiplying again shows whether these are the whole stride.

    Members
    -------
    first, last : values of lanes 0 and 31.
    stride : the stride.
    fits : it is a signed number of 16 bits.
    """

    first: In(32)
    last: In(32)
    stride: Out(signed(STRIDE_BITS))
    fits: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        difference = Signal(32)
        calculated = Signal(32)
        low = difference[:STRIDE_BITS]
        m.d.comb += [
            difference.eq(self.first - self.last),
            self.stride.eq(reduce(add, (low << shift for shift in range(0, STRIDE_BITS, 5)))),
            calculated.eq(self.stride - (self.stride << 5)),
            self.fits.eq(difference == calculated),
        ]
        return m
