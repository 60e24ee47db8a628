"""A lane's queue of loaded words, SLDQ (docs/contract/fg_simt.md, *Memory unit*)."""


from itertools import combinations

from amaranth import Cat, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.l1 import WORD_BITS
from warploom.rtl.fg_simt.memory_ports import PLACE_BITS
from warploom.rtl.l1.ports import assert_rule
from warploom.rtl.select import merge_many

FILL = data.StructLayout({"valid": 1, "place": PLACE_BITS, "word": WORD_BITS})
"""A word for a place."""

SOURCES = 3
"""Who fills: the narrow port, the wide port, and the rotation network."""


class LoadQueue(wiring.Component):
    """Sixteen words. They come from three sides at once, each for another place, and are there from the next cycle on.

    Parameters
    ----------
    probe : that the places of a cycle are different is asserted.

    Members
    -------
    fill : what comes.
    place, word : a place, and its word in the same cycle.
    """

    def __init__(self, *, probe: bool = False) -> None:
        self._probe = probe
        super().__init__({"fill": In(data.ArrayLayout(FILL, SOURCES)), "place": In(PLACE_BITS), "word": Out(WORD_BITS)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        words = Signal(data.ArrayLayout(WORD_BITS, 1 << PLACE_BITS), reset_less=True)
        selects = [Signal(1 << PLACE_BITS, name=f"select_{number}") for number in range(SOURCES)]
        for select, fill in zip(selects, self.fill, strict=True):
            m.d.comb += select.eq(fill.valid << fill.place)
        for number in range(1 << PLACE_BITS):
            comes = Cat(select[number] for select in selects)
            with m.If(comes.any()):
                m.d.sync += words[number].eq(merge_many(comes, [fill.word for fill in self.fill]))
        m.d.comb += self.word.eq(words[self.place])
        if self._probe:
            for one, other in combinations(selects, 2):
                assert_rule(m, ~(one & other).any(), "two words come for one place")
        return m
