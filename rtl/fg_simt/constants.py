"""Constant operands of a group (docs/contract/fg_simt.md, *Micro-operations*)."""

from amaranth import Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.compact import STRIDE_BITS
from warploom.arch.fg_simt.sizes import EIGHT_LANES, Sizes
from warploom.arch.l1 import WORD_BITS
from warploom.rtl.fg_simt.memory_ports import words
from warploom.rtl.multiply import compress

MULTIPLE = signed(STRIDE_BITS + 5)
"""The stride, up to 31 times."""


class Constants(wiring.Component):
    """Words base + (lanes * group + lane) * stride. Combinational: the multiples of the stride that a lane, and two
    bits of the group, need take one addition, and the sum of the words one more behind rows of full adders.

    Parameters
    ----------
    sizes : lanes of the engine.

    Members
    -------
    base, stride, group : the operand, and the group.
    words : of each lane.
    """

    def __init__(self, *, sizes: Sizes = EIGHT_LANES) -> None:
        self._sizes = sizes
        super().__init__({"base": In(WORD_BITS), "stride": In(signed(STRIDE_BITS)), "group": In(range(sizes.groups)),
                          "words": Out(words(sizes))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        times = [Signal(MULTIPLE, name=f"times_{count}") for count in range(max(self._sizes.lanes, 4))]
        one, parts = self.stride, range(0, self._sizes.group_bits, 2)
        before = [Signal(MULTIPLE, name=f"before_{low}" if low else "before") for low in parts]
        made = (0, one, one << 1, (one << 1) + one, one << 2, (one << 2) + one, times[3] << 1, (one << 3) - one)
        m.d.comb += [
            *(multiple.eq(value) for multiple, value in zip(times, made, strict=False)),
            *(row.eq(_multiple(self.group[low : low + 2], one, times) << low + self._sizes.lane_bits)
              for row, low in zip(before, parts, strict=True)),
        ]
        for lane, word in enumerate(self.words):
            added = (self.base, *before, times[lane])
            rows = [Signal(signed(WORD_BITS), name=f"row_{lane}_{number}") for number in range(len(added))]
            m.d.comb += [row.eq(value) for row, value in zip(rows, added, strict=True)]
            m.d.comb += word.eq(sum(compress(m, rows, WORD_BITS, name=f"lane_{lane}")))
        return m


def _multiple(part: Value, one: Value, times: list[Signal]) -> Value:
    """So many times the stride, a number of one or two bits."""
    few = Mux(part[0], one, 0)
    return few if len(part) == 1 else Mux(part[1], Mux(part[0], times[3], times[2]), few)
