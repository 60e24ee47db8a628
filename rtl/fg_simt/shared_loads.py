"""Words that all threads read (docs/contract/fg_simt.md, *Shared-load cache*; [AFFINE], section 3.2)."""

from amaranth import Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.sizes import SHARED_LOADS
from warploom.arch.l1 import ADDRESS_BITS, WORD_BITS
from warploom.rtl.observation import Shown, probe_port, show

NUMBER_BITS = ADDRESS_BITS - 2
"""The number of a word in memory: its address without the byte."""

PLACE_BITS = (SHARED_LOADS - 1).bit_length()


class SharedLoads(wiring.Component):
    """A direct-mapped cache of words. `hit` and `word` are combinational; what is filled is found from the next cycle
    on. Words and tags have no reset, the valid bits have.

    Parameters
    ----------
    second : two words are looked up in each cycle: there are the members `second_number` and so on.
    probe : for benches: shows the observed value.

    Members
    -------
    number : the number of the word that is looked up.
    hit, word : whether it is here; the word, unspecified without a hit.
    second_number, second_hit, second_word : the same of the second word.
    fill, fill_number, filled : memory has this word there.
    invalidate : no word is valid at the end of the cycle, not even one that is filled.
    """

    def __init__(self, *, second: bool = False, probe: bool = False) -> None:
        self._second, self._probe, self._valid = second, probe, Signal(SHARED_LOADS)
        lookup = {"number": In(NUMBER_BITS), "hit": Out(1), "word": Out(WORD_BITS)}
        other = {f"second_{name}": member for name, member in lookup.items()}
        super().__init__({
            **lookup, **(other if second else {}),
            "fill": In(1), "fill_number": In(NUMBER_BITS), "filled": In(WORD_BITS), "invalidate": In(1),
            **(probe_port(self.observe()) if probe else {}),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        entry = data.StructLayout({"tag": NUMBER_BITS - PLACE_BITS, "word": WORD_BITS})
        m.submodules.entries = entries = Memory(shape=entry, depth=SHARED_LOADS, init=())
        number, writer = self.fill_number, entries.write_port()
        self._look_up(m, entries, self.number, self.hit, self.word)
        if self._second:
            self._look_up(m, entries, self.second_number, self.second_hit, self.second_word)
        place = number[:PLACE_BITS]
        m.d.comb += [writer.addr.eq(place), writer.en.eq(self.fill), writer.data.tag.eq(number[PLACE_BITS:]),
                     writer.data.word.eq(self.filled)]
        with m.If(self.invalidate):
            m.d.sync += self._valid.eq(0)
        with m.Elif(self.fill):
            m.d.sync += self._valid.bit_select(place, 1).eq(1)
        if self._probe:
            show(m, self)
        return m

    def _look_up(self, m: Module, entries: Memory, number: Value, hit: Value, word: Value) -> None:
        """Whether a word is here, and the word."""
        reader, place = entries.read_port(domain="comb"), number[:PLACE_BITS]
        m.d.comb += [
            reader.addr.eq(place), word.eq(reader.data.word),
            hit.eq(self._valid.bit_select(place, 1) & (reader.data.tag == number[PLACE_BITS:])),
        ]

    def observe(self) -> Shown:
        """See the contract."""
        return {"shared_loads": sum(self._valid)}
