"""``warploom evaluate``: the experiments of the sources, measured here, beside their published figures."""

import argparse
import copy
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from warploom import report
from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError, WarploomError, one_line
from warploom.evaluation import (
    affine,
    affine_table,
    bypassing,
    calibration,
    charts,
    coalescing,
    gating,
    placement,
    register_file_energy,
    repeating,
    sensitivity,
    tables,
)
from warploom.evaluation.experiments import ALL, APART, COMPOSED, EXPERIMENTS, SCARCE
from warploom.evaluation.figures import AVERAGE, Figure, Measured, Runs
from warploom.evaluation.placement_runs import place_all
from warploom.evaluation.pressure import HEADINGS, pressure
from warploom.evaluation.sensitivity import Headline
from warploom.evaluation.simulations import Case, Results, arranged, cases, results
from warploom.evaluation.workloads import remaining
from warploom.kernels.library import kernels
from warploom.verbs import (
    Body,
    configuration,
    evaluate_combination,
    evaluate_hardware,
    evaluate_sampling,
    evaluate_workloads,
)

FOLDER = Path("build") / "evaluation"

HARDWARE = "fermi"
"""The preset whose units are synthesised."""

UNTIMED = (*APART, "workloads")
"""Experiments that do not time a GPU."""

MOST_COLUMNS = 8
"""Columns of workloads in a table."""


def main(options: argparse.Namespace) -> Body:
    """Run one experiment; or several, as one matrix of workloads and configurations."""
    names = _names(options)
    options.size = "tiny" if options.quick else options.size
    if len(names) > 1:
        return _several(options, names, options.out or FOLDER)
    (options.experiment,) = names
    if options.blocks and options.experiment in UNTIMED:
        raise ConfigError(f"evaluate {options.experiment}: --blocks: it times no blocks; leave it out")
    return _one(options, {})


def _names(options: argparse.Namespace) -> list[str]:
    """The experiments that a user wants. Synthesis is never quick."""
    if ALL not in options.experiment:
        return list(dict.fromkeys(options.experiment))
    return [name for name in (*EXPERIMENTS, *APART) if not (options.quick and name == "hardware")]


def _several(options: argparse.Namespace, names: Sequence[str], folder: Path) -> Body:
    """Simulate what the experiments need, each case once, workload by workload; then each experiment, which writes
    ``<folder>/EXPERIMENT.json``; then the page of all of them. One that fails does not stop the others."""
    from warploom.pages.report import write  # noqa: PLC0415  (its library takes long to import)

    if options.preset or options.settings:
        raise ConfigError("evaluate: experiments have presets of their own: leave --preset and --set out, or name one "
                          "experiment")
    folder.mkdir(parents=True, exist_ok=True)
    asked = {name: _asked(options, name, folder) for name in names}
    needed = [case for name, one in asked.items() if name in EXPERIMENTS
              for case in _wanted(one, SmConfig.preset(EXPERIMENTS[name].preset))]
    options.known = {}
    known = _results(options, sorted(needed, key=lambda case: case.workload))
    made = {name: _document(one, known, folder / f"{name}.json") for name, one in asked.items()}
    write([document for _, document in made.values() if document], page := folder / "report.html")
    documents = {name: found for name, (found, _) in made.items()}
    report.table("Experiments", ("experiment", "document", "failure"),
                 [(name, *found.values()) for name, found in documents.items()])
    report.fields("All of them", {"page": page})
    failures = [f"{name}: {found['failure']}" for name, found in documents.items() if found["failure"]]
    return {"documents": documents, "page": str(page), "failure": next(iter(failures), None)}


def _asked(options: argparse.Namespace, name: str, folder: Path) -> argparse.Namespace:
    """The options of one experiment; those with kernels of their own run these."""
    one = copy.copy(options)
    one.experiment, one.out = name, folder / options.size
    if name not in EXPERIMENTS or not EXPERIMENTS[name].source:
        one.workloads = []
    return one


def _document(options: argparse.Namespace, known: Results, path: Path) -> tuple[Body, Mapping[str, object]]:
    """Run one experiment and write its document: the path, and the failure in one line, if there is one; then the
    document, empty if there is none."""
    try:
        body = _one(options, known)
    except WarploomError as error:
        return {"document": None, "failure": one_line(str(error))}, {}
    document = report.document("evaluate", body)
    report.write_json(path, document)
    return {"document": str(path), "failure": body.get("failure")}, document


def _one(options: argparse.Namespace, known: Results) -> Body:
    """Run one experiment, and simulate only what is not in `known`."""
    name = options.experiment
    if name == "workloads":
        return {"experiment": name, **evaluate_workloads.main(options)}
    if name == "placement":
        return {"experiment": name, **_placement(options)}
    options.preset = options.preset or (EXPERIMENTS[name].preset if name in EXPERIMENTS else HARDWARE)
    config = configuration(options)
    verbs = {"coalescing": _coalescing, "gating": _gating, "bypassing": _bypassing, "affine": _affine,
             "calibration": _calibration, "hardware": evaluate_hardware.show, "combination": evaluate_combination.main,
             "sampling": evaluate_sampling.main}
    options.known, options.failed = known, {}
    body = verbs[name](options, config)
    return {"configuration": dataclasses.asdict(config), "experiment": name, "blocks": options.blocks, **body,
            **_failures(options.failed)}


def _wanted(options: argparse.Namespace, config: SmConfig) -> list[Case]:
    """The cases of an experiment that simulates."""
    groups = EXPERIMENTS[options.experiment].groups(options.workloads)
    names = dict.fromkeys(name for members in groups.values() for name in members)
    return cases(names, options.size, _configurations(options, config), options.blocks)


def _coalescing(options: argparse.Namespace, config: SmConfig) -> Body:
    """Chapter 3: every workload under every setting, and every figure."""
    runs = _simulate(options, config)
    body = _figures(options, coalescing.figures(), runs, options.preset)
    return {**body, **_energy(options, coalescing.HEADLINES, coalescing.PARTED, runs),
            **_pressure("without coalescing and with ideal alignment", runs, ("wid_off", "wid_ideal"))}


def _gating(options: argparse.Namespace, config: SmConfig) -> Body:
    """Chapter 4: the same, and the storage of the zero masks."""
    runs = _simulate(options, config)
    body = _figures(options, gating.figures(), runs, f"{options.preset}, with coalescing {COMPOSED}")
    body |= _energy(options, gating.HEADLINES, gating.PARTED, runs)
    configurations = _configurations(options, config)
    needs = {setting: evaluate_hardware.overheads(options.experiment, configurations[setting], f"{setting} of ")
             for setting in gating.OVERHEADS}
    return {**body, "overheads": {setting: found["overheads"] for setting, found in needs.items()}}


def _bypassing(options: argparse.Namespace, config: SmConfig) -> Body:
    """[BOW]: every workload under every setting, every figure, and the registers that are transient."""
    runs = _simulate(options, config)
    body = _figures(options, bypassing.figures(), runs, f"{options.preset}, and {SCARCE} where it says so")
    body |= _energy(options, bypassing.HEADLINES, bypassing.PARTED, runs)
    pressed = _pressure("without bypassing and with hints", runs, bypassing.PRESSED)
    rows = bypassing.transient(runs)
    report.table("Registers of a thread that need a row of the register file", bypassing.TRANSIENT_COLUMNS, rows)
    return {**body, **pressed, "transient": [dict(zip(bypassing.TRANSIENT_COLUMNS, row, strict=True)) for row in rows],
            "occupancy": {preset: _show_occupancy(options, runs, group, preset)
                          for group, preset in (("", options.preset), (bypassing.SCARCE, SCARCE))}}


def _show_occupancy(options: argparse.Namespace, runs: Mapping[str, Runs], group: str, preset: str) -> list[Body]:
    """Registers without rows, and the warps that the register file then holds."""
    rows = bypassing.occupancy(runs, options.groups, group)
    report.table(f"Registers that have a row with transient = on, and occupancy, {preset}", bypassing.ROW_COLUMNS, rows)
    return [dict(zip(bypassing.ROW_COLUMNS, row, strict=True)) for row in rows]


def _affine(options: argparse.Namespace, config: SmConfig) -> Body:
    """[AFFINE]: every workload under every setting, every figure, and Table 1."""
    runs = _simulate(options, config)
    body = _figures(options, affine.figures(), runs, options.preset)
    body |= _energy(options, affine.HEADLINES, affine.PARTED, runs)
    pressed = _pressure("without the affine unit and with all of it", runs, affine.PRESSED)
    rows = affine_table.rows(runs)
    for first in range(1, len(runs) + 1, MOST_COLUMNS):
        columns = slice(first, first + MOST_COLUMNS)
        report.table("Table 1", ("what", *[*runs][first - 1 : columns.stop - 1], "seed"),
                     [(row[0], *row[1:-1][first - 1 : columns.stop - 1], row[-1]) for row in rows])
    return {**body, **pressed, "table_1": {key: dict(zip(runs, values, strict=True)) for key, *values, _ in rows}}


def _calibration(options: argparse.Namespace, config: SmConfig) -> Body:
    """Instructions per cycle beside those of GPGPU-Sim, kernel by kernel."""
    runs = _simulate(options, config)
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
    if options.workloads:
        raise ConfigError("evaluate placement: --workloads: its threads are the kernels; leave it out")
    names = [kernel.name for kernel in kernels()]
    options.groups = {AVERAGE: names}
    with report.counting("simulating", len(names)) as done:
        placed = place_all(names, options.size, done)
    body = _measured(options, placement.figures(), placed, "16 cores")
    return {**body, "placed": {name: dataclasses.asdict(one) for name, one in placed.items()}}


def _configurations(options: argparse.Namespace, config: SmConfig) -> dict[str, SmConfig]:
    """All configurations of an experiment that simulates, by setting."""
    return EXPERIMENTS[options.experiment].configurations(config, options.settings)


def _simulate(options: argparse.Namespace, config: SmConfig) -> dict[str, Runs]:
    """Every workload under every configuration. Workloads that fail are reported and left out, of averages too."""
    needed = _wanted(options, config)
    simulated = arranged(needed, options.known | _results(options, needed))
    options.failed.update(simulated.failed)
    options.groups = remaining(EXPERIMENTS[options.experiment].groups(options.workloads), simulated.runs)
    return simulated.runs


def _results(options: argparse.Namespace, needed: Iterable[Case]) -> Results:
    """The results of the cases whose results are not known."""
    missing = dict.fromkeys(case for case in needed if case not in options.known)
    with report.counting("simulating", len(missing)) as done:
        return results(missing, lambda case: done(f"{case.workload}, {case.setting}"), options.scheduler)


def _failures(failed: Mapping[Case, WarploomError]) -> Body:
    """The simulations that failed, which the figures are without."""
    if not failed:
        return {}
    rows = [(case.workload, case.setting, one_line(str(error))) for case, error in failed.items()]
    report.table("Failed: without these workloads, above", ("workload", "setting", "error"), rows)
    return {"failed": [dict(zip(("workload", "setting", "error"), row, strict=True)) for row in rows],
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
    found = [figure.measure(runs, options.groups) for figure in figures]
    folder = options.out or FOLDER / options.size
    what = ", ".join([presets, *options.settings, f"{options.size} size"])
    _draw(found, folder, what)
    for measured in found:
        tables.show(measured)
    tables.show_averages(found)
    report.fields("What this was", {"configuration and inputs": what, "charts, PNG and SVG": folder})
    groups = {name: list(members) for name, members in options.groups.items()}
    return {"size": options.size, "charts": str(folder), "groups": groups,
            "figures": [measured.to_json() for measured in found]}


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


def _energy(options: argparse.Namespace, headlines: Sequence[Headline], settings: Mapping[str, str],
            runs: Mapping[str, Runs]) -> Body:
    """The energy of the register file by part, and what each assumption carries of the figures, over the first
    group."""
    group, members = next(iter(options.groups.items()))
    averaged = {name: runs[name] for name in members}
    parts = register_file_energy.shares(averaged, settings)
    report.table(f"Dynamic energy of the register file by part, % of the baseline's, {group}",
                 ("setting", *register_file_energy.PARTS, "total"),
                 [(part["setting"], *(round(part[name], 1) for name in (*register_file_energy.PARTS, "total")))
                  for part in parts])
    rows = sensitivity.rows(headlines, averaged)
    report.table(f"What assumptions carry: each over its range, averages in %, {group}", sensitivity.COLUMNS,
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
