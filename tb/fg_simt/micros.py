"""Random micro-operations, as the control processor may send them."""

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from warploom.arch.compact import STRIDE_BITS
from warploom.arch.fg_simt.code import ATOMICS, CARRYING
from warploom.arch.fg_simt.micro import Kind
from warploom.arch.fg_simt.sizes import DIVISIONS, FIRST_SAU, LATENCY, PREDICATES, REGISTERS, SECOND_SAU
from warploom.arch.isa import MEMORY_OPS, MODIFIERS, PT, RZ, Instruction, Op
from warploom.arch.memory_map import CONST_WINDOW, LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW
from warploom.arch.modifiers import MODIFIER_KINDS, Access, Combine, Cond, DType, Space
from warploom.golden_model.compact import Compact
from warploom.golden_model.fg_simt.micro import (
    FALSE,
    TRUE,
    ZERO,
    Micro,
    Operand,
    Operands,
    Position,
    Predicate,
    Register,
    collect,
    micro,
)

MOODS: dict[str, dict[str, float]] = {
    "all": {}, "simple": {"simple": 20}, "latencies": {"first": 8, "second": 8}, "divisions": {"divide": 6},
    "memory": {"load": 10, "store": 6, "vector": 4}, "branches": {"collect": 6},
    "lines": {"vector": 60}, "tests": {"test": 20, "collect": 3},
}
"""How often each form of operations comes, beside `WEIGHTS`."""

WEIGHTS = {"simple": 6, "test": 1, "move": 0.5, "first": 2, "second": 1.5, "divide": 0.4, "load": 2, "store": 1.5,
           "vector": 0.7, "collect": 1}
ACCESSES = (Op.LD, Op.ST, Op.ATOM, Op.RED)
WINDOWS = (SHARED_WINDOW, LOCAL_WINDOW, CONST_WINDOW, PARAM_WINDOW)
TESTING = (Op.ISETP, Op.FSETP, Op.PLOP3)
"""Operations that write no register."""

FORMS: dict[str, tuple[Op, ...]] = {
    "simple": tuple(sorted(set(LATENCY) - FIRST_SAU - SECOND_SAU - {Op.S2R})), "first": tuple(sorted(FIRST_SAU)),
    "second": tuple(sorted(SECOND_SAU - DIVISIONS)), "divide": tuple(sorted(DIVISIONS)),
    "move": (Op.MOV,), "test": TESTING, "load": (Op.LD, Op.LD, Op.ATOM), "store": (Op.ST, Op.RED), "vector": (Op.LD,),
}

CONVERTED = tuple(kind for kind in DType if not kind.is_wide and not kind.is_half and kind is not DType.B16)


class Pool(NamedTuple):
    """Registers and predicates that operations may name."""

    registers: Sequence[int]
    predicates: Sequence[int]


def pool(rng: random.Random) -> Pool:
    """Some registers and predicates: with few of them results are forwarded more often."""
    return Pool(rng.sample(range(REGISTERS), rng.choice((2, 4, 8, REGISTERS))),
                rng.sample(range(PREDICATES), rng.choice((1, 2, PREDICATES))))


def modifiers(rng: random.Random, op: Op) -> dict[str, Any]:
    """Random legal modifiers."""
    legal: dict[str, Sequence[Any]] = {
        "cond": list(Cond)[:6] if op is Op.ISETP else list(Cond), "combine": list(Combine), "atom": ATOMICS,
        "dst_type": (DType.U32, DType.S32) if op in (Op.ATOM, Op.RED) else CONVERTED, "src_type": CONVERTED,
        "access": list(Access),
        "space": (Space.GLOBAL, Space.SHARED) if op in (Op.ATOM, Op.RED) else
        tuple(Space)[:4] if op is Op.ST else tuple(Space)}
    given = {name: rng.choice(legal[name]) if name in legal else _any(rng, name) for name in MODIFIERS.get(op, ())}
    if op is Op.SHF:
        given["signed"] &= given["right"]
    if op is Op.CVT:
        given["integral"] &= given["src_type"] == given["dst_type"] == DType.F32
    return given


def random_micro(rng: random.Random, mood: str, named: Pool) -> Micro:
    """An operation of a mood."""
    weights = WEIGHTS | MOODS[mood]
    form = rng.choices(list(weights), list(weights.values()))[0]
    mask = rng.choice((0xFFFFFFFF, 0xFFFFFFFF, rng.getrandbits(32), 1 << rng.randrange(32)))
    pc, guard = rng.getrandbits(24), _guard(rng, named)
    if form == "collect":
        return collect(pc, mask, _predicate(rng, named))
    op = rng.choice(FORMS[form])
    tests = op in TESTING or (op in (*CARRYING, Op.MOV) and rng.random() < 0.3)
    i = Instruction(
        op=op, dst=RZ if op in (*TESTING, Op.ST, Op.RED) or rng.random() < 0.05 else rng.choice(named.registers),
        pdst=rng.choice(named.predicates) if tests else PT, imm=rng.choice((0, 4, 0xFFFFFFFC, rng.getrandbits(32))),
        imm_slot=2 if op is Op.LD else 3, **modifiers(rng, op))
    pred = FALSE if op in CARRYING and rng.random() < 0.7 else rng.choice((TRUE, _predicate(rng, named)))
    if form == "vector":
        i = replace(i, space=Space.GLOBAL)
        return micro(pc, mask or 1, i, operands=_line(rng, i.access.size, i.imm), guard=TRUE, pred=TRUE,
                     kind=Kind.VECTOR)
    kind = Kind.ACCESS if op in MEMORY_OPS else Kind.COMPUTE
    return micro(pc, mask, i, operands=_operands(rng, op, named), guard=guard, pred=pred, kind=kind)


def _any(rng: random.Random, name: str) -> Any:
    bits, kind = MODIFIER_KINDS[name].value
    return kind(rng.getrandbits(bits))


def _guard(rng: random.Random, named: Pool) -> Predicate:
    return TRUE if rng.random() < 0.6 else _predicate(rng, named)


def _predicate(rng: random.Random, named: Pool) -> Predicate:
    return Predicate(rng.choice(named.predicates), rng.random() < 0.5)


def _operands(rng: random.Random, op: Op, named: Pool) -> Operands:
    a, b, c = (_operand(rng, op, slot, named) for slot in range(3))
    return a, b, c


def _operand(rng: random.Random, op: Op, slot: int, named: Pool) -> Operand:
    if op is Op.PLOP3:
        return Predicate(rng.choice((*named.predicates, PT)), rng.random() < 0.2)
    if rng.random() < 0.65:
        return Register(rng.choice(named.registers))
    if op is Op.MOV and slot == 0 and rng.random() < 0.5:
        return Position(rng.randrange(3))
    if op in MEMORY_OPS and slot < 2:
        high = (0, 0x7000, *(window >> 32 for window in WINDOWS))
        return Compact(rng.choice(high)) if slot else Compact(4 * rng.getrandbits(8), rng.choice((0, 4, 4, 1)))
    return rng.choice((ZERO, Compact(rng.getrandbits(32)), Compact(rng.getrandbits(32), _stride(rng))))


def _stride(rng: random.Random) -> int:
    return rng.choice((1, 4, -1, rng.randrange(-1 << STRIDE_BITS - 1, 1 << STRIDE_BITS - 1)))


def _line(rng: random.Random, size: int, offset: int) -> Operands:
    """Operands of a vector load, whose addresses do not wrap."""
    first = size * rng.getrandbits(24) + rng.choice((0, 0, 0, 1))
    return Compact(first - offset & 0xFFFFFFFF, size), Compact(rng.choice((0, 0x7000, 1))), ZERO
