"""Bench of the datapath of random machines: each long regression builds others."""

import pytest

from warploom.arch.config import SmConfig
from warploom.tb import runner
from warploom.tb.random_machines import SIZES, WARPS, machine

MACHINES = 8
"""Machines in a regression: one takes minutes to build."""


@pytest.mark.rtl
@pytest.mark.long
@pytest.mark.parametrize("number", range(MACHINES))
def test_a_random_machine(number: int, seed: int) -> None:
    """The stream of `warploom.tb.test_datapath`, on a machine that a failing test prints."""
    config = machine(seed)
    print(config.to_toml())
    runner.run(runner.build(config, "Datapath"), "warploom.tb.test_datapath", seed, testcase="short_stream")


def test_machines_differ_in_every_size() -> None:
    made = [machine(seed) for seed in range(200)]
    assert made[7] == machine(7) == SmConfig.from_toml(made[7].to_toml())
    for name in SIZES:
        assert len({getattr(config, name) for config in made}) > 1
    assert max(config.warps for config in made) == WARPS
    assert {1, 2, 3, 4} == {config.schedulers for config in made}
    assert {pipe.lanes for config in made for pipe in config.pipes} >= {8, 12, 16, 32}
