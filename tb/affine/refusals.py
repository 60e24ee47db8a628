"""Why an attempt is refused: all conditions of docs/contract/affine.md that fail, for coverage and as a second
opinion."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from warploom.arch.isa import Op
from warploom.arch.modifiers import Combine, Cond
from warploom.golden_model.compact import Compact
from warploom.golden_model.lane import decode_modifiers, lane, signed
from warploom.tb.affine.operands import ARITY, LIMIT, MASK

CARRIES = (Op.IADD, Op.ISUB, Op.IMAD)
AFFINE_SLOTS = {
    **dict.fromkeys((Op.MOV, Op.S2R), (0b001,)),
    **dict.fromkeys((Op.IADD, Op.ISUB, Op.SHF, Op.SEL, Op.IMIN, Op.IMAX, Op.ISETP), (0b001, 0b010, 0b011)),
    Op.IMUL: (0b001, 0b010), Op.IMAD: (0b001, 0b010, 0b100, 0b101, 0b110),
}


@dataclass(frozen=True)
class Case:
    """An attempt whose sources are all compact: `p` is the common predicate operand, None if there is none."""

    op: Op
    modifiers: int
    slots: tuple[Compact, Compact, Compact]
    p: int | None
    carry: bool

    @cached_property
    def m(self) -> Any:
        """The modifiers by name."""
        return decode_modifiers(self.op, self.modifiers)

    def result(self, number: int) -> tuple[int, int]:
        """Result and predicate result of a lane; for ISETP whether `cond` holds."""
        op, modifiers, p = self.op, {name: int(value) for name, value in vars(self.m).items()}, self.p or 0
        if op is Op.ISETP:
            modifiers["combine"], p = Combine.XOR, 0
        a, b, c = (slot.value(number) for slot in self.slots)
        return lane(Op.MOV, 0, a, 0, 0, 0) if op is Op.S2R else lane(op, modifiers, a, b, c, p)

    @property
    def grows(self) -> int:
        """The difference between the results of the last and the first lane."""
        return self.result(31)[0] - self.result(0)[0]

    def wraps(self, *slots: int, sign: int) -> bool:
        """Whether one of the slots exceeds 32 bits in some lane."""
        low, high = (-1 << 31, 1 << 31) if sign else (0, 1 << 32)
        bases = ((signed(self.slots[slot].base) if sign else self.slots[slot].base, slot) for slot in slots)
        return not all(low <= base + 31 * self.slots[slot].stride < high for base, slot in bases)


def refusals(case: Case) -> frozenset[str]:
    """Names of the conditions that fail; empty if the attempt is to be accepted."""
    if case.op is Op.SHF and case.m.signed and not case.m.right:
        return frozenset({"signed left"})
    affine = sum(1 << number for number, slot in enumerate(case.slots) if slot.stride)
    found = {"p": case.p is None and case.op in (*CARRIES, Op.SEL)}
    if affine:
        if affine not in AFFINE_SLOTS.get(case.op, ()):
            return frozenset({"slots"})
        found |= RULES[case.op](case)
        if case.carry and case.op in CARRIES:
            found |= _carry(case)
    return frozenset(name for name, failed in found.items() if failed)


def _fits(total: int) -> bool:
    number = signed(total & MASK)
    return -LIMIT <= number < LIMIT


def _strides(case: Case) -> tuple[int, int, int]:
    a, b, c = (slot.stride for slot in case.slots)
    return a, b, c


def _sum(case: Case) -> dict[str, bool]:
    a, b, _ = _strides(case)
    return {"stride": not _fits(a + b if case.op is Op.IADD else a - b)}


def _product(case: Case) -> dict[str, bool]:
    (a, b, _), (s_a, s_b, s_c) = case.slots, _strides(case)
    if case.m.high:
        return _high_word(case)
    return {"stride": not _fits(s_a * b.base + s_b * a.base + (s_c if case.op is Op.IMAD else 0))}


def _high_word(case: Case) -> dict[str, bool]:
    a, b, _ = case.slots
    high = {lane(Op.IMUL, {"high": 1, "signed": case.m.signed}, a.value(end), b.value(end), 0, 0) for end in (0, 31)}
    return {"high wraps": case.wraps(0, 1, sign=case.m.signed), "high word": len(high) > 1}


def _carry(case: Case) -> dict[str, bool]:
    found = {"carry alike": case.result(0)[1] != case.result(31)[1]}
    if case.op is not Op.IMAD:
        return found | {"carry wraps": case.wraps(0, 1, sign=0)}
    return found | {"high carry": bool(case.m.high), "carry wraps": case.wraps(2, sign=0)} | _high_word(case)


def _shift(case: Case) -> dict[str, bool]:
    (s_a, s_b, _), count = _strides(case), case.slots[2].base
    n = count % 32 if case.m.wrap else min(count, 32)
    if case.m.right:
        stride = s_a >> n if s_a % (1 << n) == 0 else 0
        stride += 0 if case.m.signed else s_b << 32 - n
    else:
        stride = (s_b << n) + (s_a if n == 32 else 0)
    found = {"stride": not _fits(stride)}
    if s_a and n and (case.m.right or n < 32):
        found |= {"wraps": case.wraps(0, sign=case.m.signed), "grows": bool((case.grows - 31 * stride) & MASK)}
    return found


def _extreme(case: Case) -> dict[str, bool]:
    results = [case.result(end)[0] for end in (0, 31)]
    chosen = any(results == [x.value(0), x.value(31)] for x in case.slots[:2])
    return {"wraps": case.wraps(0, 1, sign=case.m.signed), "choice": not chosen}


def _compare(case: Case) -> dict[str, bool]:
    (a, b, _), (s_a, s_b, _) = case.slots, _strides(case)
    equality = case.m.cond in (Cond.EQ, Cond.NE)
    if equality and s_a == s_b:
        return {}
    read = signed if case.m.signed else int
    differences = (read(a.value(end)) - read(b.value(end)) for end in (0, 31))
    signs = {(d > 0) - (d < 0) for d in differences}
    alike = len(signs) == 1 or (not equality and case.result(0)[1] == case.result(31)[1])
    return {"wraps": case.wraps(0, 1, sign=case.m.signed), "sign": not alike}


RULES: Mapping[Op, Callable[[Case], dict[str, bool]]] = {
    Op.IADD: _sum, Op.ISUB: _sum, Op.IMUL: _product, Op.IMAD: _product, Op.SHF: _shift, Op.IMIN: _extreme,
    Op.IMAX: _extreme, Op.ISETP: _compare, **dict.fromkeys((Op.MOV, Op.S2R, Op.SEL), lambda case: {}),
}

ALONE = (
    *(f"{op.name} p" for op in (*CARRIES, Op.SEL)),
    *(f"{op.name} slots" for op in ARITY if op not in (Op.MOV, Op.S2R, Op.IADD, Op.ISUB, Op.IMIN, Op.IMAX, Op.ISETP,
                                                       Op.SEL)),
    *(f"{op.name} stride" for op in (*CARRIES, Op.IMUL, Op.SHF)),
    *(f"{op.name} {why}" for op in (Op.IMUL, Op.IMAD) for why in ("high wraps", "high word")),
    *(f"{op.name} {why}" for op in CARRIES for why in ("carry alike", "carry wraps")), "IMAD high carry",
    *(f"{op.name} {why}" for op in (Op.IMIN, Op.IMAX) for why in ("wraps", "choice")),
    "ISETP wraps", "ISETP sign", "SHF wraps", "SHF grows", "SHF signed left",
)
"""Conditions that can be the only one that fails."""
