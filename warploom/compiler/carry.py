"""The carry flag of PTX is one predicate of the kernel: a carry after an addition, a borrow after a subtraction.

On a chip it is always a carry: a subtraction adds the complement, so the flag is set where nothing was borrowed, and
`subc` borrows where it is clear. It makes a difference where `addc` or `madc` reads what a subtraction wrote, as in the
division of 128 bits that nvcc generates, or `subc` what an addition wrote: such a reader inverts the predicate.
"""

from collections.abc import Iterator, Sequence

from warploom.compiler import ptx


def flags(body: Sequence[ptx.Instruction | ptx.Label]) -> Iterator[bool | None]:
    """For each item, whether the flag before it is a borrow; None if that depends on the path or on a guard."""
    written = {_subtracts(item) for item in body if _writes(item)}
    behind_label = None if len(written) > 1 else True in written
    flag = behind_label
    for item in body:
        yield flag
        if isinstance(item, ptx.Label):
            flag = behind_label
        elif _writes(item):
            flag = _subtracts(item) if item.guard is None or _subtracts(item) == flag else None


def _writes(item: ptx.Instruction | ptx.Label) -> bool:
    return isinstance(item, ptx.Instruction) and "cc" in item.modifiers


def _subtracts(item: ptx.Instruction | ptx.Label) -> bool:
    return isinstance(item, ptx.Instruction) and item.opcode in ("sub", "subc")
