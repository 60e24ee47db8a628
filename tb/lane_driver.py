"""Random integer operations, for the benches of lane, integer unit and datapath."""

import random

from warploom.arch.encoding import modifier_fields
from warploom.arch.isa import INTEGER_OPS, MODIFIERS, Instruction, Op
from warploom.arch.modifiers import MODIFIER_KINDS, Combine, Cond, Kind

OPS = sorted(INTEGER_OPS)
CORNERS = (0, 1, 2, 31, 32, 33, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF, 0xAAAAAAAA, 0x3210)
MASK = 0xFFFFFFFF


def operand(rng: random.Random) -> int:
    """A 32-bit word: a corner value, a small one, a single bit, a bit field or a random one."""
    return rng.choice((
        rng.choice(CORNERS), rng.randrange(64), 1 << rng.randrange(32),
        MASK >> rng.randrange(32) << rng.randrange(32) & MASK, rng.getrandbits(32),
    ))


def sparse_operand(rng: random.Random) -> int:
    """An operand; half of them are zero."""
    return rng.choice((0, operand(rng)))


def modifiers(rng: random.Random, op: Op) -> dict[str, int]:
    """Random legal modifiers of an operation: integer comparisons only, and a sign only if the shift allows it."""
    limits = {Kind.COND: Cond.GE + 1, Kind.COMBINE: len(Combine)}
    chosen = {}
    for name in MODIFIERS.get(op, ()):
        kind = MODIFIER_KINDS[name]
        chosen[name] = rng.randrange(limits.get(kind, 1 << kind.bits))
    if op is Op.SHF and not chosen["right"]:
        chosen["signed"] = 0
    return chosen


def encoded(op: Op, chosen: dict[str, int]) -> int:
    """The modifier field of the issue port."""
    return sum(chosen[name] << offset for name, offset, _ in modifier_fields(op))


def timing(op: Op) -> int:
    """Timing class of an integer operation."""
    return Instruction(op=op).timing_class.value
