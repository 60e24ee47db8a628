"""Planted bugs are caught by the bench of their unit. On demand: `pytest -m mutation`."""

import pytest

from rtl.verilog import UNITS
from tb import runner
from tb.mutants import MUTANTS, Mutant
from warploom.arch.config import SmConfig

CONFIG = SmConfig.preset("small")

SEED = 1
"""The seed with which the benches pass on the unit without the bug."""


def test_every_unit_has_a_mutant() -> None:
    assert {mutant.unit for mutant in MUTANTS} == set(UNITS)


@pytest.mark.mutation
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.unit} {mutant.bug}")
def test_bench_catches(mutant: Mutant) -> None:
    made = runner.build(CONFIG, mutant.unit, component=mutant.make(CONFIG))
    with pytest.raises(AssertionError, match=f"{mutant.unit}: {mutant.bench} failed"):
        runner.run(made, mutant.bench, SEED, testcase=None if mutant.unit != "Arbiter" else "random_requests")
