"""Half precision and bfloat16 from PTX text to the golden model, against numpy's float16 and against rationals."""

import numpy as np
import pytest
from support import exact
from support.exact import BF16, F16, NAN

from warploom.arch.errors import PtxError
from warploom.arch.launch import Buffer, Launch
from warploom.arch.modifiers import Rounding
from warploom.compiler.compile import compile_ptx
from warploom.golden_model.functional.executor import execute

REGISTERS = {"h": "b16", "w": "b32", "f": "f32", "d": "f64", "q": "b64"}
"""The type of a register by the letter of its kind."""

EVERY_HALF = np.arange(1 << 16, dtype=np.uint16)
THREADS = 256
FORMS = {"f16": F16, "bf16": BF16}
SPECIAL = {
    "f16": [0, 1, 2, 0x3FF, 0x400, 0x401, 0x3C00, 0x3C01, 0x3BFF, 0x7BFF, 0x7C00, 0x7C01, 0x7E00],
    "bf16": [0, 1, 2, 0x7F, 0x80, 0x81, 0x3F80, 0x3F81, 0x3F7F, 0x7F7F, 0x7F80, 0x7F81, 0x7FC0],
}
"""Zero, subnormal and normal numbers from the smallest to the largest, infinity and NaNs."""


def run(line: str, kinds: str, *columns: np.ndarray, optimise: bool = True) -> np.ndarray:
    """%d, as uint64, of a PTX line with the sources %a, %b, %c and scratch predicates %p, %q, one thread for each row.
    `kinds` has a letter for %d and each source."""
    count = -(-len(columns[0]) // THREADS) * THREADS
    given = np.zeros((len(columns), count), np.uint64)
    for row, column in zip(given, columns, strict=True):
        row[: len(column)] = column
    bits = [REGISTERS[kind][1:] for kind in kinds]
    names = list(zip("dabc", kinds, bits, strict=False))
    loads = [f"ld.global.b{size} %{name}, [%in+{8 * count * k}];" for k, (name, _, size) in enumerate(names[1:])]
    text = f""".version 8.6\n.target sm_90\n.address_size 64
    .visible .entry k(.param .u64 in, .param .u64 out) {{
    .reg .pred %p, %q; .reg .b32 %t<4>; .reg .b64 %in, %out;
    {" ".join(f".reg .{REGISTERS[kind]} %{name};" for name, kind, _ in names)}
    mov.u32 %t0, %ctaid.x; mov.u32 %t1, %tid.x; mad.lo.u32 %t0, %t0, {THREADS}, %t1;
    ld.param.u64 %in, [in]; mad.wide.u32 %in, %t0, 8, %in;
    ld.param.u64 %out, [out]; mad.wide.u32 %out, %t0, 8, %out;
    {" ".join(loads)}\n{line}\nst.global.b{bits[0]} [%out], %d; ret; }}"""
    launch = Launch((count // THREADS, 1, 1), (THREADS, 1, 1), (Buffer("in", given), Buffer("out", given[0] * 0)))
    program = compile_ptx(text, "k.ptx", "k", optimise=optimise)
    return execute(program, launch, record=False).buffers["out"][: len(columns[0])]


def halves(words: np.ndarray) -> np.ndarray:
    return words.astype(np.uint16).view(np.float16)


def patterns(values: np.ndarray) -> np.ndarray:
    """Bits of float16 numbers; NaN is 0x7fff."""
    return np.where(np.isnan(values), 0x7FFF, values.astype(np.float16).view(np.uint16))


def columns(kind: str, count: int, rows: int) -> list[np.ndarray]:
    """Operands: special numbers of either sign with each other, any bits, and numbers of about one size."""
    rng = np.random.default_rng(3)
    special = np.array([*SPECIAL[kind], *(word | 0x8000 for word in SPECIAL[kind])])
    near = SPECIAL[kind][6] + rng.integers(-3000 if kind == "f16" else -700, 1500, (count, rows))
    mixed = np.concatenate([rng.choice(special, (count, rows)), rng.integers(0, 1 << 16, (count, rows)), near], axis=1)
    return [*mixed.astype(np.uint64)]


def pairs(low: np.ndarray) -> np.ndarray:
    """Each number with the one before it in the upper half."""
    return low | np.roll(low, 1) << np.uint64(16)


# ---------------------------------------------------------------- approximate functions


def values(words: np.ndarray, kind: str) -> np.ndarray:
    """The numbers of words, exactly."""
    if kind == "f16":
        return halves(words).astype(np.float64)
    return (words.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


BOUNDS = {("ex2", "f16"): (2.0**-9.9, 0), ("ex2", "bf16"): (2.0**-7, 0),
          ("tanh", "f16"): (0, 2.0**-10.987), ("tanh", "bf16"): (0, 2.0**-8)}
"""Relative and absolute errors that PTX allows."""


@pytest.mark.parametrize("optimise", [True, False])
@pytest.mark.parametrize(("opcode", "kind"), BOUNDS)
def test_approximate_functions_of_every_number(opcode, kind, optimise):
    """Against float64. The smallest f16 results are subnormal: then a step between them is allowed."""
    line = f"{opcode}.approx{'.ftz' * (kind == 'bf16' and opcode == 'ex2')}.{kind}"
    with np.errstate(all="ignore"):
        given = values(EVERY_HALF, kind)
        given = np.where((kind == "bf16") & (np.abs(given) < 2.0**-126), given * (opcode != "ex2"), given)
        wanted = {"ex2": np.exp2, "tanh": np.tanh}[opcode](given)
        got = values(words := run(f"{line} %d, %a;", "hh", EVERY_HALF, optimise=optimise), kind)
        relative, absolute = BOUNDS[opcode, kind]
        smallest = 2.0**-24 if kind == "f16" else 2.0**-126
        fine = np.abs(got - wanted) <= np.maximum(relative * np.abs(wanted), max(absolute, smallest))
        largest = 65504 if kind == "f16" else float.fromhex("0x1.fep127")
        fine |= (got == wanted) | (np.isinf(got) & (wanted > largest))
    nan = np.isnan(given)
    assert (fine | nan).all()
    np.testing.assert_array_equal(words[nan], 0x7FFF)
    if opcode == "tanh":
        np.testing.assert_array_equal(np.signbit(got[~nan]), np.signbit(given[~nan]))
    both = run(f"{line}x2 %d, %a;", "ww", pairs(EVERY_HALF.astype(np.uint64)), optimise=optimise)
    np.testing.assert_array_equal(both, pairs(words))


def test_ex2_of_special_numbers():
    special = np.array([0, 0x8000, 0x7C00, 0xFC00, 0x3C00, 0xBC00, 1, 0x4C00, 0xCE00, 0xCE01], np.uint64)
    wanted = [1, 1, np.inf, 0, 2, 0.5, 1, np.inf, 2.0**-24, 2.0**-24]
    np.testing.assert_array_equal(halves(run("ex2.approx.f16 %d, %a;", "hh", special)), wanted)


# ---------------------------------------------------------------- conversions


@pytest.mark.parametrize("modifier", ["", ".ftz"])
def test_every_half_to_single_and_back(modifier):
    """In f32 no half is subnormal, so .ftz has no effect."""
    with np.errstate(invalid="ignore"):
        wanted = halves(EVERY_HALF).astype(np.float32)
    nan = np.isnan(wanted)
    words = run(f"cvt{modifier}.f32.f16 %d, %a;", "fh", EVERY_HALF)
    np.testing.assert_array_equal(words, np.where(nan, 0x7FFFFFFF, wanted.view(np.uint32)))
    again = run(f"cvt.rn{modifier}.f16.f32 %d, %a;", "hf", words)
    np.testing.assert_array_equal(again, np.where(nan, 0x7FFF, EVERY_HALF))


def test_every_half_to_double_and_back():
    with np.errstate(invalid="ignore"):
        wanted = halves(EVERY_HALF).astype(np.float64)
    nan = np.isnan(wanted)
    words = run("cvt.f64.f16 %d, %a;", "dh", EVERY_HALF)
    np.testing.assert_array_equal(words[~nan], wanted.view(np.uint64)[~nan])
    assert np.isnan(words.view(np.float64)[nan]).all()
    np.testing.assert_array_equal(run("cvt.rz.f16.f64 %d, %a;", "hd", words), np.where(nan, 0x7FFF, EVERY_HALF))


def test_every_bfloat_to_single_and_back():
    nan = EVERY_HALF & 0x7FFF > 0x7F80
    words = run("cvt.f32.bf16 %d, %a;", "fh", EVERY_HALF)
    np.testing.assert_array_equal(words, np.where(nan, 0x7FFFFFFF, EVERY_HALF.astype(np.uint64) << 16))
    again = run("cvt.rn.bf16.f32 %d, %a;", "hf", words)
    np.testing.assert_array_equal(again, np.where(nan, 0x7FFF, EVERY_HALF))


def around_ties() -> np.ndarray:
    """f32 numbers: in the middle between any two halves, next to that, and next to the largest half."""
    finite = EVERY_HALF[EVERY_HALF & 0x7FFF < 0x7BFF]
    middles = (halves(finite).astype(np.float32) + halves(finite + 1).astype(np.float32)) / 2
    ends = np.array([65504, 65519.996, 65520, 65536, 1e30, 1e-30, 2.0**-25, 2.0**-26, np.inf], np.float32)
    values = np.concatenate([middles, ends, -ends, [np.float32(np.nan)]])
    with np.errstate(all="ignore"):
        up, down = (np.nextafter(values, np.float32(end)) for end in (np.inf, -np.inf))
    return np.concatenate([values, up, down]).view(np.uint32)


@pytest.mark.parametrize("rounding", Rounding)
@pytest.mark.parametrize("sat", [False, True])
def test_ties_subnormal_numbers_and_overflow(rounding, sat):
    words = around_ties()
    values = words.view(np.float32)
    upward = {Rounding.RN: False, Rounding.RZ: values < 0, Rounding.RM: False, Rounding.RP: True}[rounding]
    downward = {Rounding.RN: False, Rounding.RZ: values > 0, Rounding.RM: True, Rounding.RP: False}[rounding]
    with np.errstate(all="ignore"):
        wanted = values.astype(np.float16)
        wanted = np.where(upward & (wanted < values), np.nextafter(wanted, np.float16(np.inf)), wanted)
        wanted = np.where(downward & (wanted > values), np.nextafter(wanted, np.float16(-np.inf)), wanted)
    if sat:
        wanted = np.where(wanted > 0, np.minimum(wanted, np.float16(1)), np.float16(0))
    got = run(f"cvt.{rounding.name.lower()}{'.sat' * sat}.f16.f32 %d, %a;", "hf", words)
    np.testing.assert_array_equal(got, patterns(wanted))


@pytest.mark.parametrize(("line", "kinds", "given", "wanted"), [
    ("cvt.rp.f16.f32 %d, %a;", "hf", 0x00000001, 0x0001),
    ("cvt.rp.ftz.f16.f32 %d, %a;", "hf", 0x00000001, 0x0000),
    ("cvt.rm.ftz.f16.f32 %d, %a;", "hf", 0x807FFFFF, 0x8000),
    ("cvt.rm.f16.f32 %d, %a;", "hf", 0x807FFFFF, 0x8001),
    ("cvt.rn.f16.f64 %d, %a;", "hd", 0x40A0_0200_0000_0001, 0x6801),  # 2049 and a bit: twice rounded it is 2048
    ("cvt.rn.f16.s64 %d, %a;", "hq", (1 << 64) - 65520, 0xFC00),
    ("cvt.rz.f16.u64 %d, %a;", "hq", (1 << 64) - 1, 0x7BFF),
    ("cvt.rn.f16.s8 %d, %a;", "hh", 0x12FF, 0xBC00),
    ("cvt.rni.f16.f16 %d, %a;", "hh", 0x4100, 0x4000),  # 2.5
    ("cvt.rpi.f16.f16 %d, %a;", "hh", 0xB800, 0x8000),  # -0.5
    ("cvt.rzi.u16.f16 %d, %a;", "hh", 0x7C00, 0xFFFF),
    ("cvt.rni.s32.f16 %d, %a;", "wh", 0x7E00, 0),
    ("cvt.rni.s64.f16 %d, %a;", "qh", 0x7E00, 1 << 63),
    ("cvt.f32.f16 %d, %a;", "fw", 0xABCD3C00, 0x3F800000),
    ("cvt.rn.f16.f32 %d, %a;", "wf", 0xBF800000, 0x0000BC00),
    ("cvt.rn.relu.f16.f32 %d, %a;", "hf", 0xBF800000, 0),
    ("cvt.rn.relu.bf16.f32 %d, %a;", "hf", 0xFFC00000, 0x7FFF),
    ("cvt.rn.bf16.f32 %d, %a;", "hf", 0x3F808000, 0x3F80),
    ("cvt.rn.bf16.f32 %d, %a;", "hf", 0x3F818000, 0x3F82),
    ("cvt.rn.bf16.f32 %d, %a;", "hf", 0x7F7FFFFF, 0x7F80),
    ("cvt.rz.bf16.f32 %d, %a;", "hf", 0x7F7FFFFF, 0x7F7F),
    ("cvt.rn.bf16.f32 %d, %a;", "hf", 0x00008001, 0x0001),
    ("cvt.rn.ftz.bf16.f32 %d, %a;", "hf", 0x807FFFFF, 0x8000),
    ("cvt.ftz.f32.bf16 %d, %a;", "fh", 0x8001, 0x80000000),
    ("cvt.rn.bf16.f16 %d, %a;", "hh", 0x3C04, 0x3F80),
    ("cvt.rn.f16.bf16 %d, %a;", "hh", 0x4F80, 0x7C00),
    ("cvt.rn.f16x2.f32 %d, %a, 0f40000000;", "wf", 0xBF800000, 0xBC004000),
    ("cvt.rz.relu.f16x2.f32 %d, %a, 0f47800000;", "wf", 0xBF800000, 0x00007BFF),
    ("cvt.rn.bf16x2.f32 %d, %a, 0f40000000;", "wf", 0xBF800000, 0xBF804000),
])
@pytest.mark.parametrize("optimise", [True, False])
def test_single_conversions(line, kinds, given, wanted, optimise):
    assert run(line, kinds, np.array([given], np.uint64), optimise=optimise)[0] == wanted


# ---------------------------------------------------------------- arithmetic


def nearest(operation: str, form: exact.Form, words: list[int], *, flush: bool = False) -> int:
    """The bits of a sum, difference, product or fused product and sum, rounded once."""
    x, y, *rest = (exact.decode(word, form, flush) for word in words)
    one, zero = exact.decode(form.bias << form.fraction, form), exact.Real(x.negative != y.negative, exact.Fraction(0))
    factors, addend = {
        "add": ((x, one), y), "mul": ((x, y), zero), "fma": ((x, y), rest[0] if rest else y),
        "sub": ((x, one), exact.Real(not y.negative, y.size))}[operation]
    result = exact.fused(factors, addend, form, Rounding.RN, flush=flush)
    return 0x7FFF if result == NAN else result


def as_saturated(word: int) -> int:
    """The f16 result with .sat."""
    return 0 if word >> 15 or word == 0x7FFF else min(word, 0x3C00)


def as_relu(word: int) -> int:
    return 0 if word >> 15 else word


ARITHMETIC = (
    "add.f16", "sub.f16", "mul.f16", "fma.rn.f16", "add.ftz.f16", "mul.rn.ftz.f16", "fma.rn.ftz.f16", "sub.sat.f16",
    "fma.rn.sat.f16", "fma.rn.ftz.sat.f16", "fma.rn.relu.f16", "add.rn.bf16", "sub.bf16", "mul.bf16", "fma.rn.bf16",
    "fma.rn.relu.bf16")



@pytest.mark.parametrize("opcode", ARITHMETIC)
def test_arithmetic_is_rounded_once(opcode):
    kind = opcode.rsplit(".", 1)[1]
    operation, _, modifiers = opcode.partition(".")
    given = columns(kind, 3 if operation == "fma" else 2, 256)
    last = as_saturated if "sat" in modifiers else as_relu if "relu" in modifiers else int
    wanted = [last(nearest(operation, FORMS[kind], [int(word) for word in row], flush="ftz" in modifiers))
              for row in zip(*given, strict=True)]
    operands = ", ".join(f"%{letter}" for letter in "dabc"[: 1 + len(given)])
    np.testing.assert_array_equal(run(f"{opcode} {operands};", "hhhh"[: 1 + len(given)], *given), wanted)
    both = run(f"{opcode}x2 {operands};", "wwww"[: 1 + len(given)], *map(pairs, given))
    np.testing.assert_array_equal(both, pairs(np.array(wanted, np.uint64)))


@pytest.mark.parametrize("operation", ["add", "sub", "mul"])
def test_arithmetic_is_that_of_numpy(operation):
    given = columns("f16", 2, 1 << 14)
    function = {"add": np.add, "sub": np.subtract, "mul": np.multiply}[operation]
    with np.errstate(all="ignore"):
        wanted = patterns(function(*map(halves, given)))
    np.testing.assert_array_equal(run(f"{operation}.f16 %d, %a, %b;", "hhh", *given), wanted)


def half(value: float) -> int:
    return int(np.float16(value).view(np.uint16))


def bfloat(value: float) -> int:
    return int(np.float32(value).view(np.uint32)) >> 16


@pytest.mark.parametrize(("kind", "of", "factors", "addend", "wanted"), [
    ("f16", half, (3, 683), 2.0**-24, 2050),  # 2049 is a tie of 2048 and 2050, and the nearest f32
    ("f16", half, (7, 293), -(2.0**-24), 2050),  # 2051, of 2050 and 2052
    ("f16", half, (-3, 683), -(2.0**-24), -2050),
    ("f16", half, (2.0**-5 * (1 + 2**-7), 2.0**-6 * (1 - 2**-7)), 1 + 2**-10, 1 + 2**-10),
    ("f16", half, (2.0**-13, 2.0**-12), 2.0**-24, 2.0**-23),  # a tie below normal numbers, to even
    ("f16", half, (2.0**-13 * (1 - 2**-10), 2.0**-12 * (1 - 2**-10)), 2.0**-24, 2.0**-24),
    ("f16", half, (65504, 1), 16, np.inf),
    ("f16", half, (65504, 1), 16 - 2.0**-6, 65504),
    ("f16", half, (65504, 65504), -np.inf, -np.inf),
    ("f16", half, (1, -1), 1, 0.0),
    ("f16", half, (-0.0, 1), -0.0, -0.0),
    ("bf16", bfloat, (7, 37), -(2.0**-100), 258),  # 259 is a tie of 258 and 260
    ("bf16", bfloat, (9, 29), 2.0**-100, 262),
    ("bf16", bfloat, (2.0**100, 2.0**27), 2.0**127, np.inf),
    ("bf16", bfloat, (2.0**-100, 2.0**-34), 2.0**-133, 2.0**-132),
    ("bf16", bfloat, (2.0**-100, 2.0**-34 * (1 - 2**-8)), 2.0**-133, 2.0**-133),
])
def test_fma_next_to_ties(kind, of, factors, addend, wanted):
    given = [np.array([of(value)], np.uint64) for value in (*factors, addend)]
    for optimise in (True, False):
        assert run(f"fma.rn.{kind} %d, %a, %b, %c;", "hhhh", *given, optimise=optimise)[0] == of(wanted)


def extremes(kind: str, a: int, b: int, *, nan: bool) -> tuple[int, int]:
    """Minimum and maximum; -0 is below +0."""
    numbers = [word for word in (a, b) if word & 0x7FFF <= FORMS[kind].infinity]
    if not numbers or (nan and len(numbers) < 2):
        return 0x7FFF, 0x7FFF
    ordered = sorted(numbers, key=lambda word: 0x7FFF - word if word >> 15 else word)
    return ordered[0], ordered[-1]


@pytest.mark.parametrize("modifiers", ["", ".NaN"])
@pytest.mark.parametrize("kind", FORMS)
def test_minimum_and_maximum(kind, modifiers):
    a, b = columns(kind, 2, 96)
    wanted = np.array([extremes(kind, int(x), int(y), nan=modifiers == ".NaN")
                       for x, y in zip(a, b, strict=True)], np.uint64).T
    for operation, column in zip(("min", "max"), wanted, strict=True):
        opcode = f"{operation}{modifiers}.{kind}"
        np.testing.assert_array_equal(run(f"{opcode} %d, %a, %b;", "hhh", a, b), column)
        np.testing.assert_array_equal(run(f"{opcode}x2 %d, %a, %b;", "www", pairs(a), pairs(b)), pairs(column))


@pytest.mark.parametrize("kind", FORMS)
def test_signs(kind):
    words = EVERY_HALF.astype(np.uint64)
    for opcode, wanted in (("neg", words ^ 0x8000), ("abs", words & 0x7FFF)):
        np.testing.assert_array_equal(run(f"{opcode}.{kind} %d, %a;", "hh", words), wanted)
        np.testing.assert_array_equal(run(f"{opcode}.{kind}x2 %d, %a;", "ww", pairs(words)), pairs(wanted))


def test_signs_and_extremes_flush():
    given = np.array([0x0001, 0x83FF, 0x0400, 0xFC00], np.uint64)
    for line, wanted in (("neg.ftz.f16 %d, %a;", [0x8000, 0, 0x8400, 0x7C00]),
                         ("abs.ftz.f16 %d, %a;", [0, 0, 0x0400, 0x7C00]),
                         ("max.ftz.f16 %d, %a, %a;", [0, 0x8000, 0x0400, 0xFC00])):
        np.testing.assert_array_equal(run(line, "hh", given), wanted)


# ---------------------------------------------------------------- comparison


HOLDS = {
    "eq": lambda x, y: x == y, "ne": lambda x, y: (x < y) | (x > y), "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y, "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y,
    "num": lambda x, y: ~np.isnan(x) & ~np.isnan(y), "equ": lambda x, y: ~((x < y) | (x > y)),
    "neu": lambda x, y: x != y, "ltu": lambda x, y: ~(x >= y), "leu": lambda x, y: ~(x > y),
    "gtu": lambda x, y: ~(x <= y), "geu": lambda x, y: ~(x < y), "nan": lambda x, y: np.isnan(x) | np.isnan(y),
}


@pytest.mark.parametrize("condition", HOLDS)
def test_comparisons(condition):
    a, b = columns("f16", 2, 32)
    ones = HOLDS[condition](halves(a), halves(b)).astype(np.uint64)
    for line, kinds, wanted in (
        (f"setp.{condition}.f16 %p, %a, %b; selp.u32 %d, 1, 0, %p;", "whh", ones),
        (f"set.{condition}.f16.f16 %d, %a, %b;", "hhh", ones * 0x3C00),
        (f"set.{condition}.u16.f16 %d, %a, %b;", "hhh", ones * 0xFFFF),
        (f"set.{condition}.s32.f16 %d, %a, %b;", "whh", ones * 0xFFFFFFFF),
    ):
        np.testing.assert_array_equal(run(line, kinds, a, b), wanted)
    a, b, above = pairs(a), pairs(b), np.roll(ones, 1)
    for line, wanted in (
        (f"setp.{condition}.f16x2 %p|%q, %a, %b; selp.u32 %d, 1, 0, %p; @%q or.b32 %d, %d, 2;", ones | above << 1),
        (f"setp.{condition}.f16x2 %p, %a, %b; selp.u32 %d, 1, 0, %p;", ones),
        (f"set.{condition}.f16x2.f16x2 %d, %a, %b;", pairs(ones * 0x3C00)),
        (f"set.{condition}.u32.f16x2 %d, %a, %b;", pairs(ones * 0xFFFF)),
    ):
        np.testing.assert_array_equal(run(line, "www", a, b), wanted)


def test_comparisons_with_a_predicate_and_flushing():
    given = np.array([0x0001, 0x8001, 0x0400], np.uint64)
    start = "setp.eq.u32 %p, 0, 0;"
    for line, wanted in (
        ("setp.eq.ftz.f16 %p, %a, %b; selp.u32 %d, 1, 0, %p;", [1, 1, 0]),
        ("setp.eq.f16 %p, %a, %b; selp.u32 %d, 1, 0, %p;", [0, 0, 0]),
        (start + "setp.gt.xor.f16 %p, %a, %b, %p; selp.u32 %d, 1, 0, %p;", [0, 1, 0]),
        (start + "setp.gt.and.bf16 %p, %a, %b, !%p; selp.u32 %d, 1, 0, %p;", [0, 0, 0]),
        (start + "set.gt.and.u32.f16 %d, %a, %b, %p;", [0xFFFFFFFF, 0, 0xFFFFFFFF]),
    ):
        np.testing.assert_array_equal(run(line, "whh", given, given * 0), wanted)


def test_sixteen_bit_results_of_other_comparisons():
    given = np.array([0, 0x3F800000], np.uint64)
    np.testing.assert_array_equal(run("set.gt.f16.f32 %d, %a, 0f00000000;", "hf", given), [0, 0x3C00])
    np.testing.assert_array_equal(run("set.eq.bf16.u32 %d, %a, 0;", "hw", given), [0x3F80, 0])


# ---------------------------------------------------------------- atomics


ATOMIC = """.shared .align 4 .b8 words[1024]; mov.u32 %t2, words; mad.lo.u32 %t2, %t1, 4, %t2; st.shared.b32 [%t2], 0;
st.shared.b{0} [%t2+{1}], %a; {2}; ld.shared.b{0} %d, [%t2+{1}];"""


@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize("place", [0, 2])
def test_atomic_sums_are_those_of_add(kind, place):
    """In either half of a word, of which the other keeps its bits, and of two numbers."""
    given = columns(kind, 2, 64)
    wanted = run(f"add.{kind} %d, %a, %b;", "hhh", *given)
    line = ATOMIC.format(16, place, f"red.shared.add.noftz.{kind} [%t2+{place}], %b")
    np.testing.assert_array_equal(run(line, "hhh", *given), wanted)
    np.testing.assert_array_equal(run(f"{line} ld.shared.u16 %d, [%t2+{2 - place}];", "hhh", *given), 0 * wanted)
    line = ATOMIC.format(32, 0, f"atom.shared.add.noftz.{kind}x2 %d, [%t2], %b; st.global.b32 [%out], %d")
    np.testing.assert_array_equal(run(line, "www", *map(pairs, given)), pairs(wanted))


@pytest.mark.parametrize("optimise", [True, False])
@pytest.mark.parametrize(("guard", "taken"), [("", range(THREADS)), ("@%p", range(100)), ("@!%p", range(100, THREADS))])
def test_atomic_sums_of_a_block(guard, taken, optimise):
    """Threads meet at two neighbours in one word; each gets another old number."""
    line = f"""setp.lt.u32 %p, %t1, 100; and.b32 %t2, %t1, 1; ld.param.u64 %in, [in]; mad.wide.u32 %in, %t2, 2, %in;
    mov.b16 %d, %a; {guard} atom.global.add.noftz.f16 %d, [%in], %b;"""
    ones, start = np.full(THREADS, half(1), np.uint64), np.zeros(THREADS, np.uint64)
    start[:] = half(500) << 16 | half(2)
    got = halves(run(line, "hhh", start, ones, optimise=optimise))
    for first, place in ((2, 0), (500, 1)):
        mine = [thread for thread in taken if thread % 2 == place]
        assert sorted(got[mine]) == list(range(first, first + len(mine)))
    others = [thread for thread in range(THREADS) if thread not in taken]
    assert (got[others] == 2).all()


@pytest.mark.parametrize("line", [
    "atom.global.add.noftz.f16 %d, [%in], 1;", "atom.global.min.noftz.f16 %d, [%in], %a;",
    "atom.global.add.noftz.f16x2 %d, [%in], %a;", "atom.global.add.f16 %d, [%in], %a;",
    "atom.global.add.ftz.f16 %d, [%in], %a;", "atom.global.add.bf16 %d, [%in], %a;",
    "red.global.add.f16 [%in], %a;", "red.global.add.ftz.bf16 [%in], %a;",
    "atom.global.v2.f16.add.noftz {%d, %d}, [%in], {%a, %a};"])
def test_atomics_that_are_refused(line):
    with pytest.raises(PtxError, match=r"atom|red"):
        run(line, "hh", np.zeros(1, np.uint64))
