"""Recorded simulations: a file of all that an experiment has simulated, from which it can be evaluated again.

A recorded run stands for the same case in another version of Warploom, too, whatever that would simulate: so figures
that only follow from counts, such as energies, can be made anew in seconds. A machine is the same if it has the same
value in every recorded field, and the default value in newer ones. Each run has the commit that simulated it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from warploom import records, report
from warploom.arch.config import SmConfig
from warploom.arch.errors import WarploomError
from warploom.arch.gpu import GpuConfig
from warploom.arch.pipes import PipeConfig
from warploom.evaluation.figures import Run
from warploom.evaluation.repeating import values
from warploom.evaluation.simulations import Case, Results, from_json, results, to_json
from warploom.origin import commit

DEFAULTS = {field.name: str(field.default) for kind in (GpuConfig, SmConfig, PipeConfig) for field in fields(kind)}
"""The fields of machines and of pipes, with their default values in the format of a setting."""


class Recorded(NamedTuple):
    """A run, and the commit of the version that simulated it, None if that was installed."""

    run: Run
    commit: str | None


class Simulations:
    """The runs of cases: those that the record `source` has, if there is one, and all others simulated, each once."""

    def __init__(self, source: Path | None = None) -> None:
        self._source = source
        self._results: dict[Case, Run | WarploomError] = {}
        self._commits: dict[Case, str | None] = {}  # of the runs of the source

    def of(self, wanted: Sequence[Case], scheduler: str | None = None) -> Results:
        """At least the results of these cases; progress is shown. Raises `ToolError` if the source is no record, and
        what `results` does."""
        new = [case for case in dict.fromkeys(wanted) if case not in self._results]
        for case, recorded in (read(self._source, new) if self._source and new else {}).items():
            self._results[case], self._commits[case] = recorded
        missing = [case for case in new if case not in self._results]
        with report.counting("simulating", len(missing)) as done:
            self._results |= results(missing, lambda case: done(f"{case.workload}, {case.setting}"), scheduler)
        return self._results

    def commits(self, cases: Iterable[Case]) -> set[str | None]:
        """The commits that simulated those of these cases which the source has."""
        return {self._commits[case] for case in cases if case in self._commits}

    @property
    def recorded(self) -> dict[Case, Recorded]:
        """All runs so far."""
        return {case: Recorded(run, self._commits.get(case, commit()))
                for case, run in self._results.items() if isinstance(run, Run)}


def write(path: Path, recorded: Mapping[Case, Recorded]) -> None:
    """Write a record. Raises `OSError`."""
    records.write(path, [
        {"workload": case.workload, "size": case.size, "blocks": case.blocks, "commit": commit,
         "machine": values(case.config), "run": to_json(run)} for case, (run, commit) in recorded.items()])


def read(path: Path, wanted: Iterable[Case]) -> dict[Case, Recorded]:
    """Those of the wanted cases that a record has. Raises `ToolError` if the file is none."""
    return records.read(path, partial(_known, wanted), "a record of simulations", "evaluate")


def _known(wanted: Iterable[Case], found: Iterable[Mapping[str, Any]]) -> dict[Case, Recorded]:
    alike: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for one in found:
        of_gpu = one["run"]["memory"] is not None
        alike.setdefault((one["workload"], one["size"], one["blocks"], of_gpu), []).append(one)
    recorded = {}
    for case in wanted:
        machine = values(case.config)
        for one in alike.get((case.workload, case.size, case.blocks, isinstance(case.config, GpuConfig)), ()):
            if _is_same(machine, one["machine"]):
                recorded[case] = Recorded(from_json(case.config, one["run"]), one["commit"])
    return recorded


def _is_same(machine: Mapping[str, str], known: Mapping[str, str]) -> bool:
    """Whether a machine is a recorded one; fields of a pipe begin with its name."""
    return known.items() <= machine.items() and all(
        machine[name] == DEFAULTS.get(name.rpartition(".")[2]) for name in machine.keys() - known.keys())
