"""The stride of a result, from its ends."""

from amaranth import Module, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.compact import STRIDE_BITS
from warploom.rtl.multiply import compress

WORD_BITS = 32


class StrideFinder(wiring.Component):
    """Combinational: the stride between two ends.

    For every operation, if the result is compact then last - first = 31 * stride modulo 2^32. Since 31 is odd, only one
    stride satisfies this: with d = first - last it is d / (1 - 32) = d * (1 + 32 + 32^2 + ...). Only its low 16 bits
    are computed. They are the whole stride if stride - 32 * stride - d = 0.

    Members
    -------
    first, last : values of lanes 0 and 31.
    stride : the stride.
    fits : it is a signed number of 16 bits.
    """

    first: In(WORD_BITS)
    last: In(WORD_BITS)
    stride: Out(signed(STRIDE_BITS))
    fits: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        difference, whole = Signal(WORD_BITS), Signal(signed(WORD_BITS))
        low = difference[:STRIDE_BITS]
        rows = compress(m, [low << shift for shift in range(0, STRIDE_BITS, 5)], STRIDE_BITS)
        left = compress(m, [whole, ~(whole << 5), ~difference], WORD_BITS, name="left")
        m.d.comb += [
            difference.eq(self.first - self.last),
            self.stride.eq(rows[0] + rows[1]),
            whole.eq(self.stride),
            self.fits.eq(_is_minus_two(*left)),
        ]
        return m


def _is_minus_two(a: Value, b: Value) -> Value:
    """Whether a + b = -2, without a carry chain: each bit of -2 but the lowest, which gets no carry, is 1 if a carry
    comes in exactly when it is needed."""
    needed, comes = ~(a ^ b), a & b
    return needed[0] & (needed[1:] == comes[:-1])
