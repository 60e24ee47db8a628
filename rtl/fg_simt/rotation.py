"""The rotation network of vector loads (docs/contract/fg_simt.md, *Affine execution*; [AFFINE], section 4)."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.sizes import EIGHT_LANES, Sizes
from warploom.arch.l1 import LINE_BITS, OFFSET_BITS
from warploom.rtl.fg_simt.coalesce import SIZE_BITS
from warploom.rtl.fg_simt.memory_ports import words


class Rotation(wiring.Component):
    """Brings elements in sequence to their lanes. Combinational.

    Parameters
    ----------
    sizes : lanes of the engine.

    Members
    -------
    line : a line.
    start : the byte of its first element, a multiple of its size; elements behind the end of the line are unspecified.
    size : bytes of an element, as logarithm: 0, 1 or 2.
    lane : the lane of the first element, if there is more than one.
    words : the element of each lane at the low end of a word.
    """

    def __init__(self, *, sizes: Sizes = EIGHT_LANES) -> None:
        self._sizes = sizes
        super().__init__({
            "line": In(LINE_BITS), "start": In(OFFSET_BITS), "size": In(SIZE_BITS),
            **({"lane": In(sizes.lane_bits)} if sizes.lane_bits else {}), "words": Out(words(sizes)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        moved: Value = self.line
        for bit, amount in reversed(self._stages()):
            stage = Signal(LINE_BITS, name=f"moved_{amount}")
            m.d.comb += stage.eq(Mux(bit, moved >> amount, moved))
            moved = stage
        elements, lanes = list[Value](), self._sizes.lanes
        for number in range(lanes):
            byte, half, word = (moved.word_select(number, bits) for bits in (8, 16, 32))
            elements.append(Mux(self.size[1], word, Mux(self.size[0], half, byte)))
        for power in range(self._sizes.lane_bits):
            turned = [elements[number - (1 << power)] for number in range(lanes)]
            step = Signal(words(self._sizes), name=f"turned_{power}")
            m.d.comb += [step[lane].eq(Mux(self.lane[power], turned[lane], elements[lane])) for lane in range(lanes)]
            elements = [step[lane] for lane in range(lanes)]
        m.d.comb += self.words.as_value().eq(Cat(elements))
        return m

    def _stages(self) -> list[tuple[Value, int]]:
        return [(self.start[power], 8 << power) for power in range(OFFSET_BITS)]
