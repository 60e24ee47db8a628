"""Hints for order: which instruction a waiting warp may execute next, and the fields of the unit that follows them
(docs/contract/hints.md; [HAWS], Figs. 5.4 and 5.6). Offsets are signed, in instructions, from the stall point of the
hint group; 0 ends the group."""

from typing import NamedTuple

from warploom.arch.config import LANES, SmConfig
from warploom.arch.fields import Fields, index_bits
from warploom.arch.isa import PC_BITS, PT

TARGET_BITS = 9
"""Bits of an offset in format 1, and in the result collection unit."""

BRANCH_BITS = 11
"""Bits of an offset in format 2."""

REGISTER_BITS = 8

FORMAT_1_BITS = TARGET_BITS + 1 + REGISTER_BITS
FORMAT_2_BITS = 1 + 2 * BRANCH_BITS

COLLECTED = 8
"""Entries of the result collection unit of a warp."""

LEADS_BITS = 2 * REGISTER_BITS
"""Bits of the offset to which a branch led, in place of the two registers of an entry."""

HINT_FIELDS: Fields = [("target", TARGET_BITS), ("rename", 1), ("dst", REGISTER_BITS)]

BRANCH_HINT_FIELDS: Fields = [("direct", 1), ("taken", BRANCH_BITS), ("following", BRANCH_BITS)]

ENTRY_FIELDS: Fields = [
    ("offset", TARGET_BITS), ("dst", REGISTER_BITS), ("renamed", REGISTER_BITS), ("ready", 1), ("control", 1),
    ("valid", 1),
]

NEXT_FIELDS: Fields = [("pc", PC_BITS), ("copy", 1), ("dst", REGISTER_BITS), ("renamed", REGISTER_BITS)]

STACK_FIELDS: Fields = [("active", LANES), ("reconverge", PC_BITS)]

FOLLOWING_FIELDS: Fields = [
    ("hint", FORMAT_1_BITS), ("branch", 1), ("src0", REGISTER_BITS), ("src1", REGISTER_BITS), ("src2", REGISTER_BITS),
    *STACK_FIELDS,
]

OPERANDS_FIELDS: Fields = [
    ("reads", 3), ("src0", REGISTER_BITS), ("src1", REGISTER_BITS), ("src2", REGISTER_BITS), ("dst", REGISTER_BITS),
    ("predicates_read", PT), ("predicates_written", PT), ("copy", 1), ("leaves", 1),
]
"""What an instruction names in the program, whether it is the MOV of a renamed result, and a BRA, EXIT or TRAP."""


def issue_fields(config: SmConfig) -> Fields:
    """An instruction that issues, for the hint unit of its scheduler: `warps` has a bit for each warp, one of them set,
    none if nothing issues."""
    return [("warps", hinted_warps(config)), ("pc", PC_BITS), ("to", PC_BITS), ("branch", 1), ("lanes", LANES),
            ("hint", FORMAT_2_BITS), ("dst", REGISTER_BITS)]


def written_fields(config: SmConfig) -> Fields:
    """A register whose result is done, for the hint unit of its warp's scheduler."""
    return [("warp", warp_bits(config)), ("register", REGISTER_BITS)]


def hinted_warps(config: SmConfig) -> int:
    """The warps of a hint unit."""
    return config.warps // config.schedulers


def warp_bits(config: SmConfig) -> int:
    """Bits of the number of a warp in its hint unit."""
    return index_bits(hinted_warps(config))


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


def fits(offset: int, bits: int = TARGET_BITS) -> bool:
    """Whether an offset fits so many bits: those of the result collection unit."""
    return -1 << bits - 1 <= offset < 1 << bits - 1


def _unsigned(offset: int, bits: int) -> int:
    limit = 1 << bits - 1
    if not fits(offset, bits):
        raise ValueError(f"offset {offset}: must be {-limit}..{limit - 1}")
    return offset & (1 << bits) - 1
