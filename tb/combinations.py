"""Configurations that combine the settings of a machine: every combination of the mechanisms at their strongest
settings, and a covering array, in which each value of a setting meets each value of every other one that it may meet.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import product
from typing import Any

from warploom.arch.config import SmConfig
from warploom.arch.covering import Pair, Setting, covering, pairs
from warploom.arch.errors import ConfigError
from warploom.arch.mechanisms import MECHANISMS, STRONGEST, SWITCHES, ReadArbiter, WindowDelay

_MODEL_ONLY = {(found.field, value) for mechanism in MECHANISMS for found in mechanism.model_only
               for value in found.values}

AXES: dict[str, tuple[Any, ...]] = {
    **{name: tuple(value for value in type(switch.default) if (name, value) not in _MODEL_ONLY)
       for name, switch in SWITCHES.items()},
    "issue_per_warp": (1, 2),
    "read_arbiter": tuple(ReadArbiter),
    "window_delay": (WindowDelay.OFF, WindowDelay.ON),  # the default is one of them
}
"""Fields of the covering array, each with its values that have hardware."""


def axes(machine: SmConfig) -> dict[str, tuple[Any, ...]]:
    """All fields of the covering array of a machine: with the numbers of its issue ports."""
    return {**AXES, "issue_ports": tuple(1 << n for n in range(machine.schedulers.bit_length()))}


def lattice(machine: SmConfig) -> Iterator[SmConfig]:
    """A machine under every legal combination of the mechanisms, each off or at its strongest setting."""
    for chosen in product((False, True), repeat=len(STRONGEST)):
        settings = [setting for setting, on in zip(STRONGEST.values(), chosen, strict=True) if on]
        try:
            yield machine.with_settings(settings)
        except ConfigError:
            continue


@lru_cache
def covering_array(machine: SmConfig) -> tuple[SmConfig, ...]:
    """A few configurations of a machine, with all legal pairs of `axes`."""
    return tuple(covering(dict(_legal(machine))))


def _legal(machine: SmConfig) -> Iterator[tuple[SmConfig, frozenset[Pair]]]:
    """All legal configurations over `axes`, each with its pairs."""
    for row in _agreeing(axes(machine)):
        settings: dict[str, Any] = dict(row)
        try:
            config = dataclasses.replace(machine, **settings)
        except ConfigError:
            continue
        yield config, pairs(row)


def _agreeing(fields: Mapping[str, tuple[Any, ...]]) -> list[tuple[Setting, ...]]:
    """All settings of these fields without a pair that no machine can have: far fewer than their product."""
    excluded = {frozenset(((conflict.field, value), (conflict.other, other))) for mechanism in MECHANISMS
                for conflict in mechanism.conflicts if {conflict.field, conflict.other} <= fields.keys()
                for value in conflict.values for other in conflict.others}
    rows: list[tuple[Setting, ...]] = [()]
    for name, values in fields.items():
        rows = [(*row, (name, value)) for row in rows for value in values
                if not any(frozenset((setting, (name, value))) in excluded for setting in row)]
    return rows
