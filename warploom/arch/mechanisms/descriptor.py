"""The parts of a mechanism's descriptor. All of it is data: units, benches and bugs are dotted paths, which are
resolved by code that may import them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

Settings = tuple[str, ...]
"""Settings of a configuration, each ``field=value``."""

Needs = tuple[tuple[str, tuple[str | int, ...]], ...]
"""Fields of a configuration, each with its permitted values."""


def met(needs: Needs, config: object) -> bool:
    """Whether a configuration satisfies the needs."""
    return all(getattr(config, name) in values for name, values in needs)


@dataclass(frozen=True)
class Switch:
    """The field of the configuration that selects the mechanism: its default (without the mechanism), whose type is the
    enumeration, its part of the machine, its meaning and its source."""

    field: str
    default: StrEnum
    part: str
    meaning: str
    source: str


@dataclass(frozen=True)
class Conflict:
    """Settings that exclude each other, and the reason: a field with one of some values, and another one likewise."""

    field: str
    values: tuple[object, ...]
    other: str
    others: tuple[object, ...]
    reason: str


@dataclass(frozen=True)
class ModelOnly:
    """Values of a field without hardware: a description of the golden model, and the values to use instead."""

    field: str
    values: tuple[str, ...]
    kind: str
    instead: str


@dataclass(frozen=True)
class PortField:
    """An additional field in a table of `warploom.arch.interfaces`: its width in bits, or the field of the
    configuration (such as `warps`) of which it is an index."""

    table: str
    name: str
    bits: int = 0
    counts: str = ""
    needs: Needs = ()


@dataclass(frozen=True)
class Unit:
    """A unit that can be generated, tested and synthesised separately: a component by its dotted path.

    `takes` are parameters that follow from the configuration, and `fixed` others. `probe` are those for benches, with
    more ports and poison in unspecified outputs; None without a probe. `needs` are the settings that it requires. No
    datapath contains a unit that is `alone`.
    """

    name: str
    component: str
    takes: Mapping[str, str] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    probe: Mapping[str, bool] | None = None
    needs: Needs = ()
    alone: bool = False

    def parameters(self, config: object, *, probe: bool = False) -> dict[str, Any]:
        """The arguments of the component."""
        taken = {name: getattr(config, source) if source else config for name, source in self.takes.items()}
        return {**taken, **self.fixed, **((self.probe or {}) if probe else {})}


CONFIG = {"config": ""}
"""The configuration itself."""

PROBE = {"probe": True}
POISON = {"poison": True}

ROWS = {"rows": "rows"}
BANK = {**ROWS, "ports": "bank_ports"}
MATRIX = {"banks": "banks", "collectors": "collectors"}
ARBITER = {**MATRIX, "paths": "write_paths", "rotating": "rotating_paths"}
BANK_ARBITER = {**ARBITER, "ports": "bank_ports"}


@dataclass(frozen=True)
class Core:
    """Settings for benches of the whole datapath, on a core with few warps; some belong to the long regression."""

    name: str
    settings: Settings = ()
    is_long: bool = False


@dataclass(frozen=True)
class Points:
    """Coverage points of random instruction streams in the datapath."""

    names: tuple[str, ...]
    needs: Needs = ()


@dataclass(frozen=True)
class Runs:
    """Kernels of the long regression: on a preset, or on the requested one without mechanisms, with settings, under
    every combination of the values of some fields."""

    preset: str = ""
    settings: Settings = ()
    axes: tuple[tuple[str, tuple[object, ...]], ...] = ()


@dataclass(frozen=True)
class Events:
    """Counts of the golden model: their key in the statistics, the path from the SM to a dataclass of counts (None
    without the mechanism), and the counts that reports show, by name."""

    key: str
    path: str
    shown: Mapping[str, str]


@dataclass(frozen=True)
class Overhead:
    """A table of the mechanism's costs: the experiment that shows it, its title, its key in JSON, and the dotted path
    of the function that computes its rows from a configuration."""

    experiment: str
    title: str
    key: str
    rows: str


@dataclass(frozen=True, kw_only=True)
class Mechanism:
    """Everything about a mechanism that is used outside its own folders.

    `words` describe a case of the regression, without it (may be empty) and with it, from the fields of the
    configuration; `varied` are the fields in the table of the regression. `strongest` is the setting that saves most;
    with it the mechanism is combined with others. `model_runs` are settings without hardware, for recordings. `parts`
    mostly connect units, each of which has its own row in the synthesis of what contains them. `bugs` and
    `lockstep_bugs` are collections of planted bugs. `names` are identifiers that name it, including parts of imported
    modules; `folders` are its own folders, and files of stored forms.
    """

    name: str
    switches: tuple[Switch, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    model_only: tuple[ModelOnly, ...] = ()
    fields: tuple[PortField, ...] = ()
    units: tuple[Unit, ...] = ()
    parts: tuple[str, ...] = ()
    cores: tuple[Core, ...] = ()
    coverage: tuple[Points, ...] = ()
    runs: tuple[Runs, ...] = ()
    full_size: tuple[Settings, ...] = ()
    strongest: str = ""
    model_runs: tuple[str, ...] = ()
    varied: tuple[str, ...] = ()
    words: tuple[str, str] | None = None
    is_on: Needs = ()
    changes_cycles: bool = True
    bugs: tuple[str, ...] = ()
    lockstep_bugs: tuple[str, ...] = ()
    events: tuple[Events, ...] = ()
    overheads: tuple[Overhead, ...] = ()
    names: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()

    def describe(self, config: object) -> str:
        """The mechanism's settings in a configuration, in words."""
        assert self.words is not None
        without, with_it = self.words
        return with_it.format(config=config) if met(self.is_on, config) else without

