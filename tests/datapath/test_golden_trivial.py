"""Trivial operations (docs/contract/pipes.md): the outcomes of a warp are those of the table, taken lane by lane.

`test_trivial_rules` and `test_trivial_values` show that the table itself is right."""

import random
from functools import cache
from types import CodeType

import pytest
from support.forms import SPECIAL

from warploom.arch.config import LANES
from warploom.arch.interfaces import OUTCOME_BITS, Outcome
from warploom.arch.isa import Op, Pipe
from warploom.arch.modifiers import Rounding
from warploom.golden_model.lane import decode_modifiers
from warploom.golden_model.trivial import outcomes, packed
from warploom.golden_model.words import ALL_LANES, join, split

SEED = 5

TABLE = {
    "MOV POPC BREV CVT": ("a", "", "", ""),
    "IADD": ("a and b", "b", "a", ""),
    "ISUB": ("a and b", "b", "", ""),
    "IMUL": ("a or b", "", "", ""),
    "IMAD": ("(a or b) and c", "", "", "a or b"),
    "IMIN": ("a or b", "", "", ""),
    "IMAX": ("a and b", "b", "a", ""),
    "LOP3": ("logic(0)", "logic(4)", "logic(2)", "logic(1)"),
    "SHF": ("a and (b or m.signed)", "c and m.right", "c and not m.right and not m.signed", ""),
    "PRMT SEL": ("a and b", "", "", ""),
    "BMSK": ("b", "", "", ""),
    "FADD": ("a and b", "b and not m.sat", "a and not m.sat", ""),
    "FMUL": ("a or b", "", "", ""),
    "FFMA": ("(a or b) and c", "", "", "(a or b) and not m.sat"),
    "FMIN": ("a or b", "", "", ""),
    "FMAX": ("a and b", "b", "a", ""),
    "DP4A": ("(a or b) and c", "", "", "a or b"),
}
"""When the outcome is ZERO, A, B, C; the first counts. a, b, c: this operand is known to be zero; m: the modifiers."""

CONDITIONS = {
    "IADD ISUB IMAD": "not carry",
    "IMIN IMAX": "not m.signed or positive",
    "LOP3": "a or b or c",
    "FADD": "normal",
    "FMUL FMIN FMAX": "normal and positive",
    "FFMA": "normal and (m.rounding != Rounding.RM or positive)",
}


TABLES = {Op[name]: row for names, row in TABLE.items() for name in names.split()}
CONDITION = {Op[name]: text for names, text in CONDITIONS.items() for name in names.split()}


@cache
def compiled(text: str) -> CodeType:
    return compile(text or "False", text, "eval")


def gives(lut: int, known: tuple[bool, bool, bool], bit: int) -> bool:
    """Whether the truth table gives the operand at this bit of its index (0: zero), if known operands are zero."""
    zeros = known[0] << 2 | known[1] << 1 | known[2]
    return all(lut >> index & 1 == bool(index & bit) for index in range(8) if not index & zeros)


def outcome_of_lane(port: dict, known: tuple[bool, bool, bool], operands: tuple[int, ...], carry: int) -> int:
    """The table, for one executing lane."""
    op = Op(port["op"])
    if op not in TABLES or port["pipe"] != Pipe.SP:
        return Outcome.COMPUTE
    m = decode_modifiers(op, port["modifiers"])
    others = [x for x, zero in zip(operands, known, strict=True) if not zero]
    names = dict(zip("abc", known, strict=True)) | {
        "m": m, "carry": carry, "Rounding": Rounding, "logic": lambda bit: gives(m.lut, known, bit),
        "positive": all(x < 1 << 31 for x in others), "normal": all(0 < x >> 23 & 255 < 255 for x in others),
    }
    if not eval(compiled(CONDITION.get(op, "True")), names):
        return Outcome.COMPUTE
    return next((k for k, text in enumerate(TABLES[op], start=1) if eval(compiled(text), names)), Outcome.COMPUTE)


def random_port(op: Op, rng: random.Random) -> dict:
    """A dispatch of the operation with random modifiers (often the truth tables of 0, a, b, c), sometimes to a pipe
    that does not execute it."""
    words = [[rng.choice(SPECIAL) if rng.random() < 0.7 else rng.getrandbits(32) for _ in range(LANES)] for _ in "abc"]
    return {
        "op": int(op), "pipe": rng.choice((0, 0, 0, 1, 2)),
        "modifiers": rng.choice((rng.choice((0, 0xF0, 0xCC, 0xAA)), rng.getrandbits(12))),
        "pred": rng.choice((0, rng.getrandbits(LANES))), "lanes": rng.choice((ALL_LANES, rng.getrandbits(LANES))),
        "operands": tuple(join(word) for word in words),
    }


@pytest.mark.parametrize("op", Op, ids=lambda op: op.name)
def test_outcomes_are_those_of_the_table(op: Op) -> None:
    """Lanes that are known to be zero hold arbitrary values here, which must not matter."""
    print(f"seed {SEED}")
    rng = random.Random(SEED)
    found = set()
    for _ in range(300):
        port = random_port(op, rng)
        known = tuple(rng.choice((0, ALL_LANES, rng.getrandbits(LANES))) for _ in "abc")
        wanted = [0] * LANES
        for lane, operands in enumerate(zip(*map(split, port["operands"]), strict=True)):
            if port["lanes"] >> lane & 1:
                zeros = tuple(bool(mask >> lane & 1) for mask in known)
                wanted[lane] = outcome_of_lane(port, zeros, operands, port["pred"] >> lane & 1)
        masks = outcomes(port, known)
        assert masks == tuple(sum(1 << lane for lane in range(LANES) if wanted[lane] == k) for k in (1, 2, 3, 4))
        assert [packed(masks) >> OUTCOME_BITS * lane & 7 for lane in range(LANES)] == wanted
        assert packed(masks) >> OUTCOME_BITS * LANES == 0
        found |= set(wanted)
    assert found == {0} | {k for k, text in enumerate(TABLES.get(op, ()), start=1) if text}
