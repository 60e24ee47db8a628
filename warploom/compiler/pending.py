"""What memory may still have to write at each instruction, and which registers may still be read: analyses for hints
(docs/contract/hints.md). Registers and predicates are bits of one integer."""

from collections.abc import Callable, Sequence

from warploom.arch.isa import PT, RZ, Instruction, Pipe
from warploom.arch.program import successors
from warploom.compiler.dominators import postorder

_PREDICATE = 256


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
    preceding: list[list[int]] = [[] for _ in code]
    for pc, found in enumerate(following):
        for successor in found:
            preceding[successor].append(pc)

    def after(pc: int, before: int) -> int:
        instruction = code[pc]
        left = before & ~(reads(instruction) | writes(instruction))
        return left | (writes(instruction) if instruction.pipe is Pipe.MEM else 0)

    results = _solve(_order(following)[::-1], preceding, following, after)
    return [_union(results, preceding[pc]) for pc in range(len(code))]


def live(code: Sequence[Instruction]) -> list[int]:
    """The registers and predicates that may be read at each instruction or after it, before they are written."""
    following = successors(code)
    preceding: list[list[int]] = [[] for _ in code]
    for pc, found in enumerate(following):
        for successor in found:
            preceding[successor].append(pc)

    def before(pc: int, after: int) -> int:
        instruction = code[pc]
        return reads(instruction) | after & ~(0 if instruction.guarded else writes(instruction))

    return _solve(_order(following), following, preceding, before)


def _order(following: Sequence[Sequence[int]]) -> list[int]:
    """All instructions, each after its successors where no loop prevents it."""
    end = len(following)
    return postorder([*following, range(end)], end)[:end]


def _solve(order: Sequence[int], sources: Sequence[Sequence[int]], users: Sequence[Sequence[int]],
           transfer: Callable[[int, int], int]) -> list[int]:
    """The least masks of which each is the transfer of the union of those of its sources."""
    masks = [0] * len(order)
    changed = set(order)
    while changed:
        for pc in order:
            if pc in changed:
                changed.remove(pc)
                mask = transfer(pc, _union(masks, sources[pc]))
                if mask != masks[pc]:
                    masks[pc] = mask
                    changed.update(users[pc])
    return masks


def _union(masks: Sequence[int], sources: Sequence[int]) -> int:
    result = 0
    for source in sources:
        result |= masks[source]
    return result
