"""``warploom evaluate hardware``: the mechanisms in gates, and the storage that they need."""

import dataclasses
import pkgutil
from collections.abc import Iterable

from warploom import report
from warploom.arch.config import SmConfig
from warploom.arch.mechanisms import MECHANISMS
from warploom.evaluation.hardware import areas
from warploom.evaluation.hardware import experiment as hardware
from warploom.evaluation.study import Study
from warploom.synth.compare import Comparison, logic_um2
from warploom.synth.report import Row
from warploom.verbs import Body

UNITS = ("unit", "count", "off, µm²", "on, µm²", "ratio", "adds in all", "SRAM, bits", "off, ps", "on, ps", "ratio ")
"""Columns of a table of units without and with a mechanism."""


def overheads(experiment: str, config: SmConfig, setting: str = "") -> Body:
    """The needs of mechanisms that an experiment shows."""
    body: Body = {}
    for table in (table for mechanism in MECHANISMS for table in mechanism.overheads if table.experiment == experiment):
        rows = pkgutil.resolve_name(table.rows)(config)
        report.table(f"{table.title}, {setting}{config.name}", rows[0].COLUMNS,
                     [dataclasses.astuple(row) for row in rows])
        body[table.key] = [dataclasses.asdict(row) for row in rows]
    return body


def show(study: Study) -> Body:
    """Synthesise the datapath without and with each mechanism, and the units of CORF."""
    config = study.config
    compared, gated = hardware.off_and_on(config), hardware.ungated_and_gated(config)
    once = hardware.without_and_with_affine(config)
    for mechanism, entries in (("coalescing", compared), ("gating", gated), ("the affine unit", once)):
        report.table(f"Units without and with {mechanism}, {config.name}: logic of one instance, and its longest path",
                     UNITS, comparisons(entries))
    parts = hardware.alone(config, hardware.CORF_UNITS)
    report.table("What CORF needs instead of coalescing", ("unit", "µm²", "SRAM bits", "ps"),
                 [(part.unit, _area(part), part.sram_bits, _delay(part)) for part in parts])
    kinds = hardware.collectors(config)
    report.table(f"Collectors without and with windows, {config.name}: logic and longest path of one, storage of all",
                 ("collector", "count", "words", "µm²", "stored, B", "ps"),
                 [(kind.kind, kind.count, kind.words, _area(kind.row), kind.stored_bytes, _delay(kind.row))
                  for kind in kinds])
    needs = overheads(study.name, config)
    return {
        "units": [entry.to_json() for entry in compared],
        "gating_units": [entry.to_json() for entry in gated],
        "affine_units": [entry.to_json() for entry in once],
        "corf_units": [dataclasses.asdict(part) for part in parts],
        "collectors": [dataclasses.asdict(kind) for kind in kinds],
        **needs,
    }


def show_units(study: Study) -> Body:
    """Synthesise the units that mechanisms change or add, each alone, and the units of CORF."""
    found = hardware.changed(study.config)
    for mechanism, entries in found.items():
        report.table(f"Units without and with {mechanism}, {study.config.name}: logic of one instance, and its longest "
                     "path", UNITS, comparisons(entries))
    parts = hardware.alone(study.config, hardware.CORF_UNITS)
    return {**{f"{mechanism}_units": [entry.to_json() for entry in entries] for mechanism, entries in found.items()},
            "corf_units": [dataclasses.asdict(part) for part in parts]}


def show_network(study: Study) -> Body:
    """Synthesise the additions of windows between collectors and banks, and compare them with a bank."""
    config = study.config
    network = hardware.network(config)
    added, shares = sum(entry.added_um2 for entry in network), hardware.shares(network)
    report.table(f"Between collectors and banks, {config.name}, without windows and with bow_hints", UNITS,
                 comparisons(network))
    report.fields(f"What the network adds, {config.name}",
                  {"µm²": f"{added:,.0f}", **{name: f"{100 * share:.1f} %" for name, share in shares.items()}})
    return {"network_units": [entry.to_json() for entry in network], "network_um2": added, "network_shares": shares}


def show_areas(study: Study) -> Body:
    """Synthesise what an event passes, for its energy."""
    found = areas.areas(study.config)
    report.table(f"Areas behind the energy of logic, {study.config.name}", ("key in energy.toml", "µm²", "used"),
                 [(area.key, round(area.um2), area.used) for area in found])
    return {"areas": [{"key": area.key, "um2": area.um2} for area in found]}


def comparisons(compared: Iterable[Comparison]) -> list[tuple[object, ...]]:
    """Rows of a table, by `UNITS`."""
    return [(
        entry.unit, entry.instances, _area(entry.before), _area(entry.after), entry.area_ratio, round(entry.added_um2),
        entry.added_sram_bits, _delay(entry.before), _delay(entry.after), entry.delay_ratio,
    ) for entry in compared]


def _area(row: Row | None) -> int | None:
    return round(logic_um2(row)) if row else None


def _delay(row: Row | None) -> int | None:
    return round(row.delay_ps) if row and row.end else None
