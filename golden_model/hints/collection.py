"""`Entry`: what the result collection unit has of an instruction (docs/contract/hints.md, *What each warp has*)."""

from typing import NamedTuple

from warploom.arch.isa import RZ
from warploom.arch.order_hints import LEADS_BITS, REGISTER_BITS, TARGET_BITS, signed

ENTRY_BITS = TARGET_BITS + 2 * REGISTER_BITS + 3
_READY = TARGET_BITS + 2 * REGISTER_BITS
_REGISTER = (1 << REGISTER_BITS) - 1


class Entry(NamedTuple):
    """A valid entry: the `offset` of the instruction from the stall point, its destination `dst`, and the register that
    has its result; in a branch (`control`) these are the low and the high bits of where it led."""

    offset: int
    dst: int
    renamed: int
    control: bool = False

    @classmethod
    def branch(cls, offset: int, leads: int) -> "Entry":
        """The entry of a branch that led to an instruction with the offset `leads`."""
        word = leads & (1 << LEADS_BITS) - 1
        return cls(offset, word & _REGISTER, word >> REGISTER_BITS, control=True)

    def encode(self, *, ready: bool) -> int:
        """The 28 bits of the entry; `ready`: its result has been written."""
        fields = self.offset & (1 << TARGET_BITS) - 1 | self.dst << TARGET_BITS
        fields |= self.renamed << TARGET_BITS + REGISTER_BITS
        return fields | ready << _READY | self.control << _READY + 1 | 1 << _READY + 2

    @classmethod
    def decode(cls, word: int) -> "Entry":
        """The fields of a valid entry."""
        registers = word >> TARGET_BITS
        return cls(signed(word, TARGET_BITS), registers & _REGISTER, registers >> REGISTER_BITS & _REGISTER,
                   bool(word >> _READY + 1 & 1))

    @property
    def writes(self) -> bool:
        """Whether the result is in a register."""
        return not self.control and self.renamed != RZ

    @property
    def moves(self) -> bool:
        """Whether the result has to be copied to the destination."""
        return not self.control and self.renamed != self.dst
