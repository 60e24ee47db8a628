"""Table 1 of [AFFINE]: the instructions of kernels, and the effect of the affine unit, beside the source's ranges."""

from collections.abc import Callable, Mapping
from typing import Any

from warploom.evaluation.affine.bars import BASELINE, FULL, counted, executing, number
from warploom.evaluation.figures import Figure, Runs, against, of_statistics
from warploom.evaluation.metrics import bank_reads_saved, bank_writes_saved, share
from warploom.evaluation.published import published

Column = Callable[[Runs], float]


def _of_structure(part: str) -> Column:
    def value(runs: Runs) -> float:
        found = runs[BASELINE].structure
        return share(getattr(found, part), found.instructions)

    return value


def _diverged(runs: Runs) -> float:
    found = runs[BASELINE].structure
    return share(found.diverged, sum(found.active))


def _of_affine(part: str, *whole: str) -> Column:
    value = counted(part, *whole)
    return lambda runs: value(runs[FULL])


COLUMNS: dict[str, Column] = {
    "instructions, thousands": lambda runs: runs[BASELINE].structure.instructions / 1000,
    "active threads": lambda runs: executing(runs[BASELINE].structure),
    "issue": lambda runs: runs[BASELINE].statistics.ipc,
    "long latency": _of_structure("long_latency"),
    "control": _of_structure("control"),
    "memory": _of_structure("memory"),
    "divergent": _diverged,
    "issue, abm": lambda runs: runs[FULL].statistics.ipc,
    "affine": _of_affine("accepted"),
    "suppressed": _of_affine("suppressed", "accepted", "suppressed"),
    "refused": _of_affine("refused", "attempts"),
    "expansions": _of_affine("expansions"),
    "reads saved": against(of_statistics(bank_reads_saved), FULL, BASELINE),
    "writes saved": against(of_statistics(bank_writes_saved), FULL, BASELINE),
    "branches": _of_affine("resolved", "compares"),
    "loads": _of_affine("affine_loads", "loads"),
    "vector loads": _of_affine("vector_requests", "loads"),
}
"""Columns of Table 1, and two of ours: attempts refused, loads that are vector requests. Percentages but for the first
three and `issue, abm`; defined in docs/evaluation_affine.md."""

BARS = {
    "baseline": ("Instructions by kind", ("long latency", "control", "memory", "divergent")),
    "execution": ("Instructions executed once for the warp", ("affine", "suppressed", "refused", "expansions")),
    "register file": ("Accesses to the banks saved", ("reads saved", "writes saved")),
    "control and memory": ("Comparisons and loads", ("branches", "loads", "vector loads")),
}
"""The charts of the columns, by note: the title and the bars."""


def table_1() -> list[Figure]:
    """The columns that are drawn."""
    return [Figure(number("Table 1"), title, {key: COLUMNS[key] for key in keys}, note=note)
            for note, (title, keys) in BARS.items()]


def rows(runs: Mapping[str, Runs]) -> list[tuple[Any, ...]]:
    """Table 1 transposed: for each of `COLUMNS` its name, its values by kernel, and the source's range."""
    known = published()[number("Table 1")]
    return [(key, *(column(of_kernel) for of_kernel in runs.values()), str(known.get(key, "-")))
            for key, column in COLUMNS.items()]
