"""The model's rules of the affine unit, at widths small enough to try all operands: every accepted result is that of
each lane. The accepted share of compact results is printed (`pytest -s`)."""

import itertools
from collections.abc import Callable, Iterator

import pytest
from support.forms import is_legal

from warploom.arch.encoding import encode_modifiers
from warploom.arch.isa import PT, Instruction, Op
from warploom.arch.modifiers import Cond
from warploom.golden_model.affine.rules import Answer, Operation, Shape, execute
from warploom.golden_model.compact import Compact
from warploom.golden_model.lane import decode_modifiers

BITS = 4
WORDS = 1 << BITS
NARROW, WIDE = Shape(BITS, 2, 4), Shape(BITS, BITS, 4)
"""Shapes in which strides rarely wrap before the last lane, and shapes with any strides."""

Lane = Callable[..., tuple[int, int]]
"""Modifiers, words a, b, c and the predicate operand to the result and the predicate result."""


def _read(word: int, signed: int) -> int:
    return word - WORDS if signed and word >= WORDS // 2 else word


def _product(m, a, b, c, p):
    exact = _read(a, m.signed) * _read(b, m.signed)
    word = (exact >> BITS if m.high else exact) % WORDS
    return (word + c + p) % WORDS, word + c + p >> BITS


def _shift(m, a, b, c, p):
    n = c % BITS if m.wrap else min(c, BITS)
    if m.right:
        return ((_read(a, 1) if m.signed else b * WORDS + a) >> n) % WORDS, 0
    return ((b * WORDS + a) << n >> BITS) % WORDS, 0


def _compare(m, a, b, c, p):
    x, y = _read(a, m.signed), _read(b, m.signed)
    return 0, int({Cond.EQ: x == y, Cond.NE: x != y, Cond.LT: x < y, Cond.LE: x <= y, Cond.GT: x > y,
                   Cond.GE: x >= y}[m.cond])


def _extreme(m, a, b, *, largest: bool):
    return (max if largest else min)(a, b, key=lambda word: _read(word, m.signed)), 0


LANES: dict[Op, Lane] = {
    Op.MOV: lambda m, a, b, c, p: (a, 0),
    Op.IADD: lambda m, a, b, c, p: ((a + b + p) % WORDS, a + b + p >> BITS),
    Op.ISUB: lambda m, a, b, c, p: ((a - b - p) % WORDS, int(a < b + p)),
    Op.IMUL: lambda m, a, b, c, p: (_product(m, a, b, 0, 0)[0], 0),
    Op.IMAD: _product,
    Op.IMIN: lambda m, a, b, c, p: _extreme(m, a, b, largest=False),
    Op.IMAX: lambda m, a, b, c, p: _extreme(m, a, b, largest=True),
    Op.SHF: _shift,
    Op.SEL: lambda m, a, b, c, p: (a if p else b, 0),
    Op.ISETP: _compare,
}


def instructions(op: Op) -> list[Instruction]:
    """All forms that the rules treat differently."""
    flags = {Op.IMUL: ("high", "signed"), Op.IMAD: ("high", "signed"), Op.SHF: ("right", "wrap", "signed"),
             Op.IMIN: ("signed",), Op.IMAX: ("signed",), Op.ISETP: ("signed",)}.get(op, ())
    named = [dict(zip(flags, values, strict=True)) for values in itertools.product([False, True], repeat=len(flags))]
    if op is Op.ISETP:
        return [Instruction(op=op, pdst=0, cond=cond, **flag) for cond in list(Cond)[:6] for flag in named]
    pdsts = (PT, 0) if op in (Op.IADD, Op.ISUB, Op.IMAD) else (PT,)
    found = [Instruction(op=op, pdst=pdst, **flag) for pdst in pdsts for flag in named]
    return [i for i in found if is_legal(i)]


def operands(op: Op, shape: Shape) -> Iterator[tuple[Compact, Compact, Compact]]:
    """All slots that the operation may be attempted with, and more; one in some of IMAD, and of wide strides."""
    half = 1 << shape.stride_bits - 1
    affine = [Compact(base, stride) for base in range(WORDS) for stride in range(-half, half)]
    uniform, zero = [Compact(base) for base in range(WORDS)], [Compact(0)]
    step = 1 if shape is NARROW else 11
    if op is Op.MOV:
        return itertools.product(affine, zero, zero)
    if op is Op.SHF:
        found = itertools.product(affine, affine, uniform[: BITS + 2])
    elif op is Op.IMAD:
        step *= 41
        factors = itertools.chain(itertools.product(affine, uniform), itertools.product(uniform, affine))
        found = ((a, b, c) for (a, b), c in itertools.product(factors, affine))
    else:
        found = itertools.product(affine, affine, zero)
    return itertools.islice(found, 0, None, step)


def compact(words: list[int], shape: Shape) -> Compact | None:
    """All lanes as base and stride, if possible."""
    step = _read((words[1] - words[0]) % WORDS, signed=1)
    half = 1 << shape.stride_bits - 1
    alike = all((words[0] + lane * step - word) % WORDS == 0 for lane, word in enumerate(words))
    return Compact(words[0], step) if alike and -half <= step < half else None


def truth(i: Instruction, slots: tuple[Compact, ...], p: int, shape: Shape) -> Answer | None:
    """The results of the lanes, if they are compact and have the same carry."""
    m = decode_modifiers(i.op, encode_modifiers(i))
    lanes = [LANES[i.op](m, *((x.base + lane * x.stride) % WORDS for x in slots), p) for lane in range(shape.lanes)]
    result = compact([word for word, _ in lanes], shape)
    if result is None or (i.pdst != PT and len({holds for _, holds in lanes}) > 1):
        return None
    return Answer(None if i.op is Op.ISETP else result, lanes[0][1])


@pytest.mark.sample(8)
@pytest.mark.parametrize("shape", [NARROW, WIDE], ids=["narrow", "wide"])
@pytest.mark.parametrize("op", LANES, ids=lambda op: op.name)
def test_what_is_accepted_is_true(op: Op, shape: Shape) -> None:
    accepted = known = 0
    for i in instructions(op):
        operation = Operation(i.op, decode_modifiers(i.op, encode_modifiers(i)), i.pdst != PT)
        for p in (0, 1) if op in (Op.IADD, Op.ISUB, Op.IMAD, Op.SEL) else (0,):
            for slots in operands(op, shape):
                expected = truth(i, slots, p, shape)
                known += expected is not None
                found = execute(operation, slots, p, shape, LANES)
                if found is None:
                    continue
                accepted += 1
                assert expected is not None, f"{i} of {slots}, p = {p}: accepted, but the lanes have no such result"
                assert found.result == expected.result, (i, slots, p)
                assert i.pdst == PT or found.holds == expected.holds, (i, slots, p)
    assert accepted
    print(f"{op.name}: {accepted} of {known} compact results accepted ({accepted / known:.0%})")


def test_a_predicate_that_differs_is_refused() -> None:
    for op in (Op.IADD, Op.ISUB, Op.IMAD, Op.SEL):
        for i in instructions(op):
            operation = Operation(i.op, decode_modifiers(i.op, encode_modifiers(i)), i.pdst != PT)
            assert execute(operation, (Compact(1), Compact(2), Compact(0)), None, NARROW, LANES) is None
