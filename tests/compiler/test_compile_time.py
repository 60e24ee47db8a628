"""Compiling takes time in proportion to the text, for every shape of program."""

import gc
import time
from collections.abc import Callable, Iterator

import pytest

from warploom.arch.config import SmConfig
from warploom.compiler.compile import compile_ptx
from warploom.compiler.prepare import prepared
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


ANNOTATED = {"transient": ["bypass=bow_hints", "transient=on"], "order": ["hints=on"],
             "last reads": ["renaming=mem_ra", "tfet_rows=8", "pipes.sp.result_queue=2"]}
"""Settings for which a last pass annotates the program."""


def seconds(shape: str, count: int) -> float:
    """CPU time to compile this number of instructions."""
    text = SHAPES[shape](count)
    start = time.process_time()
    program = compile_ptx(text, f"{shape}.ptx", "large")
    taken = time.process_time() - start
    assert len(program.instructions) > 150
    return taken


def check_growth(taken: Callable[[int], float]) -> None:
    """The least of three measurements counts: other processes on the machine only add time."""
    growth = []
    for _ in range(3):
        growth.append(taken(TIMES * SMALL) / max(taken(SMALL), LEAST_SECONDS))
        if growth[-1] < WORST:
            return
    pytest.fail(f"{TIMES} times the instructions took {', '.join(f'{g:.1f}' for g in growth)} times as long")


@pytest.mark.sample(6)
@pytest.mark.parametrize("shape", SHAPES)
def test_growth(shape):
    check_growth(lambda count: seconds(shape, count))


@pytest.mark.parametrize(("settings", "shape"), [
    ("transient", "registers"), ("order", "straight"), ("last reads", "sides")])
def test_growth_of_annotation(settings, shape):
    config = SmConfig.preset("small").with_settings(ANNOTATED[settings])
    programs = {count: compile_ptx(SHAPES[shape](count), f"{shape}.ptx", "large") for count in (SMALL, TIMES * SMALL)}

    def taken(count: int) -> float:
        start = time.process_time()
        assert prepared(programs[count], config) != programs[count]
        return time.process_time() - start

    check_growth(taken)


@pytest.mark.long
@pytest.mark.parametrize("shape", SHAPES)
def test_a_hundred_thousand_instructions(shape):
    taken = seconds(shape, 100_000)
    print(f"{shape}: {taken:.1f} CPU s")
    assert taken < 60


@pytest.mark.long
def test_four_thousand_live_registers():
    assert seconds("live", 8_000) < 15
