"""The documents of ``warploom evaluate --json`` and ``warploom sweep --json`` (docs/json.md), as far as the report
shows them.

Keys that are not named here are ignored, and figures that a document lacks are left out.
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec

from warploom.arch.errors import WarploomError, shorten
from warploom.evaluation.published import Published
from warploom.report import SCHEMA_VERSION

SWEEP = "sweep"

VERBS = ("evaluate", SWEEP)
"""The commands whose documents are read."""


class DocumentError(WarploomError):
    """A file is not a document of the evaluation."""


class Series(msgspec.Struct):
    """One bar of each workload; `average` is the first of `averages`, `settings` are the runs that a bar is computed
    from."""

    kernels: dict[str, float]
    average: float
    averages: dict[str, float] = {}
    published: str | None = None
    settings: list[str] = []

    def __post_init__(self) -> None:
        try:
            Published.of(0 if self.published is None else self.published)
        except ValueError as error:
            raise ValueError(f"published: {error}") from None


class Figure(msgspec.Struct):
    """A figure, or a row of a table, of a source."""

    figure: str
    title: str
    series: dict[str, Series]
    note: str = ""
    stacked: bool = False


class Unit(msgspec.Struct):
    """A unit of the hardware: logic of one instance, and its longest path, empty `end` without one."""

    unit: str
    instances: int
    logic_um2: float
    sram_bits: int
    delay_ps: float
    start: str
    end: str


class Comparison(msgspec.Struct):
    """A unit without and with a mechanism; None where there is none."""

    unit: str
    before: Unit | None
    after: Unit | None
    added_um2: float


class Area(msgspec.Struct):
    """An area behind the energy of logic, by its key in energy.toml."""

    key: str
    um2: float


class Point(msgspec.Struct):
    """A machine of a sweep; `front` if no other is better."""

    values: dict[str, str]
    speed: float
    energy_pj: float
    storage_bits: float
    front: bool
    ghz: float | None = None
    area_um2: float | None = None


Record = dict[str, str | float]
"""A row of a table."""

Value = str | float | list[float] | None
"""What a table of an experiment's own has in a cell."""

Entry = dict[str, Value]
"""A row of such a table."""


class Energy(msgspec.Struct):
    """The energy of the register file under a setting, by part, in percent of that of its baseline."""

    setting: str
    macros: float
    wires: float
    registers: float
    selection: float
    clock: float
    overhead: float


class Pressure(msgspec.Struct):
    """What schedulers do with their cycles, of a kernel under a setting, in percent."""

    kernel: str
    setting: str
    issuing: float
    collector: float
    port: float
    other: float


class Sensitivity(msgspec.Struct):
    """A figure of energy with the least and with the most value of an assumption, and with the usual one."""

    figure: str
    published: str
    ours: float
    assumption: str
    least: float
    most: float
    with_least: float = msgspec.field(name="with least")
    with_most: float = msgspec.field(name="with most")


Widths = Annotated[list[float], msgspec.Meta(min_length=4, max_length=4)]
"""Counts of values of 1 to 4 bytes."""


class Run(msgspec.Struct):
    """What is shown of the statistics of a run; a page has all of them."""

    stalls: dict[str, float]
    source_widths: Widths
    destination_widths: Widths


class Pipe(msgspec.Struct):
    """What is used of a pipe: its name, and latency and interval by timing class."""

    name: str
    classes: dict[str, tuple[int, int]] = {}


class Machine(msgspec.Struct):
    """What is used of a configuration: pipes, for a GPU those of its SMs."""

    pipes: list[Pipe] = []
    sm: "Machine | None" = None


class Used(msgspec.Struct):
    """The parts of a document that are kept as they are: runs, by workload and setting, and the configuration."""

    runs: dict[str, dict[str, Run]] = {}
    configuration: Machine | None = None


class Document(msgspec.Struct):
    """What an experiment, or a sweep, found. `groups` are the workloads of each average; `runs` are statistics, by
    workload and setting; `settings` how to repeat them; `options` choose the machine of the experiment."""

    schema: int
    verb: str
    version: str
    experiment: str
    commit: str | None = None
    size: str | None = None
    blocks: int | None = None
    configuration: dict[str, Any] | None = None
    options: list[str] = []
    failure: str | None = None
    figures: list[Figure] = []
    groups: dict[str, list[str]] = {}
    runs: dict[str, dict[str, dict[str, Any]]] = {}
    settings: dict[str, list[str]] = {}
    pressure: list[Pressure] = []
    energy: list[Energy] = []
    sensitivity: list[Sensitivity] = []
    overheads: list[Record] | dict[str, list[Record]] = []
    affine_registers: list[Record] = []
    calibration: list[Record] = []
    units: list[Comparison] = []
    coalescing_units: list[Comparison] = []
    gating_units: list[Comparison] = []
    affine_units: list[Comparison] = []
    network_units: list[Comparison] = []
    areas: list[Area] = []
    points: list[Point] = []
    averages: list[Record] = []
    combinations: list[Record] = []
    samples: list[Record] = []
    table_3: list[Entry] = []
    engine_units: list[Comparison] = []
    engine_kinds: list[Entry] = []
    engine_energy: list[Entry] = []
    engine_parts: list[Entry] = []
    by_sm: list[Entry] = []
    predictions: list[Entry] = []
    bounds: list[Entry] = []
    power: list[Entry] = []
    chip: str = ""
    programs: list[Entry] = []
    agreements: list[Entry] = []
    latencies: list[Entry] = []
    code: list[Entry] = []

    @property
    def preset(self) -> str | None:
        """The name of the configuration."""
        return None if self.configuration is None else str(self.configuration.get("name", ""))

    @property
    def of_gpu(self) -> bool:
        """Whether the configuration is that of a GPU."""
        return self.configuration is not None and "sm" in self.configuration

    @property
    def workloads(self) -> list[str]:
        """The programs and kernels whose bars the figures have; without figures, those of all groups, or those beside
        which there is a chip."""
        drawn = [name for figure in self.figures for series in figure.series.values() for name in series.kernels]
        grouped = [name for group in self.groups.values() for name in group]
        return list(dict.fromkeys(drawn or grouped or [str(entry["workload"]) for entry in self.programs]))


def read(path: Path) -> Document:
    """The document in a file. Raises `DocumentError`, and `OSError`."""
    try:
        text = path.read_text(encoding="utf-8")
        return checked(json.loads(text, parse_constant=_refuse, parse_float=_finite), str(path))
    except (ValueError, RecursionError) as error:  # RecursionError: brackets nested too deeply
        raise DocumentError(f"{path}: not JSON: {shorten(str(error))}") from None


def checked(document: Mapping[str, Any], where: str) -> Document:
    """A document, its keys and their types checked; `where` names it. Raises `DocumentError`."""
    if not isinstance(document, Mapping) or document.get("verb") not in VERBS:
        raise DocumentError(f"{where}: not a document of warploom evaluate --json FILE, or of sweep")
    if document.get("schema") != SCHEMA_VERSION:
        raise DocumentError(f"{where}: schema {shorten(repr(document.get('schema')))}: this version reads "
                            f"{SCHEMA_VERSION}; run the experiment again")
    if "documents" in document:
        raise DocumentError(f"{where}: a document of several experiments: give the documents that it names")
    named = {"experiment": SWEEP, **document} if document["verb"] == SWEEP else document
    try:
        msgspec.convert(named, Used)
        return msgspec.convert(named, Document)
    except msgspec.ValidationError as error:
        raise DocumentError(f"{where}: not as docs/json.md describes it: {error}") from None


def _finite(number: str) -> float:
    """A number, if it is not too large for one: Python would read infinity."""
    return value if math.isfinite(value := float(number)) else _refuse(number)


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not a number")
