"""Panels of what experiments print as tables of their own, without figures of a source."""

from collections.abc import Sequence

from warploom.pages.document import Document, Entry, Value
from warploom.pages.panels import NONE, PROGRAM, Panel, Values, identifier

PUBLISHED = "published "
"""What the names of published values begin with, in *table_3* and *engine_energy*."""

PERCENT = ", %"
"""What the names of quantities in percent end with."""

TOTAL = "total"
"""The sum of all parts, in *engine_parts*."""


def of_engine(document: Document, slug: str) -> list[Panel]:
    """Programs on the FG-SIMT engine."""
    entries = document.table_3
    return [
        *_bars(slug, "Table 3: speed with affine execution, times that without", entries, ("a", "ab", "abm", "mcore"),
               unit="", digits=2),
        *_bars(slug, "Table 3: instructions by kind", entries, ("integer", "float", "control", "memory"), stacked=True),
        *_bars(slug, "Table 3: affine instructions, vector and shared loads, and register accesses saved", entries,
               ("affine a", "affine ab", "vector", "shared loads", "reads", "writes")),
    ]


def of_engine_costs(document: Document, slug: str) -> list[Panel]:
    """The energy of programs on the FG-SIMT engine, and its areas and paths by kind of affine execution."""
    energy, kinds = document.engine_energy, document.engine_kinds
    parts = [name for name in next(iter(document.engine_parts), {}) if name not in ("kind", TOTAL)]
    return [
        *_bars(slug, "Fig. 8: energy, times that without affine execution", energy, ("a", "ab", "abm"), unit="",
               digits=2),
        *_bars(slug, "Fig. 8: time, and energy of parts, with abm, times that without", energy,
               ("cycles", "lanes", "registers", "memory"), unit="", digits=2),
        *_bars(slug, "Energy by part, of all without affine execution", document.engine_parts, parts, name="kind",
               stacked=True),
        *_bars(slug, "Fig. 7: logic by kind of affine execution", kinds, ("control_processor_um2", "units_um2"),
               name="kind", unit="µm²", digits=0),
        *_bars(slug, "Fig. 7: longest path by kind of affine execution", kinds, ("control_processor_ps", "units_ps"),
               name="kind", unit="ps", digits=0),
    ]


def of_tfet_rows(document: Document, slug: str) -> list[Panel]:
    """TFET rows of several SMs; predictions of their gating, and what could be saved at most."""
    predictions, bounds = document.predictions, document.bounds
    return [
        *_by_machine(slug, "Time", "cycles", document.by_sm, unit="cycles", digits=0),
        *_by_machine(slug, "Requests for TFET rows that are served", "served, %", document.by_sm),
        *_by_machine(slug, "TFET rows that are free", "free rows, %", document.by_sm),
        *_bars(slug, "Errors of predicted stalls, by several measures", predictions,
               ("error, %", "median, %", "of sums, %", "long accesses, %", "next sample, %")),
        *_bars(slug, "Time that mem_ra adds, and with a perfect predictor", predictions,
               ("slower, %", "perfect, slower, %")),
        *_bars(slug, "Energy that mem_ra saves, and with a perfect predictor", predictions,
               ("saved, %", "perfect, saved, %")),
        *_bars(slug, "What could be saved, of all energy", bounds,
               [name for name in next(iter(bounds), {}) if name.endswith(PERCENT)]),
    ]


def of_power(document: Document, slug: str) -> list[Panel]:
    """The rename stage in gates, beside the register file."""
    if not document.power:
        return []
    shares = {str(entry["what"]): [_number(entry["share, %"])] for entry in document.power}
    texts = {str(entry["what"]): [_text(entry[key]) for key in ("stage", "register file", "published, %")]
             for entry in document.power}
    return [Panel(
        f"{slug}-power", "The rename stage, of the register file", ["share"],
        {what: share for what, share in shares.items() if share != [None]}, "quantity",
        notes={"": ["stage", "register file", "published, %"], **texts},
        others={what: share for what, share in shares.items() if share == [None]})]


def of_silicon(document: Document, slug: str) -> list[Panel]:
    """The model beside a recorded GPU: [HAWS], Figs. 4.9 and 4.10."""
    found = [_correlated(document, slug, f"{figure}: {what}", key) for figure, what, key in (
        ("Fig. 4.9", "warp instructions", "instructions"), ("Fig. 4.10", "cycles", "cycles")) if document.programs]
    lanes = {_run(entry): [_number(entry["lanes"]), _number(entry["chip_lanes"])] for entry in document.programs}
    if lanes:
        found.append(Panel(f"{slug}-lanes", "Active lanes of a warp instruction", ["ours", document.chip], lanes,
                           "program and size", "lanes"))
    latencies = {f"{entry['what']}, {entry['bytes']:,.0f} bytes" if entry["bytes"] else str(entry["what"]):
                 [_number(entry["cycles"]), _number(entry["chip_cycles"])] for entry in document.latencies}
    if latencies:
        found.append(Panel(f"{slug}-latencies", "Cycles from an instruction to the next one, which needs its result",
                           ["ours", document.chip], latencies, "instruction", "cycles"))
    return [*found, *_bars(slug, "How the model follows the chip: correlations, and model over chip",
                           document.agreements, ("logarithms", "ranks", "ratio"), name="what", unit="", digits=2)]


def of_code(document: Document, slug: str) -> list[Panel]:
    """Instructions of each program as PTX, as ours and as machine code."""
    return _bars(slug, "Instructions of the code", document.code, ("PTX", "ours", "SASS"), name="workload",
                 unit="instructions", digits=0)


def _correlated(document: Document, slug: str, title: str, key: str) -> Panel:
    """Ours over the chip's, of every program in every size."""
    rows = {_run(entry): [_number(entry[f"chip_{key}"]), _number(entry[key])] for entry in document.programs}
    sizes = dict.fromkeys(str(entry["size"]) for entry in document.programs)
    marks = {size: [_run(entry) for entry in document.programs if entry["size"] == size] for size in sizes}
    return Panel(f"{slug}-{identifier(title)}", f"{title}, ours over those of {document.chip}",
                 [document.chip, "ours"], rows, "program and size", "", 0, marks=marks, alike=True)


def _run(entry: Entry) -> str:
    return f"{entry['workload']}, {entry['size']}"


def _bars(
    slug: str, title: str, entries: Sequence[Entry], keys: Sequence[str], *, name: str = "", unit: str = "%",
    digits: int = 1, stacked: bool = False,
) -> list[Panel]:
    """A row for each entry, called `name` there, and what is published of the same; no panel without entries."""
    if not entries:
        return []
    name = name or ("program" if "program" in entries[0] else "workload")
    known = [key for key in keys if PUBLISHED + key in entries[0]]
    notes = {str(entry[name]): [_text(entry.get(PUBLISHED + key)) for key in known] for entry in entries}
    return [Panel(
        f"{slug}-{identifier(title)}", title, [_label(key) for key in keys],
        {str(entry[name]): [_number(entry.get(key)) for key in keys] for entry in entries},
        PROGRAM if name in ("program", "workload") else name, unit, digits, stacked=stacked,
        notes={"": [PUBLISHED + key for key in known], **notes} if known else {})]


def _by_machine(
    slug: str, title: str, key: str, entries: Sequence[Entry], *, unit: str = "%", digits: int = 1
) -> list[Panel]:
    """A row for each workload, and a column for each machine."""
    machines = list(dict.fromkeys(str(entry["machine"]) for entry in entries if entry[key] is not None))
    rows: dict[str, Values] = {}
    for workload in dict.fromkeys(str(entry["workload"]) for entry in entries):
        known = {str(entry["machine"]): _number(entry[key]) for entry in entries if entry["workload"] == workload}
        rows[workload] = [known.get(machine) for machine in machines]
    return [Panel(f"{slug}-{identifier(title)}", title, machines, rows, unit=unit, digits=digits)] if machines else []


def _label(key: str) -> str:
    """The name of a column: its unit, and the quantity's, are those of the panel."""
    for unit in (PERCENT, "_um2", "_ps"):
        key = key.removesuffix(unit)
    return key.replace("_", " ")


def _number(value: Value) -> float | None:
    return value if isinstance(value, float) else None


def _text(value: Value) -> str:
    return NONE if value is None else f"{value:,.4g}" if isinstance(value, float) else str(value)
