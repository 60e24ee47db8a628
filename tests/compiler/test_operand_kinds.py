"""Constants everywhere: each operand of each PTX instruction as a constant, a literal, a parameter or a special
register gives the same result as the same value from memory; and optimised code gives the same results as plain
code."""

import random
from collections.abc import Sequence

import numpy as np
import pytest
from support.operand_kinds import Kernel
from support.ptx_rows import ROWS, recorded_operands

ROWS_PER_KERNEL = 8
CHOSEN = [(row, operands) for row, operands in zip(ROWS, recorded_operands(), strict=True)
          if row["form"] != "warp.part"]
NEIGHBOURS = 4
"""Outside the long regression one in this number of rows is tried: most are forms of one instruction."""
CHUNKS = [CHOSEN[first : first + ROWS_PER_KERNEL * NEIGHBOURS]
          for first in range(0, len(CHOSEN), ROWS_PER_KERNEL * NEIGHBOURS)]
EVERY = range(12)
"""Indices of all values of an operand."""


def check(chunk: Sequence[tuple[dict, np.ndarray]], chosen: Sequence[Sequence[int]]) -> None:
    kernel = Kernel()
    for (row, operands), which in zip(chunk, chosen, strict=True):
        kernel.add(row, operands, which)
    out = kernel.run(optimise=True)
    wrong = [*kernel.differences(out)]
    assert not wrong, "\n".join(wrong)
    plain = kernel.run(optimise=False)
    assert (out == plain).all(), "optimised code stores something else"


@pytest.mark.sample(14)
@pytest.mark.parametrize("number", range(len(CHUNKS)))
def test_one_value(number, seed):
    """Some rows, each with one of the values; the seed says which."""
    rng, rows = random.Random(seed), CHUNKS[number]
    some = [rng.choice(rows[first : first + NEIGHBOURS]) for first in range(0, len(rows), NEIGHBOURS)]
    check(some, [(rng.choice(EVERY),) for _ in some])


@pytest.mark.long
@pytest.mark.parametrize("row", range(len(CHOSEN)))
def test_all_values(row):
    check([CHOSEN[row]], [EVERY])
