"""A lane's queue of loaded words, SLDQ (docs/contract/fg_simt.md, *Memory unit*)."""


from itertools import combinations

from amaranth import Cat, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.sizes import EIGHT_LANES, Sizes
from warploom.arch.l1 import WORD_BITS
from warploom.rtl.fg_simt.memory_ports import place_bits
from warploom.rtl.l1.ports import assert_rule
from warploom.rtl.select import merge_many

SOURCES = 3
"""Who fills: the narrow port, the wide port, and the rotation network."""


def fill(sizes: Sizes) -> data.StructLayout:
    """A word for a place."""
    return data.StructLayout({"valid": 1, "place": place_bits(sizes), "word": WORD_BITS})


class LoadQueue(wiring.Component):
    """Words of four loads, one for each group. They come from three sides at once, each for another place, and
    are there from the next cycle on.

    Parameters
    ----------
    sizes : lanes of the engine.
    probe : that the places of a cycle are different is asserted.

    Members
    -------
    fill : what comes.
    place, word : a place, and its word in the same cycle.
    """

    def __init__(self, *, sizes: Sizes = EIGHT_LANES, probe: bool = False) -> None:
        self._probe = probe
        super().__init__({"fill": In(data.ArrayLayout(fill(sizes), SOURCES)), "place": In(place_bits(sizes)),
                          "word": Out(WORD_BITS)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        places = 1 << len(self.place)
        words = Signal(data.ArrayLayout(WORD_BITS, places), reset_less=True)
        selects = [Signal(places, name=f"select_{number}") for number in range(SOURCES)]
        for select, given in zip(selects, self.fill, strict=True):
            m.d.comb += select.eq(given.valid << given.place)
        for number in range(places):
            comes = Cat(select[number] for select in selects)
            with m.If(comes.any()):
                m.d.sync += words[number].eq(merge_many(comes, [given.word for given in self.fill]))
        m.d.comb += self.word.eq(words[self.place])
        if self._probe:
            for one, other in combinations(selects, 2):
                assert_rule(m, ~(one & other).any(), "two words come for one place")
        return m
