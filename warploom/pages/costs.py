"""Panels of costs: energy by part and by assumption, areas and longest paths, and what mechanisms store."""

from collections.abc import Mapping, Sequence

from warploom.pages.document import Comparison, Document, Record, Unit
from warploom.pages.panels import NONE, Panel, identifier

PARTS = ("macros", "wires", "registers", "selection", "clock", "overhead")
"""The parts of the register file's energy, in the document's *energy*."""

ENDS = ("with least", "with most")
"""What the document's *sensitivity* has for the ends of an assumption's range."""

BYTES = "bytes"


def of_energy(document: Document, slug: str) -> list[Panel]:
    """The energy of the register file by part."""
    rows = {entry.setting: [getattr(entry, part) for part in PARTS] for entry in document.energy}
    title = "Dynamic energy of the register file by part, of the baseline's"
    return [Panel(f"{slug}-energy-by-part", title, PARTS, rows, "setting", stacked=True)] if rows else []


def of_sensitivity(document: Document, slug: str) -> list[Panel]:
    """Each figure of energy with the least and with the most value of each assumption."""
    found = []
    for figure in dict.fromkeys(entry.figure for entry in document.sensitivity):
        entries = {entry.assumption.replace("_", " "): entry for entry in document.sensitivity
                   if entry.figure == figure}
        first = next(iter(entries.values()))
        published = "" if first.published == "-" else f", published {first.published}"
        found.append(Panel(
            f"{slug}-{identifier('assumptions', figure)}",
            f"{figure}: what each assumption carries, ours {first.ours:.1f}{published}", ENDS,
            {name: [entry.with_least, entry.with_most] for name, entry in entries.items()}, "assumption",
            notes={"": ["least", "most"],
                   **{name: [f"{entry.least:g}", f"{entry.most:g}"] for name, entry in entries.items()}},
            base=first.ours))
    return found


def of_overheads(document: Document, slug: str) -> list[Panel]:
    """What the mechanisms store, beside what the sources say of it."""
    found = []
    if isinstance(document.overheads, dict):
        found.append(_needs(slug, "Table 4.1: what zero masks need", document.overheads))
    elif document.overheads:
        found.append(_overheads(slug, "Table 3.4: what coalescing and CORF need", document.overheads,
                                {"CORF": "corf", "ours": "ours"},
                                {"CORF, published": "corf_published", "ours, published": "ours_published"}))
    if document.affine_registers:
        found.append(_needs(slug, "What affine registers need", {"ours": document.affine_registers}))
    return found


def _needs(slug: str, title: str, by_setting: Mapping[str, Sequence[Record]]) -> Panel:
    """Needs under each setting, which all have the same rows."""
    merged = [{**each[0], **{setting: one["ours"] for setting, one in zip(by_setting, each, strict=True)}}
              for each in zip(*by_setting.values(), strict=True)]
    return _overheads(slug, title, merged, {setting: setting for setting in by_setting}, {"published": "published"})


def _overheads(slug: str, title: str, entries: Sequence[Record], columns: Mapping[str, str],
               texts: Mapping[str, str]) -> Panel:
    """A table of needs, by the keys of its columns of numbers and of texts; bars are of what is in bytes."""
    rows = {str(entry["what"]): [float(entry[key]) for key in columns.values()] for entry in entries}
    stored = [str(entry["what"]) for entry in entries if entry["unit"] == BYTES]
    return Panel(
        f"{slug}-{identifier(title)}", title, list(columns), {name: rows[name] for name in stored}, "what", BYTES,
        notes={"": ["unit", *texts],
               **{str(entry["what"]): [str(entry[key]) for key in ("unit", *texts.values())] for entry in entries}},
        others={name: values for name, values in rows.items() if name not in stored})


def of_hardware(document: Document, slug: str) -> list[Panel]:
    """Areas and longest paths of units, without and with each mechanism, and the areas behind energies."""
    parts = {"coalescing": document.units or document.coalescing_units, "gating": document.gating_units,
             "the affine unit": document.affine_units, "affine execution": document.engine_units,
             "windows": document.network_units}
    found = [panel for name, compared in parts.items() if compared
             for panel in (_areas(slug, name, compared), _paths(slug, name, compared))]
    if document.areas:
        found.append(Panel(f"{slug}-areas", "What an event passes, for its energy", ["area"],
                           {area.key: [area.um2] for area in document.areas}, "key in energy.toml", "µm²", 0))
    return found


def _areas(slug: str, name: str, compared: Sequence[Comparison]) -> Panel:
    rows = {entry.unit: [_area(entry.before), _area(entry.after)] for entry in compared}
    notes = {entry.unit: [f"{entry.added_um2:+,.0f}", f"{(entry.after or entry.before or _NONE).instances}"]
             for entry in compared}
    return Panel(f"{slug}-area-{identifier(name)}", f"Logic of one instance, without and with {name}",
                 ["without", "with"], rows, "unit", "µm²", 0, notes={"": ["adds in all, µm²", "instances"], **notes})


def _paths(slug: str, name: str, compared: Sequence[Comparison]) -> Panel:
    rows = {entry.unit: [_delay(entry.before), _delay(entry.after)] for entry in compared}
    notes = {entry.unit: [_path(entry.after or entry.before)] for entry in compared}
    return Panel(f"{slug}-path-{identifier(name)}", f"Longest path, without and with {name}", ["without", "with"],
                 rows, "unit", "ps", 0, notes={"": ["from and to"], **notes})


_NONE = Unit("", 0, 0.0, 0, 0.0, "", "")


def _area(unit: Unit | None) -> float | None:
    return unit.logic_um2 if unit else None


def _delay(unit: Unit | None) -> float | None:
    return unit.delay_ps if unit and unit.end else None


def _path(unit: Unit | None) -> str:
    return f"{unit.start} → {unit.end}" if unit and unit.end else NONE
