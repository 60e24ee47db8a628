"""``warploom evaluate`` of the experiments that draw figures of the sources, and of the calibration."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from warploom import report
from warploom.arch.gpu import sm_of
from warploom.evaluation import calibration, charts, locality, repeating, tables, units
from warploom.evaluation.affine import experiment as affine
from warploom.evaluation.affine import table as affine_table
from warploom.evaluation.bypassing import experiment as bypassing
from warploom.evaluation.coalescing import experiment as coalescing
from warploom.evaluation.figures import Figure, Measured, Runs
from warploom.evaluation.gating import experiment as gating
from warploom.evaluation.placement import experiment as placement
from warploom.evaluation.placement.runs import PLACES
from warploom.evaluation.pressure import HEADINGS, pressure
from warploom.evaluation.study import Study
from warploom.verbs import Body
from warploom.verbs.evaluate.energy import energy
from warploom.verbs.evaluate.hardware import overheads

MOST_COLUMNS = 8
"""Columns of workloads in a table."""


def show_coalescing(study: Study) -> Body:
    """[RADAIDEH], chapter 3: every workload under every setting, and every figure."""
    runs = study.runs(study.cases())
    body = _figures(study, coalescing.figures(), runs, study.preset)
    return {**body, **energy(study, coalescing.HEADLINES, coalescing.PARTED, runs),
            **_pressure("without coalescing and with ideal alignment", runs, ("wid_off", "wid_ideal"))}


def show_gating(study: Study) -> Body:
    """[RADAIDEH], chapter 4: every workload under every setting, every figure, and the storage of the zero masks."""
    runs = study.runs(study.cases())
    body = _figures(study, gating.figures(), runs, f"{study.preset}, with coalescing {gating.COMPOSED}")
    body |= energy(study, gating.HEADLINES, gating.PARTED, runs)
    configurations = study.configurations()
    needs = {setting: overheads(study.name, sm_of(configurations[setting]), f"{setting} of ")
             for setting in gating.OVERHEADS}
    return {**body, "overheads": {setting: found["overheads"] for setting, found in needs.items()}}


def show_bypassing(study: Study) -> Body:
    """[BOW]: every workload under every setting, every figure, and the registers that are transient."""
    runs = study.runs(study.cases())
    machines = f"{study.preset}, and {bypassing.FEW_COLLECTORS} where it says so"
    body = _figures(study, bypassing.figures(), runs, machines)
    body |= energy(study, bypassing.HEADLINES, bypassing.PARTED, runs)
    pressed = _pressure("without bypassing and with hints", runs, bypassing.PRESSED)
    transient = report.records("Registers of a thread that need a row of the register file",
                               bypassing.TRANSIENT_COLUMNS, bypassing.transient(runs))
    return {**body, **pressed, "transient": transient,
            "occupancy": {preset: _occupancy(study, runs, group, preset)
                          for group, preset in (("", study.preset), (bypassing.SCARCE, bypassing.FEW_COLLECTORS))}}


def _occupancy(study: Study, runs: Mapping[str, Runs], group: str, preset: str) -> list[Body]:
    """Registers without rows, and the warps that the register file then holds."""
    return report.records(f"Registers that have a row with transient = on, and occupancy, {preset}",
                          bypassing.ROW_COLUMNS, bypassing.occupancy(runs, study.groups, group))


def show_affine(study: Study) -> Body:
    """[AFFINE]: every workload under every setting, every figure, and Table 1."""
    runs = study.runs(study.cases())
    body = _figures(study, affine.figures(), runs, study.preset)
    body |= energy(study, affine.HEADLINES, affine.PARTED, runs)
    pressed = _pressure("without the affine unit and with all of it", runs, affine.PRESSED)
    rows = affine_table.rows(runs)
    for first in range(1, len(runs) + 1, MOST_COLUMNS):
        columns = slice(first, first + MOST_COLUMNS)
        report.table("Table 1", ("what", *[*runs][first - 1 : columns.stop - 1], "published"),
                     [(row[0], *row[1:-1][first - 1 : columns.stop - 1], row[-1]) for row in rows])
    return {**body, **pressed, "table_1": {key: dict(zip(runs, values, strict=True)) for key, *values, _ in rows}}


def show_units(study: Study) -> Body:
    """[HAWS], chapter 4: every workload under every way to share units, and with each number of lanes."""
    runs = study.runs(study.cases())
    return {**_figures(study, units.figures(), runs, study.preset),
            **_pressure("by policy", runs, [units.setting(sharing) for sharing in units.POLICIES])}


def show_locality(study: Study) -> Body:
    """[HAWS], chapter 6: every workload on every machine, every figure, and the loads of each MSHR."""
    runs = study.runs(study.cases())
    body = shown(study, locality.measured(runs, study.groups), f"{study.preset}, {' '.join(locality.SCALED)}")
    loads = report.records("Fig. 6.12: loads for each MSHR", locality.COLUMNS, locality.loads(runs))
    mshrs = report.records("MSHRs without and with the mechanism", locality.MSHR_COLUMNS, locality.mshrs(runs))
    return {**body, **recorded(study, runs), "loads_per_entry": loads, "mshrs": mshrs}


def show_calibration(study: Study) -> Body:
    """Instructions per cycle beside those of GPGPU-Sim, kernel by kernel."""
    runs, size = study.runs(study.cases()), study.wanted.size
    rows = report.records(
        f"Instructions per cycle of {study.config.name} (kernels: {size}) beside GPGPU-Sim's (default)",
        calibration.COLUMNS, [row.shown for row in calibration.rows(runs, size)])
    return {"size": size, "calibration": rows, "settings": _settings(study, runs), "runs": _statistics(runs)}


def show_placement(study: Study) -> Body:
    """[RADAIDEH], chapter 5: kernels as threads of a multi-core machine."""
    found = study.by_workload(PLACES, "simulating")
    body = _measured(study, placement.figures(), found, "16 cores")
    return {**body, "placed": {name: dataclasses.asdict(one) for name, one in found.items()}}


def _figures(study: Study, figures: Iterable[Figure], runs: Mapping[str, Runs], presets: str) -> Body:
    """Draw and print figures, and keep the statistics of all runs; `presets` names the machine."""
    return {**_measured(study, figures, runs, presets), **recorded(study, runs)}


def recorded(study: Study, runs: Mapping[str, Runs]) -> Body:
    """The statistics of all runs, and how to repeat one."""
    return {"settings": _settings(study, runs), "runs": _statistics(runs),
            **({"memory": found} if (found := _memory(runs)) else {})}


def _settings(study: Study, runs: Mapping[str, Runs]) -> Body:
    """How to repeat a run of each setting."""
    return {setting: repeating.options(run.machine, study.preset)
            for of_kernel in runs.values() for setting, run in of_kernel.items()}


def _statistics(runs: Mapping[str, Runs]) -> Body:
    """The statistics of all runs."""
    return {kernel: {setting: run.statistics.to_json() for setting, run in of_kernel.items()}
            for kernel, of_kernel in runs.items()}


def _memory(runs: Mapping[str, Runs]) -> Body:
    """What the memory of GPUs did in all runs, empty if all are of one SM."""
    found = {kernel: {setting: run.memory.to_json() for setting, run in of_kernel.items() if run.memory is not None}
             for kernel, of_kernel in runs.items()}
    return found if any(found.values()) else {}


def _measured(study: Study, figures: Iterable[Figure], runs: Mapping[str, Any], presets: str) -> Body:
    """Draw and print figures of all workloads."""
    return shown(study, [figure.measure(runs, study.groups) for figure in figures], presets)


def shown(study: Study, found: list[Measured], presets: str) -> Body:
    """Draw and print figures; `presets` names the machine."""
    wanted = study.wanted
    what = ", ".join([presets, *wanted.settings, f"{wanted.size} size"])
    _draw(found, wanted.charts, what)
    for measured in found:
        tables.show(measured)
    tables.show_averages(found)
    report.fields("What this was", {"configuration and inputs": what, "charts, PNG and SVG": wanted.charts})
    groups = {name: list(members) for name, members in study.groups.items()}
    return {"size": wanted.size, "charts": str(wanted.charts), "groups": groups,
            "figures": [measured.to_json() for measured in found]}


def _draw(found: list[Measured], folder: Path, caption: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with report.counting("drawing", len(found)) as done:
        for measured in found:
            charts.draw(measured, folder, caption)
            done(measured.figure.number)


def _pressure(which: str, runs: Mapping[str, Runs], settings: Sequence[str]) -> Body:
    """What schedulers wait for under some of the settings."""
    found = [{"kernel": kernel, "setting": setting,
              **pressure(of_kernel[setting].statistics, of_kernel[setting].config)}
             for kernel, of_kernel in runs.items() for setting in settings]
    report.table(f"What the schedulers wait for, {which}", ("kernel", "setting", *HEADINGS.values()),
                 [tuple(entry.values()) for entry in found])
    return {"pressure": found}
