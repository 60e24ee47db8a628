"""The table of docs/contract/affine.md: each row, both sides of each of its conditions, and every lane of accepted
results."""

import random
from collections.abc import Sequence
from typing import Any

import pytest

from warploom.arch.compact import Tag
from warploom.arch.encoding import encode_modifiers
from warploom.arch.isa import INTEGER_OPS, Instruction, Op
from warploom.arch.mechanisms import Affine
from warploom.arch.modifiers import Combine, Cond, DType, Space
from warploom.golden_model.affine.rules import Answer, Operation, Shape, affine_slots, execute, is_eligible
from warploom.golden_model.compact import Compact
from warploom.golden_model.lane import decode_modifiers, lane
from warploom.golden_model.words import split

SEED = 6
TOP = 0x80000000
M = 0xFFFFFFFF

Given = int | tuple[int, int]  # a uniform slot, or base and stride


def slots_of(given: tuple[Given, ...]) -> tuple[Compact, Compact, Compact]:
    a, b, c = (Compact(x, 0) if isinstance(x, int) else Compact(*x) for x in (*given, 0, 0, 0)[:3])
    return a, b, c


def attempt(op: Op, *given: Given, p: int | None = 0, carry: bool = False, **modifiers: Any) -> Answer | None:
    """The result of an attempt, with every lane checked if it is accepted. Slots that are not given are zero."""
    operation = Operation(op, decode_modifiers(op, encode_modifiers(Instruction(op=op, **modifiers))), carry)
    slots = slots_of(given)
    answer = execute(operation, slots, p)
    if answer is not None:
        check_lanes(operation, slots, p, answer)
    return answer


def check_lanes(operation: Operation, slots: Sequence[Compact], p: int | None, answer: Answer) -> None:
    """All lanes compute their values of the result."""
    compares = operation.op == Op.ISETP
    modifiers = vars(operation.modifiers) | ({"combine": Combine.AND} if compares else {})
    for number, values in enumerate(zip(*(split(x.word()) for x in slots), strict=True)):
        value, holds = lane(operation.op, modifiers, *values, 1 if compares else p or 0)
        assert answer.result is None if compares else value == answer.result.base + number * answer.result.stride & M
        assert holds == answer.holds or not (compares or operation.writes_predicate)


ROWS: list[tuple[str, tuple[Given, ...], dict, int | None]] = [
    ("MOV", ((M, -5),), {}, -5),
    ("MOV", ((5, 1), (5, 1)), {}, None),
    # strides are added modulo 2^32, and must fit 16 bits
    ("IADD", ((5, 4), (M, -1)), {}, 3),
    ("IADD", ((0, 0x7FFE), (0, 1)), {}, 0x7FFF),
    ("IADD", ((0, 0x7FFF), (0, 1)), {}, None),
    ("IADD", ((0, -0x8000), (0, -1)), {}, None),
    ("IADD", ((5, 4), 1, (0, 1)), {}, None),
    ("IADD", ((5, 4), 1), {"p": 1}, 4),
    ("IADD", ((5, 4), 1), {"p": None}, None),
    ("ISUB", ((5, 4), (M, -1)), {}, 5),
    ("ISUB", (0, (0, -0x7FFF)), {}, 0x7FFF),
    ("ISUB", (0, (0, -0x8000)), {}, None),
    ("ISUB", ((0, -0x7FFF), (0, 1)), {}, -0x8000),
    ("ISUB", ((0, -0x8000), (0, 1)), {}, None),
    ("ISUB", ((5, 4), 1), {"p": None}, None),
    # the carry: neither wraps, and the first and the last lane agree
    ("IADD", ((M - 31, 1), 0), {"carry": True}, 1),
    ("IADD", ((M - 30, 1), 0), {}, 1),
    ("IADD", ((M - 30, 1), 0), {"carry": True}, None),
    ("IADD", ((30, -1), 0), {"carry": True}, None),
    ("IADD", (0, (M - 30, 1)), {"carry": True}, None),
    ("IADD", ((M - 31, 1), 1), {"carry": True}, None),
    ("IADD", ((M - 31, 1), 0), {"carry": True, "p": 1}, None),
    ("IADD", ((M - 31, 1), 32), {"carry": True}, 1),
    ("IADD", (M, M), {"carry": True}, 0),
    ("ISUB", ((31, 1), 31), {"carry": True}, 1),
    ("ISUB", ((31, 1), 32), {"carry": True}, None),
    ("ISUB", ((31, 1), 31), {"carry": True, "p": 1}, None),
    ("ISUB", (0, (30, -1)), {"carry": True}, None),
    # products
    ("IMUL", ((7, 3), 5), {}, 15),
    ("IMUL", (M, (7, 3)), {}, -3),
    ("IMUL", ((7, 2), TOP), {}, 0),
    ("IMUL", ((7, 1), 0x10000), {}, None),
    ("IMUL", ((7, 1), (7, 1)), {}, None),
    ("IMUL", (7, 7, (0, 1)), {}, None),
    ("IMAD", ((7, 3), 5, (0, 2)), {}, 17),
    ("IMAD", (5, (7, 3), (0, -15)), {}, 0),
    ("IMAD", (5, 5, (0, 9)), {}, 9),
    ("IMAD", ((7, 3), 5, (0, 0x7FFF)), {}, None),
    ("IMAD", ((7, 1), (7, 1), 0), {}, None),
    ("IMAD", (7, 7, (0, 1)), {"p": None}, None),
    # H
    ("IMUL", ((0xFFE0, 1), 0x10000), {"high": True}, 0),
    ("IMUL", ((0xFFE1, 1), 0x10000), {"high": True}, None),
    ("IMUL", (0x10000, (0xFFE1, 1)), {"high": True}, None),
    ("IMUL", ((M - 30, 1), 0), {"high": True}, None),
    ("IMUL", (0, (M - 30, 1)), {"high": True}, None),
    ("IMUL", ((M - 30, 1), 0), {"high": True, "signed": True}, 0),
    ("IMUL", ((M - 30, 1), 1), {"high": True, "signed": True}, None),
    ("IMUL", ((M - 31, 1), 1), {"high": True, "signed": True}, 0),
    ("IMUL", ((TOP - 31, 1), 0), {"high": True, "signed": True}, None),
    ("IMUL", (TOP, TOP), {"high": True}, 0),
    ("IMAD", ((7, 3), 5, (M, -4)), {"high": True}, -4),
    ("IMAD", ((0xFFE1, 1), 0x10000, (M, -4)), {"high": True}, None),
    ("IMAD", (7, 3, (M, -4)), {"high": True}, -4),
    ("IMAD", ((7, 3), 5, 0), {"high": True, "carry": True}, None),
    ("IMAD", (M, M, M), {"high": True, "carry": True}, 0),
    ("IMAD", ((7, 3), 5, (9, 1)), {"carry": True}, 16),
    ("IMAD", ((7, 3), 5, (M - 30, 1)), {"carry": True}, None),
    ("IMAD", (0, 0, (M - 30, 1)), {"carry": True}, None),
    ("IMAD", ((0xFFE1, 1), 0x10000, 0), {"carry": True}, None),
    ("IMAD", ((0x1FFF0, 1), 0x8000, 0), {"carry": True}, None),
    ("IMAD", ((0xFFE1, 1), 0x7FFF, 0x80000000), {"carry": True}, 0x7FFF),
    ("IMAD", ((0xFFFE, 1), 0x7FFF, TOP + 0x8000), {"carry": True}, None),
    ("IMAD", ((M - 31, 1), 1, 0), {"carry": True, "signed": True}, 1),
    ("IMAD", ((M - 30, 1), 1, 0), {"carry": True, "signed": True}, None),
    # left shifts
    ("SHF", (M, (9, 3), 4), {}, 48),
    ("SHF", (0, (9, 0x3FFF), 1), {}, 0x7FFE),
    ("SHF", (0, (9, 0x4000), 1), {}, None),
    ("SHF", ((M, 1), (9, 3), 0), {}, 3),
    ("SHF", ((M, 7), (9, 3), 32), {}, 7),
    ("SHF", ((M, 7), (9, 3), 33), {}, 7),
    ("SHF", ((M, 7), (9, 3), 32), {"wrap": True}, 3),
    ("SHF", (0, (9, 3), 36), {"wrap": True}, 48),
    ("SHF", ((0x0FFFFFE0, 1), (9, 3), 4), {}, 48),
    ("SHF", ((0x0FFFFFE1, 1), (9, 3), 4), {}, None),
    ("SHF", ((30, -1), (9, 3), 1), {}, None),
    ("SHF", (0, (9, 3), (4, 1)), {}, None),
    # right shifts
    ("SHF", ((64, 4), 0, 2), {"right": True}, 1),
    ("SHF", ((4096, -12), 0, 2), {"right": True}, -3),
    ("SHF", ((M - 3, 4), 0, 2), {"right": True}, None),
    ("SHF", ((M - 3, 4), 0, 2), {"right": True, "signed": True}, 1),
    ("SHF", ((TOP - 4, 4), 0, 2), {"right": True, "signed": True}, None),
    ("SHF", ((TOP - 4, 4), 0, 2), {"right": True}, 1),
    ("SHF", ((32, 1), 0, 5), {"right": True}, 0),
    ("SHF", ((33, 1), 0, 5), {"right": True}, None),
    ("SHF", ((33, 1), (M, 7), 0), {"right": True}, 1),
    ("SHF", ((M, 1), (M, 7), 0), {"right": True}, 1),
    ("SHF", ((M, 1), M, 0), {"right": True, "signed": True}, 1),
    ("SHF", ((63, -1), 0, 5), {"right": True}, 0),
    ("SHF", ((0, 1025), 0, 10), {"right": True}, None),
    ("SHF", (33, (M, 7), 32), {"right": True}, 7),
    ("SHF", ((33, 1), (M, 7), 33), {"right": True}, 7),
    ("SHF", ((M, 1), (M, 7), 32), {"right": True}, None),
    ("SHF", ((33, 1), (M, 7), 32), {"right": True, "wrap": True}, 1),
    ("SHF", ((M, 1), 0, 32), {"right": True, "signed": True}, None),
    ("SHF", ((M - 31, 1), 0, 32), {"right": True, "signed": True}, 0),
    ("SHF", (33, (M, 7), 31), {"right": True}, 14),
    ("SHF", (33, (M, 7), 16), {"right": True}, None),
    ("SHF", (33, (M, 7), 16), {"right": True, "signed": True}, 0),
    ("SHF", ((64, 4), (5, 0x1000), 30), {"right": True}, 0x4000),
    ("SHF", (1, 1, (4, 1)), {"right": True}, None),
    # selections
    ("SEL", ((5, 1), (7, 2)), {"p": 1}, 1),
    ("SEL", ((5, 1), (7, 2)), {"p": 0}, 2),
    ("SEL", (5, 7), {"p": None}, None),
    ("SEL", ((5, 1), 7, (0, 1)), {"p": 0}, None),
    ("IMIN", ((5, 1), 36), {}, 1),
    ("IMIN", ((5, 1), 35), {}, None),
    ("IMIN", (5, (5, 1)), {}, 0),
    ("IMAX", ((5, 1), 5), {}, 1),
    ("IMAX", ((5, 1), 36), {}, 0),
    ("IMAX", ((5, 1), (36, -1)), {}, None),
    ("IMAX", ((5, 3), (5, 3)), {}, 3),
    ("IMIN", ((M - 30, 1), 0), {}, None),
    ("IMIN", (0, (M - 30, 1)), {}, None),
    ("IMIN", ((M - 30, 1), 32), {"signed": True}, 1),
    ("IMAX", ((TOP - 31, 1), TOP), {"signed": True}, None),
    ("IMAX", ((TOP - 31, 1), TOP), {}, 0),
    *((name, given, {}, stride) for name in ("LOP3", "PRMT", "BMSK", "POPC", "FLO", "BREV")
      for given, stride in (((77, 1, 1), 0), (((77, 1), 1, 1), None), ((77, (1, 1), 1), None))),
]
"""Operation, slots, modifiers (`p`, `carry`: predicate operand and result), and the stride, None if refused."""


@pytest.mark.parametrize(("name", "given", "settings", "stride"), ROWS)
def test_rows(name: str, given: tuple[Given, ...], settings: dict, stride: int | None) -> None:
    answer = attempt(Op[name], *given, **settings)
    assert (answer is None) == (stride is None)
    if answer is not None:
        assert answer.result is not None
        assert answer.result.stride == stride
        assert answer.result.tag is (Tag.AFFINE if stride else Tag.UNIFORM)


COMPARISONS: list[tuple[Given, Given, bool, dict[str, int]]] = [
    ((0, 1), 32, False, {"EQ": 0, "NE": 1, "LT": 1, "LE": 1, "GT": 0, "GE": 0}),
    ((0, 1), 31, False, {"LE": 1, "GT": 0}),
    ((0, 1), 16, False, {}),
    ((0, 1), 0, False, {"LT": 0, "GE": 1}),
    (7, 7, True, {"EQ": 1, "NE": 0, "LT": 0, "LE": 1, "GT": 0, "GE": 1}),
    (100, (0, 3), False, {"EQ": 0, "NE": 1, "LT": 0, "LE": 0, "GT": 1, "GE": 1}),
    ((0, 3), (0, 3), False, {"EQ": 1, "NE": 0, "LT": 0, "LE": 1, "GT": 0, "GE": 1}),
    ((M, 3), (M, 3), False, {"EQ": 1, "NE": 0}),  # wrapping: equality only
    ((M, 3), (M - 1, 3), False, {"EQ": 0, "NE": 1}),
    ((M, 1), 5, False, {}),
    (5, (M, 1), False, {}),
    ((M, 1), 50, True, {"EQ": 0, "NE": 1, "LT": 1, "LE": 1, "GT": 0, "GE": 0}),
    ((TOP - 9, 1), 50, True, {}),
    ((TOP - 9, 1), 50, False, {"EQ": 0, "NE": 1, "LT": 0, "LE": 0, "GT": 1, "GE": 1}),
    ((0, 2), (31, 1), False, {"LE": 1, "GT": 0}),
    ((0, 2), (30, 1), False, {}),
]
"""a, b, whether they are signed, and the accepted conditions with their results."""


@pytest.mark.parametrize(("a", "b", "signed", "accepted"), COMPARISONS)
def test_comparisons(a: Given, b: Given, signed: bool, accepted: dict[str, int]) -> None:
    for cond in (Cond.EQ, Cond.NE, Cond.LT, Cond.LE, Cond.GT, Cond.GE):
        for p in (0, 1, None):  # combined outside
            answer = attempt(Op.ISETP, a, b, p=p, carry=True, cond=cond, signed=signed)
            assert answer == ((None, accepted[cond.name]) if cond.name in accepted else None), cond


def test_special_registers_move() -> None:
    assert execute(Operation(Op.S2R, decode_modifiers(Op.S2R, 0), False), slots_of(((64, 1),)), 0) == ((64, 1), 0)


def test_a_left_shift_is_not_signed() -> None:
    modifiers = decode_modifiers(Op.SHF, 0b100)
    assert modifiers.signed and not modifiers.right
    assert execute(Operation(Op.SHF, modifiers, False), slots_of((1, 1, 1)), 0) is None
    assert not affine_slots(Op.SHF, modifiers)


def test_widths_are_of_the_shape() -> None:
    """Words of 6 bits, strides of 4 bits, 4 lanes: the last lane is base + 3 * stride."""
    shape, carry = Shape(6, 4, 4), Operation(Op.IADD, decode_modifiers(Op.IADD, 0), True)
    lanes = {Op.IADD: lambda m, a, b, c, p: ((a + b + p) % 64, (a + b + p) // 64)}
    assert execute(carry, slots_of(((60, 1), 0)), 0, shape, lanes) == ((60, 1), 0)
    assert execute(carry, slots_of(((61, 1), 0)), 0, shape, lanes) is None
    assert execute(carry, slots_of(((61, 1), 3)), 0, shape, lanes) is None
    assert execute(carry, slots_of(((0, 6), (0, 1))), 0, shape, lanes) == ((0, 7), 0)
    assert execute(carry, slots_of(((0, 7), (0, 1))), 0, shape, lanes) is None


# ---------------------------------------------------------------------- columns


def test_affine_slots() -> None:
    """The column of the table: the slots that may be affine in an attempt of an operation."""
    allowed = {
        "MOV S2R": "a", "IADD ISUB SHF SEL IMIN IMAX ISETP": "a b ab", "IMUL": "a b", "IMAD": "a b c ac bc",
        "LOP3 PRMT BMSK POPC FLO BREV FADD FMUL FFMA FMIN FMAX CVT FSETP TESTP LD": "",
    }
    for names, column in allowed.items():
        for name in names.split():
            modifiers = decode_modifiers(Op[name], 0)
            for mask in range(8):
                affine = "".join(x for slot, x in enumerate("abc") if mask >> slot & 1)
                allows = mask in affine_slots(Op[name], modifiers)
                assert allows == (affine in ("", *column.split())), (name, affine)


def test_eligible() -> None:
    def eligible(affine: Affine) -> set[Op]:
        return {op for op in Op if is_eligible(Instruction(op=op), affine)}

    floats = {Op.FADD, Op.FMUL, Op.FFMA, Op.FMIN, Op.FMAX, Op.CVT}
    comparisons = {Op.ISETP, Op.FSETP, Op.TESTP}
    assert not eligible(Affine.OFF)
    assert eligible(Affine.A) == (INTEGER_OPS | {Op.S2R} | floats) - comparisons
    assert eligible(Affine.AB) == eligible(Affine.ABM) == eligible(Affine.A) | comparisons


def test_wide_conversions_and_tests_are_not_eligible() -> None:
    for wide in (Instruction(op=Op.CVT, dst_type=DType.F64), Instruction(op=Op.TESTP, double=True)):
        assert not is_eligible(wide, Affine.ABM)


def test_loads_of_what_is_never_written_are_eligible() -> None:
    spaces = {space for space in Space if is_eligible(Instruction(op=Op.LD, space=space), Affine.A)}
    assert spaces == {Space.CONST, Space.PARAM}


# ---------------------------------------------------------------------- random operands

NEAR = [0, TOP, 1 << 16, 1 << 28]
STRIDES = [0, 0, 1, 2, 4, 8, 64, 100, -1, -2, -4, -64, 0x7FFF, -0x8000]


def random_slot(rng: random.Random, affine: float) -> Compact:
    """A slot, often near a wrap or near a power of two, so that conditions hold in some cases and not in others."""
    stride = rng.choice(STRIDES) if rng.random() < affine else 0
    near = rng.choice(NEAR) + rng.randrange(-40, 41) - rng.choice((0, 31 * stride))
    return Compact(rng.choice((near & M, near & M, rng.getrandbits(32), rng.getrandbits(6))), stride)


def random_modifiers(op: Op, rng: random.Random) -> int:
    encoded = rng.getrandbits(8)
    if op is Op.ISETP:
        return rng.randrange(6) | rng.randrange(3) << 4 | rng.getrandbits(1) << 6
    return encoded & ~4 if op is Op.SHF and not encoded & 1 else encoded


def random_slots(op: Op, rng: random.Random) -> tuple[Compact, Compact, Compact]:
    a, b, c = (random_slot(rng, affine) for affine in (0.7, 0.4, 0.1))
    if rng.random() < 0.2:
        b = Compact(a.base + rng.randrange(-40, 41) & M, rng.choice((a.stride, 0)))
    if op is Op.SHF and rng.random() < 0.8:
        c = Compact(rng.choice((0, 1, 2, 3, 5, 16, 28, 31, 32, 33, 36)))
    return a, b, c


@pytest.mark.parametrize("op", sorted(INTEGER_OPS), ids=lambda op: op.name)
def test_every_lane_of_what_is_accepted(op: Op) -> None:
    print(f"seed {SEED}")
    rng = random.Random(SEED)
    accepted = refused = affine = 0
    for _ in range(2500):
        slots, p = random_slots(op, rng), rng.choice((0, 1, None))
        operation = Operation(op, decode_modifiers(op, random_modifiers(op, rng)), rng.random() < 0.5)
        answer = execute(operation, slots, p)
        if answer is None:
            refused += 1
            continue
        accepted += 1
        affine += any(x.stride for x in slots)
        check_lanes(operation, slots, p, answer)
    print(f"{op.name}: {accepted} accepted, {affine} of them affine, {refused} refused")
    assert accepted >= 200
    assert refused >= 200
    assert affine >= 200 or 0b001 not in affine_slots(op, decode_modifiers(op, 0))
