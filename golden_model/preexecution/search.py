"""`Search`: what a warp knows of the instructions behind the one that waits (docs/contract/comparators.md,
*Pre-execution*)."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from warploom.arch.isa import Instruction
from warploom.arch.passing import may_pass, must_follow, stored
from warploom.golden_model.front_end.hazards import PREDICATE
from warploom.golden_model.hints.collection import Entry

REGISTERS = (1 << PREDICATE) - 1
"""All registers in a mask of hazard bits; predicates are beyond them."""


def reads(instruction: Instruction) -> int:
    """The registers and predicates that an instruction reads, as hazard bits."""
    return places((*instruction.sources, *(PREDICATE + number for number in instruction.predicates_read)))


def places(numbers: Iterable[int]) -> int:
    """A mask of these bits."""
    return sum(1 << number for number in set(numbers))


@dataclass
class Search:
    """The search of one warp from its stall point on: how many instructions it has `looked` at, and the pc of the next
    one (`comes`). Masks of registers and predicates: `poison`, those whose value has not come because what writes them
    was passed over; `used`, those that a result must not overwrite. `spaces` are those into which something that was
    passed over may store. `entries` are of the results so far, `names` the registers that have them; `over`: nothing
    more is looked at."""

    comes: int
    looked: int = 0
    poison: int = 0
    used: int = 0
    spaces: int = 0
    over: bool = False
    entries: deque[Entry] = field(default_factory=deque)
    names: dict[int, int] = field(default_factory=dict)

    def skip(self, instruction: Instruction, written: int) -> None:
        """An instruction is passed over, which writes these places."""
        self.poison |= written
        self.used |= written | reads(instruction)
        self.spaces |= stored(instruction)

    def sources(self, instruction: Instruction) -> int:
        """The places where an instruction finds what it reads."""
        found = (self.names.get(register, register) for register in instruction.sources)
        return places((*found, *(PREDICATE + number for number in instruction.predicates_read)))

    def is_independent(self, instruction: Instruction) -> bool:
        """Whether an instruction may execute here, as far as bits can tell, but for its register."""
        if not may_pass(instruction) or must_follow(instruction, self.spaces):
            return False
        return not reads(instruction) & self.poison

    def collect(self, instruction: Instruction, written: int, name: int) -> None:
        """An instruction has executed, whose register result is in `name`."""
        self.entries.append(Entry(self.looked, instruction.dst, name))
        self.poison &= ~written
        if name != instruction.dst:
            self.used |= written
            self.names[instruction.dst] = name
        else:
            self.names.pop(instruction.dst, None)
