"""PTX instructions, one by one, through the compiler and the golden model, against recorded exact results and, if PTX
only gives an error bound, against mpmath. `vectors/README.md` describes the recordings."""

import math
from collections.abc import Callable, Iterator

import mpmath
import numpy as np
import pytest
from support.ptx_rows import FOLDER, ROWS, ROWS_PER_KERNEL, WORDS, recorded_operands, run

BIT_FOR_BIT, OPEN = 0, 1


def chunks(exact: bool) -> Iterator[tuple[list[dict], np.ndarray, slice]]:
    """Rows of one kind by the kernel, with their operands and where their recorded results are."""
    chosen = [(row, operands) for row, operands in zip(ROWS, recorded_operands(), strict=True)
              if row["exact"] == exact]
    done = 0
    for first in range(0, len(chosen), ROWS_PER_KERNEL):
        rows, columns = zip(*chosen[first : first + ROWS_PER_KERNEL], strict=True)
        count = sum(len(row["outs"]) for row in rows)
        yield list(rows), np.concatenate(columns), slice(done, done + count)
        done += count


def is_nan(words: np.ndarray, kind: str) -> np.ndarray:
    """NaNs among f64 or f32 bit patterns."""
    return np.isnan(words.view(np.float64) if kind == "f64" else words.astype(np.uint32).view(np.float32))


@pytest.mark.parametrize("chunk", list(chunks(exact=True)), ids=lambda chunk: chunk[0][0]["name"])
def test_exact_rows(chunk):
    rows, operands, place = chunk
    with np.load(FOLDER / "vectors.npz") as archive:
        wanted, freedom = archive["results"][place], archive["freedom"][place]
    got = run(rows, operands)
    kinds = [(row["name"], kind) for row in rows for kind in row["outs"]]
    for (name, kind), g, w, free in zip(kinds, got, wanted, freedom, strict=True):
        fine = (g == w) & (free == BIT_FOR_BIT) | (free == OPEN)
        if kind in ("f32", "f64"):
            fine |= (free > OPEN) & is_nan(g, kind)
        wrong = int(fine.argmin())
        assert fine.all(), f"{name}, tuple {wrong}: {g[wrong]:#x}, expected {w[wrong]:#x}"


def recorded_rows(chunk: int) -> tuple[list[dict], list[np.ndarray], np.ndarray]:
    """Rows of all kinds, their operands, and what an H200 answered: (results, 64)."""
    some = slice(chunk, chunk + ROWS_PER_KERNEL)
    starts = np.cumsum([0] + [len(row["outs"]) for row in ROWS])
    with np.load(FOLDER / "h200.npz") as archive:
        answers = archive["results"][starts[chunk] : starts[min(some.stop, len(ROWS))]]
    return ROWS[some], recorded_operands()[some], answers


def open_to_chips(row: dict, kind: str, operands: np.ndarray, model: np.ndarray, chip: np.ndarray) -> np.ndarray:
    """Words in which PTX lets this model differ from a chip: remainders of divisions by zero, and which NaN it is that
    f64 instructions, and changes of an f32 sign, return."""
    if row["name"].startswith("rem."):
        return operands[1] == 0
    if kind == "f64" or row["name"].startswith(("abs.f32", "neg.f32")):
        return is_nan(model, kind) & is_nan(chip, kind)
    return np.zeros(WORDS, bool)


@pytest.mark.parametrize("first", range(0, len(ROWS), ROWS_PER_KERNEL))
def test_a_gpu_answers_the_same(first):
    """Exact rows are the chip's bit for bit. The chip keeps PTX's bounds for the others, as this model must."""
    rows, columns, answers = recorded_rows(first)
    got, at = run(rows, np.concatenate(columns)), 0
    for row, operands in zip(rows, columns, strict=True):
        for kind in row["outs"]:
            model, chip = got[at], answers[at]
            if row["exact"]:
                wrong = (model != chip) & ~open_to_chips(row, kind, operands, model, chip)
                assert not wrong.any(), (row["name"], [hex(word) for word in operands[:, wrong.argmax()]],
                                         hex(chip[wrong.argmax()]), hex(model[wrong.argmax()]))
            else:
                assert check_bound(row, operands, chip) >= 10, row["name"]
            at += 1


def ulp(value: mpmath.mpf, count: float) -> mpmath.mpf:
    """This number of units in the last place of a float32 near a value."""
    return count * mpmath.mpf(2) ** (mpmath.floor(mpmath.log(abs(value), 2)) - 23)


def relative(exponent: float) -> Callable[[mpmath.mpf], mpmath.mpf]:
    return lambda value: abs(value) * mpmath.mpf(2) ** exponent


def absolute(exponent: float) -> Callable[[mpmath.mpf], mpmath.mpf]:
    return lambda value: mpmath.mpf(2) ** exponent


BOUNDS = {
    # the start of a row's name: (function, domain, bound), all from the PTX ISA's description of the instruction
    "div.": (lambda a, b: a / b, lambda a, b: 2.0**-126 <= abs(b) <= 2.0**126, lambda v: ulp(v, 2)),
    "rcp.approx.ftz.f64": (lambda a: 1 / a, lambda a: True, relative(-19)),
    "rcp.": (lambda a: 1 / a, lambda a: True, lambda v: ulp(v, 1)),
    "sqrt.": (mpmath.sqrt, lambda a: a > 0, relative(-23)),
    "rsqrt.approx.f64": (lambda a: 1 / mpmath.sqrt(a), lambda a: a > 0, relative(-22.9)),
    "rsqrt.approx.ftz.f64": (lambda a: 1 / mpmath.sqrt(a), lambda a: a > 0, relative(-19)),
    "rsqrt.": (lambda a: 1 / mpmath.sqrt(a), lambda a: a > 0, relative(-22.9)),
    "sin.": (mpmath.sin, lambda a: abs(a) <= 2 * math.pi, absolute(-20.5)),
    "cos.": (mpmath.cos, lambda a: abs(a) <= 2 * math.pi, absolute(-20.5)),
    "lg2.": (lambda a: mpmath.log(a, 2), lambda a: a > 0, lambda v: max(abs(v), 1) * mpmath.mpf(2) ** -22),
    "ex2.": (lambda a: mpmath.mpf(2) ** a, lambda a: abs(a) < 126, relative(-22)),
    "tanh.": (mpmath.tanh, lambda a: True, relative(-11)),
}
"""Domains exclude subnormal operands and results, which `.ftz` flushes."""


def check_bound(row: dict, operands: np.ndarray, results: np.ndarray) -> int:
    """Checks one approximate row. Returns the number of its tuples for which PTX gives a bound."""
    function, domain, bound = next(entry for start, entry in BOUNDS.items() if row["name"].startswith(start))
    double = row["outs"][0] == "f64"
    smallest = 2.0**-1022 if double else 2.0**-126

    def floats(words: np.ndarray) -> list[float]:
        return (words.view(np.float64) if double else words.astype(np.uint32).view(np.float32)).tolist()

    checked = 0
    for *given, result in zip(*(floats(column) for column in operands), floats(results), strict=True):
        if any(math.isnan(x) for x in given):
            of_high_word = row["name"].endswith("approx.ftz.f64")  # in which a NaN may be an infinity
            assert of_high_word or math.isnan(result), (row["name"], given)
        elif all(math.isfinite(x) and abs(x) >= smallest for x in given) and domain(*given):
            wanted = function(*map(mpmath.mpf, given))
            if wanted == 0 or not smallest <= abs(wanted) < mpmath.mpf(2) ** (1023 if double else 127):
                continue
            assert abs(result - wanted) <= bound(wanted), (row["name"], given, result)
            checked += 1
    return checked


def test_approximate_rows():
    ((rows, operands, _),) = chunks(exact=False)
    got, first = run(rows, operands), 0
    for row, results in zip(rows, got, strict=True):
        count = len(row["ins"])
        assert check_bound(row, operands[first : first + count], results) >= 10, row["name"]
        first += count


def test_approximate_quotient_of_subnormals():
    """The reciprocal of the smallest numbers is infinite; a quotient by them need not be."""
    row = {"ptx": "div.approx.f32 %d, %a, %b;", "ins": ["f32", "f32"], "outs": ["f32"], "form": "plain"}
    least, normal = 1, 0x00800000
    cases = [(least, least, 1.0), (7 * least, least, 7.0), (normal, least, 2.0**23), (least, 0x80000002, -0.5),
             (normal, normal, 1.0), (0, least, 0.0), (0x3F800000, least, math.inf), (least, 0, math.inf)]
    operands = np.array([[case[slot] for case in cases] * (WORDS // len(cases)) for slot in (0, 1)], np.uint64)
    quotients = run([row], operands)[0].astype(np.uint32).view(np.float32)
    assert quotients[: len(cases)].tolist() == [quotient for _, _, quotient in cases]
