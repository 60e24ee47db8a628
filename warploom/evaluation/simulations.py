"""Every workload under every configuration of an experiment: simulated once, on all processors or on a cluster, and
cached."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from typing import Any

from warploom.arch.chunks import most_warps
from warploom.arch.config import SmConfig
from warploom.arch.errors import WarploomError
from warploom.arch.gpu import GpuConfig, Machine, sm_of
from warploom.compiler.prepare import prepared
from warploom.evaluation import cached
from warploom.evaluation.figures import Launched, Run, Runs
from warploom.evaluation.traces.reuse import Reuse, reuse
from warploom.evaluation.traces.structure import Structure, structure
from warploom.evaluation.traces.toggling import Toggling, toggling
from warploom.evaluation.workloads import sized, traces
from warploom.golden_model.gpu.simulate import simulate_gpu
from warploom.golden_model.gpu.statistics import GpuStatistics, in_sequence
from warploom.golden_model.sample import Sampled
from warploom.golden_model.simulate import simulate
from warploom.golden_model.sm import Sm
from warploom.golden_model.statistics import Statistics, scaled, total
from warploom.golden_model.trace import Trace
from warploom.golden_model.values import Values, values

SOURCES = (*cached.SOURCES, "warploom/evaluation/simulations.py", "warploom/evaluation/traces/reuse.py",
           "warploom/evaluation/traces/structure.py", "warploom/evaluation/traces/toggling.py")
"""The inputs of a result, beside its configuration."""


@dataclass(frozen=True)
class Case:
    """One simulation: a workload in a size, on a machine; with `blocks`, of so many blocks of each launch, scaled to
    all (docs/sampling.md), but for what the memory of a GPU did. The name that an experiment gives to the machine,
    `setting`, makes no difference."""

    workload: str
    size: str
    setting: str = field(compare=False)
    config: Machine
    blocks: int | None = None


def cases(
    workloads: Iterable[str], size: str, configurations: Mapping[str, Machine], blocks: int | None = None
) -> list[Case]:
    """All cases, workload by workload, so that a process can use its cached traces for the next case."""
    return [Case(name, sized(name, size), setting, config, blocks)
            for name in workloads for setting, config in configurations.items()]


@dataclass(frozen=True)
class Simulated:
    """The runs of each workload, by setting, and the errors of the cases that failed. A workload is left out if one of
    its cases failed."""

    runs: dict[str, Runs]
    failed: dict[Case, WarploomError] = field(default_factory=dict)


Results = dict[Case, Run | WarploomError]
"""Every case with its run, or with the error that it raised."""


def simulate_all(wanted: Sequence[Case], done: Callable[[Case], None], scheduler: str | None = None) -> Simulated:
    """The results of all cases, arranged. Raises the first error if every workload has one, and what `results` does."""
    return arranged(wanted, results(wanted, done, scheduler))


def arranged(wanted: Sequence[Case], found: Results) -> Simulated:
    """The results of cases by workload and setting. Raises the first error if every workload has one."""
    failed = {case: result for case in wanted if isinstance(result := found[case], WarploomError)}
    left_out = {case.workload for case in failed}
    runs: dict[str, dict[str, Run]] = {}
    for case in wanted:
        if case.workload not in left_out and isinstance(result := found[case], Run):
            runs.setdefault(case.workload, {})[case.setting] = result
    if failed and not runs:
        raise next(iter(failed.values()))
    return Simulated(dict(runs), failed)


def results(wanted: Iterable[Case], done: Callable[[Case], None], scheduler: str | None = None) -> Results:
    """The results of cases, as `cached.results` has them."""
    return cached.results(SIMULATION, wanted, done, scheduler)


def _name(case: Case) -> str:
    return f"{case.workload}-{case.size}"


def inputs(case: Case) -> dict[str, Any]:
    """What a result depends on, beside its sources."""
    return {"configuration": asdict(case.config), "workload": case.workload, "size": case.size, "blocks": case.blocks}


def from_json(machine: Machine, found: Mapping[str, Any]) -> Run:
    """The run on a machine that `to_json` wrote. Raises `KeyError` or `TypeError` for that of another version."""
    memory = found["memory"]
    return Run(machine, Statistics.from_json(found["statistics"]), Values(**found["values"]),
               Reuse(**found["reuse"]), Structure(**found["structure"]), Toggling(**found["toggling"]),
               None if memory is None else GpuStatistics(**memory),
               tuple(Launched(**launch) for launch in found["launches"]))


def to_json(run: Run) -> dict[str, Any]:
    """All of a run but its machine, ready for `json.dump`."""
    return {
        "statistics": run.statistics.to_json(), "memory": None if run.memory is None else asdict(run.memory),
        "values": asdict(run.values), "reuse": asdict(run.reuse), "structure": asdict(run.structure),
        "toggling": asdict(run.toggling), "launches": [asdict(launch) for launch in run.launches],
    }


def _decode(case: Case, text: str) -> Run:
    """A cached run."""
    return from_json(case.config, json.loads(text))


def _run(case: Case) -> str:
    """A run, to be cached."""
    name, size = case.workload, case.size
    statistics, memory, launches = timed(case)
    return json.dumps(to_json(Run(case.config, statistics, _values(name, size), _reuse(name, size),
                                  _structure(name, size), _toggling(name, size), memory, tuple(launches))))


SIMULATION = cached.Work(_run, _decode, _name, inputs, SOURCES)


def annotated(workload: str, size: str, machine: Machine) -> list[Trace]:
    """The launches of a workload, in order, as the compiler prepares their programs for a machine: with hints, or with
    last reads, without which no register is released before its warp ends."""
    launches, config = traces(workload, size), sm_of(machine)
    programs = {id(launch.program): prepared(launch.program, config) for launch in launches}
    return [replace(launch, program=programs[id(launch.program)]) for launch in launches]


def timed(
    case: Case, prepare: Callable[[Sm], object] | None = None
) -> tuple[Statistics, GpuStatistics | None, list[Launched]]:
    """The statistics of all launches, those of the memory of a GPU, and the launches. For `prepare` see
    `simulate_gpu`."""
    config, hinted = case.config, annotated(case.workload, case.size, case.config)
    parts = [launch if case.blocks is None else Sampled(launch, case.blocks) for launch in hinted]
    if isinstance(config, GpuConfig):
        runs = [simulate_gpu(config, part, prepare=prepare) for part in parts]
        summed = [_whole(launch, run.summed) for launch, run in zip(hinted, runs, strict=True)]
        return _sum(summed), in_sequence([run.statistics for run in runs]), _launched(config.sm, hinted, summed)
    assert prepare is None, "the SMs of a GPU"
    found = [_whole(launch, simulate(config, part).statistics) for launch, part in zip(hinted, parts, strict=True)]
    return _sum(found), None, _launched(config, hinted, found)


def _launched(config: SmConfig, launches: Sequence[Trace], found: Sequence[Statistics]) -> list[Launched]:
    """The launches with their cycles."""
    return [Launched(launch.program.registers, most_warps(config, launch.program, launch.launch), one.cycles)
            for launch, one in zip(launches, found, strict=True)]


def _sum(found: Sequence[Statistics]) -> Statistics:
    """The statistics of launches, one after the other."""
    return total(found) if len(found) > 1 else found[0]


def _whole(launch: Trace, timed: Statistics) -> Statistics:
    """The statistics of a launch, or their estimate if not all of its blocks were timed."""
    factor = launch.warp_instructions / timed.warp_instructions
    return timed if factor == 1 else scaled(timed, factor)


@lru_cache(maxsize=1)
def _values(name: str, size: str) -> Values:
    """The values of a workload, whatever the configuration."""
    return values(*traces(name, size))


@lru_cache(maxsize=1)
def _reuse(name: str, size: str) -> Reuse:
    """The reuse of a workload's values, whatever the configuration."""
    return reuse(*traces(name, size))


@lru_cache(maxsize=1)
def _structure(name: str, size: str) -> Structure:
    """The structure in a workload, whatever the configuration."""
    return structure(*traces(name, size))


@lru_cache(maxsize=1)
def _toggling(name: str, size: str) -> Toggling:
    """The bits that toggle in a workload, whatever the configuration."""
    return toggling(*traces(name, size))
