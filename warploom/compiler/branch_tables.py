"""brx.idx as a tree of comparisons and branches: the machine has no indirect branch."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from warploom.compiler import ptx


def branches(at: ptx.Instruction, index: ptx.Operand, targets: Sequence[str],
             scratch: ptx.Register) -> Iterator[ptx.Instruction | ptx.Label]:
    """Instructions that branch to `targets[index]`, in place of `at`, whose guard has been seen to. `scratch` is a
    predicate. From an index behind the table PTX promises nothing; it counts as the last one."""

    def tree(start: int, end: int) -> Iterator[ptx.Instruction | ptx.Label]:
        if len(set(targets[start:end])) == 1:
            yield replace(at, opcode="bra", modifiers=(), operands=(ptx.Symbol(targets[start]),), guard=None)
            return
        middle = (start + end) // 2
        lower, bound = f"{scratch.name}@{middle}", ptx.Immediate("int", middle)
        yield replace(at, opcode="setp", modifiers=("lt", "u32"), operands=(scratch, index, bound), guard=None)
        yield replace(at, opcode="bra", modifiers=(), operands=(ptx.Symbol(lower),), guard=scratch)
        yield from tree(middle, end)
        yield ptx.Label(lower, at.line)
        yield from tree(start, middle)

    yield from tree(0, len(targets))
