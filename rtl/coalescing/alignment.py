"""Operand path: from the stored sub-bank form of a word to the form that the lanes read ([RADAIDEH], Fig. 3.14)."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import SUB_BANKS
from warploom.arch.interfaces import WARP_BITS
from warploom.rtl.byte_order import SLICE_BITS, deinterleave, swap
from warploom.rtl.interfaces import ENCODING


class OperandPath(wiring.Component):
    """Restores the plain word of a register: bytes in order, copies of the sign above the stored ones.

    Combinational: a byte swap, local to each lane, and one more gate level.

    Members
    -------
    word : the operand in sub-bank form; slices that the register does not use are unspecified.
    encoding : of the register; size 3, right, passes the word unchanged.
    operand : the byte-interleaved word.
    """

    def __init__(self) -> None:
        super().__init__({"word": In(WARP_BITS), "encoding": In(ENCODING), "operand": Out(WARP_BITS)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        ordered, restored = Signal(WARP_BITS), Signal(WARP_BITS)
        lowest, *others = (ordered.word_select(k, SLICE_BITS) for k in range(SUB_BANKS))
        fill = self.encoding.sign.replicate(SLICE_BITS)
        m.d.comb += [
            ordered.eq(swap(self.word, self.encoding.left)),
            restored.eq(Cat(lowest, (Mux(self.encoding.size >= k, part, fill) for k, part in enumerate(others, 1)))),
            self.operand.eq(deinterleave(restored)),
        ]
        return m
