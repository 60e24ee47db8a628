"""Trials of trivial operations (docs/contract/pipes.md): all forms of each operation, with all combinations of special
values for operands that are not known to be zero. `test_trivial_rules` proves the same for all values."""

import itertools
import random
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from support.forms import SPECIAL, TRUTHS, forms, is_legal
from support.lanes import run

from warploom.arch.config import LANES
from warploom.arch.encoding import encode_modifiers
from warploom.arch.interfaces import Outcome
from warploom.arch.isa import INTEGER_OPS, Instruction, Op
from warploom.arch.modifiers import Rounding
from warploom.golden_model.integer import evaluate
from warploom.golden_model.trivial import ROWS, outcomes
from warploom.golden_model.words import ALL_LANES, join, split

SEED = 5


class Trial(NamedTuple):
    """A form of an operation on many operands, one in each item of the arrays. `known` are the operands known to be
    zero, bits 2, 1, 0 for a, b, c; `outcome` is the prediction, `result` and `pred` are the operation's results."""

    instruction: Instruction
    known: np.ndarray
    operands: tuple[np.ndarray, np.ndarray, np.ndarray]
    outcome: np.ndarray
    result: np.ndarray
    pred: np.ndarray


@cache
def tried(op: int) -> list[Trial]:
    """All forms of an operation."""
    print(f"seed {SEED}")
    rows = combinations(TRUTHS if op in (Op.LOP3, Op.CVT) else SPECIAL)
    known, a, b, c, pred = rows.T
    found = []
    for i in filter(is_legal, forms(Op(op))):
        given = run(i, a.tolist(), b.tolist(), c.tolist(), pred=(pred == 1).tolist())
        pred_result = np.zeros_like(pred) if given.pred is None else given.pred.reshape(-1)
        found.append(Trial(i, known, (a, b, c), outcomes_of(i, rows), given.result.reshape(-1), pred_result))
    return found


def combinations(values: list[int]) -> np.ndarray:
    """Rows of known zeros, a, b, c and predicate operand: all values of operands that are not known, unless these are
    three. In random order, so that each warp has lanes of all kinds."""
    rng = random.Random(SEED)
    found = []
    for known in range(1, 8):
        for abc in itertools.product(*([0] if known & bit else values for bit in (4, 2, 1))):
            found.append((known, *abc, rng.getrandbits(1)))
    rng.shuffle(found)
    return np.array(found + found[: -len(found) % LANES])


def outcomes_of(i: Instruction, rows: np.ndarray) -> np.ndarray:
    """The `Outcome` of each row, warp by warp. Integer lanes are run as well, and agree."""
    found = []
    for warp in rows.reshape(-1, LANES, 5):
        known, a, b, c, pred = warp.T
        port = {"op": int(i.op), "modifiers": encode_modifiers(i), "pipe": int(i.pipe), "lanes": ALL_LANES,
                "pred": mask_of(pred), "operands": (join(a), join(b), join(c))}
        masks = outcomes(port, (mask_of(known & 4), mask_of(known & 2), mask_of(known & 1)))
        found.append(sum(outcome * lanes_of(mask) for outcome, mask in enumerate(masks, start=Outcome.ZERO)))
        if i.op in INTEGER_OPS:
            result, pred_result = evaluate(port)
            values = np.array(split(result))
            assert (values == np.choose(found[-1], [values, 0, a, b, c])).all(), i
            assert not (found[-1] * lanes_of(pred_result)).any(), i
    return np.concatenate(found)


def mask_of(lanes: np.ndarray) -> int:
    """The mask of lanes that are not zero."""
    return sum(1 << int(lane) for lane in np.flatnonzero(lanes))


def lanes_of(mask: int) -> np.ndarray:
    """Ones and zeros."""
    return mask >> np.arange(LANES) & 1


@pytest.mark.parametrize("op", ROWS, ids=lambda op: op.name)
def test_outcomes_are_the_results(op: int) -> None:
    """The operation gives its predicted outcome, and no carry."""
    for trial in tried(op):
        said = np.choose(trial.outcome, [trial.result, 0, *trial.operands])
        assert (trial.result == said).all(), trial.instruction
        assert not trial.pred[trial.outcome > 0].any(), trial.instruction
    assert sum(np.count_nonzero(trial.outcome) for trial in tried(op)) >= len(SPECIAL)


PASSED_OVER = {
    (Op.MOV, 0b001, Outcome.A), (Op.MOV, 0b010, Outcome.A), (Op.MOV, 0b011, Outcome.A), (Op.PRMT, 0b101, Outcome.ZERO),
}
"""Other possible outcomes: MOV gives a, but none of its operands is zero; a selector of zeros takes bytes of a."""


@pytest.mark.parametrize("op", [op for op in ROWS if op != Op.CVT], ids=lambda op: op.name)
def test_no_other_outcome_holds(op: int) -> None:
    """If a form always computes, its result is neither always zero nor always an operand."""
    missed = set()
    for trial, known in itertools.product(tried(op), range(1, 8)):
        here = trial.known == known
        if not trial.outcome[here].any():
            said = {Outcome.ZERO: np.zeros_like(trial.result)}
            said |= {Outcome.A + k: trial.operands[k] for k in range(3) if not known >> 2 - k & 1}
            missed |= {(op, known, outcome) for outcome, x in said.items() if (x == trial.result)[here].all()}
    assert missed == {entry for entry in PASSED_OVER if entry[0] == op}


ONE, MINUS_ONE, MINUS_ZERO = 0x3F800000, 0xBF800000, 0x80000000
DENORMAL, INFINITY, NAN = 1, 0x7F800000, 0x7FC00001


@pytest.mark.parametrize(
    ("fields", "operands", "wrong"),
    [
        ({"op": Op.FADD}, (MINUS_ZERO, 0, 0), Outcome.A),  # +0
        ({"op": Op.FADD, "rounding": Rounding.RP}, (NAN, 0, 0), Outcome.A),  # the canonical NaN
        ({"op": Op.FADD, "ftz": True}, (DENORMAL, 0, 0), Outcome.A),
        ({"op": Op.FADD, "sat": True}, (MINUS_ONE, 0, 0), Outcome.A),
        ({"op": Op.FMUL}, (INFINITY, 0, 0), Outcome.ZERO),  # a NaN
        ({"op": Op.FMUL}, (MINUS_ONE, 0, 0), Outcome.ZERO),  # -0
        ({"op": Op.FFMA}, (INFINITY, 0, 1), Outcome.C),
        ({"op": Op.FFMA}, (ONE, 0, MINUS_ZERO), Outcome.C),
        ({"op": Op.FFMA, "rounding": Rounding.RM}, (MINUS_ONE, 0, 0), Outcome.ZERO),
        ({"op": Op.FMIN, "nan": True}, (NAN, 0, 0), Outcome.ZERO),
        ({"op": Op.FMIN}, (MINUS_ZERO, 0, 0), Outcome.ZERO),
        ({"op": Op.FMAX}, (MINUS_ONE, 0, 0), Outcome.A),
        ({"op": Op.FMAX}, (NAN, 0, 0), Outcome.A),
        ({"op": Op.IMIN, "signed": True}, (MINUS_ONE, 0, 0), Outcome.ZERO),
        ({"op": Op.IMAX, "signed": True}, (MINUS_ONE, 0, 0), Outcome.A),
        ({"op": Op.IADD, "psrc": 0}, (MINUS_ONE, 0, 0), Outcome.A),  # with a carry
    ],
)
def test_what_must_be_computed(fields: dict, operands: tuple[int, int, int], wrong: Outcome) -> None:
    """b is known to be zero, and c if it is; the result differs from the plausible one."""
    i = Instruction(**fields)
    known = 0b010 if operands[2] else 0b011
    assert not outcomes_of(i, np.tile((known, *operands, 1), (LANES, 1))).any()
    result = run(i, *([x] * LANES for x in operands), pred=[True] * LANES).result
    assert (result != np.choose(wrong, [0, 0, *operands])).all()
