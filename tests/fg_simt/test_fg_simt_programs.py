"""Programs and random kernels on the FG-SIMT engine, from memory image to memory image."""

import re
from functools import partial
from pathlib import Path

import pytest
from support.fg_simt_runs import WAYS, check, executed
from support.random_case import Case
from support.random_programs import samples

from warploom.arch.mechanisms import Affine
from warploom.fg_simt.programs import NAMES, RUNS, started
from warploom.golden_model.fg_simt.cached_memory import CachedMemory
from warploom.host.gpu import Gpu
from warploom.programs.library import program


def test_example_of_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "fg_simt.md").read_text()
    example, = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    exec(compile(example, "fg_simt.md", "exec"), {})
    assert capsys.readouterr().out.startswith("[0. 2. 4. 6.]")


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", NAMES)
def test_programs(name: str) -> None:
    """Arrays are those of functional execution, in which every kind of affine execution saves lane operations."""
    launches = started(name)
    counts = {affine: executed(launches, affine).counts for affine in WAYS}
    assert counts[Affine.OFF]["lane_operations"] >= counts[Affine.A]["lane_operations"]
    assert counts[Affine.A]["lane_operations"] >= counts[Affine.AB]["lane_operations"]
    assert counts[Affine.AB]["vector_loads"] == 0


@pytest.mark.sample(1)
@pytest.mark.parametrize("lines", [2, 512])
@pytest.mark.parametrize("name", ["cmult", pytest.param("rsort", marks=pytest.mark.long)])
def test_programs_behind_the_l1(name: str, lines: int) -> None:
    """With caches of two lines a bank, which lose most of what they hold, and with whole ones."""
    launches = started(name)
    for affine in (Affine.OFF, Affine.ABM):
        ideal = executed(launches, affine)
        cached = executed(launches, affine, partial(CachedMemory, lines=lines))
        assert cached.kernel_cycles > ideal.kernel_cycles
        assert cached.counts["instructions"] == ideal.counts["instructions"]


@pytest.mark.parametrize("name", RUNS)
def test_own_launches_have_the_results_of_the_bundled_program(name: str) -> None:
    bundled = program(NAMES[name])
    given = bundled.inputs("tiny")
    expected, outputs = bundled.reference(given), RUNS[name](Gpu(timing=False), given)
    assert outputs
    for key, array in outputs.items():
        assert (array == expected[key]).all(), key


def _random(count: int, seed: int) -> list[Case]:
    return samples(count, seed, affines=("off", "a"))


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(5))
def test_random_kernels(seed: int) -> None:
    for case in _random(10, seed):
        check(case)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 150))
def test_many_random_kernels(seed: int) -> None:
    for case in _random(40, seed):
        check(case)
