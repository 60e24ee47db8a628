"""Static liveness for the register file cache: which reads of a program are the last ones of their value.

Lanes are independent, so the liveness of one thread is enough under divergence. A compiler would encode the result as
one bit for each source. Nothing else needs it, so it is computed here, from the machine code.
"""

from collections.abc import Sequence

from warploom.arch.isa import RZ, Instruction
from warploom.arch.program import successors
from warploom.golden_model.front_end.decode import Static


def mark_last_uses(statics: Sequence[Static]) -> None:
    """Add `last` to the issue fields of a program's instructions: see `last_uses`."""
    for static, last in zip(statics, last_uses([static.instruction for static in statics]), strict=True):
        static.fields["last"] = last
        if static.then is not None:
            static.then.fields["last"] = 0


def last_uses(code: Sequence[Instruction]) -> list[int]:
    """For each instruction a mask over its slots: those that read a register whose value no path reads again."""
    found = []
    for instruction, live in zip(code, live_after(code), strict=True):
        again = live & ~overwritten(instruction)
        found.append(sum(1 << slot for slot, register in enumerate(instruction.src)
                         if register in instruction.sources and slot != instruction.imm_slot
                         and not again >> register & 1))
    return found


def live_after(code: Sequence[Instruction]) -> list[int]:
    """For each instruction, the registers (bit r: register r) that a path after it reads before it writes them."""
    after, before = [0] * len(code), [0] * len(code)
    following = successors(code)
    changed = True
    while changed:
        changed = False
        for pc in reversed(range(len(code))):
            after[pc] = 0
            for successor in following[pc]:
                after[pc] |= before[successor]
            reads = sum(1 << register for register in code[pc].sources)
            found = after[pc] & ~overwritten(code[pc]) | reads
            changed |= found != before[pc]
            before[pc] = found
    return after


def overwritten(instruction: Instruction) -> int:
    """The register that an instruction overwrites, as a mask; none if the instruction has a guard."""
    return 1 << instruction.dst if instruction.dst != RZ and not instruction.guarded else 0
