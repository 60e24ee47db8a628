"""`PipeConfig`: one execution pipe of a configuration (docs/contract/pipes.md)."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum

from warploom.arch.errors import ConfigError, nearest, shorten, shown
from warploom.arch.isa import KINDS, Pipe, TimingClass
from warploom.arch.mechanisms import Switch
from warploom.arch.parameters import GTX_480, KEY, OURS, PARTS, Parameter, check_range, choice, number, parameters

PIPES = "pipes"
TIMING = "timing"
"""The short name, in settings, of the classes of all pipes."""

MOST_LANES = 32
"""Number of lanes on which a warp takes one turn."""

CLASSES = {timing_class.name.lower(): timing_class for timing_class in TimingClass}
"""The timing classes by their names in configurations."""

LANE_CLASSES = frozenset(kind.name.lower() for kind in TimingClass if kind <= TimingClass.INT_MAD)
"""The classes of the operations of the integer lanes."""

MINIMUM_LATENCY = 4
"""Cycles from dispatch to write-back of the fastest instruction: three execution stages, then write-back."""

MOST_PIPES = 16
"""Pipes of a machine, at most: each may have a write path and a dispatch port of its own."""

WritePaths = tuple[tuple[int, ...], ...]
"""The numbers of the pipes on each path to the banks, highest priority first."""


class Sharing(StrEnum):
    """Which schedulers a pipe serves; of one that serves all, how they share it ([HAWS], section 4.4.2)."""

    OWN = "own"  # those that own it: one of them if there are as many such pipes as schedulers
    EVEN = "even"  # all: each has an equal part of the lanes
    STATIC = "static"  # all: the lowest one with an eligible instruction goes first
    FAIR = "fair"  # all: they take turns


@dataclass(frozen=True)
class Timing:
    """Cycles of one instruction class: result at write-back `latency` cycles after dispatch, and the pipe
    takes the next instruction `interval` cycles after this one."""

    latency: int
    interval: int


@dataclass(frozen=True, kw_only=True)
class PipeConfig:
    """One pipe. `classes` are the timing classes that it executes, each with latency and initiation interval for a pipe
    of 32 lanes: with fewer a warp takes several turns.

    A pipe without `credits` has write-back slots instead: its results come in a cycle fixed at dispatch. They can wait
    only in a `result_queue`. Raises `ConfigError` if a value is illegal.
    """

    name: str
    lanes: int = number(
        32, PIPES, "lanes: a warp takes 32 / lanes turns, rounded up, each as long as the interval of its class",
        (1, 32), GTX_480)
    sharing: Sharing = choice(
        Switch("sharing", Sharing.OWN, PIPES, "owned by schedulers, or how all of them share it",
               "[HAWS], section 4.4.2"))
    write_path: int = number(
        0, PIPES, "path to the banks, which several pipes may share; the first pipe on it goes first",
        (0, MOST_PIPES - 1), OURS)
    dispatch_port: int = number(
        0, PIPES, "port of the operand store that sends one instruction a cycle to the pipes on it",
        (0, MOST_PIPES - 1), OURS)
    result_queue: int = number(
        0, PIPES, "results of a pipe without credits that may wait for its write latch", (0, 15), OURS)
    credits: int = number(
        0, PIPES, "instructions that it takes before it gives a credit back; 0 where results cannot wait", (0, 255),
        OURS)
    classes: dict[str, tuple[int, int]] = field(
        hash=False,
        metadata={KEY: Parameter(PIPES, "latency and initiation interval of each class", GTX_480, "cycles")})

    def __post_init__(self) -> None:
        if not (isinstance(self.name, str) and self.name.isascii() and self.name.isidentifier() and self.name.islower()
                and self.name not in (*PARTS, TIMING)):
            raise ConfigError(f"pipes: name = {shown(self.name)}: must be a word of small letters, digits and _ which "
                              "is no other name of the configuration")
        for name, parameter in PIPE_PARAMETERS.items():
            if name != "classes":
                value = parameter.check(f"pipes.{self.name}.{name}", getattr(self, name))
                object.__setattr__(self, name, value)
        self._check_classes()

    def _check_classes(self) -> None:
        where = f"pipes.{self.name}.classes"
        if not (isinstance(self.classes, dict) and self.classes):
            raise ConfigError(f"{where} = {shown(self.classes)}: must be a table, "
                              "class = [latency, interval] in cycles")
        checked = {}
        for name, pair in self.classes.items():
            if name not in CLASSES:
                raise ConfigError(f"{where}: {shorten(name)}: must be one of {', '.join(CLASSES)}"
                                  f"{nearest(name, CLASSES)}")
            if not (isinstance(pair, list | tuple) and len(pair) == 2):
                raise ConfigError(f"{where}.{name} = {shown(pair)}: must be [latency, interval] in cycles")
            check_range(f"{where}.{name} latency", pair[0], 1, 1023)
            check_range(f"{where}.{name} interval", pair[1], 1, 255)
            checked[name] = (pair[0], pair[1])
        object.__setattr__(self, "classes", checked)

    def to_toml(self) -> list[str]:
        """The lines of its table."""
        numbers = (f"{name} = {getattr(self, name)}" for name, parameter in PIPE_PARAMETERS.items() if parameter.high)
        classes = (f"{name} = [{latency}, {interval}]" for name, (latency, interval) in self.classes.items())
        return ["", "[[pipes]]", f'name = "{self.name}"', f'sharing = "{self.sharing}"', *numbers, "",
                "[pipes.classes]  # class = [latency, initiation interval], cycles", *classes]

    @property
    def kind(self) -> Pipe:
        """The kind of its instructions."""
        return self.timing_classes[0].pipe

    @property
    def is_shared(self) -> bool:
        """Whether it serves all schedulers, by a policy."""
        return self.sharing is not Sharing.OWN

    def timing_of(self, timing_class: TimingClass) -> Timing:
        """Latency and initiation interval of a class that it executes, with all turns of a warp."""
        latency, interval = self.classes[timing_class.name.lower()]
        turns = -(-MOST_LANES // self.lanes)
        return Timing(latency + turns - 1, interval * turns)

    @property
    def timing_classes(self) -> list[TimingClass]:
        """The classes that it executes, in order."""
        return [timing_class for name, timing_class in CLASSES.items() if name in self.classes]


PIPE_PARAMETERS = parameters(PipeConfig)
"""The parameters of a pipe by field name, without the pipe's own name."""

NARROW_PIPES = (
    PipeConfig(name="sp", classes={
        "int_add": (4, 1), "int_max": (13, 2), "int_mul": (4, 2), "int_mad": (5, 1),
        "fp_add": (4, 1), "fp_max": (13, 2), "fp_mul": (4, 1), "fp_mad": (5, 1),
    }),
    PipeConfig(name="sfu", credits=32, classes={
        "int_div": (145, 8), "fp_div": (39, 4), "dp_add": (8, 8), "dp_max": (19, 16), "dp_mul": (8, 8),
        "dp_mad": (8, 8), "dp_div": (330, 130), "sfu": (8, 8),
    }),
    PipeConfig(name="mem", write_path=1, credits=8, classes={"mem": (1, 2)}),
)
"""GPGPU-Sim's GTX 480 latencies and initiation intervals; `mem` has only an interval (16 load/store lanes)."""


def checked_pipes(given: object) -> tuple[PipeConfig, ...]:
    """The pipes of a configuration, some of them given as tables. Raises `ConfigError` if it is not a list of pipes, or
    not a legal one."""
    if not isinstance(given, list | tuple):
        raise ConfigError(f"pipes = {shown(given)}: must be a list of pipes, each begun with [[pipes]]")
    pipes = tuple(pipe if isinstance(pipe, PipeConfig) else _pipe_of(pipe) for pipe in given)
    _check_kinds(pipes)
    _check_paths(pipes)
    return pipes


def shared_by(pipes: Sequence[PipeConfig], sharing: Sharing) -> tuple[PipeConfig, ...]:
    """The pipes, of which those that are shared are shared by another policy."""
    return tuple(replace(pipe, sharing=sharing) if pipe.is_shared else pipe for pipe in pipes)


def _pipe_of(table: object) -> PipeConfig:
    """A pipe from a table of a file."""
    if not isinstance(table, dict):
        raise ConfigError(f"pipes: {shown(table)}: must be a table, begun with [[pipes]]")
    known = [f.name for f in fields(PipeConfig)]
    for name in table:
        if name not in known:
            raise ConfigError(f"pipes: {shown(name)} is not a field of a pipe; fields are {', '.join(known)}"
                              f"{nearest(name, known)}")
    for name in ("name", "classes"):
        if name not in table:
            of = shown(table["name"]) if "name" in table else "a pipe"
            raise ConfigError(f"pipes: {of} has no {name}: every pipe needs a name and classes")
    return PipeConfig(**table)


def _check_kinds(pipes: tuple[PipeConfig, ...]) -> None:
    """Check that there are pipes of SP, of SFU and one of MEM, in this order, and that each class is in one; their
    names are arbitrary."""
    names = [pipe.name for pipe in pipes]
    if len(set(names)) < len(names):
        raise ConfigError(f"pipes: {', '.join(names)}: every pipe needs a name of its own")
    kinds = [timing_class.pipe for pipe in pipes for timing_class in pipe.timing_classes]
    known = {name for pipe in pipes for name in pipe.classes}
    mixed = any(len({each.pipe for each in pipe.timing_classes}) > 1 for pipe in pipes)
    if len(known) < len(CLASSES) or mixed or kinds != sorted(kinds) or kinds.count(Pipe.MEM) > 1:
        groups = "; ".join(", ".join(name for name, each in CLASSES.items() if each.pipe is kind) for kind in KINDS)
        raise ConfigError(f"pipes: {', '.join(names) or 'none'}: must have each of these classes: {groups}; pipes with "
                          "classes of the first group come first, then those of the second, then one of the third")
    for pipe in pipes:
        if pipe.kind is Pipe.SP and pipe.credits:
            raise ConfigError(f"pipes.{pipe.name}.credits = {pipe.credits}: must be 0: its results come in a fixed "
                              "cycle")
        if pipe.kind is not Pipe.SP and not pipe.credits:
            raise ConfigError(f"pipes.{pipe.name}.credits = 0: must be a whole number from 1 to 255: its results wait "
                              "for their write path")
        if pipe.kind is not Pipe.SP and pipe.result_queue:
            raise ConfigError(f"pipes.{pipe.name}.result_queue = {pipe.result_queue}: must be 0: its results wait in "
                              "the pipe")


def _check_paths(pipes: tuple[PipeConfig, ...]) -> None:
    """Check paths and ports: numbered from 0; results that cannot wait have path 0, and no other pipe of their kind."""
    for name in ("write_path", "dispatch_port"):
        numbers = [getattr(pipe, name) for pipe in pipes]
        if set(numbers) != set(range(max(numbers) + 1)):
            raise ConfigError(f"pipes: {name} {', '.join(map(str, numbers))}: must be numbered from 0 without gaps")
    sp = [pipe for pipe in pipes if pipe.kind is Pipe.SP]
    for pipe in sp:
        if not pipe.result_queue and (pipe.write_path or len(sp) > 1):
            raise ConfigError(f"pipes.{pipe.name}.result_queue = 0: must be at least 1 unless the pipe is the only one "
                              "of its kind and has write path 0: its results may have to wait")
    if len({pipe.write_path for pipe in sp}) < len(sp):
        raise ConfigError(f"pipes: {', '.join(pipe.name for pipe in sp)} share a write path: each needs another, so "
                          "that its results have a turn")
    for port in range(max(pipe.dispatch_port for pipe in pipes) + 1):
        on_port = [pipe for pipe in pipes if pipe.dispatch_port == port]
        if len({pipe.sharing for pipe in on_port}) > 1:
            raise ConfigError(f"pipes: {', '.join(pipe.name for pipe in on_port)} differ in sharing on dispatch port "
                              f"{port}: a port chooses by one policy")
    *others, memory = pipes
    taking_turns = {pipe.write_path for pipe in others}
    if sp[0].result_queue and memory.write_path not in taking_turns and memory.write_path < max(taking_turns):
        raise ConfigError(f"pipes.{memory.name}.write_path = {memory.write_path}: must be the last one, or that of "
                          "another pipe: memory's path comes after those that take turns")


def changed_pipes(pipes: Sequence[PipeConfig], name: str, value: object) -> tuple[PipeConfig, ...]:
    """The pipes after a setting: ``pipe.field``, ``pipe.classes.class``, or ``timing.class`` for the class in all pipes
    that execute it; ``pipe.copy`` names a new pipe after this one, a copy of it. Raises `ConfigError` for another name,
    or an illegal value."""
    pipe_name, _, column = name.partition(".")
    if pipe_name == TIMING:
        found = [pipe for pipe in pipes if column in pipe.classes]
        if not found:
            raise ConfigError(f"timing.{shorten(column)}: must be one of {', '.join(CLASSES)}"
                              f"{nearest(column, CLASSES)}")
        column = f"classes.{column}"
    else:
        found = [pipe for pipe in pipes if pipe.name == pipe_name]
        if not found:
            names = ", ".join(pipe.name for pipe in pipes)
            raise ConfigError(f"pipes.{shorten(name)}: no such pipe; pipes are {names}")
    if column == "copy":
        at = pipes.index(found[0]) + 1
        return (*pipes[:at], _changed(found[0], "name", value), *pipes[at:])
    return tuple(_changed(pipe, column, value) if pipe in found else pipe for pipe in pipes)


def _changed(pipe: PipeConfig, column: str, value: object) -> PipeConfig:
    """The pipe after a setting of one of its fields, or of one of its classes."""
    head, _, timing_class = column.partition(".")
    if head == "classes" and timing_class:
        column, value = head, {**pipe.classes, timing_class: value}
    return _pipe_of({**vars(pipe), column: value})
