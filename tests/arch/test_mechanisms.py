"""Descriptors of mechanisms: the objects that they name exist, and few files name a mechanism."""

import ast
import pkgutil
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

import pytest
from support.named_mechanisms import identifiers, naming

from warploom.arch.config import PARAMETERS, SmConfig
from warploom.arch.interfaces import ZERO_BITS, dispatch_fields, issue_fields, result_fields, zero_fields
from warploom.arch.mechanisms import BASELINE, BESIDE, MECHANISMS, OFF, SWITCHES, Mechanism
from warploom.arch.mechanisms.descriptor import Needs
from warploom.arch.parameters import PARTS

ROOT = Path(__file__).resolve().parents[2]

SMALL = SmConfig.preset("small")
FIELDS = {field.name for field in fields(SmConfig)}

each = pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: mechanism.name)


def paths(mechanism: Mechanism) -> Iterator[str]:
    """Everything that a descriptor names by dotted path."""
    yield from (unit.component for unit in mechanism.units)
    yield from mechanism.parts
    yield from (*mechanism.bugs, *mechanism.lockstep_bugs)
    yield from (table.rows for table in mechanism.overheads)


def needs(mechanism: Mechanism) -> Iterator[Needs]:
    """All needs in a descriptor."""
    yield mechanism.is_on
    yield from (described.needs for described in (*mechanism.fields, *mechanism.units, *mechanism.coverage))
    for conflict in mechanism.conflicts:
        yield ((conflict.field, conflict.values), (conflict.other, conflict.others))  # type: ignore[misc]
    yield from (((found.field, found.values),) for found in mechanism.model_only)


@each
def test_what_stands_by_path_is_there(mechanism: Mechanism) -> None:
    assert all(pkgutil.resolve_name(path) for path in paths(mechanism))
    for own in mechanism.folders:
        assert any(path for room in ("golden_model", "rtl", "tb") for path in (ROOT / room).rglob(own))


@each
def test_settings_are_those_of_a_configuration(mechanism: Mechanism) -> None:
    for name, values in (need for several in needs(mechanism) for need in several):
        for value in values:
            PARAMETERS[name].check(name, value)
    for settings in (*(core.settings for core in mechanism.cores), *mechanism.full_size):
        config = SMALL.with_settings([*settings])
        config.check_hardware()
        assert SmConfig.from_toml(config.to_toml()) == config
    assert set(mechanism.varied) <= FIELDS
    for switch in mechanism.switches:
        assert switch.field in FIELDS
        assert switch.part in PARTS


def test_every_choice_of_a_configuration_is_a_switch() -> None:
    choices = {name for name, parameter in PARAMETERS.items() if parameter.choices}
    assert choices == {*SWITCHES, "read_arbiter", "window_delay"}, "which choose between two forms of one part"
    assert SMALL.with_settings([*OFF]) == SMALL


def test_no_name_is_taken_twice() -> None:
    for names in ([unit.name for mechanism in MECHANISMS for unit in mechanism.units],
                  [core.name for mechanism in MECHANISMS for core in mechanism.cores],
                  [mechanism.name for mechanism in MECHANISMS]):
        assert len(set(names)) == len(names)


def test_fields_of_ports_come_from_descriptors() -> None:
    everything = SMALL.with_settings(["coalescing=on", "gating=in_lane", "bypass=bow_hints", "affine=abm"])
    for table in (issue_fields, dispatch_fields, result_fields):
        added = [name for name, _ in table(everything) if name not in dict(table(SMALL))]
        assert added
        assert set(added) <= {field.name for mechanism in MECHANISMS for field in mechanism.fields}
    assert dict(zero_fields(everything))["zero"] == ZERO_BITS


# ---------------------------------------------------------------- who names them

MOST = 10
"""Files that name a mechanism, at most; tests/support/named_mechanisms.py lists them."""


@each
def test_few_files_name_a_mechanism(mechanism: Mechanism) -> None:
    assert mechanism in (BASELINE, *BESIDE) or naming(replace(mechanism, folders=())), "its names are looked for"
    found = naming(mechanism)
    assert len(found) <= MOST, "\n".join(found)


def test_every_form_of_naming_is_seen() -> None:
    tree = ast.parse("import a.b as c\nfrom d.e import f as g\nh.i(j=k)\n"
                     "def l(m): pass\nclass n: pass\nasync def o(): pass")
    assert set(identifiers(tree)) == set("abcdefghijklmno")
