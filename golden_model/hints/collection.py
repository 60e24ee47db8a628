"""`Entry`: what the result collection unit has of an instruction (docs/contract/hints.md, *What each warp has*)."""

from typing import NamedTuple

from warploom.arch.order_hints import REGISTER_BITS, TARGET_BITS, signed

ENTRY_BITS = TARGET_BITS + 2 * REGISTER_BITS + 3
_READY = TARGET_BITS + 2 * REGISTER_BITS


class Entry(NamedTuple):
    """A valid entry: the `offset` of the instruction from the stall point, its destination `dst`, the register that has
    its result, and whether it is a branch (`control`; `dst` is then 1 if it was taken)."""

    offset: int
    dst: int
    renamed: int
    control: bool = False

    def encode(self, *, ready: bool) -> int:
        """The 28 bits of the entry; `ready`: its result has been written."""
        fields = self.offset & (1 << TARGET_BITS) - 1 | self.dst << TARGET_BITS
        fields |= self.renamed << TARGET_BITS + REGISTER_BITS
        return fields | ready << _READY | self.control << _READY + 1 | 1 << _READY + 2

    @classmethod
    def decode(cls, word: int) -> "Entry":
        """The fields of a valid entry."""
        registers = word >> TARGET_BITS
        return cls(signed(word, TARGET_BITS), registers & (1 << REGISTER_BITS) - 1,
                   registers >> REGISTER_BITS & (1 << REGISTER_BITS) - 1, bool(word >> _READY + 1 & 1))

    @property
    def moves(self) -> bool:
        """Whether the result has to be copied to the destination."""
        return not self.control and self.renamed != self.dst
