# amaranth: UnusedElaboratable=no
"""The unit that writes loads back, SLU (docs/contract/fg_simt.md, *Lanes in hardware*)."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.sizes import EIGHT_LANES, SLWQ_ENTRIES, THREADS, Sizes
from warploom.rtl.fg_simt.issue_ports import reading, write_back
from warploom.rtl.fg_simt.memory_ports import arriving, place_bits, words
from warploom.rtl.fg_simt.sau_ports import EXTENSION, result, written


class LoadUnit(wiring.Component):
    """Extends the elements of a load, one group in each cycle, no stalls. A group that reads in t is written in t + 1.

    Parameters
    ----------
    sizes : lanes of the engine.

    Members
    -------
    arrive, arriving : a row comes to the memory unit. The executing lanes of a load are kept until its write-back.
    read : the group whose words are read.
    place, words : its place in the SLDQs, and what is there, in the same cycle.
    write : results, without predicates, to be written and forwarded.
    """

    def __init__(self, *, sizes: Sizes = EIGHT_LANES) -> None:
        self._sizes = sizes
        super().__init__({
            "arrive": In(1), "arriving": In(arriving(sizes)), "read": In(reading(write_back(EXTENSION), sizes)),
            "place": Out(place_bits(sizes)), "words": In(words(sizes)), "write": Out(result(sizes)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        read, made = self.read.operation, Signal(result(self._sizes))
        m.d.comb += [
            self.place.eq(Cat(self.read.group, read.place)),
            made.destination.number.eq(read.destination.number),
            made.destination.valid.eq(self.read.valid & read.destination.valid),
            made.group.eq(self.read.group), made.execute.eq(self._executing(m)),
            *(word.eq(extended(loaded, read.extension)) for word, loaded in zip(made.words, self.words, strict=True)),
            self.write.eq(written(m, made)),
        ]
        return m

    def _executing(self, m: Module) -> Value:
        """The executing lanes of the group that reads. Of a vector load they come all at once. Those of all groups are
        taken with group 0: a vector load that issues a cycle after the write-back may bring others for the entry while
        the last ones read."""
        lanes, groups = self._sizes.lanes, self._sizes.groups
        masks, rest = Signal(data.ArrayLayout(lanes, SLWQ_ENTRIES * groups), reset_less=True), Signal(THREADS)
        row = self.arriving.row
        for number, mask in enumerate(masks):
            entry, group = divmod(number, groups)
            of_vector = row.data[0].word_select(group, lanes)
            comes = Mux(row.instruction.vector, row.instruction.place[-len(self.read.operation.place):] == entry,
                        row.instruction.place == number)
            with m.If(self.arrive & row.instruction.loads & comes):
                m.d.sync += mask.eq(Mux(row.instruction.vector, of_vector, row.execute))
        now = Mux(self.read.group == 0, masks.as_value().word_select(self.read.operation.place, THREADS), rest)
        m.d.sync += rest.eq(now[lanes:])
        return now[:lanes]


def extended(word: Value, extension: data.View) -> Value:
    """The element at the low end of a word, as a word."""
    low = Cat(word[:8], Mux(extension.size == 0, (extension.signed & word[7]).replicate(8), word[8:16]))
    return Mux(extension.size[1], word, Cat(low, (extension.signed & low[15]).replicate(16)))
