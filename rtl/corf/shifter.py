"""Byte-level shifter: aligns registers in CORF ([RADAIDEH], section 3.6.2.3).

Words are in sub-bank form (`warploom.rtl.byte_order`): slice k, bits 256k .. 256k + 255, has one byte of each lane.
"""

from amaranth import Cat, Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import SUB_BANKS
from warploom.arch.interfaces import WARP_BITS
from warploom.rtl.byte_order import SLICE_BITS


class Shifter(wiring.Component):
    """Moves all slices by 0 to 3 positions: up, to align a register to the left when it is written; or down, to align
    it to the right after it has been read.

    Combinational, two levels of 2:1 multiplexers. Slices into which nothing is moved are unspecified, which saves
    multiplexers.

    Parameters
    ----------
    up : whether slice k goes to k + positions, and not to k - positions.

    Members
    -------
    word : the input.
    positions : the distance.
    shifted : the result.
    """

    def __init__(self, *, up: bool) -> None:
        self._up = up
        super().__init__({"word": In(WARP_BITS), "positions": In(2), "shifted": Out(WARP_BITS)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        slices = [self.word.word_select(k, SLICE_BITS) for k in range(SUB_BANKS)]
        for bit, distance in enumerate((1, 2)):
            slices = self._stage(slices, distance, self.positions[bit])
        m.d.comb += self.shifted.eq(Cat(slices))
        return m

    def _stage(self, slices: list[Value], distance: int, moves: Value) -> list[Value]:
        """The slices, moved by a distance or not."""
        step = -distance if self._up else distance
        return [Mux(moves, slices[k + step], part) if 0 <= k + step < SUB_BANKS else part
                for k, part in enumerate(slices)]
