"""The bits of a micro-operation, which the control processor sends to the lanes (docs/contract/fg_simt.md,
*Micro-operations*)."""

from enum import IntEnum

from warploom.arch.compact import STRIDE_BITS
from warploom.arch.encoding import modifier_fields
from warploom.arch.fg_simt.sizes import LATENCY
from warploom.arch.fields import Fields
from warploom.arch.isa import MEMORY_OPS


class Kind(IntEnum):
    """What the lanes do: arithmetic, a mask for the control processor, an access, or a vector load."""

    COMPUTE, COLLECT, ACCESS, VECTOR = range(4)


class Unit(IntEnum):
    """Which unit executes: either SAU, SAU0, SAU1, the divider of SAU1, or the SGU."""

    EITHER, FIRST, SECOND, DIVIDE, SGU = range(5)


class Source(IntEnum):
    """Where an operand is: base and stride in the operation itself; register or predicate `base`; coordinate `base` of
    the thread in its block, as the walk of a warp left it."""

    CONSTANT, REGISTER, PREDICATE, POSITION = range(4)


OPERATIONS = (*LATENCY, *MEMORY_OPS)
"""Operations of the lanes."""

LANE_MODIFIER_BITS = max(sum(bits for *_, bits in modifier_fields(op)) for op in OPERATIONS)

OPERAND_FIELDS: Fields = [("source", 2), ("base", 32), ("stride", STRIDE_BITS)]

MICRO_FIELDS: Fields = [
    ("kind", 2), ("unit", 3), ("latency", 5), ("pc", 24), ("mask", 32), ("op", 8), ("modifiers", LANE_MODIFIER_BITS),
    ("offset", 32), ("writes", 1), ("dst", 5), ("pdst", 3), ("guard", 3), ("guard_not", 1), ("pred", 3),
    ("pred_not", 1),
]
"""Fields from bit 0 up; those of the operands a, b, c follow."""
