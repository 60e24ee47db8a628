"""Sub-bank form, in which the coalescing register file holds a word, and back ([RADAIDEH], Fig. 3.11 to 3.14).

Outside a word is byte-interleaved: lane l in bits 32l .. 32l + 31. In sub-bank form bits 256k .. 256k + 255 are slice
k, one byte of each lane, that of lane l in bits 8l .. 8l + 7 of the slice. It is byte k of a register on the right and
byte 3 - k of one on the left.
"""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import SUB_BANKS
from warploom.arch.interfaces import WARP_BITS
from warploom.rtl.interfaces import CODE

SLICE_BITS = WARP_BITS // SUB_BANKS


def interleave(word: Signal) -> Value:
    """The sub-bank form of a byte-interleaved word of a register on the right: wiring."""
    return Cat(word.word_select(byte, 8) for k in range(SUB_BANKS) for byte in range(k, WARP_BITS // 8, SUB_BANKS))


def deinterleave(form: Signal) -> Value:
    """The byte-interleaved word of a register on the right, from its sub-bank form: wiring."""
    lanes = WARP_BITS // 8 // SUB_BANKS
    return Cat(form.word_select(lane + lanes * k, 8) for lane in range(lanes) for k in range(SUB_BANKS))


def swap(parts: Signal, left: Value) -> Value:
    """The four parts of a signal (slices, or bits of a mask) in the opposite order when `left`: one 2:1 multiplexer for
    each bit."""
    width = len(parts) // SUB_BANKS
    return Mux(left, Cat(parts.word_select(k, width) for k in reversed(range(SUB_BANKS))), parts)


def bytes_below(size: Value) -> Value:
    """A mask of the bytes of a width, given as its bytes less one."""
    return Cat(Const(1, 1), (size >= k for k in range(1, SUB_BANKS)))


class OperandPath(wiring.Component):
    """Restores a register to what its lanes read: bytes in order, copies of the sign above the stored ones.

    Combinational: a byte swap, local to each lane, and one gate level more.

    Members
    -------
    word : the operand in sub-bank form; slices that the register does not use may hold anything.
    code : how the register is stored; size 3, right, passes the word as it is.
    operand : the byte-interleaved word.
    """

    def __init__(self) -> None:
        super().__init__({"word": In(WARP_BITS), "code": In(CODE), "operand": Out(WARP_BITS)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        ordered, restored = Signal(WARP_BITS), Signal(WARP_BITS)
        lowest, *others = (ordered.word_select(k, SLICE_BITS) for k in range(SUB_BANKS))
        fill = self.code.sign.replicate(SLICE_BITS)
        m.d.comb += [
            ordered.eq(swap(self.word, self.code.left)),
            restored.eq(Cat(lowest, (Mux(self.code.size >= k, part, fill) for k, part in enumerate(others, 1)))),
            self.operand.eq(deinterleave(restored)),
        ]
        return m
