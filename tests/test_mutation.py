"""Planted bugs are caught by the bench of their unit. On demand: `pytest -m mutation`."""

import pytest

from rtl.verilog import UNITS
from tb import runner
from tb.affine import datapath_mutants as affine_datapath_mutants
from tb.affine import mutants as affine
from tb.bypass import collector_mutants, writeback_mutants
from tb.bypass import datapath_mutants as bypass_datapath_mutants
from tb.bypass import mutants as bypass
from tb.coalescing import mutants as coalescing
from tb.corf import mutants as corf
from tb.gating import datapath_mutants, lane_mutants
from tb.gating import mutants as gating
from tb.lockstep import LockstepError, lockstep
from tb.mutants import MUTANTS, LockstepMutant, Mutant
from warploom.arch.config import SmConfig
from warploom.kernels.library import kernel

CONFIG = SmConfig.preset("small")

SEED = 1
"""The seed with which the benches pass on the unit without the bug."""

ALL = (
    *MUTANTS, *coalescing.MUTANTS, *corf.MUTANTS, *lane_mutants.MUTANTS, *gating.MUTANTS, *datapath_mutants.MUTANTS,
    *bypass.MUTANTS, *collector_mutants.MUTANTS, *writeback_mutants.MUTANTS, *bypass_datapath_mutants.MUTANTS,
    *affine.MUTANTS,
)  # fmt: skip

IN_LOCKSTEP = (*coalescing.IN_LOCKSTEP, *affine_datapath_mutants.IN_LOCKSTEP)

ONE_OF_SEVERAL = {
    "Arbiter": "random_requests", "CoalescingArbiter": "random_requests", "SlicedCrossbar": "random_routes",
    "RotatingArbiter": "random_requests", "RotatingCoalescingArbiter": "random_masks",
    "CoalescingCollector": "random_instructions", "Shifter": "up", "ZeroLatch": "random_results",
}  # fmt: skip
"""The test that catches the bug, where others of the bench need another configuration."""


def test_every_unit_has_a_mutant() -> None:
    assert {mutant.unit for mutant in ALL} == set(UNITS)


@pytest.mark.mutation
@pytest.mark.parametrize("mutant", ALL, ids=lambda mutant: f"{mutant.unit} {mutant.bug}")
def test_bench_catches(mutant: Mutant) -> None:
    config = CONFIG.with_settings(list(mutant.settings))
    made = runner.build(config, mutant.unit, component=mutant.make(config))
    with pytest.raises(AssertionError, match=f"{mutant.unit}: {mutant.bench} failed"):
        runner.run(made, mutant.bench, SEED, testcase=ONE_OF_SEVERAL.get(mutant.unit))


@pytest.mark.mutation
@pytest.mark.parametrize("mutant", IN_LOCKSTEP, ids=lambda mutant: mutant.bug)
def test_lockstep_catches(mutant: LockstepMutant) -> None:
    config = CONFIG.with_settings(list(mutant.settings))
    with pytest.raises(LockstepError, match=mutant.symptom):
        lockstep(config, kernel(mutant.kernel).load("tiny"), component=mutant.make(config))
