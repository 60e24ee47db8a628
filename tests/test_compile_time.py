"""Compiling takes time in proportion to the text, for every shape of program."""

import gc
import time
from collections.abc import Iterator

import pytest

from warploom.compiler.compile import compile_ptx
from warploom.kernels.large import SHAPES

SMALL, TIMES = 1500, 4
WORST = 7
"""Accepted growth of the time for `TIMES` the instructions: n log n gives 4.8, the square 16."""

LEAST_SECONDS = 0.05
"""Shorter times are rounded up to this."""


@pytest.fixture(autouse=True)
def undisturbed() -> Iterator[None]:
    """The garbage collector would scan the objects of other tests."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def seconds(shape: str, count: int) -> float:
    """CPU time to compile this number of instructions."""
    text = SHAPES[shape](count)
    start = time.process_time()
    program = compile_ptx(text, f"{shape}.ptx", "large")
    taken = time.process_time() - start
    assert len(program.instructions) > 150
    return taken


@pytest.mark.sample(6)
@pytest.mark.parametrize("shape", SHAPES)
def test_growth(shape):
    """The least of three measurements counts: other processes on the machine only add time."""
    growth = []
    for _ in range(3):
        growth.append(seconds(shape, TIMES * SMALL) / max(seconds(shape, SMALL), LEAST_SECONDS))
        if growth[-1] < WORST:
            return
    pytest.fail(f"{TIMES} times the instructions took {', '.join(f'{g:.1f}' for g in growth)} times as long")


@pytest.mark.long
@pytest.mark.parametrize("shape", SHAPES)
def test_a_hundred_thousand_instructions(shape):
    taken = seconds(shape, 100_000)
    print(f"{shape}: {taken:.1f} CPU s")
    assert taken < 60


@pytest.mark.long
def test_four_thousand_live_registers():
    assert seconds("live", 8_000) < 15
