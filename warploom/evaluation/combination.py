"""All combinations of the four mechanisms: which gains add, which overlap, and what each is worth for its storage.

Gains that are independent multiply: the ratio to the baseline that a combination has is then the product of the ratios
that its mechanisms have alone. Ratios are averaged over workloads by the geometric mean, so that this holds for means,
too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import product
from math import prod
from statistics import geometric_mean
from typing import Any

from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError
from warploom.arch.mechanisms import STRONGEST
from warploom.evaluation.figures import Run, Runs
from warploom.evaluation.hardware.storage import storage
from warploom.evaluation.register_file_energy import register_file

NONE = "none"
"""The combination without any."""

METRICS: dict[str, Callable[[Run], float]] = {
    "ipc": lambda run: run.statistics.ipc,
    "accesses": lambda run: run.statistics.bank_accesses,
    "energy": lambda run: register_file(run).total,
}
"""What is compared: warp instructions per cycle, bank accesses, dynamic energy of the register file."""


def configurations(config: SmConfig, _: Sequence[str] = ()) -> dict[str, SmConfig]:
    """Every legal combination on a machine, by its name."""
    found = {}
    for chosen in product((False, True), repeat=len(STRONGEST)):
        members = [name for name, on in zip(STRONGEST, chosen, strict=True) if on]
        try:
            found[named(members)] = config.with_settings([STRONGEST[name] for name in members])
        except ConfigError:
            continue
    return found


def named(members: Sequence[str]) -> str:
    """The name of a combination: its mechanisms, with ` + ` between them."""
    return " + ".join(members) or NONE


def members(name: str) -> list[str]:
    """The mechanisms of a combination."""
    return [] if name == NONE else name.split(" + ")


@dataclass(frozen=True)
class Row:
    """A combination over a group of workloads. `ipc`, `accesses` and `energy` are ratios to the baseline, geometric
    means; those `expected` are the products of the ratios that its mechanisms have alone. `area` is the ratio of the
    storage, `ipc_per_area` that of IPC to it."""

    combination: str
    group: str
    workloads: int
    ipc: float
    ipc_expected: float
    accesses: float
    accesses_expected: float
    energy: float
    energy_expected: float
    area: float
    ipc_per_area: float


COLUMNS = tuple(field.name for field in fields(Row) if field.name not in ("group", "workloads"))
"""Columns of a table of one group."""


def ratios(runs: Mapping[str, Runs]) -> dict[str, dict[str, dict[str, float]]]:
    """By metric, combination and workload, the ratio to the baseline."""
    found: dict[str, dict[str, dict[str, float]]] = {metric: {} for metric in METRICS}
    for metric, value in METRICS.items():
        for workload, of_workload in runs.items():
            before = value(of_workload[NONE])
            for combination, run in of_workload.items():
                found[metric].setdefault(combination, {})[workload] = value(run) / before
    return found


def rows(runs: Mapping[str, Runs], groups: Mapping[str, Sequence[str]]) -> list[Row]:
    """Every combination over every group."""
    found, configs = ratios(runs), {name: run.config for name, run in next(iter(runs.values())).items()}
    areas = {name: storage(config).area_um2 for name, config in configs.items()}
    return [_row(found, areas, combination, group, workloads)
            for group, workloads in groups.items() for combination in configs]


def _row(
    found: Mapping[str, Mapping[str, Mapping[str, float]]], areas: Mapping[str, float], combination: str, group: str,
    workloads: Sequence[str],
) -> Row:
    def mean(metric: str, name: str) -> float:
        return geometric_mean(found[metric][name][workload] for workload in workloads)

    values = {metric: mean(metric, combination) for metric in METRICS}
    expected = {f"{metric}_expected": prod(mean(metric, name) for name in members(combination)) for metric in METRICS}
    area = areas[combination] / areas[NONE]
    return Row(combination, group, len(workloads), **values, **expected, area=area, ipc_per_area=values["ipc"] / area)


def to_json(runs: Mapping[str, Runs], groups: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The rows over all workloads, those over each group, and the ratios of each workload, for a document."""
    return {"combinations": [asdict(row) for row in rows(runs, {f"all {len(runs)}": list(runs)})],
            "by_group": [asdict(row) for row in rows(runs, groups)], "ratios": ratios(runs)}
