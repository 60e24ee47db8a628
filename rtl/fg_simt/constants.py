"""Constant operands of a group (docs/contract/fg_simt.md, *Micro-operations*)."""

from amaranth import Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.sizes import GROUPS, LANES
from warploom.arch.interfaces import STRIDE_BITS
from warploom.arch.l1 import WORD_BITS
from warploom.rtl.fg_simt.memory_ports import WORDS
from warploom.rtl.multiply import compress

MULTIPLE = signed(STRIDE_BITS + 5)
"""The stride, up to 31 times."""


class Constants(wiring.Component):
    """Words base + (8 * group + lane) * stride. Combinational: the multiples of the stride that a lane, and a group,
    needs take one addition, and the sum of three words one more behind a row of full adders.

    Members
    -------
    base, stride, group : the operand, and the group.
    words : of each lane.
    """

    base: In(WORD_BITS)
    stride: In(signed(STRIDE_BITS))
    group: In(range(GROUPS))
    words: Out(WORDS)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        times = [Signal(MULTIPLE, name=f"times_{count}") for count in range(LANES)]
        one, before = self.stride, Signal(MULTIPLE)
        made = (0, one, one << 1, (one << 1) + one, one << 2, (one << 2) + one, times[3] << 1, (one << 3) - one)
        m.d.comb += [
            *(multiple.eq(value) for multiple, value in zip(times, made, strict=True)),
            before.eq(Mux(self.group[1], Mux(self.group[0], times[3], times[2]), Mux(self.group[0], one, 0)) << 3),
        ]
        for lane, multiple in enumerate(times):
            rows = [Signal(signed(WORD_BITS), name=f"row_{lane}_{number}") for number in range(3)]
            m.d.comb += [row.eq(value) for row, value in zip(rows, (self.base, before, multiple), strict=True)]
            m.d.comb += self.words[lane].eq(sum(compress(m, rows, WORD_BITS, name=f"lane_{lane}")))
        return m
