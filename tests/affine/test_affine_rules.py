"""Proof of the rules of the affine unit (docs/contract/affine.md): each accepted result is that of each lane, for all
bases and strides; and each condition is needed.

z3 reasons about `affine_terms` at full width; these are compared with the operations of the model and with its rules.
"""

import itertools
import random
from collections.abc import Iterator

import pytest
import z3
from support.affine_terms import (
    BITS,
    LANES,
    LAST,
    ROWS,
    STRIDE_BITS,
    WORDS,
    Answer,
    Rule,
    Slot,
    answer,
    factors,
    read,
    rule,
)
from support.forms import SPECIAL, TRUTHS, forms, is_legal

from warploom.arch.encoding import encode_modifiers
from warploom.arch.isa import PT, Instruction, Op
from warploom.arch.modifiers import Cond
from warploom.golden_model.affine.rules import RULES, Operation, execute
from warploom.golden_model.compact import Compact
from warploom.golden_model.lane import decode_modifiers, lane, signed

SEED = 13
BETWEEN = range(1, LAST)
"""Lanes that the affine unit does not compute."""

SLOTS = tuple(Slot(z3.Int(name), z3.Int(f"stride of {name}")) for name in "abc")
PRED = z3.Bool("pred")
HALF = 1 << STRIDE_BITS - 1
LEGAL = [z3.And(x.base >= 0, x.base < WORDS, x.stride >= -HALF, x.stride < HALF) for x in SLOTS]
CARRYING = (Op.IADD, Op.ISUB, Op.IMAD)


def row_forms(op: Op) -> list[Instruction]:
    """Legal forms; comparisons without another predicate, and operations that may carry both with and without."""
    if op is Op.ISETP:
        return [Instruction(op=op, pdst=0, cond=cond, signed=sign) for cond in list(Cond)[:6] for sign in (False, True)]
    found = [i for i in forms(op) if is_legal(i) and not i.wrap]
    plain = [Instruction(op=op, signed=i.signed, high=i.high) for i in found] if op in CARRYING else []
    return found + plain


def slots_of(i: Instruction, without: str = "") -> tuple[Slot, Slot, Slot]:
    """The slots of an attempt. A shift has no second word: its contribution is a separate word, added to result and
    stride. If a condition is omitted, one factor of a product is a number, so that z3 finds the other one."""
    a, b, c = SLOTS
    if i.op is Op.SHF:
        b = Slot(z3.IntVal(0), z3.IntVal(0))
    elif without and i.op in (Op.IMUL, Op.IMAD):
        b = Slot(z3.IntVal(1 if without == "exact" else 5), z3.IntVal(without == "one affine factor"))
    return a, b, c


def modulo(x: z3.ArithRef) -> z3.ArithRef:
    return x % WORDS


def wrong(i: Instruction, claim: Rule, found: Answer, at: int) -> z3.BoolRef:
    """Whether a lane's result, or for a carry its carry, differs from the claimed one."""
    if i.pdst != PT:
        return found.holds != claim.holds
    return found.result != modulo(claim.result.at(at))


def refute(i: Instruction, at: int, n: int = 0, without: str = "") -> z3.ModelRef | None:
    """Slots that the table accepts although a lane has another result; None if the rule is proved."""
    slots, linear = slots_of(i, without), not without and (i.high or (i.op is Op.IMAD and i.pdst != PT))
    claim = rule(i, slots, n, PRED, "exact" if linear else without)
    broken = z3.And(claim.accepted, wrong(i, claim, answer(i, slots, at, n, PRED), at))
    text = with_linear_products(i, broken, at) if linear else broken
    own = z3.Context()  # terms of earlier proofs would decide whether this one takes a second or hours
    solver = z3.Solver(ctx=own)
    solver.add(z3.And(*LEGAL, text).translate(own))
    outcome = solver.check()
    assert outcome != z3.unknown, f"{i}: lane {at}, distance {n}: neither proved nor refuted"
    return solver.model().translate(z3.main_ctx()) if outcome == z3.sat else None


def with_linear_products(i: Instruction, text: z3.BoolRef, at: int) -> z3.BoolRef:
    """The text with products replaced by terms that are linear in the lane: products of exact factors, which H
    requires, are linear (`test_products_are_linear`)."""
    a, b, _ = SLOTS
    product, step = z3.Ints("product step")
    places = [(factors(i, a.at(lane), b.at(lane)), product + lane * step) for lane in (0, at, LAST)]
    constant = z3.Implies(z3.And(a.uniform(), b.uniform()), step == 0)
    return z3.And(constant, z3.substitute(text, *places))


def is_proved(text: z3.BoolRef, *given: z3.BoolRef) -> bool:
    solver = z3.Solver()
    solver.add(*given, z3.Not(text))
    return solver.check() == z3.unsat


@pytest.mark.parametrize("sign", [0, 1])
def test_what_does_not_wrap_is_linear(sign: int) -> None:
    x = SLOTS[0]
    for at in (*BETWEEN, LAST):
        linear = read(x.at(at), sign) == read(x.base, sign) + at * x.stride
        assert is_proved(linear, LEGAL[0], x.exact(sign))


def test_products_are_linear() -> None:
    a, b, s, t = z3.Ints("a b s t")
    for at in (*BETWEEN, LAST):
        assert is_proved((a + at * s) * b == a * b + at * (s * b))
        assert is_proved(a * (b + at * t) == a * b + at * (a * t))


# ---------------------------------------------------------------- rows


def check_row(i: Instruction, lanes_of: list[tuple[int, int]]) -> None:
    for n, at in lanes_of:
        found = refute(i, at, n)
        assert found is None, f"{i}: lane {at}, distance {n}: {found}"


ROWS_AND_FORMS = pytest.mark.parametrize(
    "i", [i for op in ROWS for i in row_forms(op)],
    ids=lambda i: f"{i.op.name}-{'signed-' * i.signed}{'high-' * i.high}{'right-' * i.right}"
                  f"{i.cond.name if i.op is Op.ISETP else 'carry' * (i.pdst != PT)}".strip("-"),
)


@ROWS_AND_FORMS
def test_rows_are_proved(i: Instruction) -> None:
    """For some lanes; for a shift, one lane with each distance."""
    if i.op is Op.SHF:
        check_row(i, [(n, 1 + 11 * n % 30) for n in range(BITS + 1)])
    else:
        check_row(i, [(0, 1), (0, 19), (0, 30)])


@pytest.mark.long
@ROWS_AND_FORMS
def test_rows_are_proved_for_all_lanes(i: Instruction) -> None:
    distances = range(BITS + 1) if i.op is Op.SHF else [0]
    check_row(i, list(itertools.product(distances, BETWEEN)))


def test_all_other_rows_take_uniform_slots() -> None:
    assert RULES.keys() - ROWS.keys() == {Op.LOP3, Op.PRMT, Op.BMSK, Op.POPC, Op.FLO, Op.BREV}


# ---------------------------------------------------------------- conditions

NEEDED = {
    "exact": (Op.IADD, Op.ISUB, Op.IMAD, Op.IMIN, Op.IMAX, Op.ISETP),
    "high words": (Op.IMUL, Op.IMAD),
    "one affine factor": (Op.IMUL, Op.IMAD),
    "uniform with carry": (Op.IMAD,),
    "exact addend": (Op.IMAD,),
    "same carry": (Op.IADD, Op.ISUB, Op.IMAD),
    "ends": (Op.SHF,),
    "first": (Op.IMIN, Op.IMAX),
    "last": (Op.IMIN, Op.IMAX),
    "same stride": (Op.ISETP,),
    "same sign": (Op.ISETP,),
    "same verdict": (Op.ISETP,),
}
"""A value that wraps with a stride of 16 bits has different high words at its ends, and the distance of its shifted
ends does not match the stride: a shift and a high product need `exact` for wider strides only."""


@pytest.mark.parametrize(("condition", "op"), [(name, op) for name, ops in NEEDED.items() for op in ops],
                         ids=lambda x: getattr(x, "name", x))
def test_every_condition_is_needed(condition: str, op: Op) -> None:
    """Without the condition, slots are accepted for which a lane has another result, in the model and in the terms."""
    assert any(breaks(i, condition, at, n) for i in row_forms(op) for at in (15, 30)
               for n in ((3, 30) if op is Op.SHF else (0,)))


def breaks(i: Instruction, condition: str, at: int, n: int) -> bool:
    found = refute(i, at, n, without=condition)
    if found is None:
        return False
    values = [found.eval(x, model_completion=True).as_long() for slot in slots_of(i, condition) for x in slot]
    slots = [Compact(*pair) for pair in zip(values[::2], values[1::2], strict=True)]
    if i.op is Op.SHF:
        slots[2] = Compact(n)
    pred = z3.is_true(found.eval(PRED, model_completion=True))
    answers = [lane(i.op, encode_modifiers(i), *(x.value(number) for x in slots), int(pred) | (i.op is Op.ISETP))
               for number in (0, at)]
    claim = rule(i, slots_of(i, condition), n, PRED, condition)
    claimed = modulo(claim.result.at(at)) if i.pdst == PT else z3.If(claim.holds, 1, 0)
    assert found.eval(claimed, model_completion=True).as_long() != answers[1][i.pdst != PT], (i, slots, pred)
    return execute(operation_of(i), tuple(slots), int(pred)) is None


UNIFORM_ONLY = {
    Op.LOP3: {"lut": 0x96}, Op.PRMT: {}, Op.BMSK: {}, Op.POPC: {}, Op.FLO: {}, Op.BREV: {},
}


@pytest.mark.parametrize(("op", "named"), UNIFORM_ONLY.items(), ids=lambda x: getattr(x, "name", ""))
def test_uniform_slots_are_needed(op: Op, named: dict[str, int]) -> None:
    """For an operation on the bits of a thread index, the first and the last lane do not determine those between."""
    i = Instruction(op=op, **named)
    slots = (Compact(0, 1), Compact(7), Compact(0x3210 if op is Op.PRMT else 5, 4 * (op is Op.PRMT)))
    words = [lane(op, encode_modifiers(i), *(x.value(number) for x in slots), 0)[0] for number in range(LAST + 1)]
    assert len({(after - before) % WORDS for before, after in itertools.pairwise(words)}) > 1
    assert execute(operation_of(i), slots, 0) is None


# ---------------------------------------------------------------- terms and model


def operation_of(i: Instruction) -> Operation:
    return Operation(i.op, decode_modifiers(i.op, encode_modifiers(i)), i.pdst != PT)


def samples(i: Instruction, count: int) -> Iterator[tuple[list[Compact], int, int]]:
    """Slots, of which some are uniform and most bases special; the distance; the predicate operand."""
    rng = random.Random(SEED)
    for _ in range(count):
        bases = [rng.choice([*SPECIAL, *TRUTHS]) if rng.random() < 0.7 else rng.getrandbits(rng.choice([6, 16, 32]))
                 for _ in range(3)]
        uniform = rng.random() < 0.2
        strides = [0 if uniform else rng.choice([0, 1, 4, -1, 8, rng.randrange(-HALF, HALF)]) for _ in range(3)]
        slots = [Compact(*pair) for pair in zip(bases, strides, strict=True)]
        if i.op is Op.SHF:
            slots[2] = Compact(rng.choice([0, 1, 2, 31, 32, rng.randrange(40)]))
        yield slots, min(slots[2].base, BITS), rng.randrange(2)


def terms(i: Instruction, slots: list[Compact], n: int) -> tuple[Slot, ...]:
    """The slots as inputs of terms: for a shift the other word is already shifted."""
    shifted = 1 << (BITS - n if i.right else n) if i.op is Op.SHF else 1
    a, b, c = (Slot(z3.IntVal(x.base), z3.IntVal(x.stride)) for x in slots)
    return a, Slot(b.base * shifted, b.stride * shifted), c


def number(term: z3.ExprRef) -> int:
    value = z3.simplify(term)
    return int(z3.is_true(value)) if z3.is_bool(value) else value.as_long()


@ROWS_AND_FORMS
def test_terms_are_the_operations(i: Instruction) -> None:
    print(f"seed {SEED}")
    for slots, n, p in samples(i, 25):
        found = LANES[i.op](i, n, z3.BoolVal(bool(p)), [slot.base for slot in terms(i, slots, n)])
        result, holds = lane(i.op, encode_modifiers(i), *(x.base for x in slots), p | (i.op is Op.ISETP))
        assert number(found.result) == result
        assert i.pdst == PT or number(found.holds) == holds


@ROWS_AND_FORMS
def test_rows_are_the_rules(i: Instruction) -> None:
    """The model's rules accept the same as the rows, if the stride fits; an unused third slot may be anything in a row,
    and is uniform in the rules."""
    print(f"seed {SEED}")
    accepted = 0
    for slots, n, p in samples(i, 25):
        given = slots if i.op is Op.IMAD else [*slots[:2], Compact(slots[2].base)]
        if i.op is Op.MOV:
            given[1] = Compact(given[1].base)
        claim = rule(i, terms(i, given, n), n, z3.BoolVal(bool(p)))
        stride = signed(number(modulo(claim.result.stride)))
        found = execute(operation_of(i), tuple(given), p)
        if not number(claim.accepted) or not -HALF <= stride < HALF:
            assert found is None, given
            continue
        accepted += 1
        assert found is not None and (i.pdst == PT or found.holds == number(claim.holds)), given
        assert i.op is Op.ISETP or found.result == Compact(number(claim.result.base), stride), given
    assert accepted >= 2
