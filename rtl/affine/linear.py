"""Linear operations: base and stride of a sum, for the next attempt of the warp."""

from amaranth import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.compact import STRIDE_BITS
from warploom.rtl.interfaces import COMPACT


class LinearSum(wiring.Component):
    """Combinational: the result of MOV, S2R, IADD, ISUB and SEL in compact form, if it is compact.

    Members
    -------
    a, b : the operands.
    take_a, take_b : they count; otherwise zero does.
    minus : b is subtracted.
    carry : added to the bases; 1 for a subtraction without a borrow.
    result : base and stride of the result; of the stride the low bits.
    fits : these are the whole stride.
    """

    a: In(COMPACT)
    b: In(COMPACT)
    take_a: In(1)
    take_b: In(1)
    minus: In(1)
    carry: In(1)
    result: Out(COMPACT)
    fits: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for name, bits, carry in (("base", 32, self.carry), ("stride", STRIDE_BITS, self.minus)):
            a = self.a[name] & self.take_a.replicate(bits)
            b = (self.b[name] & self.take_b.replicate(bits)) ^ self.minus.replicate(bits)
            m.d.comb += self.result[name].eq((Cat(1, a) + Cat(carry, b))[1:])  # one adder
        a_sign, b_sign = (word[STRIDE_BITS - 1] for word in (a, b))  # of the last ones, the strides
        m.d.comb += self.fits.eq((a_sign != b_sign) | (self.result.stride[-1] == a_sign))
        return m
