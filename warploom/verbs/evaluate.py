"""``warploom evaluate``: the experiments of the seeds, measured here, beside what they print."""

import argparse
import dataclasses
from collections.abc import Iterable, Mapping
from pathlib import Path

from synth.compare import Comparison, logic_um2
from synth.report import Row
from warploom import report
from warploom.arch.config import SmConfig
from warploom.evaluation import charts, coalescing, gating, hardware, tables
from warploom.evaluation.figures import Figure, Measured, Runs
from warploom.evaluation.overhead import gating_overheads, overheads
from warploom.evaluation.pressure import COLUMNS, pressure
from warploom.evaluation.simulations import cases, simulate_all
from warploom.kernels.library import kernels
from warploom.verbs import Body, configuration

FOLDER = Path("build") / "evaluation"

PRESETS = {"gating": "maxwell"}
"""The preset of an experiment; `fermi` for all others."""

COMPOSED = "fermi"
"""The preset on which gating joins coalescing."""


def main(options: argparse.Namespace) -> Body:
    """Run one experiment."""
    options.preset = options.preset or PRESETS.get(options.experiment, "fermi")
    config = configuration(options)
    verbs = {"coalescing": _coalescing, "gating": _gating, "hardware": _hardware}
    body = verbs[options.experiment](options, config)
    return {"configuration": dataclasses.asdict(config), "experiment": options.experiment, **body}


def _coalescing(options: argparse.Namespace, config: SmConfig) -> Body:
    """Chapter 3: every kernel under every setting, and every figure."""
    runs = _simulate(options, coalescing.configurations(config))
    body = _figures(options, coalescing.figures(), runs, options.preset)
    _show_pressure(runs)
    return body


def _gating(options: argparse.Namespace, config: SmConfig) -> Body:
    """Chapter 4: the same, and what the zero masks need."""
    composed = SmConfig.preset(COMPOSED).with_settings(options.settings)
    configurations = gating.configurations(config, composed)
    body = _figures(options, gating.figures(), _simulate(options, configurations),
                    f"{options.preset}, with coalescing {COMPOSED}")
    needs = {setting: gating_overheads(configurations[setting]) for setting in gating.OVERHEADS}
    for setting, found in needs.items():
        report.table(f"Table 4.1: what zero masks need, {setting} of {configurations[setting].name}",
                     ("what", "unit", "ours", "published"), [dataclasses.astuple(need) for need in found])
    return {**body, "overheads": {setting: [dataclasses.asdict(need) for need in found]
                                  for setting, found in needs.items()}}  # fmt: skip


def _simulate(options: argparse.Namespace, configurations: Mapping[str, SmConfig]) -> dict[str, Runs]:
    """Every kernel under every configuration."""
    wanted = cases([kernel.name for kernel in kernels()], options.size, configurations)
    with report.counting("simulating", len(wanted)) as done:
        return simulate_all(wanted, lambda case: done(f"{case.kernel}, {case.setting}"))


def _figures(options: argparse.Namespace, figures: Iterable[Figure], runs: Mapping[str, Runs], presets: str) -> Body:
    """Draw and print figures; `presets` says of what."""
    found = [figure.measure(runs) for figure in figures]
    folder = options.out or FOLDER / options.size
    what = ", ".join([presets, *options.settings, f"kernels at {options.size} size"])
    _draw(found, folder, what)
    for measured in found:
        tables.show(measured)
    tables.show_averages(found)
    report.fields("What this was", {"configuration and kernels": what, "charts, PNG and SVG": folder})
    return {
        "size": options.size, "charts": str(folder), "figures": [measured.to_json() for measured in found],
        "runs": {kernel: {setting: run.statistics.to_json() for setting, run in of_kernel.items()}
                 for kernel, of_kernel in runs.items()},
    }  # fmt: skip


def _draw(found: list[Measured], folder: Path, caption: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with report.counting("drawing", len(found)) as done:
        for measured in found:
            charts.draw(measured, folder, caption)
            done(measured.figure.number)


def _show_pressure(runs: Mapping[str, Runs]) -> None:
    rows = [(kernel, setting, *pressure(of_kernel[setting].statistics, of_kernel[setting].config).values())
            for kernel, of_kernel in runs.items() for setting in ("wid_off", "wid_ideal")]  # fmt: skip
    report.table("What the schedulers wait for, without coalescing and with ideal alignment", COLUMNS, rows)


def _hardware(options: argparse.Namespace, config: SmConfig) -> Body:
    """Synthesise the datapath without and with each mechanism, and what CORF needs."""
    compared, gated = hardware.off_and_on(config), hardware.ungated_and_gated(config)
    for mechanism, entries in (("coalescing", compared), ("gating", gated)):
        report.table(f"Units without and with {mechanism}, {config.name}: logic of one instance, and its longest path",
                     ("unit", "count", "off, µm²", "on, µm²", "ratio", "adds in all", "SRAM, bits", "off, ps", "on, ps",
                      "ratio "), _rows(entries))
    parts = hardware.alone(config, hardware.CORF_UNITS)
    report.table("What CORF needs instead of coalescing", ("unit", "µm²", "SRAM bits", "ps"),
                 [(part.unit, _area(part), part.sram_bits, _delay(part)) for part in parts])
    needs = overheads(config)
    report.table("Table 3.4: overhead", ("what", "unit", "CORF", "published", "ours", "published "),
                 [dataclasses.astuple(need) for need in needs])
    return {
        "units": [entry.to_json() for entry in compared],
        "gating_units": [entry.to_json() for entry in gated],
        "corf_units": [dataclasses.asdict(part) for part in parts],
        "overheads": [dataclasses.asdict(need) for need in needs],
    }


def _rows(compared: Iterable[Comparison]) -> list[tuple[object, ...]]:
    return [(
        entry.unit, entry.instances, _area(entry.before), _area(entry.after), entry.area_ratio, round(entry.added_um2),
        entry.added_sram_bits, _delay(entry.before), _delay(entry.after), entry.delay_ratio,
    ) for entry in compared]  # fmt: skip


def _area(row: Row | None) -> int | None:
    return round(logic_um2(row)) if row else None


def _delay(row: Row | None) -> int | None:
    return round(row.delay_ps) if row and row.end else None
