"""Width detection: the significant bytes of a result, and its sign ([RADAIDEH], section 3.6.2.8 and Fig. 3.20)."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import LANES
from warploom.arch.interfaces import WARP_BITS

BYTES = 4
"""Bytes of a lane."""

SEEN = data.StructLayout({"ones": BYTES - 1, "zeros": BYTES - 1, "sign": 1})
"""Whether bytes 1 to 3 have a one, whether they have a zero, and the sign bit."""


class WidthDetector(wiring.Component):
    """Finds the smallest width that fits all executing lanes.

    For each byte above the lowest, an OR over the lanes detects that it is not zero in some lane, and a NAND that it is
    not 0xFF in some lane. The sign, the OR of the lanes' bits 31, chooses between the two. Combinational; reductions
    are balanced trees.

    Members
    -------
    data : the word, lane l in bits 32l .. 32l + 31.
    lanes : the executing lanes; others do not count.
    size : the width in bytes less one: the highest byte that does not just repeat the sign; 0 if there is none.
    sign : some executing lane is negative.
    """

    def __init__(self) -> None:
        super().__init__({"data": In(WARP_BITS), "lanes": In(LANES), "size": Out(2), "sign": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        seen, wide = Signal(SEEN), Signal(BYTES - 1)
        m.d.comb += [
            seen.eq(self._anywhere([self._lane(self.data.word_select(lane, 32)) for lane in range(LANES)])),
            wide.eq(Mux(seen.sign, seen.zeros, seen.ones)),
            self.sign.eq(seen.sign),
            self.size.eq(Mux(wide[2], 3, Mux(wide[1], 2, wide[0]))),
        ]
        return m

    def _lane(self, word: Value) -> Value:
        """`SEEN` of one lane."""
        high = [word.word_select(byte, 8) for byte in range(1, BYTES)]
        return Cat([byte.any() for byte in high], [~byte.all() for byte in high], word[-1])

    def _anywhere(self, lanes: list[Value]) -> Value:
        """The OR over executing lanes, as a balanced tree."""
        level = [lane & self.lanes[i].replicate(len(lane)) for i, lane in enumerate(lanes)]
        while len(level) > 1:
            level = [left | right for left, right in zip(level[::2], level[1::2], strict=True)]
        return level[0]
