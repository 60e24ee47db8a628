"""The combinations of the regression: all pairs that are legal, all mechanisms, on every preset."""

import dataclasses
from itertools import combinations, product

import pytest

from warploom.arch.config import SmConfig, presets
from warploom.arch.errors import ConfigError
from warploom.arch.mechanisms import STRONGEST
from warploom.tb.combinations import AXES, axes, covering_array, lattice
from warploom.tb.regress import COMBINED, PORTS, Case, cases


@pytest.mark.sample(2)
@pytest.mark.parametrize("preset", presets())
def test_each_legal_pair_of_settings_is_covered(preset: str) -> None:
    machine = SmConfig.preset(preset)
    found = covering_array(machine)
    fields = axes(machine)
    assert fields["issue_ports"][-1] == machine.schedulers
    for one, other in combinations(fields, 2):
        covered = {(getattr(config, one), getattr(config, other)) for config in found}
        for values in product(fields[one], fields[other]):
            try:
                dataclasses.replace(machine, **dict(zip((one, other), values, strict=True)))
            except ConfigError:
                continue
            assert values in covered, (one, other, values)


def test_the_array_is_short_and_has_hardware() -> None:
    found = covering_array(SmConfig.preset("fermi"))
    assert len(found) == len(set(found)) <= 2 * len(AXES["gating"]) * len(AXES["affine"])
    for config in found:
        config.check_hardware()


def test_the_lattice_has_each_mechanism_alone_and_all_together() -> None:
    machine = SmConfig.preset("small")
    found = list(lattice(machine))
    assert len(found) == len(set(found)) == 2 ** len(STRONGEST)
    assert found[0] == machine
    assert found[-1] == machine.with_settings([*STRONGEST.values()])
    for setting in STRONGEST.values():
        assert machine.with_settings([setting]) in found


@pytest.mark.sample(2)
@pytest.mark.parametrize("preset", presets())
def test_the_regression_runs_them(preset: str) -> None:
    machine = SmConfig.preset(preset)
    found = set(cases(machine))
    small = [SmConfig.preset("small").with_settings([f"schedulers={n}", f"issue_ports={n}"]) for n in PORTS]
    wanted = [config for base in (machine, *small) for config in lattice(base)] + [*covering_array(machine)]
    assert {Case(config, name, "tiny") for config in wanted for name in COMBINED} <= found


@pytest.mark.sample(2)
@pytest.mark.parametrize("preset", presets())
def test_every_case_has_its_own_name(preset: str) -> None:
    found = [str(case) for case in cases(SmConfig.preset(preset))]
    assert len(set(found)) == len(found)
