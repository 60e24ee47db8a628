"""Random instructions of the host part: most are legal, and keep it running."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from warploom.arch.encoding import HEADER_BITS, encode
from warploom.arch.fg_simt.code import HOST
from warploom.arch.isa import INTEGER_OPS, MODIFIERS, PC_BITS, PT, RZ, Instruction, Op
from warploom.arch.modifiers import MODIFIER_KINDS, Access, Combine, Cond, Space

SPECIAL = (0, 1, 2, 31, 32, 33, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
NEAR = 6
"""Registers that are used often, so that instructions depend on one another."""

INTEGERS = tuple(sorted(HOST & INTEGER_OPS))
OTHERS = tuple(sorted(HOST - {Op.EXIT, Op.LAUNCH}))
TARGETS = (1 << PC_BITS) - 1000

ILLEGAL: tuple[tuple[str, Callable[[Instruction], int]], ...] = (
    ("op", lambda i: encode(replace(i, op=Op.PRMT))),
    ("unknown op", lambda i: encode(i) | 0xF0),
    ("register", lambda i: encode(replace(i, dst=32))),
    ("source", lambda i: encode(replace(i, src=(i.src[0], 254, i.src[2]), imm_slot=0))),
    ("parameter", lambda i: encode(replace(i, param=True))),
    ("stray bit", lambda i: encode(i) | 1 << HEADER_BITS),
    ("condition", lambda i: encode(Instruction(op=Op.ISETP)) | 14 << HEADER_BITS),
    ("condition of floats", lambda i: encode(Instruction(op=Op.ISETP, cond=Cond.NUM))),
    ("space", lambda i: encode(Instruction(op=Op.LD, space=Space.SHARED))),
    ("wide", lambda i: encode(Instruction(op=Op.ST, space=Space.GLOBAL, wide=True))),
    ("access", lambda i: encode(Instruction(op=Op.LD, space=Space.GLOBAL)) | 5 << HEADER_BITS + 3),
)
"""What is wrong with a word, and how it is made of a MOV."""


def instruction(rng: random.Random, operations: Sequence[Op]) -> Instruction:
    """A legal one, of these operations or, without any, of all."""
    op = rng.choice(operations or (rng.choices((Op.EXIT, Op.LAUNCH, rng.choice(OTHERS)), (1, 4, 95))[0],))
    made = Instruction(
        op=op, dst=_register(rng), src=(_register(rng), _register(rng), _register(rng)), imm=_word(rng),
        imm_slot=rng.randrange(4), guard=rng.choice((PT, PT, rng.randrange(8))), guard_not=rng.random() < 0.1,
        pdst=rng.randrange(8), psrc=rng.randrange(8), psrc_not=rng.random() < 0.5, **_modifiers(rng, op))
    if op is Op.BRA:
        return replace(made, imm=rng.randrange(TARGETS))
    if op is Op.LAUNCH and rng.random() < 0.7:
        return replace(made, imm=made.imm & ~3, imm_slot=1)
    if op in (Op.LD, Op.ST) and rng.random() < 0.9:
        return replace(made, src=(RZ, *made.src[1:]), imm=made.imm & -made.access.size, imm_slot=rng.choice((0, 1, 3)))
    return made


def prepared(rng: random.Random, number: int) -> Instruction:
    """The first instructions of a run give the `NEAR` registers random words, so that products are large; the next ones
    are integer operations, half of them products."""
    if number < NEAR:
        return Instruction(op=Op.MOV, dst=number, imm=rng.getrandbits(32), imm_slot=0)
    return instruction(rng, (rng.choice(INTEGERS), Op.IMAD))


def stored(rng: random.Random, register: int) -> Instruction:
    """A store of a register's word."""
    return Instruction(op=Op.ST, src=(RZ, RZ, register), imm=_word(rng) & -Access.B32.size,
                       space=Space.GLOBAL, access=Access.B32)


def wrong(rng: random.Random) -> tuple[str, int]:
    """What is wrong with an illegal instruction, and its word."""
    name, make = rng.choice(ILLEGAL)
    return name, make(Instruction(op=Op.MOV, dst=1, guard_not=rng.random() < 0.2))


def _modifiers(rng: random.Random, op: Op) -> dict[str, Any]:
    """Integers are never unordered, and only right shifts are signed."""
    ranges = {name: range(1 << MODIFIER_KINDS[name].bits) for name in MODIFIERS.get(op, ())}
    ranges |= {"cond": range(Cond.NUM), "combine": range(len(Combine)), "access": range(len(Access)),
               "space": range(Space.GLOBAL, Space.SHARED), "wide": range(1), "reconverge": range(1 << 24)}
    given = {name: MODIFIER_KINDS[name].value[1](rng.choice(ranges[name])) for name in MODIFIERS.get(op, ())}
    if op is Op.SHF:
        given["signed"] &= given["right"]
    return given


def _register(rng: random.Random) -> int:
    return rng.choice((rng.randrange(NEAR), rng.randrange(NEAR), rng.randrange(32), RZ))


def _word(rng: random.Random) -> int:
    return rng.choice((rng.choice(SPECIAL), rng.getrandbits(5), rng.getrandbits(32)))
