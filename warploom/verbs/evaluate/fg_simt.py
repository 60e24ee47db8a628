"""``warploom evaluate fg_simt`` and ``fg_simt_cost``: programs on the FG-SIMT engine, and what it costs."""

from typing import TypeVar

from warploom import report
from warploom.arch.config import SmConfig
from warploom.evaluation.cached import Sized, Work
from warploom.evaluation.energy import sensitivity
from warploom.evaluation.fg_simt import energy as fg_simt_energy
from warploom.evaluation.fg_simt import experiment as fg_simt
from warploom.evaluation.study import Study
from warploom.fg_simt.programs import NAMES
from warploom.synth.compare import compare
from warploom.verbs import Body
from warploom.verbs.evaluate.hardware import UNITS, comparisons

R = TypeVar("R")

ENERGY = "energy and cycles relative to the engine without affine execution: ours (published)"


def show(study: Study) -> Body:
    """Table 3 of [AFFINE], ours beside the published one."""
    rows = [one.row(name) for name, one in _programs(study, fg_simt.WORK).items()]
    report.table("Table 3: ours (published)", fg_simt.COLUMNS, [fg_simt.texts(row) for row in rows])
    columns = ("program", *fg_simt.MIX)
    report.table("Table 3, instructions and accesses", columns, [fg_simt.texts(row, columns) for row in rows])
    return {"size": study.wanted.size, "groups": study.groups, "table_3": rows}


def show_cost(study: Study) -> Body:
    """Figs. 7 and 8: the engine in gates, without affine execution and with `abm`, and the energy of all programs."""
    engines = fg_simt_energy.units(SmConfig.preset("small"))
    units = compare(engines["off"], engines["abm"])
    report.table("Fig. 7: units of the engine without affine execution and with abm", UNITS, comparisons(units))
    programs = {name: fg_simt_energy.counted(one, engines) for name, one in _programs(study, fg_simt.COUNTING).items()}
    by_kind = fg_simt_energy.kinds(engines)
    report.table("Fig. 7: by kind of affine execution, um2 and ps", [*by_kind[0]],
                 [[value if isinstance(value, str) else round(value) for value in one.values()] for one in by_kind])
    rows = [fg_simt_energy.row(name, counts) for name, counts in programs.items()]
    report.table(f"Fig. 8: {ENERGY}", fg_simt_energy.COLUMNS, [fg_simt_energy.texts(row) for row in rows])
    parts, carried = fg_simt_energy.shares(programs), sensitivity.rows(fg_simt_energy.HEADLINES, programs)
    report.table("Energy by part, % of all without affine execution, mean over programs", [*parts[0]],
                 [[value if isinstance(value, str) else round(value, 1) for value in part.values()] for part in parts])
    report.table("What assumptions carry: each over its range, averages in %", sensitivity.COLUMNS,
                 [[round(value, 2) if isinstance(value, float) else value for value in row.values()]
                  for row in carried])
    return {"size": study.wanted.size, "groups": study.groups, "engine_units": [one.to_json() for one in units],
            "engine_kinds": by_kind, "engine_energy": rows, "engine_parts": parts, "sensitivity": carried}


def _programs(study: Study, work: Work[Sized, R]) -> dict[str, R]:
    """The result of each program, by the source's names."""
    found = study.by_workload(work, "simulating")
    return {name: found[bundled] for name, bundled in NAMES.items() if bundled in found}
