"""`SmConfig`: every parameter of one streaming multiprocessor, validated."""

import dataclasses
from dataclasses import dataclass, field, fields
from functools import cached_property
from importlib import resources
from itertools import accumulate
from pathlib import Path
from typing import Any, NoReturn

from warploom.arch import config_text
from warploom.arch.errors import ConfigError, shown
from warploom.arch.isa import Pipe, TimingClass
from warploom.arch.mechanisms import (
    MECHANISMS,
    SWITCHES,
    Affine,
    Alignment,
    Bypass,
    Coalescing,
    Gating,
    Hinting,
    Layout,
    Renaming,
    Saturation,
    Scheduler,
    Transient,
)
from warploom.arch.mechanisms.descriptor import Conflict
from warploom.arch.parameters import (
    AFFINE,
    GTX_480,
    KEY,
    OURS,
    PARTS,
    TABLE_3_5,
    Parameter,
    check_range,
    choice,
    number,
    parameters,
)
from warploom.arch.pipes import (
    CLASSES,
    NARROW_PIPES,
    PIPE_PARAMETERS,
    PIPES,
    TIMING,
    PipeConfig,
    Sharing,
    Timing,
    WritePaths,
    checked_pipes,
)

FRONT_END, REGISTER_FILE, OPERANDS, _, MEMORY, _ = PARTS

LANES = 32
"""Threads of a warp, fixed: a warp register is 32 lanes of 32 bits."""

SUB_BANKS = 4
"""Sub-banks of a register bank, each 32 B wide ([RADAIDEH], Fig. 2.6)."""

COLUMNS = 32
"""Columns of a register bank, each 4 B wide, eight in each sub-bank: what gating enables one by one."""

GROUP = 4
"""Lanes whose bytes are reordered together ([RADAIDEH], Fig. 4.5)."""


@dataclass(frozen=True, kw_only=True)
class SmConfig:
    """One SM. Defaults are the `narrow` preset: Table 3.5 of [RADAIDEH] over GPGPU-Sim's GTX 480.

    Sizes are in the unit in their name; all others are numbers. Raises `ConfigError`, with the field, its value and the
    legal range, if a value is illegal or two fields contradict each other.
    """

    name: str = "narrow"

    warps: int = number(48, FRONT_END, "warp slots", (1, 64), TABLE_3_5)
    blocks: int = number(8, FRONT_END, "thread block slots", (1, 32), TABLE_3_5)
    schedulers: int = number(2, FRONT_END, "warp schedulers, which share the warps evenly", (1, 4), TABLE_3_5)
    issue_ports: int = number(
        1, FRONT_END, "issue ports, which the schedulers share evenly", (1, 4), OURS, is_power=True)
    issue_per_warp: int = number(
        1, FRONT_END, "instructions of a warp that may issue in a cycle; with a window 1", (1, 2), "[BOW], section II")
    scheduler: Scheduler = choice(SWITCHES["scheduler"])
    active_warps: int = number(
        8, FRONT_END, "active set of a two_level scheduler, or group of the launch hint 3 or of cta_aware, in warps",
        (1, 64), OURS)
    front_end_interval: int = number(
        1, FRONT_END, "cycles of the datapath to one of the schedulers", (1, 8), AFFINE, unit="cycles")
    hints: Hinting = choice(SWITCHES["hints"])

    banks: int = number(4, REGISTER_FILE, "register banks", (1, 32), TABLE_3_5, is_power=True)
    rows: int = number(256, REGISTER_FILE, "warp registers of one bank", (16, 4096), TABLE_3_5, is_power=True)
    layout: Layout = choice(SWITCHES["layout"])
    coalescing: Coalescing = choice(SWITCHES["coalescing"])
    alignment: Alignment = choice(SWITCHES["alignment"])
    gating: Gating = choice(SWITCHES["gating"])
    bank_ports: int = number(1, REGISTER_FILE, "1: a port that reads or writes; 2: one to read, one to write", (1, 2),
                             OURS)
    tfet_rows: int = number(0, REGISTER_FILE, "TFET rows of each bank, the last ones; an access takes two cycles",
                            (0, 4096), "[TFET]")
    renaming: Renaming = choice(SWITCHES["renaming"])
    drowsy: int = number(0, REGISTER_FILE, "to wake the registers of a warp that waited for memory", (0, 64),
                         "[TFET]", unit="cycles")

    collectors: int = number(4, OPERANDS, "operand collectors; with a window one for each warp", (1, 64), TABLE_3_5)
    arrival_delay: int = number(
        1, OPERANDS, "from an instruction's last operand to its dispatch, at least", (0, 1), OURS,
        unit="cycles")
    turnaround: int = number(
        1, OPERANDS, "from a dispatch to the collector's next instruction, at least", (0, 1), OURS,
        unit="cycles")
    sfu_collectors: int = number(
        0, OPERANDS, "collectors of SFU alone, of all; 0: the general ones serve it; with a window 0", (0, 63), OURS)
    mem_collectors: int = number(
        0, OPERANDS, "collectors of MEM alone, of all; 0: the general ones serve it; with a window 0", (0, 63), OURS)
    bypass: Bypass = choice(SWITCHES["bypass"])
    window: int = number(3, OPERANDS, "instructions of a warp among which values are bypassed", (2, 8), "[BOW]")
    entries: int = number(
        12, OPERANDS, "warp registers that a collector keeps; two or four for each instruction", (4, 32), "[BOW]")
    transient: Transient = choice(SWITCHES["transient"])

    pipes: tuple[PipeConfig, ...] = field(
        default=NARROW_PIPES, metadata={KEY: Parameter(PIPES, "the execution pipes, a list", GTX_480)})

    shared_bytes: int = number(49152, MEMORY, "shared memory", (0, 1 << 20), TABLE_3_5, unit="bytes")
    shared_banks: int = number(32, MEMORY, "banks of shared memory", (1, 128), GTX_480, is_power=True)
    shared_latency: int = number(26, MEMORY, "shared memory, from request to data", (1, 1023), GTX_480, unit="cycles")
    l1_sets: int = number(32, MEMORY, "sets of the L1 cache", (1, 1024), TABLE_3_5, is_power=True)
    l1_ways: int = number(4, MEMORY, "ways of the L1 cache", (1, 32), TABLE_3_5)
    line_bytes: int = number(128, MEMORY, "cache line", (32, 256), GTX_480, unit="bytes", is_power=True)
    l1_latency: int = number(35, MEMORY, "L1 cache, from request to data of a hit", (1, 1023), GTX_480, unit="cycles")
    mshrs: int = number(32, MEMORY, "lines that may be missing at once", (1, 1024), GTX_480)
    mshr_merges: int = number(8, MEMORY, "requests that wait for one line", (1, 64), GTX_480)
    memory_latency: int = number(
        220, MEMORY, "beyond the L1: L2 round trip and DRAM", (1, 10000), GTX_480, unit="cycles")
    memory_interval: int = number(
        4, MEMORY, "between lines from beyond the L1: this SM's share of the bandwidth", (1, 1000), OURS, unit="cycles")
    saturation: Saturation = choice(SWITCHES["saturation"])

    affine: Affine = choice(SWITCHES["affine"])

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.replace("-", "_").isidentifier():
            raise ConfigError(f"name = {shown(self.name)}: must be letters, digits, - and _: it names files")
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

    @property
    def affine_entries(self) -> int:
        """Registers of one set of the affine register file: one for each warp register of the scheduler's warps."""
        return self.banks * self.rows // self.schedulers

    @property
    def has_sides(self) -> bool:
        """Whether a warp register is stored on the right or the left of its row, so that a bank takes an access on
        each side."""
        return self.coalescing is Coalescing.ON

    @property
    def packs_registers(self) -> bool:
        """Whether two registers of an instruction may be packed in one row."""
        return self.coalescing in (Coalescing.CORF, Coalescing.CORF_PLUS)

    @property
    def packs_across(self) -> bool:
        """Whether two rows of opposite alignment may be read at once if registers are packed."""
        return self.coalescing is Coalescing.CORF_PLUS

    @property
    def stores_sides(self) -> bool:
        """Whether the side of a register is stored, and does not follow from its number."""
        return self.alignment is Alignment.WRITE

    @property
    def has_zero_mask(self) -> bool:
        """Whether each warp register has a zero mask."""
        return self.gating.has_zero_mask

    @property
    def zeros_by_granule(self) -> bool:
        """Whether zero masks are by byte position in groups of lanes, and not by lane."""
        return self.gating is Gating.CROSS_LANE

    @property
    def gates_columns(self) -> bool:
        """Whether columns of banks and of operand registers are enabled one by one."""
        return self.gating is not Gating.OFF

    @property
    def has_window(self) -> bool:
        """Whether each warp has its own collector, with the registers of its last instructions."""
        return self.bypass.has_window

    @property
    def has_register_cache(self) -> bool:
        """Whether there is a register file cache."""
        return self.bypass is Bypass.RFC

    @property
    def writes_back(self) -> bool:
        """Whether collectors hold values that the register file does not have."""
        return self.bypass.writes_back

    @property
    def has_hints(self) -> bool:
        """Whether instructions carry the compiler's hints for their results."""
        return self.bypass.has_hints

    @property
    def reorders(self) -> bool:
        """Whether a warp that waits for memory goes on by the compiler's hints."""
        return self.hints in (Hinting.ON, Hinting.SHORT_COPIES)

    @property
    def has_short_copies(self) -> bool:
        """Whether copies of renamed results skip the execution stages."""
        return self.hints is Hinting.SHORT_COPIES

    @property
    def searches(self) -> bool:
        """Whether a warp that waits for memory goes on with what its hardware finds."""
        return self.hints is Hinting.PREEXECUTION

    @property
    def gives_priority(self) -> bool:
        """Whether one warp's memory instructions go first while memory is saturated."""
        return self.saturation is Saturation.MASCAR

    @property
    def renames(self) -> bool:
        """Whether registers are renamed into rows of their bank."""
        return self.renaming is not Renaming.OFF

    @property
    def predicts_stalls(self) -> bool:
        """Whether there is a stall predictor."""
        return self.renaming is Renaming.MEM_RA

    @property
    def cmos_rows(self) -> int:
        """CMOS rows of each bank, the first ones; those behind them are slow."""
        return self.rows - self.tfet_rows

    @property
    def collector_sets(self) -> tuple[range, ...]:
        """The numbers of the collectors of each set: the general one first, then those of SFU and of MEM."""
        sizes = [self.sfu_collectors, self.mem_collectors]
        ends = list(accumulate([self.collectors - sum(sizes), *filter(None, sizes)]))
        return tuple(map(range, [0, *ends], ends))

    def collector_set(self, kind: Pipe) -> int:
        """The number of the set of collectors for the instructions of a kind of pipe."""
        if kind is Pipe.SFU and self.sfu_collectors:
            return 1
        return len(self.collector_sets) - 1 if kind is Pipe.MEM and self.mem_collectors else 0

    @property
    def shows_claims(self) -> bool:
        """Whether the datapath shows how many collectors are free, so that issue ports need no `ready`."""
        return not self.has_window and (self.issue_inputs > 1 or len(self.collector_sets) > 1)

    @property
    def has_unallocated(self) -> bool:
        """Whether there are registers without a row in the register file, for transient values."""
        return self.transient is Transient.ON

    @property
    def waiting_instructions(self) -> int:
        """Maximum instructions in one collector: those of a window, or one."""
        return self.window if self.has_window else 1

    @property
    def has_compact_slots(self) -> bool:
        """Whether an instruction may get base and stride of a source instead of reading it."""
        return self.affine.is_on

    @property
    def lane_stages(self) -> int:
        """Stages of an integer lane. With compact slots there is one more, in front: it holds the operands, since they
        are expanded in the cycle before."""
        return MINIMUM_LATENCY - 1 + self.has_compact_slots

    @cached_property
    def timed_pipes(self) -> tuple[PipeConfig, ...]:
        """The pipes, with the lanes that an instruction has, and with the latencies that the classes of the integer
        lanes have: not less than the lanes take."""
        least = self.lane_stages + 1
        return tuple(
            dataclasses.replace(pipe, classes={
                name: (max(latency, least), interval) if name in LANE_CLASSES else (latency, interval)
                for name, (latency, interval) in pipe.classes.items()})
            for pipe in self._parted_pipes)

    @property
    def _parted_pipes(self) -> tuple[PipeConfig, ...]:
        """The pipes, with the lanes that an instruction has: those of a part."""
        return tuple(dataclasses.replace(pipe, lanes=pipe.lanes // self.parts_of(pipe)) for pipe in self.pipes)

    def parts_of(self, pipe: PipeConfig) -> int:
        """The parts of a pipe, each with lanes of its own: one for each scheduler if it is shared evenly."""
        return self.schedulers if pipe.sharing is Sharing.EVEN else 1

    @property
    def shares_pipes(self) -> bool:
        """Whether there are pipes that all schedulers share by a policy."""
        return any(pipe.is_shared for pipe in self.pipes)

    @property
    def has_address_slot(self) -> bool:
        """Whether loads with a compact address wait for dispatch in an address slot, without operand storage. With a
        window they wait in the collector of their warp."""
        return self.affine.has_memory and not self.bypass.has_window

    @property
    def has_pairs(self) -> bool:
        """Whether two instructions of a warp may issue in a cycle."""
        return self.issue_per_warp > 1

    @property
    def issue_inputs(self) -> int:
        """The number of issue inputs, over each of which an instruction may enter the datapath in a cycle; those of a
        port are neighbours."""
        return self.issue_ports * self.issue_per_warp

    @property
    def address_slots(self) -> int:
        """The number of address slots: one for each issue port."""
        return self.issue_ports if self.has_address_slot else 0

    @property
    def holders(self) -> int:
        """The number of holders, in which instructions wait for dispatch: collectors, and address slots after them."""
        return self.collectors + self.address_slots

    @property
    def scheduler_warps(self) -> int:
        """The number of warp slots of a scheduler."""
        return self.warps // self.schedulers

    @property
    def divides_metadata(self) -> bool:
        """Whether a register has another address in the metadata tables than in the banks: with several issue ports,
        among which they are divided, and with renaming."""
        return (self.issue_ports > 1 or self.renames) and (self.has_sides or self.has_zero_mask)

    @property
    def writers(self) -> tuple[str, ...]:
        """The names of the pipes, each of which has a write latch."""
        return tuple(pipe.name for pipe in self.pipes)

    @property
    def write_paths(self) -> WritePaths:
        """The numbers of the pipes that share each path to the banks."""
        pipes = self.pipes
        paths = sorted({pipe.write_path for pipe in pipes})
        return tuple(tuple(i for i, pipe in enumerate(pipes) if pipe.write_path == path) for path in paths)

    @property
    def rotating_paths(self) -> int:
        """The number of paths, the first ones, that take turns: if results of SP may wait, those of SP and SFU."""
        if not self.pipes[0].result_queue:
            return 1
        return len({pipe.write_path for pipe in self.pipes if pipe.kind is not Pipe.MEM})

    @property
    def dispatch_ports(self) -> dict[str, tuple[int, ...]]:
        """The numbers of the pipes that each dispatch port serves, by its name."""
        ports = sorted({pipe.dispatch_port for pipe in self.pipes})
        return {"dispatch" if len(ports) == 1 else f"dispatch_{port}":
                tuple(i for i, pipe in enumerate(self.pipes) if pipe.dispatch_port == port) for port in ports}

    @property
    def queues_grow(self) -> bool:
        """Whether result queues are as long as they need to be: those of comparators, whose write latches may wait for
        more than their turn. They have no hardware."""
        return self.packs_registers or self.has_register_cache

    def numbers(self, kind: Pipe) -> tuple[int, ...]:
        """The numbers of the pipes of a kind: their positions in the list."""
        return tuple(i for i, pipe in enumerate(self.pipes) if pipe.kind is kind)

    def serving(self, timing_class: TimingClass, warp: int) -> tuple[int, ...]:
        """The numbers of the pipes that execute instructions of a class of the warp in a slot: first the one that its
        scheduler owns, then the shared ones."""
        having = [i for i, pipe in enumerate(self.pipes) if timing_class.name.lower() in pipe.classes]
        own = [i for i in having if not self.pipes[i].is_shared]
        owned = own[warp % self.schedulers % len(own):][:1] if own else []
        return (*owned, *(i for i in having if self.pipes[i].is_shared))

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
        if name.endswith(".toml"):
            try:
                text = Path(name).read_text(encoding="utf-8")
            except (OSError, ValueError) as error:  # ValueError: no text, or no path
                reason = error.strerror if isinstance(error, OSError) else error
                raise ConfigError(f"{name}: {reason}: name a preset ({', '.join(presets())}) "
                                  "or a TOML file") from None
            return cls.from_toml(text, name)
        if name not in presets():
            raise ConfigError(f"preset = {shown(name)}: must be one of {', '.join(presets())}, "
                              "or a path ending in .toml")
        return cls.from_toml((_PRESETS / f"{name}.toml").read_text(), f"preset {name}")


MOST_BUSY = 1023
"""Cycles between two instructions of a pipe, at most."""

MINIMUM_LATENCY = 4
"""Cycles from dispatch to write-back of the fastest instruction: three execution stages, then write-back."""

LANE_CLASSES = frozenset(kind.name.lower() for kind in TimingClass if kind <= TimingClass.INT_MAD)
"""The classes of the operations of the integer lanes."""

PARAMETERS = parameters(SmConfig)
"""The parameters by field name, without the configuration's own name."""

DEFAULT_PRESET = "fermi"
"""The SM that is used if none is named."""

_PRESETS = resources.files("warploom.arch") / "presets"


def presets() -> list[str]:
    """Names of the bundled presets."""
    return sorted(entry.name.removesuffix(".toml") for entry in _PRESETS.iterdir() if entry.name.endswith(".toml"))


def flat(config: SmConfig) -> dict[str, str]:
    """Every field in the format of a setting; those of a pipe by its name, those of a class by the name of the
    class."""
    values = {f.name: str(getattr(config, f.name)) for f in fields(SmConfig) if f.name != PIPES}
    for pipe in config.pipes:
        values |= {f"{pipe.name}.{name}": str(getattr(pipe, name)) for name in PIPE_PARAMETERS if name != "classes"}
    timing = {name: pair for pipe in config.pipes for name, pair in pipe.classes.items()}
    return values | {f"{TIMING}.{name}": f"[{latency}, {interval}]" for name, (latency, interval) in timing.items()}


def _build(table: dict[str, Any], where: str) -> SmConfig:
    """A configuration with the given fields. Raises `ConfigError`, which names their origin."""
    config_text.check_names(table, where, [f.name for f in fields(SmConfig)])
    try:
        return dataclasses.replace(SmConfig(), **table)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None
