"""All forms of an operation: its instructions with every combination of modifiers; and values to try them with."""

import itertools

from support.lanes import FLOATS

from warploom.arch.isa import MODIFIERS, Instruction, Op
from warploom.arch.modifiers import DType, Rounding

SPECIAL = [*FLOATS, 31, 32, 33, 0xFF, 0x7FFF, 0xFFFF, 0x01010101, 0x7FFFFFFF, 0xFFFFFFFF, 0xFFC12345, 0x7FA54321]
"""Zeros, denormals, normal numbers from the smallest to the largest, infinities and NaNs with payloads, of both signs;
shifts, bytes, and the ends of integers."""

TRUTHS = [0xF0F0F0F0, 0xCCCCCCCC, 0xAAAAAAAA, 0x0F12480F, 0xFFFFFFFF, 0]
"""All triples of bits, for LOP3, which treats all positions alike."""

CARRIED = (Op.IADD, Op.ISUB, Op.IMAD)
TYPES = [t for t in DType if not t.is_wide and not t.is_half]
VALUES = {"lut": range(256), "rounding": Rounding, "src_type": TYPES, "dst_type": TYPES}


def forms(op: Op) -> list[Instruction]:
    """An instruction for each combination of modifiers, with a predicate operand and result where it may have them."""
    names = MODIFIERS.get(op, ())
    values = [(DType.U8, DType.S8)] * 2 if op is Op.DP4A else [VALUES.get(name, (False, True)) for name in names]
    pred = {"psrc": 0, "pdst": 0} if op in CARRIED else {"psrc": 0} if op is Op.SEL else {}
    return [
        Instruction(op=op, **pred, **dict(zip(names, chosen, strict=True))) for chosen in itertools.product(*values)
    ]


def is_legal(i: Instruction) -> bool:
    """Integer lanes can shift left with `signed`; the instruction set has no such shift."""
    return i.op is not Op.SHF or i.right or not i.signed
