"""Random compact operands, near the limits of what the affine unit accepts."""

import random
from collections.abc import Callable
from typing import NamedTuple

from warploom.arch.compact import STRIDE_BITS
from warploom.arch.config import LANES
from warploom.arch.isa import MODIFIERS, Op
from warploom.arch.modifiers import Combine
from warploom.golden_model.compact import Compact
from warploom.tb.lane_driver import modifiers, operand

MASK = 0xFFFFFFFF
LIMIT = 1 << STRIDE_BITS - 1
"""The smallest stride that is too large."""

Slots = tuple[Compact, ...]

ARITY: dict[Op, int] = {
    **dict.fromkeys((Op.MOV, Op.POPC, Op.FLO, Op.BREV, Op.CVT, Op.TESTP), 1),
    **dict.fromkeys((Op.IADD, Op.ISUB, Op.IMUL, Op.IMIN, Op.IMAX, Op.BMSK, Op.ISETP, Op.SEL, Op.FADD, Op.FMUL, Op.FMIN,
                     Op.FMAX, Op.FSETP), 2),
    **dict.fromkeys((Op.IMAD, Op.LOP3, Op.SHF, Op.PRMT, Op.FFMA), 3),
    Op.LD: 3, Op.S2R: 0,
}
"""Operands of each eligible operation."""


def uniform_answer(op: int, modifiers: int, a: int, b: int, c: int) -> tuple[int, int]:
    """An artificial uniform unit: (value, predicate result), which depend on all of its inputs."""
    value = (op * 0x9E3779B1 + modifiers * 0x85EBCA6B + a * 0xC2B2AE35 ^ b * 0x27D4EB2F ^ c * 0x165667B1) & MASK
    return value, value >> 17 & 1


class Trial(NamedTuple):
    """An operation to attempt: its encoded modifiers by name, and its operands."""

    op: Op
    modifiers: dict[str, int]
    slots: Slots


def random_trial(rng: random.Random) -> Trial:
    """An operation with operands at the limits of its rule."""
    op = rng.choice(OFTEN) if rng.random() < 0.85 else rng.choice(list(ARITY))
    chosen = _outside_modifiers(rng, op) if op > Op.S2R else {"special": 0} if op is Op.S2R else modifiers(rng, op)
    make = MAKERS.get(op)
    slots = make(rng, chosen) if make else tuple(
        _uniform(rng) if rng.random() < 0.8 else random_compact(rng) for _ in range(ARITY[op]))
    return Trial(op, chosen, slots)


def attempted_trial(rng: random.Random) -> Trial:
    """A `random_trial`, or a shift to the left that is `signed`, which no datapath executes, and which is refused."""
    trial = random_trial(rng)
    if trial.op is Op.SHF and rng.random() < 0.05:
        return trial._replace(modifiers=trial.modifiers | {"right": 0, "signed": 1})
    return trial


def random_compact(rng: random.Random) -> Compact:
    """Any base and stride; half of them near a value at which the register wraps."""
    stride = _stride(rng)
    edge = rng.choice((0, 1 << 31)) - stride * rng.choice((0, LANES - 1, rng.randrange(LANES)))
    base = rng.choice((edge + rng.randrange(-3, 4), rng.randrange(64), operand(rng)))
    return Compact(base & MASK, stride)


def multiples(stride: int) -> dict[str, int]:
    """The multiples of an encoded stride that go to the expander."""
    value = stride - (stride >> STRIDE_BITS - 1 << STRIDE_BITS)
    return {f"times_{count}": count * value & (1 << STRIDE_BITS + 3) - 1 for count in (3, 5, 7)}


def _stride(rng: random.Random) -> int:
    power = rng.choice((1, -1)) << rng.randrange(STRIDE_BITS - 1)
    extreme = rng.choice((LIMIT - 1, -LIMIT, 1 - LIMIT))
    return rng.choice((0, 1, 1, 4, power, power, rng.randrange(-40, 40), extreme, rng.randrange(-LIMIT, LIMIT)))


def _uniform(rng: random.Random) -> Compact:
    return Compact(operand(rng))


def _sum(rng: random.Random, _: dict[str, int]) -> Slots:
    """Strides whose sum or difference is near the limit; carries in all, some or no lanes."""
    a = random_compact(rng)
    near = rng.choice((LIMIT, -LIMIT)) + rng.randrange(-2, 3) - a.stride
    stride = rng.choice((0, 0, _stride(rng), max(-LIMIT, min(LIMIT - 1, rng.choice((near, -near))))))
    level = rng.choice((-a.value(rng.randrange(LANES)), a.value(rng.randrange(LANES)))) + rng.randrange(-2, 3)
    b = Compact(level & MASK, stride)
    return _shuffled(rng, rng.choice((b, random_compact(rng))), a)


def _product(rng: random.Random, _: dict[str, int]) -> Slots:
    """A factor for which the stride of the product is near its limit, or the high word of the product changes."""
    x = random_compact(rng)
    limit = LIMIT // abs(x.stride or 1) + rng.randrange(-1, 2)
    step = -(-(1 << 32) // max(x.value(rng.randrange(LANES)), 1)) + rng.randrange(-1, 2)
    y = Compact(rng.choice((0, 1, 2, 4, MASK, limit, -limit, step, operand(rng))) & MASK)
    if rng.random() < 0.03:
        y = random_compact(rng)
    return _shuffled(rng, x, y)


def _product_and_sum(rng: random.Random, chosen: dict[str, int]) -> Slots:
    if rng.random() < 0.1:  # no carry, wherever the summand wraps
        return random_compact(rng), Compact(0), random_compact(rng)
    a, b = _product(rng, chosen)
    product = -a.value(LANES - 1) * b.value(LANES - 1)
    c = rng.choice((_uniform(rng), random_compact(rng), Compact(product + rng.randrange(-40, 40) & MASK)))
    return a, b, c


def _shift(rng: random.Random, chosen: dict[str, int]) -> Slots:
    """Shifts that lose no bit of the stride, or only bits that are the same in all lanes; sometimes one bit more."""
    count = rng.choice((0, 1, 2, 31, 32, 33, rng.randrange(33), rng.randrange(33), operand(rng)))
    a, b = random_compact(rng), rng.choice((Compact(0), _uniform(rng), random_compact(rng)))
    cut = min(count, 32) if chosen["right"] else max(32 - count, 0)
    if rng.random() < 0.5:
        a = Compact((rng.getrandbits(32) << cut | rng.randrange(1 << min(cut, 8))) & MASK, a.stride)
    if rng.random() < 0.3:
        a = Compact(a.base, max(-LIMIT, min(LIMIT - 1, rng.choice((1, -1, 3)) << min(cut, STRIDE_BITS))))
    if rng.random() < 0.2:  # a carry changes a bit of a between two lanes; it is the lowest that is left, or is lost
        bit = rng.choice((31, rng.randrange(32)))
        base = (rng.getrandbits(32) << bit + 1) + (1 << bit) - a.stride * rng.randrange(1, LANES)
        a, cut = Compact(base & MASK, a.stride), rng.choice((bit, bit + 1, bit + 2))
        count = cut if chosen["right"] else max(32 - cut, 0)
    if rng.random() < 0.2:  # the lanes differ only in the bits that are lost, or in one more
        cut = rng.randrange(5, 13)
        count, stride = cut if chosen["right"] else 32 - cut, (1 << cut) // LANES
        a = Compact((rng.getrandbits(32) << cut) + rng.choice((0, 0, 1, -1)) & MASK, stride)
    return a, b, Compact(count) if rng.random() < 0.97 else random_compact(rng)


def _pair(rng: random.Random, _: dict[str, int]) -> Slots:
    """Two operands that are equal in some lane, or nearly."""
    a = random_compact(rng)
    number = rng.choice((0, LANES - 1, rng.randrange(LANES)))
    stride = rng.choice((0, a.stride, _stride(rng)))
    b = Compact(a.value(number) - number * stride + rng.choice((0, 0, -1, 1)) & MASK, stride)
    return _shuffled(rng, a, rng.choice((b, b, random_compact(rng))))


def _shuffled(rng: random.Random, *slots: Compact) -> Slots:
    return tuple(rng.sample(slots, len(slots)))


def _outside_modifiers(rng: random.Random, op: Op) -> dict[str, int]:
    """Modifiers of operations of the uniform unit; their meaning does not matter here."""
    return {name: rng.randrange(len(Combine)) if name == "combine" else 0 for name in MODIFIERS[op]}


MAKERS: dict[Op, Callable[[random.Random, dict[str, int]], Slots]] = {
    Op.IADD: _sum, Op.ISUB: _sum, Op.SEL: _sum, Op.IMUL: _product, Op.IMAD: _product_and_sum, Op.SHF: _shift,
    Op.IMIN: _pair, Op.IMAX: _pair, Op.ISETP: _pair, Op.MOV: lambda rng, _: (random_compact(rng),),
}
OFTEN = list(MAKERS)
