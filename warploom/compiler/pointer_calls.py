"""Calls through pointers: the machine has no call, so the value is compared with the functions that it may be."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from warploom.arch.memory_map import FUNCTION_BYTES, FUNCTIONS_BASE
from warploom.compiler import ptx

STOP = "(stop)"
"""The opcode of a stop with an error, which no PTX text has. Its operand is the number of the message, from 1."""

NO_FUNCTION = "the pointer that is called is no function of the PTX with these parameters and results"

Body = list[ptx.Instruction | ptx.Label]


def addresses(functions: Iterable[ptx.Function]) -> dict[str, int]:
    """The address of each function, by its place in the PTX: the same whichever kernel is compiled. An alias has that
    of its function, whose body it shares."""
    places: dict[int | str, int] = {}
    return {function.name: FUNCTIONS_BASE + FUNCTION_BYTES * places.setdefault(
                id(function.body) if function.body else function.name, len(places)) for function in functions}


def choose(at: ptx.Instruction, pointer: ptx.Register, cases: Sequence[tuple[int, Body]], scratch: ptx.Register,
           otherwise: ptx.Instruction) -> Iterator[ptx.Instruction | ptx.Label]:
    """What stands for a call of `pointer`, whose guard has been seen to: a tree of comparisons with the addresses of
    `cases`, in ascending order, which ends in their bodies, or for any other value in `otherwise`. `scratch` is a
    predicate."""
    other, end = (f"{scratch.name}@{name}" for name in ("other", "end"))

    def compare(how: str, address: int, target: str) -> Iterator[ptx.Instruction]:
        operands = (scratch, pointer, ptx.Immediate("int", address))
        yield replace(at, opcode="setp", modifiers=(how, "u64"), operands=operands, guard=None, lists=None)
        yield _to(target, at, scratch)

    def tree(low: int, high: int) -> Iterator[ptx.Instruction | ptx.Label]:
        middle = (low + high) // 2
        address, body = cases[middle]
        if low == middle:
            yield from compare("ne", address, other)
            yield from body
            yield _to(end, at)
            return
        lower = f"{scratch.name}@{middle}"
        yield from compare("lt", address, lower)
        yield from tree(middle, high)
        yield ptx.Label(lower, at.line)
        yield from tree(low, middle)

    if cases:
        yield from tree(0, len(cases))
    yield from (ptx.Label(other, at.line), otherwise, ptx.Label(end, at.line))


def stop(number: int, at: ptx.Instruction) -> ptx.Instruction:
    """A stop with a message."""
    return replace(at, opcode=STOP, modifiers=(), operands=(ptx.Immediate("int", number),), guard=None, lists=None)


def _to(target: str, at: ptx.Instruction, guard: ptx.Register | None = None) -> ptx.Instruction:
    return replace(at, opcode="bra", modifiers=(), operands=(ptx.Symbol(target),), guard=guard, lists=None)
