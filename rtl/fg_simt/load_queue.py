"""A lane's queue of loaded words, SLDQ (docs/contract/fg_simt.md, *Memory unit*)."""


from collections.abc import Sequence
from itertools import combinations

from amaranth import Array, Cat, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.sizes import EIGHT_LANES, Sizes
from warploom.arch.l1 import WORD_BITS
from warploom.rtl.fg_simt.memory_ports import place_bits
from warploom.rtl.l1.ports import assert_rule
from warploom.rtl.select import merge_many
from warploom.rtl.shared import is_fpga

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
        selects = [Signal(places, name=f"select_{number}") for number in range(SOURCES)]
        for select, given in zip(selects, self.fill, strict=True):
            m.d.comb += select.eq(given.valid << given.place)
        if is_fpga(platform):
            self._in_memories(m, selects)
        else:
            self._in_registers(m, selects)
        if self._probe:
            for one, other in combinations(selects, 2):
                assert_rule(m, ~(one & other).any(), "two words come for one place")
        return m

    def _in_registers(self, m: Module, selects: Sequence[Signal]) -> None:
        words = Signal(data.ArrayLayout(WORD_BITS, len(selects[0])), reset_less=True)
        for number, word in enumerate(words):
            comes = Cat(select[number] for select in selects)
            with m.If(comes.any()):
                m.d.sync += word.eq(merge_many(comes, [given.word for given in self.fill]))
        m.d.comb += self.word.eq(words[self.place])

    def _in_memories(self, m: Module, selects: Sequence[Signal]) -> None:
        """A memory for each side, and for each place the side from which its word came."""
        places, found = len(selects[0]), []
        sides = Signal(data.ArrayLayout(range(SOURCES), places), reset_less=True)
        for side, given in enumerate(self.fill):
            m.submodules[f"words_{side}"] = words = Memory(shape=WORD_BITS, depth=places, init=())
            writer, reader = words.write_port(), words.read_port(domain="comb")
            m.d.comb += [writer.addr.eq(given.place), writer.data.eq(given.word), writer.en.eq(given.valid),
                         reader.addr.eq(self.place)]
            found.append(reader.data)
            for place, select in enumerate(selects[side]):
                with m.If(select):
                    m.d.sync += sides[place].eq(side)
        m.d.comb += self.word.eq(Array(found)[sides[self.place]])
