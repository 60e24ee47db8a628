"""Words that all threads read (docs/contract/fg_simt.md, *Shared-load cache*; [AFFINE], section 3.2)."""

from amaranth import Module, Signal
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
    probe : for benches: shows the observed value.

    Members
    -------
    number : the number of the word that is looked up, or filled.
    hit, word : whether it is here; the word, unspecified without a hit.
    fill, filled : memory has this word there.
    invalidate : no word is valid at the end of the cycle, not even one that is filled.
    """

    def __init__(self, *, probe: bool = False) -> None:
        self._probe, self._valid = probe, Signal(SHARED_LOADS)
        super().__init__({
            "number": In(NUMBER_BITS), "hit": Out(1), "word": Out(WORD_BITS), "fill": In(1), "filled": In(WORD_BITS),
            "invalidate": In(1), **(probe_port(self.observe()) if probe else {}),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        entry = data.StructLayout({"tag": NUMBER_BITS - PLACE_BITS, "word": WORD_BITS})
        m.submodules.entries = entries = Memory(shape=entry, depth=SHARED_LOADS, init=())
        reader, writer = entries.read_port(domain="comb"), entries.write_port()
        place, tag = self.number[:PLACE_BITS], self.number[PLACE_BITS:]
        m.d.comb += [
            reader.addr.eq(place), writer.addr.eq(place), writer.en.eq(self.fill),
            writer.data.tag.eq(tag), writer.data.word.eq(self.filled),
            self.hit.eq(self._valid.bit_select(place, 1) & (reader.data.tag == tag)),
            self.word.eq(reader.data.word),
        ]
        with m.If(self.invalidate):
            m.d.sync += self._valid.eq(0)
        with m.Elif(self.fill):
            m.d.sync += self._valid.bit_select(place, 1).eq(1)
        if self._probe:
            show(m, self)
        return m

    def observe(self) -> Shown:
        """See the contract."""
        return {"shared_loads": sum(self._valid)}
