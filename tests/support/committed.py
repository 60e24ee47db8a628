"""Numbers of the committed results, for the claims of sentences (`tests/pages/claims`)."""

import json
import lzma
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from statistics import fmean
from typing import Any

from warploom.arch.config import SmConfig
from warploom.arch.gpu import GpuConfig, Machine
from warploom.evaluation import recorded
from warploom.evaluation.energy.assumptions import ASSUMED
from warploom.evaluation.energy.sensitivity import Compare, Headline
from warploom.evaluation.figures import Runs
from warploom.evaluation.pages import RESULTS, document, results
from warploom.evaluation.published import published
from warploom.evaluation.register_file_energy import shares
from warploom.evaluation.simulations import cases


class Group:
    """The workloads of one average of an experiment: mostly the programs, the first, or the kernels, the second."""

    def __init__(self, experiment: str, number: int = 0) -> None:
        self.experiment = experiment
        self.workloads: list[str] = list(document(experiment)["groups"].values())[number]
        self._found = results(experiment)

    def each(self, figure: str, key: str, note: str = "") -> dict[str, float]:
        """A series of a figure, by workload."""
        values = self._found(figure, key, note=note)[0].kernels
        return {name: values[name] for name in self.workloads}

    def mean(self, figure: str, *keys: str, note: str = "") -> float:
        """The mean of a series over the workloads; of several series, the sum of their means."""
        return sum(self.means(figure, *keys, note=note))

    def means(self, figure: str, *keys: str, note: str = "") -> list[float]:
        """The means of several series of a figure."""
        return [fmean(self.each(figure, key, note).values()) for key in keys]

    def pressure(self, setting: str, column: str) -> dict[str, float]:
        """A column of the table of pressure, by workload."""
        found = {entry["kernel"]: entry[column] for entry in document(self.experiment)["pressure"]
                 if entry["setting"] == setting}
        return {name: found[name] for name in self.workloads}

    def runs(self, *settings: str) -> dict[str, Runs]:
        """The recorded runs of some settings, by workload: for energies that the result has of other workloads."""
        found = document(self.experiment)
        machines = {setting: _machine(found["settings"][setting]) for setting in settings}
        wanted = cases(self.workloads, found["size"], machines, found["blocks"])
        run = recorded.read(RESULTS / f"{self.experiment}.json.xz", wanted)
        return {name: {case.setting: run[case].run for case in wanted if case.workload == name}
                for name in self.workloads}

    def energy(self, baseline: str, *settings: str) -> list[dict[str, Any]]:
        """The energy of the register file by part, in percent of that of a baseline (the results have the programs)."""
        return shares(self.runs(baseline, *settings), dict.fromkeys((baseline, *settings), baseline))

    def assuming(self, compare: Compare, baseline: str, ours: str, **assumed: float) -> float:
        """An average under other assumptions (the results have the programs)."""
        return Headline("", "", compare, ours, baseline).average(self.runs(baseline, ours), replace(ASSUMED, **assumed))


def _machine(options: list[str]) -> Machine:
    """The machine that these options of the command line name."""
    (kind, name), *settings = zip(options[::2], options[1::2], strict=True)
    preset = {"--preset": SmConfig, "--gpu": GpuConfig}[kind].preset(name)
    return preset.with_settings([setting for _, setting in settings])


def programs(experiment: str) -> Group:
    """The programs that stand for the source's benchmarks."""
    return Group(experiment)


def kernels(experiment: str) -> Group:
    """The seven kernels."""
    return Group(experiment, 1)


def printed(figure: str, *keys: str) -> float:
    """The average that a source prints; of several series, their sum."""
    return sum(published()[figure][key].value for key in keys)


def record(experiment: str, table: str, **fields: object) -> dict[str, Any]:
    """The record of a table that has these fields."""
    found = [entry for entry in document(experiment)[table] if fields.items() <= entry.items()]
    assert len(found) == 1, (experiment, table, fields, len(found))
    return found[0]


def column(experiment: str, table: str, name: str, key: str = "workload") -> dict[str, Any]:
    """A column of a table, by what its records have at `key`."""
    return {entry[key]: entry[name] for entry in document(experiment)[table]}


def ends(values: Mapping[str, float] | Iterable[float]) -> tuple[float, float]:
    """The least and the most of some values."""
    found = list(values.values() if isinstance(values, Mapping) else values)
    return min(found), max(found)


def mean(values: Mapping[str, float]) -> float:
    """The mean over workloads."""
    return fmean(values.values())


def carried(experiment: str, figure: str, assumption: str) -> tuple[float, float]:
    """A figure with the least and with the most of an assumption."""
    found = record(experiment, "sensitivity", figure=figure, assumption=assumption)
    return found["with least"], found["with most"]


@cache
def simulations(experiment: str) -> list[dict[str, Any]]:
    """The recorded simulations of an experiment (docs/evaluation.md, *Recorded simulations*)."""
    with lzma.open(RESULTS / f"{experiment}.json.xz") as file:
        return json.load(file)


def simulation(experiment: str, workload: str, **machine: str) -> dict[str, Any]:
    """The recorded simulation of a workload on a machine with these fields."""
    found = [entry for entry in simulations(experiment)
             if entry["workload"] == workload and machine.items() <= entry["machine"].items()]
    assert len(found) == 1, (experiment, workload, machine, len(found))
    return found[0]


def statistics(experiment: str, workload: str, **machine: str) -> dict[str, Any]:
    """What that simulation has counted."""
    return simulation(experiment, workload, **machine)["run"]["statistics"]
