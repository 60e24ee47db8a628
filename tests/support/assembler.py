"""Machine programs written by hand, for tests that need no compiler."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from warploom.arch.isa import NO_RECONVERGENCE, PT, RZ, Instruction, Op
from warploom.arch.modifiers import Access, Space
from warploom.arch.program import Parameter, Program


class Imm(int):
    """An immediate operand."""


class Param(int):
    """An operand from the parameter bank, by byte offset."""


class Assembler:
    """Collects instructions; branch targets are label names, resolved by `program`."""

    def __init__(self) -> None:
        self.code: list[tuple[Instruction, str | None, str | None]] = []
        self.labels: dict[str, int] = {}

    def op(self, op: Op, dst: int = RZ, *sources: int, **fields: Any) -> None:
        """One instruction; at most one source is an `Imm` or a `Param`."""
        src = [RZ, RZ, RZ]
        for slot, source in enumerate(sources):
            if isinstance(source, Imm | Param):
                fields |= {"imm_slot": slot, "imm": int(source) & 0xFFFFFFFF, "param": isinstance(source, Param)}
            else:
                src[slot] = source
        self.code.append((Instruction(op=op, dst=dst, src=tuple(src), **fields), None, None))

    def branch(self, label: str, *, reconverge: str | None = None, guard: int = PT, guard_not: bool = False,
               taken_first: bool = False) -> None:
        """A branch; without `reconverge` its sides join only at the exit."""
        self.code.append((Instruction(op=Op.BRA, guard=guard, guard_not=guard_not, taken_first=taken_first), label,
                          reconverge))

    def label(self, name: str) -> None:
        """The next instruction's name."""
        self.labels[name] = len(self.code)

    def pointer(self, low: int, offset: int) -> None:
        """Registers low, low + 1 = the 64-bit parameter at a byte offset."""
        self.op(Op.MOV, low, Param(offset))
        self.op(Op.MOV, low + 1, Param(offset + 4))

    def indexed(self, low: int, offset: int, index: int, shift: int = 2) -> None:
        """Registers low, low + 1 = the parameter at a byte offset + index << shift; P6 is overwritten."""
        self.pointer(low, offset)
        self.op(Op.SHF, low + 2, RZ, index, Imm(shift))
        self.op(Op.IADD, low, low, low + 2, pdst=6)
        self.op(Op.IADD, low + 1, low + 1, RZ, psrc=6)

    def load(self, dst: int, low: int, **fields: Any) -> None:
        """A 32-bit load from a 64-bit global address, unless `fields` say otherwise."""
        given = {"space": Space.GLOBAL, "access": Access.B32, "wide": True, **fields}
        self.op(Op.LD, dst, low, low + 1 if given["wide"] else RZ, **given)

    def store(self, low: int, value: int, **fields: Any) -> None:
        """The store that matches `load`."""
        given = {"space": Space.GLOBAL, "access": Access.B32, "wide": True, **fields}
        self.op(Op.ST, RZ, low, low + 1 if given["wide"] else RZ, value, **given)

    def program(self, parameters: Sequence[int] = (), registers: int = 32, **fields: Any) -> Program:
        """The program, line n being its n-th instruction; `parameters` are their sizes in bytes."""
        code, bank, offset = [], [], 0
        for instruction, label, reconverge in self.code:
            meet = NO_RECONVERGENCE if reconverge is None else self.labels[reconverge]
            target = {} if label is None else {"imm": self.labels[label], "reconverge": meet}
            code.append(replace(instruction, **target))
        for number, size in enumerate(parameters):
            offset = -(-offset // size) * size
            bank.append(Parameter(f"p{number}", f"b{8 * size}", offset, size))
            offset += size
        return Program(name="test", source="test.ptx", instructions=tuple(code), registers=registers,
                       lines=tuple(range(1, len(code) + 1)), parameters=tuple(bank), **fields)
