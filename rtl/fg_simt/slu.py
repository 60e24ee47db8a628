# amaranth: UnusedElaboratable=no
"""The unit that writes loads back, SLU (docs/contract/fg_simt.md, *Lanes in hardware*)."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import LANES as THREADS
from warploom.arch.fg_simt.sizes import GROUPS, LANES, SLWQ_ENTRIES
from warploom.rtl.fg_simt.issue_ports import reading, write_back
from warploom.rtl.fg_simt.memory_ports import ARRIVING, PLACE_BITS, WORDS
from warploom.rtl.fg_simt.sau_ports import EXTENSION, RESULT, written


class LoadUnit(wiring.Component):
    """Extends the elements of a load, one group in each cycle, no stalls. A group that reads in t is written in t + 1.

    Members
    -------
    arrive, arriving : a row comes to the memory unit. The executing lanes of a load are kept until its write-back.
    read : the group whose words are read.
    place, words : its place in the SLDQs, and what is there, in the same cycle.
    write : results, without predicates, to be written and forwarded.
    """

    def __init__(self) -> None:
        super().__init__({
            "arrive": In(1), "arriving": In(ARRIVING), "read": In(reading(write_back(EXTENSION))),
            "place": Out(PLACE_BITS), "words": In(WORDS), "write": Out(RESULT),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        read, result = self.read.operation, Signal(RESULT)
        m.d.comb += [
            self.place.eq(Cat(self.read.group, read.place)),
            result.destination.number.eq(read.destination.number),
            result.destination.valid.eq(self.read.valid & read.destination.valid),
            result.group.eq(self.read.group), result.execute.eq(self._executing(m)),
            *(word.eq(extended(loaded, read.extension)) for word, loaded in zip(result.words, self.words, strict=True)),
            self.write.eq(written(m, result)),
        ]
        return m

    def _executing(self, m: Module) -> Value:
        """The executing lanes of the group that reads. Of a vector load they come all at once. Those of all groups are
        taken with group 0: a vector load that issues a cycle after the write-back may bring others for the entry while
        group 3 reads."""
        masks, rest = Signal(data.ArrayLayout(LANES, SLWQ_ENTRIES * GROUPS), reset_less=True), Signal(THREADS)
        row = self.arriving.row
        for number, mask in enumerate(masks):
            entry, group = divmod(number, GROUPS)
            of_vector = row.data[0].word_select(group, LANES)
            comes = Mux(row.instruction.vector, row.instruction.place[-len(self.read.operation.place):] == entry,
                        row.instruction.place == number)
            with m.If(self.arrive & row.instruction.loads & comes):
                m.d.sync += mask.eq(Mux(row.instruction.vector, of_vector, row.execute))
        now = Mux(self.read.group == 0, masks.as_value().word_select(self.read.operation.place, THREADS), rest)
        m.d.sync += rest.eq(now[LANES:])
        return now[:LANES]


def extended(word: Value, extension: data.View) -> Value:
    """The element at the low end of a word, as a word."""
    low = Cat(word[:8], Mux(extension.size == 0, (extension.signed & word[7]).replicate(8), word[8:16]))
    return Mux(extension.size[1], word, Cat(low, (extension.signed & low[15]).replicate(16)))
