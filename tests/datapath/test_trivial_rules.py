"""Proofs of trivial operations (docs/contract/pipes.md): the result predicted before the computation is the computed
result, for all values of the other operands; and each condition is needed.

z3 reasons about `terms` at full width; these are compared with the operations of the model. CVT has no term: it is
trivial only if its one operand is zero, which leaves nothing to prove (`test_trivial_values` tries all its forms).
"""

import random
from functools import cache

import pytest
import z3
from support.forms import SPECIAL, forms, is_legal
from support.lanes import run
from support.terms import NO, TERMS, ZERO

from warploom.arch.encoding import encode_modifiers
from warploom.arch.interfaces import Outcome
from warploom.arch.isa import INTEGER_OPS, Instruction, Op
from warploom.golden_model.lane import decode_modifiers, lane
from warploom.golden_model.trivial import ROWS, outcomes, row_of
from warploom.golden_model.words import ALL_LANES, broadcast

OPERANDS = z3.BitVecs("a b c", 32)
PRED = z3.BitVec("pred", 1)
SEED = 11
PATTERNS = range(1, 8)
"""The operands that are known to be zero: bits 2, 1, 0 for a, b, c."""


def modifiers(i: Instruction):
    return decode_modifiers(i.op, encode_modifiers(i))


def known(pattern: int) -> list[bool]:
    """For each operand, whether it is known to be zero."""
    return [bool(pattern >> 2 - slot & 1) for slot in range(3)]


@cache
def table(i: Instruction) -> list[Outcome]:
    """The outcome of each pattern if all conditions hold: lane l has pattern l, and other operands are 1.0."""
    masks = tuple(sum(1 << pattern for pattern in range(8) if known(pattern)[slot]) for slot in range(3))
    port = {"op": i.op, "modifiers": encode_modifiers(i), "pipe": i.pipe, "lanes": ALL_LANES, "pred": 0,
            "operands": (broadcast(0x3F800000),) * 3}
    found = outcomes(port, masks)
    return [Outcome(sum(k for k, mask in enumerate(found, start=1) if mask >> pattern & 1)) for pattern in range(8)]


def conditions(i: Instruction, pattern: int) -> dict[str, z3.BoolRef]:
    """The row's conditions on the operands that are not known, by name."""
    listed = row_of(i.op, encode_modifiers(i))
    assert listed is not None
    row, _ = listed
    others = [x for x, zero in zip(OPERANDS, known(pattern), strict=True) if not zero]
    exponents = [z3.Extract(30, 23, x) for x in others]
    texts = {
        "no_carry": PRED == 0,
        "normal": z3.And([z3.And(e != 0, e != 255) for e in exponents]),
        "positive": z3.And([z3.Extract(31, 31, x) == 0 for x in others]),
    }
    return {name: text for name, text in texts.items() if getattr(row, name)}


def refute(i: Instruction, pattern: int, outcome: Outcome, assumed: list[z3.BoolRef]) -> z3.ModelRef | None:
    """Operands for which the outcome is wrong, in its result or by a predicate result of 1; None if it is proved."""
    operands = [ZERO if zero else x for x, zero in zip(OPERANDS, known(pattern), strict=True)]
    result, pred = TERMS[i.op](modifiers(i), *operands, PRED)
    solver = z3.Solver()
    solver.add(*assumed, z3.Or(result != (ZERO, *operands)[outcome - Outcome.ZERO], pred != NO))
    answer = solver.check()
    assert answer != z3.unknown
    return solver.model() if answer == z3.sat else None


def samples(count: int) -> list[list[int]]:
    """Columns of values for a, b, c, special and random ones."""
    rng = random.Random(SEED)
    return [[rng.choice(SPECIAL) if rng.random() < 0.8 else rng.getrandbits(32) for _ in range(count)] for _ in "abc"]


def computed(i: Instruction, columns: list[list[int]], pred: list[bool]) -> list[tuple[int, int]]:
    """The results of the model's operations: result and predicate result."""
    outcome = run(i, *columns, pred=pred)
    predicates = [0] * len(pred) if outcome.pred is None else outcome.pred.reshape(-1).tolist()
    return list(zip(outcome.result.reshape(-1).tolist(), predicates, strict=True))


def test_every_row_is_proved() -> None:
    assert ROWS.keys() - TERMS.keys() == {Op.CVT}


@pytest.mark.parametrize("op", TERMS, ids=lambda op: op.name)
def test_terms_are_the_operations(op: Op) -> None:
    """The terms equal the operations of functional execution, and of integer lanes."""
    print(f"seed {SEED}")
    columns = samples(32 if op is Op.LOP3 else 128)
    pred = [bool(word & 4) for word in columns[1]]
    operands = list(zip(*columns, pred, strict=True))
    constants = [([z3.BitVecVal(x, 32) for x in abc], z3.BitVecVal(p, 1)) for *abc, p in operands]
    for i in forms(op):
        terms = [TERMS[op](modifiers(i), *abc, p) for abc, p in constants]
        found = [tuple(z3.simplify(part).as_long() for part in term) for term in terms]
        if is_legal(i):
            assert found == computed(i, columns, pred), i
        if op in INTEGER_OPS:
            assert found == [lane(op, encode_modifiers(i), *words) for words in operands], i


@pytest.mark.parametrize("op", TERMS, ids=lambda op: op.name)
def test_every_outcome_is_right(op: Op) -> None:
    proved = 0
    for i in forms(op):
        for pattern in PATTERNS:
            outcome = table(i)[pattern]
            if outcome is not Outcome.COMPUTE:
                wrong = refute(i, pattern, outcome, list(conditions(i, pattern).values()))
                assert wrong is None, f"{i}: with known zeros {known(pattern)} it is not {outcome.name}: {wrong}"
                proved += 1
    assert proved >= 2


NEEDED = {
    "no_carry": (Op.IADD, Op.ISUB, Op.IMAD),
    "normal": (Op.FADD, Op.FMUL, Op.FFMA, Op.FMIN, Op.FMAX),
    "positive": (Op.IMIN, Op.IMAX, Op.FMUL, Op.FFMA, Op.FMIN, Op.FMAX),
}


@pytest.mark.parametrize(
    ("condition", "op"), [(name, op) for name, ops in NEEDED.items() for op in ops], ids=lambda x: getattr(x, "name", x)
)
def test_every_condition_is_needed(condition: str, op: Op) -> None:
    """Without the condition, operands of some form break an outcome, in the proof and in the operation itself."""
    assert any(
        outcome is not Outcome.COMPUTE and condition in (asked := conditions(i, pattern))
        and breaks(i, pattern, outcome, [text for name, text in asked.items() if name != condition])
        for i in forms(op) for pattern, outcome in enumerate(table(i))
    )


def breaks(i: Instruction, pattern: int, outcome: Outcome, assumed: list[z3.BoolRef]) -> bool:
    """z3 finds operands for which the outcome is wrong, and the operation agrees."""
    found = refute(i, pattern, outcome, assumed)
    if found is None:
        return False
    a, b, c, pred = (found.eval(x, model_completion=True).as_long() for x in (*OPERANDS, PRED))
    operands = [0 if zero else x for x, zero in zip((a, b, c), known(pattern), strict=True)]
    claimed = (0, *operands)[outcome - Outcome.ZERO]
    assert computed(i, [[x] * 32 for x in operands], [bool(pred)] * 32)[0] != (claimed, 0), (i, operands, pred)
    return True


A_ZERO, B_ZERO = 0b100, 0b010

LEFT_OUT = [
    (Instruction(op=Op.FADD, sat=True), B_ZERO, Outcome.A),
    (Instruction(op=Op.FADD, sat=True), A_ZERO, Outcome.B),
    (Instruction(op=Op.FFMA, sat=True), A_ZERO, Outcome.C),
    (Instruction(op=Op.FFMA, sat=True), B_ZERO, Outcome.C),
    (Instruction(op=Op.ISUB, psrc=0, pdst=0), A_ZERO, Outcome.B),
    (Instruction(op=Op.SHF), A_ZERO, Outcome.ZERO),
    (Instruction(op=Op.SHF, right=True), A_ZERO, Outcome.ZERO),
    (Instruction(op=Op.SHF, right=True, signed=True), B_ZERO, Outcome.ZERO),
    (Instruction(op=Op.PRMT), A_ZERO, Outcome.ZERO),
    (Instruction(op=Op.PRMT), 0b001, Outcome.A),
    (Instruction(op=Op.SEL, psrc=0), A_ZERO, Outcome.ZERO),
    (Instruction(op=Op.BMSK), A_ZERO, Outcome.ZERO),
    (Instruction(op=Op.IMIN), A_ZERO, Outcome.B),
    (Instruction(op=Op.IMAX), A_ZERO, Outcome.ZERO),
    (Instruction(op=Op.LOP3, lut=0x3C), 0b001, Outcome.A),
]
"""Plausible outcomes that are not in the table."""


@pytest.mark.parametrize(("i", "pattern", "outcome"), LEFT_OUT)
def test_omitted_patterns_are_wrong(i: Instruction, pattern: int, outcome: Outcome) -> None:
    assert table(i)[pattern] is not outcome
    assert breaks(i, pattern, outcome, list(conditions(i, pattern).values()))
