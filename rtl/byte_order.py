"""The orders of a word's bytes ([RADAIDEH], Fig. 3.11 to 3.14).

Outside the register file a word is byte-interleaved: lane l in bits 32l .. 32l + 31. Registers with a side are stored
in sub-bank form: bits 256k .. 256k + 255 are slice k, one byte of each lane, with lane l in bits 8l .. 8l + 7 of the
slice. This is byte k of a register on the right, and byte 3 - k of a register on the left.
"""

from amaranth import Cat, Const, Mux, Signal, Value
from amaranth.lib import data

from warploom.arch.config import SUB_BANKS
from warploom.arch.interfaces import WARP_BITS

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
    """A mask of the bytes of a width, which is given as its bytes less one."""
    return Cat(Const(1, 1), (size >= k for k in range(1, SUB_BANKS)))


def decoded(encoding: data.View) -> Value:
    """An encoding as `warploom.rtl.interfaces.DECODED`."""
    return Cat(bytes_below(encoding.size), encoding.sign, encoding.left)
