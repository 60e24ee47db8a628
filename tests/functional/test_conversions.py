"""CVT and the approximate functions: every pair of types against rational arithmetic, bounds against mpmath."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from support import exact
from support.exact import BF16, F16, F32, F64, NAN
from support.lanes import CORNERS, DOUBLES, FLOATS, WORD, columns, pairs, run

from warploom.arch.isa import Instruction, Op
from warploom.arch.modifiers import DType, Function, Rounding

INTEGERS = [DType.U8, DType.S8, DType.U16, DType.S16, DType.U32, DType.S32, DType.U64, DType.S64]
FORMS = {DType.F32: F32, DType.F64: F64, DType.F16: F16, DType.BF16: BF16}
LONGS = [*CORNERS, (1 << 53) + 1, (1 << 24) + 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, (1 << 64) - 1024, 3 << 39]


def bits_of(kind: DType) -> int:
    return int(kind.name[1:])


def integer(word: int, kind: DType) -> int:
    """The value of an integer operand, whose bits beyond the type do not count."""
    word &= (1 << bits_of(kind)) - 1
    return word - (1 << bits_of(kind)) if kind.name[0] == "S" and word >> bits_of(kind) - 1 else word


def limits(kind: DType) -> tuple[int, int]:
    bits = bits_of(kind)
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if kind.name[0] == "S" else (0, (1 << bits) - 1)


def convert(given: list[int], **fields) -> list[int]:
    """CVT of 64-bit patterns; results of narrow types are extended to 32 bits."""
    outcome = run(Instruction(op=Op.CVT, **fields), given, [word >> 32 for word in given])
    return pairs(outcome) if fields["dst_type"].is_wide else outcome.result.reshape(-1).tolist()


def extended(value: int, kind: DType) -> int:
    return value & ((1 << 64) - 1 if kind.is_wide else WORD)


@pytest.mark.parametrize("source", INTEGERS, ids=lambda t: t.name)
@pytest.mark.parametrize("target", INTEGERS, ids=lambda t: t.name)
def test_between_integers(source, target):
    (given,) = columns(LONGS, 1, bits=64)
    low, high = limits(target)
    values = [integer(word, source) for word in given]
    cut = [extended(integer(value, target), target) for value in values]
    assert convert(given, src_type=source, dst_type=target) == cut
    clamped = [extended(min(max(value, low), high), target) for value in values]
    assert convert(given, src_type=source, dst_type=target, sat=True) == clamped


@pytest.mark.parametrize("source", INTEGERS, ids=lambda t: t.name)
@pytest.mark.parametrize("target", FORMS, ids=lambda t: t.name)
@pytest.mark.parametrize("rounding", Rounding)
def test_integer_to_float(source, target, rounding):
    (given,) = columns(LONGS, 1, bits=64)
    wanted = [exact.encode(Fraction(integer(word, source)), FORMS[target], rounding) for word in given]
    assert convert(given, src_type=source, dst_type=target, rounding=rounding) == wanted


def round_integer(value: Fraction, rounding: Rounding) -> int:
    direction = {Rounding.RN: round, Rounding.RZ: math.trunc, Rounding.RM: math.floor, Rounding.RP: math.ceil}
    return direction[rounding](value)


def float_operands(source: DType) -> list[int]:
    """Corners, random bits, and values around the limits of the integer types."""
    form = FORMS[source]
    (given,) = columns(DOUBLES if source is DType.F64 else FLOATS, 1, bits=max(form.bits, 32))
    given = [word >> 16 for word in given] if source.is_half else given
    near = [exact.encode(Fraction(sign * ((1 << k) * 4 + d), 4), form, Rounding.RN)
            for k in (0, 1, 7, 8, 15, 16, 31, 32, 63, 64) for d in (-6, -4, -2, -1, 0, 1, 2, 4) for sign in (1, -1)]
    return given + near


@pytest.mark.parametrize("source", FORMS, ids=lambda t: t.name)
@pytest.mark.parametrize("target", INTEGERS, ids=lambda t: t.name)
@pytest.mark.parametrize("rounding", Rounding)
def test_float_to_integer(source, target, rounding):
    given = float_operands(source)
    low, high = limits(target)

    def reference(word: int) -> int:
        x = exact.decode(word, FORMS[source])
        if x.is_nan:
            top = low or 1 << bits_of(target) - 1  # extended by its sign
            return extended(top, target) if source is DType.F64 or target.is_wide else 0
        if x.is_infinite:
            return extended(low if x.negative else high, target)
        return extended(min(max(round_integer(x.signed, rounding), low), high), target)

    wanted = [reference(word) for word in given]
    assert convert(given, src_type=source, dst_type=target, rounding=rounding, integral=True) == wanted


@pytest.mark.parametrize("source", FORMS, ids=lambda t: t.name)
@pytest.mark.parametrize("target", FORMS, ids=lambda t: t.name)
@pytest.mark.parametrize("rounding", Rounding)
@pytest.mark.parametrize("sat", [False, True])
def test_between_floats(source, target, rounding, sat):
    given = float_operands(source)
    form, integral = FORMS[target], source == target

    def reference(word: int) -> int | str:
        x = exact.decode(word, FORMS[source])
        one = exact.encode(Fraction(1), form, rounding)
        if x.is_nan:
            return 0 if sat else NAN
        if x.is_infinite:
            result = x.negative << form.bits - 1 | form.infinity
        else:
            value = Fraction(round_integer(x.signed, rounding)) if integral else x.signed
            result = exact.encode(value, form, rounding, negative_zero=x.negative)
        return (0 if result >> form.bits - 1 else min(result, one)) if sat else result

    got = convert(given, src_type=source, dst_type=target, rounding=rounding, integral=integral, sat=sat)
    for result, word in zip(got, given, strict=True):
        wanted = reference(word)
        assert exact.decode(result, form).is_nan if wanted == NAN else result == wanted, hex(word)


BOUNDS = {
    # function: (reference, absolute bound, relative bound); from the PTX ISA, "Floating Point Instructions"
    Function.RCP: (lambda x: 1 / x, 0, 2.0**-23), Function.RSQ: (lambda x: 1 / mpmath.sqrt(x), 0, 2.0**-22.9),
    Function.SQRT: (mpmath.sqrt, 0, 2.0**-23), Function.EX2: (lambda x: mpmath.mpf(2) ** x, 0, 2.0**-22),
    Function.SIN: (mpmath.sin, 2.0**-20.5, 0), Function.COS: (mpmath.cos, 2.0**-20.5, 0),
    Function.LG2: (lambda x: mpmath.log(x, 2), 2.0**-22, 2.0**-22), Function.TANH: (mpmath.tanh, 0, 2.0**-11),
}


@pytest.mark.parametrize("function", BOUNDS, ids=lambda f: f.name)
def test_approximation_is_within_the_bound(function):
    reference, absolute, relative = BOUNDS[function]
    rng = np.random.default_rng(5)
    signs = function in (Function.RCP, Function.SIN, Function.COS, Function.TANH, Function.EX2)
    x = (rng.uniform(2.0**-8, 3.14, 512) * (rng.choice([-1, 1], 512) if signs else 1)).astype(np.float32)
    got = run(Instruction(op=Op.MUFU, function=function), x.view(np.uint32).tolist()).result.view(np.float32)
    for value, result in zip(x.tolist(), got.reshape(-1).tolist(), strict=True):
        wanted = reference(mpmath.mpf(value))
        assert abs(result - wanted) <= max(absolute, relative * abs(wanted)), value


SPECIAL = {
    Function.RCP: [(0.0, math.inf), (-0.0, -math.inf), (math.inf, 0.0), (-math.inf, -0.0)],
    Function.RSQ: [(0.0, math.inf), (-0.0, -math.inf), (math.inf, 0.0), (-1.0, math.nan)],
    Function.SQRT: [(0.0, 0.0), (-0.0, -0.0), (math.inf, math.inf), (-1.0, math.nan)],
    Function.SIN: [(0.0, 0.0), (-0.0, -0.0), (math.inf, math.nan)],
    Function.COS: [(0.0, 1.0), (-0.0, 1.0), (math.inf, math.nan)],
    Function.LG2: [(0.0, -math.inf), (-0.0, -math.inf), (math.inf, math.inf), (-1.0, math.nan)],
    Function.EX2: [(0.0, 1.0), (-math.inf, 0.0), (math.inf, math.inf)],
    Function.TANH: [(math.inf, 1.0), (-math.inf, -1.0), (-0.0, -0.0)],
}


@pytest.mark.parametrize("function", SPECIAL, ids=lambda f: f.name)
def test_special_values_of_approximations(function):
    for value, wanted in [*SPECIAL[function], (math.nan, math.nan)]:
        given = int(np.float32(value).view(np.uint32))
        got = int(run(Instruction(op=Op.MUFU, function=function), [given] * 32).result[0, 0])
        assert got == (0x7FFFFFFF if math.isnan(wanted) else int(np.float32(wanted).view(np.uint32))), value


@pytest.mark.parametrize("ftz", [False, True])
@pytest.mark.parametrize("function", [Function.RCP64H, Function.RSQ64H], ids=lambda f: f.name)
def test_double_approximations(function, ftz):
    x = np.array([3.0, 0.1, 1e300, 2.0**-1030, 7.5, 0.0, 2.0**-1000, math.inf] * 4)
    given = x.view(np.uint64).tolist()
    outcome = run(Instruction(op=Op.MUFU, function=function, ftz=ftz), given, [word >> 32 for word in given])
    assert not (ftz and outcome.result.any()), "the low word is zero"
    for value, result in zip(x.tolist(), np.array(pairs(outcome), np.uint64).view(np.float64).tolist(), strict=True):
        if value == 0 or (value < 2.0**-1022 and (ftz or function is Function.RCP64H)):
            assert result == math.inf
        else:
            wanted = 1 / value if function is Function.RCP64H else 1 / math.sqrt(value)
            assert result == wanted or abs(result / wanted - 1) < 2.0**-19


def test_gross_reciprocal_flushes_its_result():
    given = [int(np.float64(-(2.0**1023)).view(np.uint64))] * 32
    outcome = run(Instruction(op=Op.MUFU, function=Function.RCP64H, ftz=True), given, [word >> 32 for word in given])
    assert pairs(outcome)[0] == 1 << 63
