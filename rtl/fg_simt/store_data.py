"""Bytes of stores in words and lines (docs/contract/fg_simt.md, *Memory unit*)."""

from functools import reduce
from operator import or_

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.sizes import EIGHT_LANES, Sizes
from warploom.arch.l1 import LINE_BITS, LINE_BYTES, OFFSET_BITS, WORD_BITS
from warploom.rtl.fg_simt.coalesce import SIZE_BITS
from warploom.rtl.fg_simt.memory_ports import words
from warploom.rtl.select import lowest, merge_many

WORD_BYTES = WORD_BITS // 8


class StoreData(wiring.Component):
    """Brings the data of lanes to their places in words, and in a line. Combinational.

    Parameters
    ----------
    sizes : lanes of the engine.

    Members
    -------
    execute : the executing lanes.
    offset : the byte in its line of each lane's address, a multiple of the size.
    data : the data of each lane, in the low bytes.
    size : bytes of an access, as logarithm: 0, 1 or 2.
    consecutive : if all offsets are different; otherwise they are equal, and the highest lane wins.
    words, word_masks : the word of each lane, and which of its bytes are written.
    line, line_mask : the line, if all lanes are in one, and which of its bytes are written.
    """

    def __init__(self, *, sizes: Sizes = EIGHT_LANES) -> None:
        super().__init__({
            "execute": In(sizes.lanes), "offset": In(data.ArrayLayout(OFFSET_BITS, sizes.lanes)),
            "data": In(words(sizes)),
            "size": In(SIZE_BITS), "consecutive": In(1),
            "words": Out(words(sizes)), "word_masks": Out(data.ArrayLayout(WORD_BYTES, sizes.lanes)),
            "line": Out(LINE_BITS), "line_mask": Out(LINE_BYTES),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        stored, bytes_of = Signal(len(self.execute)), []
        m.d.comb += stored.eq(Mux(self.consecutive, self.execute, lowest(self.execute[::-1])[::-1]))
        for lane in range(len(stored)):
            word, mask = self.words[lane], Signal(LINE_BYTES, name=f"bytes_{lane}")
            m.d.comb += [
                word.eq(self._repeated(self.data[lane])),
                self.word_masks[lane].eq(Mux(self.size[1], 0xF, Mux(self.size[0], 0x3, 0x1)) << self.offset[lane][:2]),
                mask.eq(Mux(stored[lane], self.word_masks[lane] << Cat(Const(0, 2), self.offset[lane][2:]), 0)),
            ]
            bytes_of.append(mask)
        for byte in range(LINE_BYTES):
            select = Cat(mask[byte] for mask in bytes_of)
            m.d.comb += self.line.word_select(byte, 8).eq(
                merge_many(select, [word.word_select(byte % WORD_BYTES, 8) for word in self.words]))
        m.d.comb += self.line_mask.eq(reduce(or_, bytes_of))
        return m

    def _repeated(self, word: Value) -> Value:
        """The element in each of its places in a word."""
        return Mux(self.size[1], word, Mux(self.size[0], word[:16].replicate(2), word[:8].replicate(4)))
