"""The rotation network of vector loads (docs/contract/fg_simt.md, *Affine execution*; [AFFINE], section 4)."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.sizes import LANES
from warploom.arch.l1 import LINE_BITS, OFFSET_BITS
from warploom.rtl.fg_simt.coalesce import SIZE_BITS
from warploom.rtl.fg_simt.memory_ports import WORDS

LANE_BITS = (LANES - 1).bit_length()


class Rotation(wiring.Component):
    """Brings eight elements in sequence to their lanes. Combinational.

    Members
    -------
    line : a line.
    start : the byte of its first element, a multiple of its size; elements behind the end of the line are unspecified.
    size : bytes of an element, as logarithm: 0, 1 or 2.
    lane : the lane of the first element.
    words : the element of each lane at the low end of a word.
    """

    def __init__(self) -> None:
        super().__init__({
            "line": In(LINE_BITS), "start": In(OFFSET_BITS), "size": In(SIZE_BITS), "lane": In(LANE_BITS),
            "words": Out(WORDS),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        moved: Value = self.line
        for bit, amount in reversed(self._stages()):
            stage = Signal(LINE_BITS, name=f"moved_{amount}")
            m.d.comb += stage.eq(Mux(bit, moved >> amount, moved))
            moved = stage
        elements: list[Value] = []
        for number in range(LANES):
            byte, half, word = (moved.word_select(number, bits) for bits in (8, 16, 32))
            elements.append(Mux(self.size[1], word, Mux(self.size[0], half, byte)))
        for power in range(LANE_BITS):
            turned = [elements[number - (1 << power)] for number in range(LANES)]
            step = Signal(WORDS, name=f"turned_{power}")
            m.d.comb += [step[lane].eq(Mux(self.lane[power], turned[lane], elements[lane])) for lane in range(LANES)]
            elements = [step[lane] for lane in range(LANES)]
        m.d.comb += self.words.as_value().eq(Cat(elements))
        return m

    def _stages(self) -> list[tuple[Value, int]]:
        return [(self.start[power], 8 << power) for power in range(OFFSET_BITS)]
