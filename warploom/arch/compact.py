"""Compact values of warp registers, and the cycles in which attempts to compute them take effect
(docs/contract/affine.md)."""

from enum import IntEnum

from warploom.arch.isa import Op


class Tag(IntEnum):
    """Structure of a warp register: none, all lanes are equal, or lane l holds base + l * stride."""

    GENERIC, UNIFORM, AFFINE = range(3)


STRIDE_BITS = 16
"""Bits of a stride, signed."""

ATTEMPT_CYCLES = 4
"""Cycles from an attempt to its outcome."""

UNIFORM_ANSWER_CYCLES = ATTEMPT_CYCLES - 2
"""Cycles from an operation of the uniform unit, at its port in the cycle after the attempt, to the result, in the cycle
before the outcome."""

LINEAR_OPS = frozenset({Op.MOV, Op.S2R, Op.IADD, Op.ISUB, Op.SEL})
"""Operations whose result is base and stride of sums: younger attempts may use it at once."""


def coming_cycles(op: int) -> int:
    """Cycles from an attempt to the first attempt of the warp that may use its result."""
    return 1 if op in LINEAR_OPS else ATTEMPT_CYCLES
