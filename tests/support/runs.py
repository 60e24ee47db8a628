"""Runs for tests: fields that are not given are zero."""

import dataclasses
from typing import Any

from warploom.arch.config import SmConfig
from warploom.evaluation.figures import Run
from warploom.evaluation.traces.toggling import Toggling, names
from warploom.golden_model.statistics import Statistics
from warploom.golden_model.values import Values

NOTHING = dataclasses.replace(
    Statistics(**{field.name: field.type() for field in dataclasses.fields(Statistics)}), ipc=0.5,
    coalesced={"read_read": 0, "write_write": 0, "read_write": 0}, operands=[0, 0, 0, 0],
    source_widths=[0, 0, 0, 0], destination_widths=[0, 0, 0, 0],
)
"""Statistics of no events at all."""


RANDOM = Toggling(dict.fromkeys(names(), 2), dict.fromkeys(names(), 1))
"""Half of the bits toggle."""


def statistics(**fields: Any) -> Statistics:
    """Statistics with some fields, and some of what mechanisms count."""
    counted = {name: fields.pop(name, {}) for name in ("bypassed", "affine", "slow", "renaming")}
    return dataclasses.replace(NOTHING, **fields, counted=counted)


def run(config: SmConfig, values: Values | None = None, **fields: Any) -> Run:
    """A run of a configuration, with some fields of its statistics."""
    return Run(config, statistics(**fields), values or Values(), toggling=RANDOM)
