"""``warploom evaluate``: the experiments of the sources, measured here, beside their published figures."""

import argparse
import dataclasses
import pkgutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from warploom import report
from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError, WarploomError, one_line
from warploom.arch.mechanisms import MECHANISMS
from warploom.evaluation import (
    affine,
    affine_table,
    bypassing,
    calibration,
    charts,
    coalescing,
    gating,
    hardware,
    placement,
    register_file_energy,
    repeating,
    sensitivity,
    tables,
)
from warploom.evaluation.figures import Figure, Measured, Runs
from warploom.evaluation.placement_runs import place_all
from warploom.evaluation.pressure import HEADINGS, pressure
from warploom.evaluation.sensitivity import Headline
from warploom.evaluation.simulations import Case, cases, simulate_all
from warploom.kernels.library import kernels
from warploom.synth.compare import Comparison, logic_um2
from warploom.synth.report import Row
from warploom.verbs import Body, configuration

FOLDER = Path("build") / "evaluation"

PRESETS = {"gating": "maxwell", "bypassing": "pascal", "calibration": "gtx480"}
"""The preset of an experiment; `fermi` for all others."""

SCARCE = "fermi"
"""The preset whose baseline has few collectors, beside that of bypassing."""

COMPOSED = "fermi"
"""The preset on which gating is combined with coalescing."""

UNITS = ("unit", "count", "off, µm²", "on, µm²", "ratio", "adds in all", "SRAM, bits", "off, ps", "on, ps", "ratio ")
"""Columns of a table of units without and with a mechanism."""


def main(options: argparse.Namespace) -> Body:
    """Run one experiment."""
    if options.experiment == "placement":
        return {"experiment": options.experiment, **_placement(options)}
    options.preset = options.preset or PRESETS.get(options.experiment, "fermi")
    config = configuration(options)
    verbs = {"coalescing": _coalescing, "gating": _gating, "bypassing": _bypassing, "affine": _affine,
             "calibration": _calibration, "hardware": _hardware}
    options.failed = {}
    body = verbs[options.experiment](options, config)
    return {"configuration": dataclasses.asdict(config), "experiment": options.experiment, **body,
            **_failures(options.failed)}


def _coalescing(options: argparse.Namespace, config: SmConfig) -> Body:
    """Chapter 3: every kernel under every setting, and every figure."""
    runs = _simulate(options, coalescing.configurations(config))
    body = _figures(options, coalescing.figures(), runs, options.preset)
    return {**body, **_energy(coalescing.HEADLINES, coalescing.PARTED, runs),
            **_pressure("without coalescing and with ideal alignment", runs, ("wid_off", "wid_ideal"))}


def _gating(options: argparse.Namespace, config: SmConfig) -> Body:
    """Chapter 4: the same, and the storage of the zero masks."""
    composed = SmConfig.preset(COMPOSED).with_settings(options.settings)
    configurations = gating.configurations(config, composed)
    runs = _simulate(options, configurations)
    body = _figures(options, gating.figures(), runs, f"{options.preset}, with coalescing {COMPOSED}")
    body |= _energy(gating.HEADLINES, gating.PARTED, runs)
    needs = {setting: _overheads(options.experiment, configurations[setting], f"{setting} of ")
             for setting in gating.OVERHEADS}
    return {**body, "overheads": {setting: found["overheads"] for setting, found in needs.items()}}


def _bypassing(options: argparse.Namespace, config: SmConfig) -> Body:
    """[BOW]: every kernel under every setting, every figure, and the registers that are transient."""
    scarce = SmConfig.preset(SCARCE).with_settings(options.settings)
    runs = _simulate(options, bypassing.configurations(config, scarce))
    body = _figures(options, bypassing.figures(), runs, f"{options.preset}, and {SCARCE} where it says so")
    body |= _energy(bypassing.HEADLINES, bypassing.PARTED, runs)
    pressed = _pressure("without bypassing and with hints", runs, bypassing.PRESSED)
    rows = bypassing.transient(runs)
    report.table("Registers of a thread that need a row of the register file", bypassing.TRANSIENT_COLUMNS, rows)
    return {**body, **pressed, "transient": [dict(zip(bypassing.TRANSIENT_COLUMNS, row, strict=True)) for row in rows],
            "occupancy": {preset: _show_occupancy(runs, group, preset)
                          for group, preset in (("", options.preset), (bypassing.SCARCE, SCARCE))}}


def _show_occupancy(runs: Mapping[str, Runs], group: str, preset: str) -> list[Body]:
    """Registers without rows, and the warps that the register file then holds."""
    rows = bypassing.occupancy(runs, group)
    report.table(f"Registers that have a row with transient = on, and occupancy, {preset}", bypassing.ROW_COLUMNS, rows)
    return [dict(zip(bypassing.ROW_COLUMNS, row, strict=True)) for row in rows]


def _affine(options: argparse.Namespace, config: SmConfig) -> Body:
    """[AFFINE]: every kernel under every setting, every figure, and Table 1."""
    runs = _simulate(options, affine.configurations(config))
    body = _figures(options, affine.figures(), runs, options.preset)
    body |= _energy(affine.HEADLINES, affine.PARTED, runs)
    pressed = _pressure("without the affine unit and with all of it", runs, affine.PRESSED)
    rows = affine_table.rows(runs)
    report.table("Table 1", ("what", *runs, "seed"), rows)
    return {**body, **pressed, "table_1": {key: dict(zip(runs, values, strict=True)) for key, *values, _ in rows}}


def _calibration(options: argparse.Namespace, config: SmConfig) -> Body:
    """Instructions per cycle beside those of GPGPU-Sim, kernel by kernel."""
    runs = _simulate(options, calibration.configurations(config), list(calibration.measured()))
    rows = calibration.rows(runs, options.size)
    report.table(f"Instructions per cycle of {config.name} (kernels: {options.size}) beside GPGPU-Sim's (default)",
                 calibration.COLUMNS, [row.shown for row in rows])
    shown = [dict(zip(calibration.COLUMNS, row.shown, strict=True)) for row in rows]
    return {"size": options.size, "calibration": shown, "settings": _settings(options, runs),
            "runs": _statistics(runs)}


def _placement(options: argparse.Namespace) -> Body:
    """Chapter 5: kernels as threads of a multi-core machine."""
    if options.preset or options.settings:
        raise ConfigError("evaluate placement: --preset and --set describe a GPU, which it does not have; leave them "
                          "out")
    names = [kernel.name for kernel in kernels()]
    with report.counting("simulating", len(names)) as done:
        placed = place_all(names, options.size, done)
    body = _measured(options, placement.figures(), placed, "16 cores")
    return {**body, "placed": {name: dataclasses.asdict(one) for name, one in placed.items()}}


def _simulate(
    options: argparse.Namespace, configurations: Mapping[str, SmConfig], names: Sequence[str] | None = None
) -> dict[str, Runs]:
    """Every kernel, or those with some names, under every configuration. Kernels that fail are reported and left
    out."""
    wanted = cases(names or [kernel.name for kernel in kernels()], options.size, configurations)
    with report.counting("simulating", len(wanted)) as done:
        simulated = simulate_all(wanted, lambda case: done(f"{case.workload}, {case.setting}"), options.scheduler)
    options.failed.update(simulated.failed)
    return simulated.runs


def _failures(failed: Mapping[Case, WarploomError]) -> Body:
    """The simulations that failed, which the figures are without."""
    if not failed:
        return {}
    rows = [(case.workload, case.setting, one_line(str(error))) for case, error in failed.items()]
    report.table("Failed: without these kernels, above", ("kernel", "setting", "error"), rows)
    return {"failed": [dict(zip(("kernel", "setting", "error"), row, strict=True)) for row in rows],
            "failure": f"{len(rows)} simulations failed, the first one {rows[0][0]}, {rows[0][1]}: {rows[0][2]}"}


def _figures(options: argparse.Namespace, figures: Iterable[Figure], runs: Mapping[str, Runs], presets: str) -> Body:
    """Draw and print figures, and keep the statistics of all runs; `presets` names the machine."""
    return {**_measured(options, figures, runs, presets), "settings": _settings(options, runs),
            "runs": _statistics(runs)}


def _settings(options: argparse.Namespace, runs: Mapping[str, Runs]) -> Body:
    """How to repeat a run of each setting."""
    of_kernel = next(iter(runs.values()))
    return {setting: repeating.options(run.config, options.preset) for setting, run in of_kernel.items()}


def _measured(
    options: argparse.Namespace, figures: Iterable[Figure], runs: Mapping[str, Any], presets: str
) -> Body:
    """Draw and print figures."""
    found = [figure.measure(runs) for figure in figures]
    folder = options.out or FOLDER / options.size
    what = ", ".join([presets, *options.settings, f"kernels at {options.size} size"])
    _draw(found, folder, what)
    for measured in found:
        tables.show(measured)
    tables.show_averages(found)
    report.fields("What this was", {"configuration and kernels": what, "charts, PNG and SVG": folder})
    return {"size": options.size, "charts": str(folder), "figures": [measured.to_json() for measured in found]}


def _statistics(runs: Mapping[str, Runs]) -> Body:
    """The statistics of all runs."""
    return {kernel: {setting: run.statistics.to_json() for setting, run in of_kernel.items()}
            for kernel, of_kernel in runs.items()}


def _draw(found: list[Measured], folder: Path, caption: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with report.counting("drawing", len(found)) as done:
        for measured in found:
            charts.draw(measured, folder, caption)
            done(measured.figure.number)


def _energy(headlines: Sequence[Headline], settings: Mapping[str, str], runs: Mapping[str, Runs]) -> Body:
    """The energy of the register file by part, and what each assumption carries of the figures."""
    parts = register_file_energy.shares(runs, settings)
    report.table("Dynamic energy of the register file by part, % of the baseline's",
                 ("setting", *register_file_energy.PARTS, "total"),
                 [(part["setting"], *(round(part[name], 1) for name in (*register_file_energy.PARTS, "total")))
                  for part in parts])
    rows = sensitivity.rows(headlines, runs)
    report.table("What assumptions carry: each over its range, averages in %", sensitivity.COLUMNS,
                 [tuple(round(value, 2) if isinstance(value, float) else value for value in row.values())
                  for row in rows])
    return {"energy": parts, "toggling": {workload: next(iter(found.values())).toggling.shares()
                                         for workload, found in runs.items()}, "sensitivity": rows}


def _pressure(which: str, runs: Mapping[str, Runs], settings: Sequence[str]) -> Body:
    """What schedulers wait for under some of the settings."""
    found = [{"kernel": kernel, "setting": setting,
              **pressure(of_kernel[setting].statistics, of_kernel[setting].config)}
             for kernel, of_kernel in runs.items() for setting in settings]
    report.table(f"What the schedulers wait for, {which}", ("kernel", "setting", *HEADINGS.values()),
                 [tuple(entry.values()) for entry in found])
    return {"pressure": found}


def _overheads(experiment: str, config: SmConfig, setting: str = "") -> Body:
    """The needs of mechanisms that an experiment shows."""
    body: Body = {}
    for table in (table for mechanism in MECHANISMS for table in mechanism.overheads if table.experiment == experiment):
        rows = pkgutil.resolve_name(table.rows)(config)
        report.table(f"{table.title}, {setting}{config.name}", rows[0].COLUMNS,
                     [dataclasses.astuple(row) for row in rows])
        body[table.key] = [dataclasses.asdict(row) for row in rows]
    return body


def _hardware(options: argparse.Namespace, config: SmConfig) -> Body:
    """Synthesise the datapath without and with each mechanism, and the units of CORF."""
    compared, gated = hardware.off_and_on(config), hardware.ungated_and_gated(config)
    once = hardware.without_and_with_affine(config)
    for mechanism, entries in (("coalescing", compared), ("gating", gated), ("the affine unit", once)):
        report.table(f"Units without and with {mechanism}, {config.name}: logic of one instance, and its longest path",
                     UNITS, _rows(entries))
    parts = hardware.alone(config, hardware.CORF_UNITS)
    report.table("What CORF needs instead of coalescing", ("unit", "µm²", "SRAM bits", "ps"),
                 [(part.unit, _area(part), part.sram_bits, _delay(part)) for part in parts])
    overheads = _overheads(options.experiment, config)
    return {
        "units": [entry.to_json() for entry in compared],
        "gating_units": [entry.to_json() for entry in gated],
        "affine_units": [entry.to_json() for entry in once],
        "corf_units": [dataclasses.asdict(part) for part in parts],
        **_windows(config),
        **overheads,
    }


def _windows(config: SmConfig) -> Body:
    """Synthesise the units with windows, beside the units that they replace."""
    kinds = hardware.collectors(config)
    report.table(f"Collectors without and with windows, {config.name}: logic and longest path of one, storage of all",
                 ("collector", "count", "words", "µm²", "stored, B", "ps"),
                 [(kind.kind, kind.count, kind.words, _area(kind.row), kind.stored_bytes, _delay(kind.row))
                  for kind in kinds])
    networks = [_network(sm) for sm in dict.fromkeys((config, SmConfig.preset(PRESETS["bypassing"])))]
    return {"collectors": [dataclasses.asdict(kind) for kind in kinds], "networks": networks}


def _network(config: SmConfig) -> Body:
    """Synthesise the additions of windows between collectors and banks, and compare them with a bank."""
    network = hardware.network(config)
    added, shares = sum(entry.added_um2 for entry in network), hardware.shares(network)
    report.table(f"Between collectors and banks, {config.name}, without windows and with bow_hints", UNITS,
                 _rows(network))
    report.fields(f"What the network adds, {config.name}",
                  {"µm²": f"{added:,.0f}", **{name: f"{100 * share:.1f} %" for name, share in shares.items()}})
    return {"configuration": config.name, "units": [entry.to_json() for entry in network], "added_um2": added,
            "shares": shares}


def _rows(compared: Iterable[Comparison]) -> list[tuple[object, ...]]:
    return [(
        entry.unit, entry.instances, _area(entry.before), _area(entry.after), entry.area_ratio, round(entry.added_um2),
        entry.added_sram_bits, _delay(entry.before), _delay(entry.after), entry.delay_ratio,
    ) for entry in compared]


def _area(row: Row | None) -> int | None:
    return round(logic_um2(row)) if row else None


def _delay(row: Row | None) -> int | None:
    return round(row.delay_ps) if row and row.end else None
