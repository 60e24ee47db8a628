"""Synthesis of a configuration's datapath, unit by unit: Amaranth → RTLIL → Yosys and ABC → areas and longest paths."""

import dataclasses
import tempfile
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from importlib import metadata
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from warploom import processes, store
from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError
from warploom.rtl import verilog
from warploom.rtl.shared import module_name
from warploom.store import Key, Kind
from warploom.synth import liberty as cells
from warploom.synth import yosys
from warploom.synth.closure import close
from warploom.synth.design import Design, Unit, elaborate
from warploom.synth.fanout import buffer
from warploom.synth.liberty import Library
from warploom.synth.mapping import Mapped, map_module
from warploom.synth.netlist import MACRO, Flat, Linker, macro_shape
from warploom.synth.report import Report, Row
from warploom.synth.sram import Macro
from warploom.synth.sta import Timer

WORKERS = 2
TOP = "Datapath"


def synthesise(config: SmConfig, units: Sequence[str] | None = None, liberty: Path | None = None, *,
               top: str = TOP, flat: bool = False) -> Report:
    """Area and longest path of each unit of the datapath.

    `units` limits the report to some modules, by name (``Collector`` or ``collector``), or to one that is dissolved in
    its parent, which is then synthesised by itself and shown with its parts; `liberty` is the user's
    library; `top` is another unit than the datapath, including its parts; `flat` dissolves all hierarchy, so that logic
    is optimised across units (slower, one row). Results are cached, down to single modules. Raises `ConfigError` for a
    configuration without hardware, an unknown unit or an unusable library, `ToolError` when a tool fails or is missing.
    """
    config.check_hardware()
    library = cells.load(liberty)
    wanted = None if units is None else [module_name(unit) for unit in units]
    known = {module_name(unit): unit for unit in verilog.UNITS}
    for unit in units or ():
        if module_name(unit) not in known and not unit.islower():  # modules that are no units have small letters
            raise verilog.unknown(unit)

    def make(folder: Path) -> str:
        design, shown = _elaborate(config, top, folder, flat=flat), wanted
        dissolved = [name for name in wanted or () if name in known and name not in design.kept]
        if dissolved:
            if len(units or ()) > 1:
                raise ConfigError(f"unit = {known[dissolved[0]]}: it is dissolved in its parent; ask for it alone")
            design, shown = _elaborate(config, known[dissolved[0]], folder, flat=flat), None
        return synthesise_design(design, config.name, shown, library, flat=flat).to_json()

    return store.text(_key(top, config, library, units=wanted, flat=flat), make, Report.from_json)


def glue(config: SmConfig) -> Row:
    """The logic that connects the units of the datapath: that of its own module, with all joints, without kept modules
    and without a path. Raises what `synthesise` raises."""
    config.check_hardware()
    library = cells.load(None)

    def make(folder: Path) -> str:
        row = glue_of(joined(config, folder), library)
        return Report(config.name, library.name, library.conditions, False, (row,)).to_json()

    return store.text(_key("glue", config, library), make, Report.from_json).rows[0]


def joined(config: SmConfig, folder: Path) -> Design:
    """The datapath, of which large joints are parts, too."""
    return _elaborate(config, TOP, folder, joints=verilog.JOINTS | verilog.LARGE_JOINTS)


def glue_of(design: Design, library: Library) -> Row:
    """The logic between the units of an elaborated design, as a unit."""
    counts = map_module(design, design.top, library).cells()
    return _sizes(Unit("glue", 1), Counter({kind: n for kind, n in counts.items() if kind in library.cells}), library)


def linked(config: SmConfig, top: str, library: Library) -> Flat:
    """The netlist of a unit: mapped, linked, buffered and resized."""
    with tempfile.TemporaryDirectory() as folder:
        design = _elaborate(config, top, Path(folder))
    return _linked(design.top, _map_all(design, design.below(design.top), library), library)


def _linked(module: str, mapped: Mapping[str, Mapped], library: Library) -> Flat:
    flat = Linker({name: one.netlist for name, one in mapped.items()}, library).link(module)
    buffer(flat, library)
    return close(flat, library)


def _elaborate(
    config: SmConfig, top: str, folder: Path, *, flat: bool = False, joints: Collection[str] = verilog.JOINTS,
) -> Design:
    module = module_name(top)
    text = verilog.to_rtlil(verilog.create(config, top), module, source_lines=False)
    return elaborate(text, module, folder, joints=joints, divided=verilog.DIVIDED, apart=verilog.APART, flat=flat)


def synthesise_design(design: Design, name: str, wanted: Sequence[str] | None, library: Library, *,
                      flat: bool = False) -> Report:
    """Synthesise a design that is elaborated already: all of its units, or the `wanted` ones. Raises `ConfigError` for
    one that it does not have."""
    units = [unit for unit in design.units() if wanted is None or unit.name in wanted]
    unknown = set(wanted or ()) - {unit.name for unit in units}
    if unknown:
        others = set(design.kept) - {module_name(unit) for unit in verilog.UNITS}
        raise ConfigError(f"unit = {', '.join(sorted(unknown))}: must be one of "
                          f"{', '.join((*verilog.UNITS, *sorted(others)))}")
    mapped = _map_all(design, sorted({m for unit in units for m in design.below(unit.name)}), library)
    rows = [_row(unit, mapped, library) for unit in units]
    return Report(name, library.name, library.conditions, flat, tuple(rows))


def _map_all(design: Design, modules: Sequence[str], library: Library) -> dict[str, Mapped]:
    """Map modules in parallel, with a progress bar on a terminal."""
    console = Console(stderr=True)
    mapped = {}
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress, \
            ThreadPoolExecutor(WORKERS) as pool:
        task = progress.add_task("synthesis", total=len(modules))
        jobs = {pool.submit(map_module, design, module, library): module for module in modules}
        try:
            for job in as_completed(jobs):
                mapped[jobs[job]] = job.result()
                progress.update(task, advance=1, description=jobs[job])
        except BaseException:
            processes.abandon(pool, jobs)
            raise
    return mapped


def _row(unit: Unit, mapped: Mapping[str, Mapped], library: Library) -> Row:
    flat = _linked(unit.name, mapped, library)
    sizes = _sizes(unit, Counter({kind: len(rows) for kind, rows in flat.gates.items()}), library)
    timer = Timer(flat, library)
    path = timer.longest()
    if path is None:
        return sizes
    with_sram = timer.longest(sram=True) if sizes.sram_macros else path
    assert with_sram is not None
    return dataclasses.replace(
        sizes, delay_ps=round(path.delay, 1), setup_ps=round(path.setup, 1), start=path.start, end=path.end,
        sram_delay_ps=round(with_sram.delay, 1), sram_start=with_sram.start, sram_end=with_sram.end)


def _sizes(unit: Unit, counts: Counter[str], library: Library) -> Row:
    """The row of a unit with so many cells of each type, without a path."""
    macros: Counter[Macro] = Counter()
    for kind in [kind for kind in counts if kind.startswith(MACRO)]:
        macros[Macro(*macro_shape(kind))] += counts[kind]  # types of one shape may differ in ports and enables
    logic = {kind: n for kind, n in counts.items() if not kind.startswith(MACRO)}
    area = {True: 0.0, False: 0.0}
    for kind, count in logic.items():
        area[library.cells[kind].sequential] += count * library.cells[kind].area
    return Row(
        unit=unit.name, instances=unit.count, cells=sum(logic.values()),
        combinational_um2=round(area[False], 3), sequential_um2=round(area[True], 3),
        sram_macros=macros.total(), sram_bits=sum(m.bits * n for m, n in macros.items()),
        sram_um2=round(sum(m.area_um2 * n for m, n in macros.items()), 1),
        sram_cacti_um2=round(sum(m.cacti_area_um2 * n for m, n in macros.items()), 1),
        sram_access_pj=round(max((m.energy_pj for m in macros), default=0.0), 3),
        sram_leakage_mw=round(sum(m.leakage_mw * n for m, n in macros.items()), 3),
    )


def _key(name: str, config: SmConfig, library: Library, **what: object) -> Key:
    """All inputs of a report: configuration, sources, library and tools."""
    return Key(Kind.REPORTS, name, {
        **what, "configuration": dataclasses.asdict(config), "library": library.digest,
        "sources": store.sources("warploom/rtl", "warploom/synth", "warploom/arch"),
        "amaranth": metadata.version("amaranth"), "pyosys": yosys.version()})
