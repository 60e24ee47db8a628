"""Conversion between the byte-interleaved word and its form in the sub-banks ([RADAIDEH], Figures 3.11 and 3.13).

Byte-interleaved, lane l is bits 32l .. 32l + 31 of 1024. In sub-bank form, bits 256k .. 256k + 255 are sub-bank k: one
byte of each lane, with lane l in bits 8l .. 8l + 7 of the sub-bank. This is byte k of a register on the right, and byte
3 - k of a register on the left.
"""

from warploom.arch.config import LANES, SUB_BANKS
from warploom.arch.interfaces import WARP_BITS

SLICE_BITS = WARP_BITS // SUB_BANKS
WORD_BYTES = WARP_BITS // 8


def to_sub_banks(word: int, left: bool) -> int:
    """The sub-bank form of a byte-interleaved word, or of a 1024-bit mask."""
    data = word.to_bytes(WORD_BYTES, "little")
    return int.from_bytes(b"".join(data[byte::SUB_BANKS] for byte in _order(left)), "little")


def from_sub_banks(form: int, left: bool) -> int:
    """The byte-interleaved word of a sub-bank form."""
    data, word = form.to_bytes(WORD_BYTES, "little"), bytearray(WORD_BYTES)
    for sub_bank, byte in enumerate(_order(left)):
        word[byte::SUB_BANKS] = data[LANES * sub_bank : LANES * (sub_bank + 1)]
    return int.from_bytes(word, "little")


def sub_bank_mask(width: int, left: bool) -> int:
    """The sub-banks that hold a register of `width` bytes (1..4)."""
    ones = (1 << width) - 1
    return ones << SUB_BANKS - width if left else ones


def byte_enables(mask: int) -> int:
    """One bit for each byte of a 1024-bit mask that covers whole bytes: in sub-bank form, bit 32k + l is lane l of
    sub-bank k."""
    return int(mask.to_bytes(WORD_BYTES, "big").replace(b"\x00", b"0").replace(b"\xff", b"1"), 2)


def byte_mask(enables: int) -> int:
    """The 1024-bit mask of 128 byte enables, in the same form."""
    bits = f"{enables:0{WORD_BYTES}b}".encode()
    return int.from_bytes(bits.replace(b"0", b"\x00").replace(b"1", b"\xff"), "big")


def _order(left: bool) -> range:
    """For each sub-bank, the byte of a lane that it holds."""
    return range(SUB_BANKS - 1, -1, -1) if left else range(SUB_BANKS)
