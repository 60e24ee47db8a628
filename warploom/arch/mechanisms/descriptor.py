"""What a descriptor of a mechanism is made of. All of it is data: parts, benches and bugs stand in it by dotted path,
which whoever may import them resolves."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

Settings = tuple[str, ...]
"""Settings of a configuration, each ``field=value``."""

Needs = tuple[tuple[str, tuple[str, ...]], ...]
"""Fields of a configuration, each with the values of which it must have one."""


def met(needs: Needs, config: object) -> bool:
    """Whether a configuration has what is needed."""
    return all(getattr(config, name) in values for name, values in needs)


@dataclass(frozen=True)
class Switch:
    """A field of the configuration that chooses: its value by default, without the mechanism, whose type is the
    enumeration, the part of the machine that it belongs to, its meaning and its source."""

    field: str
    default: StrEnum
    part: str
    meaning: str
    source: str


@dataclass(frozen=True)
class Conflict:
    """What does not go together, and why: a field with one of some values, and another with one of others."""

    field: str
    values: tuple[object, ...]
    other: str
    others: tuple[object, ...]
    reason: str


@dataclass(frozen=True)
class ModelOnly:
    """Values of a field without hardware: what they are in the golden model, and what to use instead."""

    field: str
    values: tuple[str, ...]
    kind: str
    instead: str


@dataclass(frozen=True)
class PortField:
    """A field that joins a table of `warploom.arch.interfaces`: its bits, or what of the configuration it counts."""

    table: str
    name: str
    bits: int = 0
    counts: str = ""
    needs: Needs = ()


@dataclass(frozen=True)
class Unit:
    """A unit that can be generated, tested and synthesised by itself: a component by its dotted path.

    `takes` are parameters that follow from the configuration, and `fixed` others. `probe` is how benches take it: with
    ports that show more, and poison where nobody may look; None without a probe. `needs` are the settings without
    which it means nothing.
    """

    name: str
    component: str
    takes: Mapping[str, str] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    probe: Mapping[str, bool] | None = None
    needs: Needs = ()

    def parameters(self, config: object, *, probe: bool = False) -> dict[str, Any]:
        """What the component is made with."""
        taken = {name: getattr(config, source) if source else config for name, source in self.takes.items()}
        return {**taken, **self.fixed, **((self.probe or {}) if probe else {})}


CONFIG = {"config": ""}
"""The configuration itself."""

ROWS = {"rows": "rows"}
MATRIX = {"banks": "banks", "collectors": "collectors"}
ARBITER = {**MATRIX, "paths": "write_paths", "rotating": "rotating_paths"}


@dataclass(frozen=True)
class Core:
    """Settings for benches of the whole datapath, on a core with few warps; some belong to the long regression."""

    name: str
    settings: Settings = ()
    is_long: bool = False


@dataclass(frozen=True)
class Points:
    """What random instruction streams in the datapath must come by."""

    names: tuple[str, ...]
    needs: Needs = ()


@dataclass(frozen=True)
class Runs:
    """Kernels of the long regression: on a preset, or the one asked for without mechanisms, with settings, under every
    combination of the values of some fields."""

    preset: str = ""
    settings: Settings = ()
    axes: tuple[tuple[str, tuple[object, ...]], ...] = ()


@dataclass(frozen=True)
class Events:
    """What the golden model counts: its key among the statistics, its path from the SM to a dataclass of counts, or to
    None without the mechanism, and what reports show of it, by name."""

    key: str
    path: str
    shown: Mapping[str, str]


@dataclass(frozen=True)
class Overhead:
    """A table of what the mechanism needs: the experiment that shows it, its title, its key in JSON, and by dotted path
    what computes its rows from a configuration."""

    experiment: str
    title: str
    key: str
    rows: str


@dataclass(frozen=True, kw_only=True)
class Mechanism:
    """All that is known of a mechanism outside its own folders.

    `words` describe a case of the regression, without it (perhaps not at all) and with it, from the fields of the
    configuration; `varied` are the fields that its table has. `model_runs` are settings without hardware, for
    recordings. `parts` join units in the datapath and are no unit themselves. `bugs` and `lockstep_bugs` are
    collections of planted bugs. `names` are identifiers that name it, parts of imported modules among them, and
    `folders` are its own, among them files of stored forms.
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
        """In words, what a configuration has of it."""
        assert self.words is not None
        without, with_it = self.words
        return with_it.format(config=config) if met(self.is_on, config) else without

