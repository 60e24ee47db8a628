"""Last reads: the sources whose values no lane of a warp needs after an instruction ([TFET], section 4.1.1;
docs/contract/renaming.md, *Last reads*).

A thread alone reads a value for the last time where liveness says so. But lanes of its warp may wait elsewhere: while
the first side of a branch runs, those of the second one at its start; and those that have arrived where the sides meet.
What they may still read is not released.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from warploom.arch.isa import NO_RECONVERGENCE, Instruction, Op
from warploom.arch.program import Program, successors
from warploom.compiler.dataflow import solve, union
from warploom.compiler.dominators import reversed_edges, whole_postorder
from warploom.compiler.pending import live, written_register


class _Sides(NamedTuple):
    """Sides of branches that have the same end (none if the sides of a branch never meet), by their starts; and while
    which lanes that wait need the same registers."""

    starts: list[int]
    ends: tuple[int, ...]
    needed: int


def with_last_reads(program: Program) -> Program:
    """The program with a mask for each instruction: bit k if slot k reads a register for the last time."""
    return replace(program, last_reads=tuple(last_reads(program.instructions)))


def last_reads(code: Sequence[Instruction]) -> list[int]:
    """These masks. Every branch with a guard counts as one that diverges."""
    following, before = successors(code), live(code)
    elsewhere = _needed_elsewhere(code, following, before)
    return [_ended(instruction, union(before, following[pc]), elsewhere[pc]) for pc, instruction in enumerate(code)]


def _ended(instruction: Instruction, after: int, elsewhere: int) -> int:
    """The slots of an instruction whose value ends with it, given the registers that its own lanes and lanes elsewhere
    need. A write ends the old value, unless it has a guard: then lanes may keep theirs."""
    needed = after & ~(0 if instruction.guarded else written_register(instruction)) | elsewhere
    return sum(1 << slot for slot, register in enumerate(instruction.src)
               if slot != instruction.imm_slot and register in instruction.sources and not needed >> register & 1)


def _needed_elsewhere(
    code: Sequence[Instruction], following: Sequence[Sequence[int]], before: Sequence[int]
) -> list[int]:
    """The registers that lanes may need which wait while an instruction executes."""
    sides = _sides(code, following, before)
    around, waiting = _sides_around(following, sides), [side.needed for side in sides]
    needed = {mask: union(waiting, _ones(mask)) for mask in set(around)}
    return [needed[mask] for mask in around]


def _sides(
    code: Sequence[Instruction], following: Sequence[Sequence[int]], before: Sequence[int]
) -> list["_Sides"]:
    """The sides of all branches that are not empty."""
    found: dict[tuple[tuple[int, ...], int], list[int]] = {}
    for branch, targets in zip(code, following, strict=True):
        if branch.op is not Op.BRA or not branch.guarded:
            continue
        ends = () if branch.reconverge == NO_RECONVERGENCE else (branch.reconverge,)
        first, second = targets[::-1] if branch.taken_first else targets
        for start, waiting in ((first, (second, *ends)), (second, ends)):
            if start not in ends:
                found.setdefault((ends, union(before, waiting)), []).append(start)
    return [_Sides(starts, *common) for common, starts in found.items()]


def _sides_around(following: Sequence[Sequence[int]], sides: Sequence["_Sides"]) -> list[int]:
    """For each instruction the numbers, as a mask, of the sides to which it belongs: a path from a start leads to it
    that does not pass the end."""
    starts, ends = [0] * len(following), [0] * len(following)
    for number, side in enumerate(sides):
        for start in side.starts:
            starts[start] |= 1 << number
        for end in side.ends:
            ends[end] |= 1 << number
    order = whole_postorder(following)[::-1]
    return solve(order, [0] * len(following), reversed_edges(following), following,
                 lambda pc, around: (around | starts[pc]) & ~ends[pc])


def _ones(mask: int) -> list[int]:
    """The numbers of the ones of a mask."""
    return [number for number in range(mask.bit_length()) if mask >> number & 1]
