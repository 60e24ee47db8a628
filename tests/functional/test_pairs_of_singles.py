"""Arithmetic of .f32x2: that of .f32 on both halves of 64-bit registers, and numpy's."""

import numpy as np
import pytest
from test_half import run

from warploom.arch.errors import PtxError

SPECIAL = np.array([0, 1, 0x007FFFFF, 0x00800000, 0x3F7FFFFF, 0x3F800000, 0x7F7FFFFF, 0x7F800000, 0x7FC00000],
                   np.uint64)
FORMS = [f"{operation}{rounding}{flush}" for operation in ("add", "sub", "mul", "fma")
         for rounding in (".rn", ".rz", ".rm", ".rp") for flush in ("", ".ftz")] + ["add", "sub", "mul"]


def operands(count: int) -> list[np.ndarray]:
    """Special numbers of either sign with each other, and numbers of about one size, two in each word."""
    rng = np.random.default_rng(5)
    signed = np.concatenate([SPECIAL, SPECIAL | 1 << 31])
    near = 0x3F800000 + rng.integers(-(1 << 24), 1 << 24, (count, 64)).astype(np.uint64)
    singles = np.concatenate([rng.choice(signed, (count, 256)), near], axis=1)
    return list(singles | rng.permutation(singles, axis=1) << np.uint64(32))


@pytest.mark.parametrize("optimise", [True, False])
@pytest.mark.parametrize("form", FORMS)
def test_each_half_is_computed_alone(form, optimise):
    given = operands(3 if form.startswith("fma") else 2)
    names = ", ".join(f"%{letter}" for letter in "dabc"[: 1 + len(given)])
    low, high = (run(f"{form}.f32 {names};", "f" * (1 + len(given)), *(each >> shift & 0xFFFFFFFF for each in given))
                 for shift in np.array([0, 32], np.uint64))
    both = run(f"{form}.f32x2 {names};", "q" * (1 + len(given)), *given, optimise=optimise)
    np.testing.assert_array_equal(both, low | high << np.uint64(32))


def test_product_is_that_of_numpy():
    a, b = operands(2)
    with np.errstate(all="ignore"):
        wanted = a.view(np.float32) * b.view(np.float32)
    np.testing.assert_array_equal(run("mul.f32x2 %d, %a, %b;", "qqq", a, b).view(np.float32), wanted)


@pytest.mark.parametrize(("line", "message"), [
    ("add.sat.f32x2 %d, %a, %a;", ".sat is not supported for add"),
    ("add.f32x2 %d, %a, 1.0;", "a literal is given where .f32x2 is required"),
    ("mad.rn.f32x2 %d, %a, %a, %a;", "this type is not supported for mad"),
])
def test_what_is_refused(line, message):
    with pytest.raises(PtxError, match=message):
        run(line, "qq", *operands(1))
