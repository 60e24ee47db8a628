"""Kernels that the FG-SIMT engine stops, each followed by one that works."""

from collections.abc import Callable
from dataclasses import replace

from support.assembler import Assembler, Imm
from support.fg_simt_kernels import kernel, launch, loading

from warploom.arch.encoding import decode_program, encode_program
from warploom.arch.fg_simt.image import CODE, HOST, Image, Segment
from warploom.arch.fg_simt.sizes import Cause
from warploom.arch.isa import PT, RZ, Instruction, Op
from warploom.arch.modifiers import Access, Atom, Cond, DType, Space, Vote
from warploom.arch.program import Program
from warploom.fg_simt.images import Started, image


def _part_at_a_barrier(code: Assembler) -> None:
    code.op(Op.ISETP, 255, 0, Imm(7), pdst=0, cond=Cond.LT)
    code.branch("end", guard=0)
    code.op(Op.BAR)
    code.label("end")


def _diverged(body: Callable[[Assembler], object]) -> Callable[[Assembler], None]:
    """Only the last lanes execute a body."""
    def made(code: Assembler) -> None:
        code.op(Op.ISETP, RZ, 0, Imm(7), pdst=0, cond=Cond.LT)
        code.branch("end", guard=0)
        body(code)
        code.label("end")

    return made


def _guarded_trap(code: Assembler) -> None:
    code.op(Op.ISETP, RZ, 0, Imm(7), pdst=0, cond=Cond.LT)
    code.op(Op.TRAP, guard=0)


def _loads(space: Space) -> Callable[[Assembler], object]:
    """A load behind the end of a space."""
    return lambda code: code.op(Op.LD, 12, RZ, RZ, space=space, access=Access.B32, imm=0x1000)


def _adds(imm: int) -> Callable[[Assembler], object]:
    return lambda code: code.op(Op.ATOM, 12, 4, 5, 0, imm=imm, space=Space.GLOBAL, atom=Atom.ADD, dst_type=DType.U32)


def _vote_of_all(code: Assembler) -> None:
    code.op(Op.VOTE, 13, psrc=PT, imm=0xFFFFFFFF, imm_slot=0, vote=Vote.BALLOT, sync=True)


BEHIND = 1 << 20
"""A PC behind all code."""

FAULTS: dict[str, tuple[Cause, Op, Callable[[Assembler], object]]] = {
    "load outside": (Cause.BUS, Op.LD, lambda code: code.load(12, 4, imm=0x4000)),
    "misaligned load": (Cause.MISALIGNED, Op.LD, lambda code: code.load(12, 4, imm=2)),
    "store outside": (Cause.BUS, Op.ST, lambda code: code.store(4, 12, imm=0x4000)),
    "misaligned store": (Cause.MISALIGNED, Op.ST, lambda code: code.store(4, 12, imm=2)),
    "atomic outside": (Cause.BUS, Op.ATOM, _adds(0x4000)),
    "misaligned atomic": (Cause.MISALIGNED, Op.ATOM, _adds(2)),
    **{f"{space.name.lower()} outside": (Cause.BUS, Op.LD, _loads(space))
       for space in (Space.SHARED, Space.LOCAL, Space.CONST, Space.PARAM)},
    "diverged load outside": (Cause.BUS, Op.LD, _diverged(lambda code: code.load(12, 4, imm=0x4000))),
    "trap": (Cause.TRAP, Op.TRAP, lambda code: code.op(Op.TRAP)),
    "trap of some lanes": (Cause.TRAP, Op.TRAP, _guarded_trap),
    "illegal": (Cause.ILLEGAL, Op.DADD, lambda code: code.op(Op.DADD)),
    "illegal in some lanes": (Cause.ILLEGAL, Op.DADD, _diverged(lambda code: code.op(Op.DADD))),
    "barrier of some lanes": (Cause.BARRIER, Op.BAR, _part_at_a_barrier),
    "vote without some lanes": (Cause.BARRIER, Op.VOTE, _diverged(_vote_of_all)),
    "no code": (Cause.FETCH, Op.BRA, lambda code: code.op(Op.BRA, PT, imm=BEHIND)),
}
"""The cause, the operation of the instruction at fault, and a body that has it."""


def patched(faulty: Program) -> Image:
    """A launch of faulty code in the place of a kernel that works, then one that works; the host part goes on after
    the first one, and its status is that of the first."""
    length = len(faulty.instructions)
    working = kernel(lambda code: [code.op(Op.NOP) for _ in range(length - len(loading(0).instructions) + 1)])
    assert len(working.instructions) == length
    contents = {segment.base: bytearray(segment.contents)
                for segment in image([Started(working, launch()), Started(loading(0), launch())])}
    contents[CODE][: 16 * length] = encode_program(faulty.instructions)
    host = list(decode_program(bytes(contents[HOST])[: 16 * 12]))
    assert [i.op for i in host].count(Op.LAUNCH) == 2
    host[2] = replace(host[2], dst=6)
    host[10] = Instruction(op=Op.EXIT, src=(6, 255, 255))
    contents[HOST][: 16 * 12] = encode_program(tuple(host))
    return tuple(Segment(base, bytes(data)) for base, data in contents.items())
