"""Floating-point operations against rational arithmetic, one lane at a time."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import exact
from support.exact import F32, F64, NAN
from support.lanes import DOUBLES, FLOATS, WORD, columns, pairs, run

from warploom.arch.isa import Instruction, Op
from warploom.arch.isa import Test as Property
from warploom.arch.modifiers import Cond, Rounding
from warploom.golden_model.functional.operations import Outcome

ORDERED = {
    Cond.EQ: lambda x, y: x == y, Cond.NE: lambda x, y: x != y, Cond.LT: lambda x, y: x < y,
    Cond.LE: lambda x, y: x <= y, Cond.GT: lambda x, y: x > y, Cond.GE: lambda x, y: x >= y,
}


def saturated(word: int | str) -> int:
    if word == NAN or word >> 31:
        return 0
    return min(word, 0x3F800000)


def matches(got: list[int], wanted: list[int | str], form: exact.Form) -> bool:
    """Equal words; any NaN for f64, for f32 the one that PTX defines."""
    wanted = [0x7FFFFFFF if word == NAN and form is F32 else word for word in wanted]
    return all(g == w or (w == NAN and exact.decode(g, form).is_nan) for g, w in zip(got, wanted, strict=True))


ONE = {F32: 0x3F800000, F64: 0x3FF << 52}


def arithmetic(op: Op, form: exact.Form, rounding: Rounding, flush: bool):
    """The reference of an operation of either precision: words to a word."""
    one, top = exact.decode(ONE[form], form), form.bits - 1
    name = op.name[1:]

    def compute(*given_words: int):
        x, *rest = (exact.decode(word, form, flush) for word in given_words)
        if name == "ADD":
            return exact.fused((x, one), rest[0], form, rounding, flush=flush)
        if name == "MUL":
            zero = exact.decode((given_words[0] ^ given_words[1]) >> top << top, form)
            return exact.fused((x, rest[0]), zero, form, rounding, flush=flush)
        if name == "FMA":
            return exact.fused((x, rest[0]), rest[1], form, rounding, flush=flush)
        if name == "SQRT":
            return exact.root(x, form, rounding, flush=flush)
        return exact.quotient(*((one, x) if name == "RCP" else (x, rest[0])), form, rounding, flush=flush)

    return compute


SINGLE = {Op.FADD: 2, Op.FMUL: 2, Op.FFMA: 3, Op.FDIV: 2, Op.FRCP: 1, Op.FSQRT: 1}


@pytest.mark.parametrize("op", SINGLE)
@pytest.mark.parametrize("rounding", Rounding)
@pytest.mark.parametrize("ftz", [False, True])
def test_single(op, rounding, ftz):
    given_words = columns(FLOATS, SINGLE[op])
    reference = arithmetic(op, F32, rounding, ftz)
    wanted = [reference(*some) for some in zip(*given_words, strict=True)]
    instruction = Instruction(op=op, rounding=rounding, ftz=ftz)
    assert matches(run(instruction, *given_words).result.reshape(-1).tolist(), wanted, F32)
    if op in (Op.FADD, Op.FMUL, Op.FFMA):
        instruction = Instruction(op=op, rounding=rounding, ftz=ftz, sat=True)
        assert run(instruction, *given_words).result.reshape(-1).tolist() == [saturated(word) for word in wanted]


def test_fused_near_ties():
    """Sums next to a tie of float32, for which rounding twice is wrong."""
    rng = np.random.default_rng(3)
    a = (rng.integers(0, 1 << 23, 4096, dtype=np.uint32) | np.uint32(0x3F800000)).view(np.float32)
    b = (rng.integers(0, 1 << 23, 4096, dtype=np.uint32) | np.uint32(0x3F800000)).view(np.float32)
    product = a.astype(np.float64) * b
    half = np.spacing(product.astype(np.float32)).astype(np.float64) / 2
    tiny = (rng.choice([-1, 1], 4096) * 2.0 ** rng.integers(-80, -40, 4096)).astype(np.float32)
    lists = [x.view(np.uint32).tolist() for x in ((half / 2**10).astype(np.float32) + a, b, tiny)]
    reference = arithmetic(Op.DFMA, F32, Rounding.RN, False)
    wanted = [reference(*some) for some in zip(*lists, strict=True)]
    assert run(Instruction(op=Op.FFMA), *lists).result.reshape(-1).tolist() == wanted


@given(st.tuples(*[st.integers(0, WORD)] * 3), st.sampled_from(Rounding), st.booleans())
def test_fused_anything(some, rounding, ftz):
    name_fma = arithmetic(Op.DFMA, F32, rounding, ftz)
    outcome = run(Instruction(op=Op.FFMA, rounding=rounding, ftz=ftz), *([word] * 32 for word in some))
    assert matches([int(outcome.result[0, 0])], [name_fma(*some)], F32)


DOUBLE = {Op.DADD: 2, Op.DMUL: 2, Op.DFMA: 3, Op.DDIV: 2, Op.DRCP: 1, Op.DSQRT: 1}


def run_double(instruction: Instruction, given_words: list[list[int]]) -> Outcome:
    """Columns of 64-bit words through the latch layout of the operation."""
    halves = [half for column in given_words for half in ([w & WORD for w in column], [w >> 32 for w in column])]
    if not instruction.latched:
        return run(instruction, *halves)
    held = 3 if instruction.op is Op.DFMA else 2
    latch = [*halves[:held], halves[0]][:3]
    return run(instruction, *halves[held:], latch=latch)


@pytest.mark.parametrize("op", DOUBLE)
@pytest.mark.parametrize("rounding", Rounding)
def test_double(op, rounding):
    given_words = columns(DOUBLES, DOUBLE[op], random=250, bits=64)
    reference = arithmetic(op, F64, rounding, False)
    wanted = [reference(*some) for some in zip(*given_words, strict=True)]
    assert matches(pairs(run_double(Instruction(op=op, rounding=rounding), given_words)), wanted, F64)


def extreme(a: int, b: int, form: exact.Form, largest: bool, nan: bool = False) -> int | str:
    x, y = exact.decode(a, form), exact.decode(b, form)
    if (x.is_nan and y.is_nan) or (nan and (x.is_nan or y.is_nan)):
        return NAN
    if x.is_nan or y.is_nan:
        return b if x.is_nan else a
    choose = max if largest else min
    return choose((x.signed, not x.negative, a), (y.signed, not y.negative, b))[2]


@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("nan", [False, True])
def test_extreme_single(largest, nan):
    a, b = columns(FLOATS, 2)
    op = Op.FMAX if largest else Op.FMIN
    wanted = [extreme(x, y, F32, largest, nan) for x, y in zip(a, b, strict=True)]
    assert matches(run(Instruction(op=op, nan=nan), a, b).result.reshape(-1).tolist(), wanted, F32)
    magnitudes = [extreme(x & 0x7FFFFFFF, y & 0x7FFFFFFF, F32, largest, nan) for x, y in zip(a, b, strict=True)]
    wanted = [m if m == NAN or m > 0x7F800000 else m | (x ^ y) & 0x80000000
              for m, x, y in zip(magnitudes, a, b, strict=True)]
    assert matches(run(Instruction(op=op, nan=nan, xorsign=True), a, b).result.reshape(-1).tolist(), wanted, F32)


@pytest.mark.parametrize("op", [Op.DMIN, Op.DMAX])
def test_extreme_double(op):
    given_words = columns(DOUBLES, 2, bits=64)
    wanted = [extreme(x, y, F64, op is Op.DMAX) for x, y in zip(*given_words, strict=True)]
    assert matches(pairs(run_double(Instruction(op=op), given_words)), wanted, F64)


@pytest.mark.parametrize("cond", Cond)
@pytest.mark.parametrize("form", [F32, F64], ids=["f32", "f64"])
def test_float_comparison(cond, form):
    op, corners = (Op.FSETP, FLOATS) if form is F32 else (Op.DSETP, DOUBLES)
    given_words = columns(corners, 2, bits=form.bits)
    instruction = Instruction(op=op, cond=cond, pdst=0)
    outcome = run(instruction, *given_words) if form is F32 else run_double(instruction, given_words)

    def reference(a: int, b: int) -> bool:
        x, y = exact.decode(a, form), exact.decode(b, form)
        if cond in (Cond.NUM, Cond.NAN):
            return (x.is_nan or y.is_nan) == (cond is Cond.NAN)
        if x.is_nan or y.is_nan:
            return cond >= Cond.EQU
        return ORDERED[Cond[cond.name.removesuffix("U")]](x.signed, y.signed)

    assert outcome.pred.reshape(-1).tolist() == [reference(a, b) for a, b in zip(*given_words, strict=True)]


@pytest.mark.parametrize("double", [False, True])
def test_classes(double):
    form, corners = (F64, DOUBLES) if double else (F32, FLOATS)
    (column,) = columns(corners, 1, bits=form.bits)
    smallest = Fraction(2) ** (1 - form.bias)
    for test in Property:
        outcome = run(Instruction(op=Op.TESTP, test=test, double=double, pdst=0), column, [w >> 32 for w in column])
        for got, word in zip(outcome.pred.flat, column, strict=True):
            x = exact.decode(word, form)
            finite = not (x.is_nan or x.is_infinite)
            wanted = {Property.FINITE: finite, Property.INFINITE: x.is_infinite, Property.NUMBER: not x.is_nan,
                      Property.NOTANUMBER: x.is_nan, Property.NORMAL: finite and not 0 < x.size < smallest,
                      Property.SUBNORMAL: finite and 0 < x.size < smallest}[test]
            assert got == wanted, (test, hex(word))
