"""What memory may still have to write at each instruction, and which registers may still be read: analyses of
machine code for hints (docs/contract/hints.md) and for transient registers. Registers and predicates are bits of one
integer."""

from collections.abc import Sequence

from warploom.arch.isa import PT, RZ, Instruction, Pipe
from warploom.arch.program import successors
from warploom.compiler.dataflow import solve, union
from warploom.compiler.dominators import reversed_edges, whole_postorder

_PREDICATE = 256

REGISTERS = (1 << _PREDICATE) - 1
"""All registers; predicates are beyond them."""


def reads(instruction: Instruction) -> int:
    """The registers and predicates that an instruction reads."""
    registers = sum(1 << register for register in instruction.sources)
    return registers | sum(1 << _PREDICATE + predicate for predicate in instruction.predicates_read)


def written_register(instruction: Instruction) -> int:
    """The register that it writes, if any."""
    return 0 if instruction.dst == RZ else 1 << instruction.dst


def written_predicate(instruction: Instruction) -> int:
    """The predicate that it writes, if any."""
    return 0 if instruction.pdst == PT else 1 << _PREDICATE + instruction.pdst


def writes(instruction: Instruction) -> int:
    """The register and the predicate that it writes."""
    return written_register(instruction) | written_predicate(instruction)


def pending(code: Sequence[Instruction]) -> list[int]:
    """Before each instruction: what an instruction of the pipe MEM may still have to write, on a path on which nothing
    has waited for it. An instruction waits for all that it reads or writes."""
    following = successors(code)
    preceding = reversed_edges(following)

    def after(pc: int, before: int) -> int:
        instruction = code[pc]
        left = before & ~(reads(instruction) | writes(instruction))
        return left | (writes(instruction) if instruction.pipe is Pipe.MEM else 0)

    results = solve(whole_postorder(following)[::-1], [0] * len(code), preceding, following, after)
    return [union(results, preceding[pc]) for pc in range(len(code))]


def live(code: Sequence[Instruction]) -> list[int]:
    """The registers and predicates that may be read at each instruction or after it, before they are written."""
    following = successors(code)
    preceding = reversed_edges(following)

    def before(pc: int, after: int) -> int:
        instruction = code[pc]
        return reads(instruction) | after & ~(0 if instruction.guarded else writes(instruction))

    return solve(whole_postorder(following), [0] * len(code), following, preceding, before)
