# amaranth: UnusedElaboratable=no
"""Encoding latch: the new encoding of the register in a write latch ([RADAIDEH], section 3.6)."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import LANES, SUB_BANKS
from warploom.arch.interfaces import WARP_BITS
from warploom.rtl.byte_order import bytes_below, swap
from warploom.rtl.coalescing.width import WidthDetector
from warploom.rtl.interfaces import ENCODING


class EncodingLatch(wiring.Component):
    """Computes the new encoding of a register while a result enters its write latch.

    A full write needs the significant bytes of its own lanes. A partial write also needs the bytes of the other lanes:
    the bytes stored so far if both signs are the same, else all four. It fills those that were not stored with the old
    sign in these lanes. Latency one cycle.

    Members
    -------
    take : the write latch takes the result; outputs change at the end of the cycle.
    data, lanes, full : the result, its executing lanes, and whether these are all live lanes.
    old : the present encoding of the register.
    left : the side that the result goes to.
    encoding, mask : the new encoding, and the sub-banks in use.
    fill, fill_sign : the sub-banks in which the other lanes get copies of a sign, and the sign.
    """

    def __init__(self) -> None:
        super().__init__({
            "take": In(1),
            "data": In(WARP_BITS),
            "lanes": In(LANES),
            "full": In(1),
            "old": In(ENCODING),
            "left": In(1),
            "encoding": Out(ENCODING),
            "mask": Out(SUB_BANKS),
            "fill": Out(SUB_BANKS),
            "fill_sign": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.detector = detector = WidthDetector()
        before, stored, filled = Signal(SUB_BANKS), Signal(SUB_BANKS), Signal(SUB_BANKS)
        m.d.comb += [
            detector.data.eq(self.data),
            detector.lanes.eq(self.lanes),
            before.eq(bytes_below(self.old.size)),
            stored.eq(bytes_below(detector.size) | self._needed(before, detector.sign)),
            filled.eq(Mux(self.full, 0, stored & ~before)),
        ]
        with m.If(self.take):
            m.d.sync += [
                self.encoding.size.eq(Cat(stored[3] | (stored[1] & ~stored[2]), stored[2])),
                self.encoding.sign.eq(detector.sign),
                self.encoding.left.eq(self.left),
                self.mask.eq(swap(stored, self.left)),
                self.fill.eq(swap(filled, self.old.left)),  # of a full result there is none
                self.fill_sign.eq(self.old.sign),
            ]
        return m

    def _needed(self, before: Value, sign: Value) -> Value:
        """The bytes that the lanes that are not written need, with this new sign of the register."""
        differs = sign != self.old.sign
        return Mux(self.full, 0, before | differs.replicate(SUB_BANKS))
