"""Hints for order: which instruction a waiting warp may execute next (docs/contract/hints.md, *Encoding*; [HAWS],
Fig. 5.4). Offsets are signed, in instructions, from the stall point of the hint group; 0 ends the group."""

from typing import NamedTuple

TARGET_BITS = 9
"""Bits of an offset in format 1, and in the result collection unit."""

BRANCH_BITS = 11
"""Bits of an offset in format 2."""

REGISTER_BITS = 8

FORMAT_1_BITS = TARGET_BITS + 1 + REGISTER_BITS
FORMAT_2_BITS = 1 + 2 * BRANCH_BITS

COLLECTED = 8
"""Entries of the result collection unit of a warp."""


class Hint(NamedTuple):
    """Format 1. The result of the instruction goes to `dst`: if it is not `renamed`, to its own destination."""

    target: int
    renamed: bool
    dst: int

    def encode(self) -> int:
        """The word of 18 bits. Raises `ValueError` if a field does not fit."""
        if not 0 <= self.dst < 1 << REGISTER_BITS:
            raise ValueError(f"dst = {self.dst}: must be 0..{(1 << REGISTER_BITS) - 1}")
        return _unsigned(self.target, TARGET_BITS) | self.renamed << TARGET_BITS | self.dst << TARGET_BITS + 1

    @classmethod
    def decode(cls, word: int) -> "Hint":
        """The fields of a word."""
        return cls(signed(word, TARGET_BITS), bool(word >> TARGET_BITS & 1), word >> TARGET_BITS + 1)


class BranchHint(NamedTuple):
    """Format 2: the offsets for a branch that is `taken` and for one that is not (`following`; 0 if it is `direct`)."""

    direct: bool
    taken: int
    following: int

    def encode(self) -> int:
        """The word of 23 bits. Raises `ValueError` if a field does not fit."""
        taken, following = (_unsigned(offset, BRANCH_BITS) for offset in (self.taken, self.following))
        return self.direct | taken << 1 | following << 1 + BRANCH_BITS

    @classmethod
    def decode(cls, word: int) -> "BranchHint":
        """The fields of a word."""
        return cls(bool(word & 1), signed(word >> 1, BRANCH_BITS), signed(word >> 1 + BRANCH_BITS, BRANCH_BITS))


def signed(word: int, bits: int) -> int:
    """The low bits of a word as a signed number."""
    value = word & (1 << bits) - 1
    return value - (value >> bits - 1 << bits)


def fits(offset: int) -> bool:
    """Whether an offset fits the result collection unit."""
    return -1 << TARGET_BITS - 1 <= offset < 1 << TARGET_BITS - 1


def _unsigned(offset: int, bits: int) -> int:
    limit = 1 << bits - 1
    if not -limit <= offset < limit:
        raise ValueError(f"offset {offset}: must be {-limit}..{limit - 1}")
    return offset & (1 << bits) - 1
