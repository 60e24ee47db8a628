"""Expander: the word of a compact register."""

from amaranth import Module, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.compact import STRIDE_BITS
from warploom.arch.config import LANES
from warploom.arch.interfaces import WARP_BITS
from warploom.rtl.interfaces import MULTIPLES, PREPARED
from warploom.rtl.multiply import compress

SHARED = 8
"""Multiples of the stride that lanes share: 0 to 7 times, and as many times 8."""


class Expander(wiring.Component):
    """Combinational: base + lane * stride in each of the 32 lanes.

    Lane 8 j + k is base + 8 j * stride + k * stride. Lanes share the two multiples, of which those that need an adder
    come with the value. The three words are reduced to two, and added.

    Members
    -------
    value : base and stride, with multiples of the stride.
    word : the warp register.
    """

    value: In(PREPARED)
    word: Out(WARP_BITS)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        base, stride = self.value.base, self.value.stride
        multiples = [Signal(signed(STRIDE_BITS + 3), name=f"stride_{count}") for count in range(SHARED)]
        made = {0: 0, 1: stride, 2: stride << 1, 4: stride << 2, 6: self.value.times_3 << 1,
                **{count: self.value[f"times_{count}"] for count in MULTIPLES}}
        m.d.comb += [multiple.eq(made[count]) for count, multiple in enumerate(multiples)]
        for lane in range(LANES):
            rows = [base, multiples[lane // SHARED] * SHARED, multiples[lane % SHARED]]
            extended = [Signal(signed(32), name=f"lane_{lane}_{row}") for row in range(len(rows))]
            m.d.comb += [word.eq(row) for word, row in zip(extended, rows, strict=True)]
            m.d.comb += self.word.word_select(lane, 32).eq(sum(compress(m, extended, 32, name=f"lane_{lane}")))
        return m
