"""`ScalarRegisters`: the registers of the control processor, and its integer unit."""

from warploom.arch.encoding import encode_modifiers
from warploom.arch.fg_simt.code import CARRYING
from warploom.arch.fg_simt.sizes import PREDICATES, REGISTERS
from warploom.arch.isa import PT, RZ, Instruction
from warploom.golden_model.lane import lane


class ScalarRegisters:
    """32 registers and 7 predicates, zero at reset."""

    def __init__(self) -> None:
        self._registers, self._predicates = [0] * REGISTERS, [False] * PREDICATES

    def slot(self, i: Instruction, slot: int) -> int:
        """An operand."""
        if slot == i.imm_slot:
            return i.imm
        return 0 if i.src[slot] == RZ else self._registers[i.src[slot]]

    def executes(self, i: Instruction) -> bool:
        """Whether the guard holds."""
        return self._predicate(i.guard) != i.guard_not

    def write(self, i: Instruction, word: int) -> None:
        """The result of an instruction."""
        if i.dst != RZ:
            self._registers[i.dst] = word

    def compute(self, i: Instruction) -> None:
        """An integer operation, with its results."""
        pred = False if i.psrc == PT and i.op in CARRYING else self._predicate(i.psrc) != i.psrc_not
        a, b, c = (self.slot(i, slot) for slot in range(3))
        result, holds = lane(i.op, encode_modifiers(i), a, b, c, int(pred))
        self.write(i, result)
        if i.pdst != PT:
            self._predicates[i.pdst] = bool(holds)

    def _predicate(self, number: int) -> bool:
        return True if number == PT else self._predicates[number]
