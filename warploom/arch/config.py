"""`SmConfig`: every parameter of one streaming multiprocessor, validated, and read from or written to TOML."""

import dataclasses
import tomllib
from dataclasses import dataclass, field, fields
from enum import StrEnum
from importlib import resources
from pathlib import Path
from typing import Any

from warploom.arch.errors import ConfigError, nearest
from warploom.arch.isa import TimingClass

LANES = 32
"""Threads of a warp, fixed: a warp register is 32 lanes of 32 bits."""

SUB_BANKS = 4
"""Sub-banks of a register bank, each 32 B wide (seed 000, Fig. 2.6)."""

COLUMNS = 32
"""Columns of a register bank, each 4 B wide, eight in each sub-bank: what gating enables one by one."""

GROUP = 4
"""Lanes whose bytes are reordered together (seed 000, Fig. 4.5)."""


class Scheduler(StrEnum):
    """How a warp scheduler chooses among ready warps."""

    LRR = "lrr"  # loose round robin
    GTO = "gto"  # greedy, then oldest
    TWO_LEVEL = "two_level"  # a small active set, refilled when a member waits on memory


class Layout(StrEnum):
    """Register-to-bank mapping (seed 000, Fig. 3.10); the formulas are in `warploom.arch.layout`."""

    WID = "wid"  # all registers of a warp in one bank
    WSHIFT = "wshift"  # registers of a warp interleaved across the banks


class Coalescing(StrEnum):
    """How the register file shares a bank access between narrow operands (seed 000, chapter 3)."""

    OFF = "off"  # one request for each bank and collector a cycle
    ON = "on"  # any two requests whose bytes do not meet
    CORF = "corf"  # two reads of one instruction, packed in one entry; golden model only
    CORF_PLUS = "corf_plus"  # CORF++: also two entries of opposite alignment; golden model only


class Alignment(StrEnum):
    """On which side of its entry a narrow register lies, with `Coalescing.ON` (seed 000, section 3.7.1)."""

    REG = "reg"  # even registers right, odd ones left
    WRITE = "write"  # the other side with each full write
    IDEAL = "ideal"  # sides never conflict, only widths count; golden model only
    UPPER_BOUND = "upper_bound"  # neither sides nor widths conflict; golden model only


class Gating(StrEnum):
    """What is not read, written or computed (seed 000, chapter 4). Each includes the one before."""

    OFF = "off"
    ACTIVE = "active"  # columns and lanes that no executing lane needs
    IN_LANE = "in_lane"  # lanes that are zero, by a zero mask with a bit for each lane; trivial operations
    CROSS_LANE = "cross_lane"  # also bytes that are zero in four neighbouring lanes

    @property
    def has_zero_mask(self) -> bool:
        """Whether a zero mask is kept for each warp register."""
        return self in (Gating.IN_LANE, Gating.CROSS_LANE)


class Bypass(StrEnum):
    """How values pass from one instruction of a warp to the next without the register file (seed 001, section IV)."""

    OFF = "off"
    BOW = "bow"  # a collector for each warp keeps what its last instructions read and wrote; write-through
    BOW_WR = "bow_wr"  # write-back: a value overwritten in the window is never written to the register file
    BOW_HINTS = "bow_hints"  # also, the compiler tells of each result whether collector or register file need it
    RFC = "rfc"  # a register file cache beside the register file; golden model only

    @property
    def has_window(self) -> bool:
        """Whether collectors belong to warps and keep a window of instructions."""
        return self in (Bypass.BOW, Bypass.BOW_WR, Bypass.BOW_HINTS)

    @property
    def has_hints(self) -> bool:
        """Whether instructions carry the compiler's hints."""
        return self is Bypass.BOW_HINTS

    @property
    def writes_back(self) -> bool:
        """Whether collectors hold values that the register file does not have."""
        return self in (Bypass.BOW_WR, Bypass.BOW_HINTS)


class Affine(StrEnum):
    """What executes once for a warp, on values that are base + lane * stride (seed 002, section 4)."""

    OFF = "off"  # every lane for itself
    A = "a"  # arithmetic
    AB = "ab"  # also comparisons, of which branches are made
    ABM = "abm"  # also loads find their addresses without a collector

    @property
    def is_on(self) -> bool:
        """Whether there is an affine register file."""
        return self is not Affine.OFF

    @property
    def has_branches(self) -> bool:
        """Whether comparisons are resolved from the first and the last lane."""
        return self in (Affine.AB, Affine.ABM)

    @property
    def has_memory(self) -> bool:
        """Whether loads with a compact address skip operand collection and coalescer."""
        return self is Affine.ABM


@dataclass(frozen=True)
class Timing:
    """Cycles of one instruction class: result at write-back `latency` cycles after dispatch, and the pipe
    takes the next instruction `interval` cycles after this one."""

    latency: int
    interval: int


FERMI_TIMING = {
    "int_add": (4, 1), "int_max": (13, 2), "int_mul": (4, 2), "int_mad": (5, 1), "int_div": (145, 8),
    "fp_add": (4, 1), "fp_max": (13, 2), "fp_mul": (4, 1), "fp_mad": (5, 1), "fp_div": (39, 4),
    "dp_add": (8, 8), "dp_max": (19, 16), "dp_mul": (8, 8), "dp_mad": (8, 8), "dp_div": (330, 130),
    "sfu": (8, 8), "mem": (1, 2),
}  # fmt: skip
"""GPGPU-Sim's GTX 480 latencies and initiation intervals; `mem` has only an interval (16 load/store lanes)."""


def _fermi_timing() -> dict[str, tuple[int, int]]:
    return dict(FERMI_TIMING)


@dataclass(frozen=True, kw_only=True)
class SmConfig:
    """One SM. Defaults are the `fermi` preset: Table 3.5 of seed 000 over GPGPU-Sim's GTX 480.

    Sizes are in the unit the name says; everything else counts things. Raises `ConfigError`, naming the field,
    its value and the legal range, when a value is illegal or two fields disagree.
    """

    name: str = "fermi"
    # warps and schedulers
    warps: int = 48
    blocks: int = 8
    schedulers: int = 2
    scheduler: Scheduler = Scheduler.TWO_LEVEL
    active_warps: int = 8  # of each two-level scheduler
    front_end_interval: int = 1  # cycles of the datapath to one of the schedulers
    # register file
    banks: int = 4
    rows: int = 256  # warp registers of one bank
    collectors: int = 4
    layout: Layout = Layout.WSHIFT
    coalescing: Coalescing = Coalescing.OFF
    alignment: Alignment = Alignment.REG
    gating: Gating = Gating.OFF  # of the lanes too
    bypass: Bypass = Bypass.OFF  # a window makes `collectors` what `warps` is
    window: int = 3  # instructions of a warp among which values are bypassed
    entries: int = 12  # warp registers that a collector keeps for it; the seed has four or two for each instruction
    affine: Affine = Affine.OFF  # a set of affine registers and lanes for each scheduler
    # execution
    timing: dict[str, tuple[int, int]] = field(default_factory=_fermi_timing, hash=False)
    sfu_queue: int = 32  # instructions in flight in the special-function pipe
    memory_queue: int = 8  # memory instructions dispatched but not yet taken by the load/store unit
    # memory
    shared_bytes: int = 49152
    shared_banks: int = 32
    shared_latency: int = 26
    l1_sets: int = 32
    l1_ways: int = 4
    line_bytes: int = 128
    l1_latency: int = 35
    mshrs: int = 32
    mshr_merges: int = 8
    memory_latency: int = 220  # beyond the L1: L2 round trip and DRAM
    memory_interval: int = 4  # cycles between lines from beyond the L1: this SM's share of the bandwidth

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.replace("-", "_").isidentifier():
            raise ConfigError(f"name = {self.name!r}: must be letters, digits, - and _: it names files")
        object.__setattr__(self, "scheduler", _enum("scheduler", Scheduler, self.scheduler))
        object.__setattr__(self, "layout", _enum("layout", Layout, self.layout))
        object.__setattr__(self, "coalescing", _enum("coalescing", Coalescing, self.coalescing))
        object.__setattr__(self, "alignment", _enum("alignment", Alignment, self.alignment))
        object.__setattr__(self, "gating", _enum("gating", Gating, self.gating))
        object.__setattr__(self, "bypass", _enum("bypass", Bypass, self.bypass))
        object.__setattr__(self, "affine", _enum("affine", Affine, self.affine))
        for name, low, high in RANGES:
            _check_range(name, getattr(self, name), low, high)
        for name in ("banks", "rows", "shared_banks", "l1_sets", "line_bytes"):
            value = getattr(self, name)
            if value & (value - 1):
                raise ConfigError(f"{name} = {value}: must be a power of two")
        if self.warps % self.schedulers:
            raise ConfigError(f"warps = {self.warps} and schedulers = {self.schedulers} disagree: "
                              "every scheduler owns the same number of warps")
        self._check_coalescing()
        self._check_gating()
        self._check_bypass()
        self._check_affine()
        self._check_timing()

    def _check_coalescing(self) -> None:
        if self.alignment is not Alignment.REG and self.coalescing is not Coalescing.ON:
            raise ConfigError(f"alignment = {self.alignment} and coalescing = {self.coalescing} disagree: "
                              "only coalescing = on gives registers a side")
        if self.coalescing in (Coalescing.CORF, Coalescing.CORF_PLUS) and self.layout is not Layout.WID:
            raise ConfigError(f"coalescing = {self.coalescing} and layout = {self.layout} disagree: "
                              "CORF needs all registers of a warp in one bank, layout = wid")

    def _check_gating(self) -> None:
        if self.gating is Gating.OFF:
            return
        if self.coalescing in (Coalescing.CORF, Coalescing.CORF_PLUS):
            raise ConfigError(f"gating = {self.gating} and coalescing = {self.coalescing} disagree: "
                              "CORF has no columns to gate; use coalescing = off or on")
        if self.alignment in (Alignment.IDEAL, Alignment.UPPER_BOUND):
            raise ConfigError(f"gating = {self.gating} and alignment = {self.alignment} disagree: "
                              "a bound has no columns to gate; use alignment = reg or write")

    def _check_bypass(self) -> None:
        if self.bypass is Bypass.OFF:
            return
        if self.coalescing in (Coalescing.CORF, Coalescing.CORF_PLUS):
            raise ConfigError(f"bypass = {self.bypass} and coalescing = {self.coalescing} disagree: "
                              "CORF's collectors take their operands from its own register file; "
                              "use coalescing = off or on")
        if self.alignment in (Alignment.IDEAL, Alignment.UPPER_BOUND):
            raise ConfigError(f"bypass = {self.bypass} and alignment = {self.alignment} disagree: "
                              "bounds are modelled with the baseline's collectors only; use alignment = reg or write")
        if self.bypass is Bypass.RFC and (self.coalescing, self.gating) != (Coalescing.OFF, Gating.OFF):
            other = "gating" if self.coalescing is Coalescing.OFF else "coalescing"
            raise ConfigError(f"bypass = rfc and {other} = {getattr(self, other)} disagree: the register file cache "
                              f"is a comparator on the baseline's register file; use {other} = off")
        if self.bypass.has_window:
            object.__setattr__(self, "collectors", self.warps)

    def _check_affine(self) -> None:
        if self.affine is Affine.OFF:
            return
        if self.coalescing in (Coalescing.CORF, Coalescing.CORF_PLUS):
            raise ConfigError(f"affine = {self.affine} and coalescing = {self.coalescing} disagree: CORF packs "
                              "registers at compile time, when nobody knows which are compact; "
                              "use coalescing = off or on")
        if self.alignment in (Alignment.IDEAL, Alignment.UPPER_BOUND):
            raise ConfigError(f"affine = {self.affine} and alignment = {self.alignment} disagree: "
                              "bounds are modelled without the affine unit only; use alignment = reg or write")
        if self.bypass is Bypass.RFC:
            raise ConfigError(f"affine = {self.affine} and bypass = rfc disagree: the register file cache is a "
                              "comparator on the baseline's front end; use bypass = off, bow, bow_wr or bow_hints")
        if self.schedulers & (self.schedulers - 1):
            raise ConfigError(f"affine = {self.affine} and schedulers = {self.schedulers} disagree: the affine "
                              "registers are divided among the schedulers; use a power of two")

    @property
    def affine_entries(self) -> int:
        """Registers of one set of the affine register file: one for each warp register of the scheduler's warps."""
        return self.banks * self.rows // self.schedulers

    @property
    def has_address_slot(self) -> bool:
        """Whether loads with a compact address wait for dispatch in a place of their own, without operand storage.
        With a window they wait in the collector of their warp, which others do not use."""
        return self.affine.has_memory and not self.bypass.has_window

    @property
    def holders(self) -> int:
        """Places in which an instruction waits for its dispatch: the collectors, and the address slot after them."""
        return self.collectors + self.has_address_slot

    def check_hardware(self) -> None:
        """Raise `ConfigError` when the configuration exists in the golden model only."""
        if self.bypass is Bypass.RFC:
            raise ConfigError("bypass = rfc: a comparator of the golden model, without hardware; "
                              "use off, bow, bow_wr or bow_hints")
        if self.coalescing in (Coalescing.CORF, Coalescing.CORF_PLUS):
            raise ConfigError(f"coalescing = {self.coalescing}: a comparator of the golden model, without hardware; "
                              "use off or on")
        if self.alignment in (Alignment.IDEAL, Alignment.UPPER_BOUND):
            raise ConfigError(f"alignment = {self.alignment}: a bound of the golden model, without hardware; "
                              "use reg or write")

    def _check_timing(self) -> None:
        wanted = {c.name.lower() for c in TimingClass}
        if not isinstance(self.timing, dict):
            raise ConfigError(f"timing = {self.timing!r}: must be a table, class = [latency, interval] in cycles")
        if odd := sorted(self.timing.keys() ^ wanted):
            raise ConfigError(f"timing: {odd[0]}: must list exactly {', '.join(sorted(wanted))}")
        checked = {}
        for name, pair in self.timing.items():
            if not (isinstance(pair, list | tuple) and len(pair) == 2):
                raise ConfigError(f"timing.{name} = {pair!r}: must be [latency, interval] in cycles")
            on_sp = TimingClass[name.upper()].on_sp
            _check_range(f"timing.{name} latency", pair[0], MINIMUM_LATENCY if on_sp else 1, 64 if on_sp else 1023)
            _check_range(f"timing.{name} interval", pair[1], 1, 255)
            checked[name] = (pair[0], pair[1])
        object.__setattr__(self, "timing", checked)

    def timing_of(self, timing_class: TimingClass) -> Timing:
        """Latency and initiation interval of a class, in cycles."""
        return Timing(*self.timing[timing_class.name.lower()])

    @property
    def register_file_bytes(self) -> int:
        """Capacity of the register file in bytes."""
        return self.banks * self.rows * LANES * 4

    def with_settings(self, settings: list[str]) -> "SmConfig":
        """A copy with each ``field=value`` of the list applied; values are TOML or bare words."""
        changes: dict[str, Any] = {}
        for setting in settings:
            name, equals, text = setting.partition("=")
            if not equals:
                raise ConfigError(f"{setting!r}: write a setting as field=value")
            name = name.strip()
            table, dot, key = name.partition(".")
            if dot and table == "timing":
                changes.setdefault("timing", dict(self.timing))[key] = _toml_value(name, text)
            else:
                changes[name] = _toml_value(name, text)
        return _build({**_plain(self), **changes}, "--set")

    def to_toml(self) -> str:
        """The configuration as TOML text that `from_toml` reads back to an equal configuration."""
        plain = _plain(self)
        timing = plain.pop("timing")
        lines = [f"{name} = {_toml_text(value)}" for name, value in plain.items()]
        lines += ["", "[timing]  # class = [latency, initiation interval], cycles"]
        lines += [f"{name} = [{latency}, {interval}]" for name, (latency, interval) in timing.items()]
        return "\n".join(lines) + "\n"

    @classmethod
    def from_toml(cls, text: str, where: str = "<toml>") -> "SmConfig":
        """Read a configuration; fields that the text leaves out keep the `fermi` values."""
        try:
            table = tomllib.loads(text)
        except (ValueError, RecursionError) as error:  # RecursionError: brackets without end
            raise ConfigError(f"{where}: not TOML: {error}") from None
        if isinstance(table.get("timing"), dict):
            table["timing"] = {**FERMI_TIMING, **table["timing"]}
        return _build(table, where)

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
            raise ConfigError(f"preset = {name!r}: must be one of {', '.join(presets())}, or a path ending in .toml")
        return cls.from_toml((_PRESETS / f"{name}.toml").read_text(), f"preset {name}")


MINIMUM_LATENCY = 4
"""Cycles from dispatch to write-back of the fastest instruction: three execution stages, then write-back."""

RANGES = [
    ("warps", 1, 64), ("blocks", 1, 32), ("schedulers", 1, 4), ("active_warps", 1, 64), ("front_end_interval", 1, 8),
    ("banks", 1, 32),
    ("rows", 16, 4096), ("collectors", 1, 64), ("window", 2, 8), ("entries", 4, 32),
    ("sfu_queue", 1, 255), ("memory_queue", 1, 255),
    ("shared_bytes", 0, 1 << 20), ("shared_banks", 1, 128), ("shared_latency", 1, 1023), ("l1_sets", 1, 1024),
    ("l1_ways", 1, 32), ("line_bytes", 32, 256), ("l1_latency", 1, 1023), ("mshrs", 1, 1024), ("mshr_merges", 1, 64),
    ("memory_latency", 1, 10000), ("memory_interval", 1, 1000),
]  # fmt: skip
"""Integer fields with their lowest and highest legal values."""

_PRESETS = resources.files("warploom.arch") / "presets"


def presets() -> list[str]:
    """Names of the bundled presets."""
    return sorted(entry.name.removesuffix(".toml") for entry in _PRESETS.iterdir() if entry.name.endswith(".toml"))


def _check_range(name: str, value: object, low: int, high: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise ConfigError(f"{name} = {value!r}: must be a whole number from {low} to {high}")


def _enum(name: str, kind: type[StrEnum], value: object) -> Any:
    legal = [member.value for member in kind]
    if value not in legal:
        raise ConfigError(f"{name} = {value!r}: must be one of {', '.join(legal)}")
    return kind(value)


def _plain(config: SmConfig) -> dict[str, Any]:
    return {f.name: getattr(config, f.name) for f in fields(SmConfig)}


def _build(table: dict[str, Any], where: str) -> SmConfig:
    known = {f.name for f in fields(SmConfig)}
    for name in table:
        if name not in known:
            raise ConfigError(f"{where}: {name!r} is not a configuration field; fields are {', '.join(sorted(known))}"
                              f"{nearest(name, known)}")
    try:
        return dataclasses.replace(SmConfig(), **table)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None


def _toml_value(name: str, text: str) -> Any:
    """A TOML value; a bare word (an enum member) is taken as a string."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        if text.strip().replace("_", "").replace("-", "").isalnum():
            return text.strip()
        raise ConfigError(f"{name} = {text}: not a TOML value") from None


def _toml_text(value: object) -> str:
    return str(value) if isinstance(value, int) else f'"{value}"'
