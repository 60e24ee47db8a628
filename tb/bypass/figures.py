"""The figures of [BOW], in numbers and machine code."""

from dataclasses import replace
from typing import Any, NamedTuple

from warploom.arch.isa import NO_SLOT, RZ, Instruction, Op
from warploom.arch.launch import Launch, Scalar
from warploom.arch.modifiers import Access, Cond, Space
from warploom.arch.program import Parameter, Program

WINDOW = 3
"""The window for which section IV-B discusses the program."""


def _line(op: Op, dst: int, *sources: int, imm: int | None = None, **modifiers: Any) -> Instruction:
    """A line of Fig. 6; in its operands a constant follows the registers."""
    a, b, c, *_ = *sources, RZ, RZ, RZ
    slot = NO_SLOT if imm is None else len(sources)
    return Instruction(op=op, dst=dst, src=(a, b, c), imm=imm or 0, imm_slot=slot, **modifiers)


_LOAD = {"space": Space.SHARED, "access": Access.B32}

FIG_6 = Program(
    name="btree", source="[BOW], Fig. 6", registers=10, lines=(*range(2, 15), 15), shared_bytes=4096,
    parameters=(Parameter("word", "u32", 0x18, 4),),
    instructions=(
        _line(Op.LD, 3, 8, **_LOAD),
        _line(Op.MOV, 2, imm=0xFF4),
        _line(Op.IMUL, 1, 0, 2),
        _line(Op.IMAD, 1, 0, 2, 1),
        _line(Op.SHF, 1, RZ, 1, imm=0x10),
        _line(Op.IMAD, 0, 0, 2, 1),
        Instruction(op=Op.IADD, dst=0, src=(RZ, 0, RZ), imm=0x18, imm_slot=0, param=True),
        _line(Op.IADD, 0, 9, 0),
        _line(Op.IADD, 1, 0, imm=0x7F8),
        _line(Op.LD, 2, 1, **_LOAD),
        _line(Op.SHF, 2, RZ, 2, imm=0x100),
        _line(Op.IADD, 4, 2, imm=0x8F),
        Instruction(op=Op.ISETP, pdst=0, src=(3, 1, RZ), cond=Cond.NE),
        Instruction(op=Op.EXIT),
    ),
)
"""The program of Fig. 6 in our operations, on the registers that it names; `lines` are those of the figure. An EXIT
follows, after which nothing is read. Halves of registers are whole registers here, and loads are from shared memory, so
that the program can also be executed, with registers that are zero and a parameter of 0."""

FIG_6_LAUNCH = Launch(grid=(1, 1, 1), block=(32, 1, 1), arguments=(Scalar("u32", bytes(4)),))
"""One warp."""


def spaced(program: Program, cycles: int) -> Program:
    """A program without branches, with NOPs after each instruction. They do not count in the window, but give a
    collector time to drop or evict entries before the next instruction."""
    code = [part for i in program.instructions for part in (i, *[Instruction(op=Op.NOP)] * cycles)]
    lines = [line for line in program.lines for _ in range(1 + cycles)]
    return replace(program, instructions=tuple(code), lines=tuple(lines))


class Writes(NamedTuple):
    """Writes to the register file of $r0 to $r3 until the last line has issued."""

    write_through: tuple[int, int, int, int]
    write_back: tuple[int, int, int, int]
    hinted: tuple[int, int, int, int]


TABLE_1 = Writes(write_through=(3, 4, 3, 1), write_back=(1, 2, 1, 1), hinted=(0, 1, 0, 1))
"""Table I for the printed program. The table itself has 2 for $r2 written through, and a total of 10; but the program
writes $r2 in three lines: 3, 11 and 12."""
