"""`SmConfig`: every parameter of one streaming multiprocessor, validated."""

import dataclasses
from dataclasses import dataclass, fields
from typing import Any, NoReturn

from warploom.arch import config_text
from warploom.arch.derived import DerivedSizes
from warploom.arch.errors import ConfigError, shown
from warploom.arch.isa import Pipe, TimingClass
from warploom.arch.mechanisms import MECHANISMS
from warploom.arch.mechanisms.descriptor import Conflict
from warploom.arch.names import RULE, names_a_file
from warploom.arch.parameters import check_range, parameters
from warploom.arch.pipes import CLASSES, MINIMUM_LATENCY, PIPE_PARAMETERS, PIPES, TIMING, Timing, checked_pipes
from warploom.arch.preset_files import PresetFiles

LANES = 32
"""Threads of a warp, fixed: a warp register is 32 lanes of 32 bits."""

SUB_BANKS = 4
"""Sub-banks of a register bank, each 32 B wide ([RADAIDEH], Fig. 2.6)."""

COLUMNS = 32
"""Columns of a register bank, each 4 B wide, eight in each sub-bank: what gating enables one by one."""

GROUP = 4
"""Lanes whose bytes are reordered together ([RADAIDEH], Fig. 4.5)."""


@dataclass(frozen=True, kw_only=True)
class SmConfig(DerivedSizes):
    """One SM. Defaults are the `narrow` preset: Table 3.5 of [RADAIDEH] over GPGPU-Sim's GTX 480.

    Sizes are in the unit in their name; all others are numbers. Raises `ConfigError`, with the field, its value and the
    legal range, if a value is illegal or two fields contradict each other.
    """

    def __post_init__(self) -> None:
        if not names_a_file(self.name):
            raise ConfigError(f"name = {shown(self.name)}: {RULE}: it names files")
        for name, parameter in PARAMETERS.items():
            if name != PIPES:
                object.__setattr__(self, name, parameter.check(name, getattr(self, name)))
        if self.warps % self.schedulers:
            self._disagree("warps", "schedulers", "every scheduler owns the same number of warps")
        if self.schedulers % self.issue_ports:
            self._disagree("schedulers", "issue_ports", "every issue port serves the same number of schedulers")
        for mechanism in MECHANISMS:
            for conflict in mechanism.conflicts:
                self._check_conflict(conflict)
        if self.tfet_rows > self.rows:
            self._disagree("tfet_rows", "rows", "TFET rows are some of the rows")
        if self.has_unallocated and self.entries != 4 * self.window:
            self._disagree("transient", "entries", f"a collector must never run out of entries: window = {self.window} "
                           f"needs {4 * self.window}")
        if self.has_window:
            object.__setattr__(self, "collectors", self.warps)
            for name in ("sfu_collectors", "mem_collectors"):
                object.__setattr__(self, name, 0)
        if self.collectors <= self.sfu_collectors + self.mem_collectors:
            raise ConfigError(f"collectors = {self.collectors}, sfu_collectors = {self.sfu_collectors} and "
                              f"mem_collectors = {self.mem_collectors} disagree: one collector at least is general")
        object.__setattr__(self, PIPES, checked_pipes(self.pipes))
        self._check_pipes()
        self._check_timing()

    def _check_conflict(self, conflict: Conflict) -> None:
        if (getattr(self, conflict.field) in conflict.values
                and getattr(self, conflict.other) in conflict.others):
            self._disagree(conflict.field, conflict.other, conflict.reason)

    def _disagree(self, name: str, other: str, reason: str) -> NoReturn:
        raise ConfigError(f"{name} = {getattr(self, name)} and {other} = {getattr(self, other)} disagree: {reason}")

    def check_hardware(self) -> None:
        """Raise `ConfigError` if the configuration exists in the golden model only."""
        for mechanism in MECHANISMS:
            for found in mechanism.model_only:
                if getattr(self, found.field) in found.values:
                    raise ConfigError(f"{found.field} = {getattr(self, found.field)}: {found.kind} of the golden "
                                      f"model, without hardware; use {found.instead}")

    def _check_timing(self) -> None:
        """Check that the machine can have the latencies and intervals, with all turns of a warp."""
        for pipe in self._parted_pipes:
            lanes = f" on {pipe.lanes} lanes" if pipe.lanes < LANES else ""
            for timing_class in pipe.timing_classes:
                where, timing = f"pipes.{pipe.name}.classes.{timing_class.name.lower()}", pipe.timing_of(timing_class)
                if pipe.kind is Pipe.SP:
                    check_range(f"{where} latency{lanes}", timing.latency, MINIMUM_LATENCY, 64)
                check_range(f"{where} interval{lanes}", timing.interval, 1, MOST_BUSY)

    def _check_pipes(self) -> None:
        """Check settings that exclude several pipes of a class, or shared ones."""
        own = max(sum(name in pipe.classes for pipe in self.pipes if not pipe.is_shared) for name in CLASSES)
        if own > self.schedulers:
            raise ConfigError(f"pipes: {own} of one class are owned, but schedulers = {self.schedulers}: must not be "
                              "more, since a scheduler owns one")
        if self.shares_pipes and self.has_window:
            raise ConfigError(f"pipes: one is shared, and bypass = {self.bypass}: the collectors of a window take "
                              "turns, whatever scheduler they belong to; use bypass = off or sharing = own")
        if self.shares_pipes and self.schedulers & (self.schedulers - 1):
            raise ConfigError(f"pipes: one is shared, and schedulers = {self.schedulers}: must be a power of two, so "
                              "that the low bits of a warp slot are the number of its scheduler")
        if self.tfet_rows and not all(pipe.result_queue for pipe in self.pipes if pipe.kind is Pipe.SP):
            raise ConfigError(f"tfet_rows = {self.tfet_rows}: a result of SP may find its bank busy; give each pipe of "
                              "SP a result_queue")
        for pipe in self.pipes:
            if pipe.lanes % self.parts_of(pipe):
                raise ConfigError(f"pipes.{pipe.name}.lanes = {pipe.lanes} and schedulers = {self.schedulers} "
                                  "disagree: schedulers have the same number of lanes of a pipe that is shared evenly")

    def timing_of(self, timing_class: TimingClass) -> Timing:
        """Latency and initiation interval of a class, in cycles, in the first pipe that executes it."""
        return next(pipe for pipe in self.timed_pipes if timing_class in pipe.timing_classes).timing_of(timing_class)

    @property
    def register_file_bytes(self) -> int:
        """Capacity of the register file in bytes."""
        return self.banks * self.rows * LANES * 4

    def with_settings(self, settings: list[str], where: str = "--set") -> "SmConfig":
        """A copy with each ``field=value`` of the list applied; values are TOML or bare words. A field may be named
        with its part, ``part.field``. Fields of a pipe are ``pipes.pipe.field``, ``pipes.pipe.classes.class`` and
        ``timing.class``; the part may be omitted there, too. `where` they come from is for messages."""
        changes = config_text.changes(settings, self.pipes, PARAMETERS, where)
        return _build({f.name: getattr(self, f.name) for f in fields(self)} | changes, where)

    def to_toml(self) -> str:
        """The configuration as TOML text that `from_toml` reads back to an equal configuration: a table for each part
        of the machine."""
        return config_text.write(self.name, {name: getattr(self, name) for name in PARAMETERS}, PARAMETERS)

    @classmethod
    def from_toml(cls, text: str, where: str = "<toml>") -> "SmConfig":
        """Read a configuration; fields that are not in the text have the values of `narrow`. A field is in the table of
        its part, or at the top level."""
        return _build(config_text.read(text, where, PARAMETERS), where)

    @classmethod
    def preset(cls, name: str) -> "SmConfig":
        """A bundled preset by its name, or a configuration file by its path."""
        return cls.from_toml(_FILES.text(name), _FILES.origin(name))


MOST_BUSY = 1023
"""Cycles between two instructions of a pipe, at most."""

PARAMETERS = parameters(SmConfig)
"""The parameters by field name, without the configuration's own name."""

DEFAULT_PRESET = "fermi"
"""The SM that is used if none is named."""

_FILES = PresetFiles("presets", "preset", "a preset")


def presets() -> list[str]:
    """Names of the bundled presets."""
    return _FILES.names()


def flat(config: SmConfig) -> dict[str, str]:
    """Every field in the format of a setting, and the names of the pipes; fields of a pipe by its name, those of a
    class by the name of the class if all pipes of its kind agree."""
    values = {f.name: str(getattr(config, f.name)) for f in fields(SmConfig) if f.name != PIPES}
    values[PIPES] = " ".join(pipe.name for pipe in config.pipes)
    for pipe in config.pipes:
        values |= {f"{pipe.name}.{name}": str(getattr(pipe, name)) for name in PIPE_PARAMETERS if name != "classes"}
    for pipe in config.pipes:
        alike = [other.classes for other in config.pipes if other.kind is pipe.kind]
        for name, pair in pipe.classes.items():
            agree = all(classes.get(name) == pair for classes in alike)
            values[f"{TIMING}.{name}" if agree else f"{pipe.name}.classes.{name}"] = str([*pair])
    return values


def _build(table: dict[str, Any], where: str) -> SmConfig:
    """A configuration with the given fields. Raises `ConfigError`, which names their origin."""
    config_text.check_names(table, where, [f.name for f in fields(SmConfig)])
    try:
        return dataclasses.replace(SmConfig(), **table)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None
