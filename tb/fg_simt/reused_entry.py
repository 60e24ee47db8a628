"""A kernel whose loads are in the last thread only: the words of a vector load come early, where the SLU still reads
those of the load that had the entry of the SLWQ before."""

from functools import partial

from warploom.arch.encoding import encode_program
from warploom.arch.fg_simt.image import CODE, HOST, Image, LaunchBlock, Segment, lines
from warploom.arch.fg_simt.micro import Kind
from warploom.arch.fg_simt.sizes import SLWQ_ENTRIES
from warploom.arch.isa import RZ, Instruction, Op
from warploom.arch.modifiers import Access, Cond, Space, Special
from warploom.golden_model.fg_simt.engine import Engine

LOADS = SLWQ_ENTRIES + 2
ROW = 128
"""Bytes of a word for each thread."""


class Waiting:
    """Counts the cycles in which a vector load waits for the SLU."""

    def __init__(self) -> None:
        self.cycles = 0

    def count(self, model: Engine) -> None:
        """The state at the end of a cycle."""
        queue = model.issue.queue
        self.cycles += bool(queue) and queue[0].kind is Kind.VECTOR and model.issue.outruns(model.cycle)


def contents() -> Image:
    """The kernel, launched once: thread 31 copies its words."""
    head = (Instruction(op=Op.S2R, dst=0, special=Special.LANEID),
            Instruction(op=Op.IMUL, dst=1, src=(0, RZ, RZ), imm=4, imm_slot=1),
            Instruction(op=Op.ISETP, src=(0, RZ, RZ), imm=31, imm_slot=1, pdst=0, cond=Cond.LT),
            Instruction(op=Op.BRA, imm=4 + 2 * LOADS, guard=0))
    at = partial(Instruction, space=Space.GLOBAL, access=Access.B32)
    body = (*(at(op=Op.LD, dst=2 + number, src=(1, RZ, RZ), imm=ROW * number) for number in range(LOADS)),
            *(at(op=Op.ST, src=(1, RZ, 2 + number), imm=ROW * (LOADS + number)) for number in range(LOADS)))
    code = lines(encode_program((*head, *body, Instruction(op=Op.EXIT))))
    block = LaunchBlock(CODE, 0, 32, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 32).contents()
    host = (Instruction(op=Op.MOV, dst=0, imm=32, imm_slot=0),
            Instruction(op=Op.LAUNCH, dst=1, src=(0, RZ, RZ), imm=CODE + len(code), imm_slot=1),
            Instruction(op=Op.EXIT, src=(RZ, RZ, RZ)))
    words = b"".join(number.to_bytes(4, "little") for number in range(2 * LOADS * ROW // 4))
    return (Segment(0, words), Segment(CODE, code + lines(block)), Segment(HOST, lines(encode_program(host))))
