"""Every workload under every configuration of an experiment: simulated once, cached, on all processors or on a cluster.

A result is cached, with all its inputs as its key, so that an interrupted evaluation continues where it stopped, and a
second one has nothing to simulate. A simulation that fails does not stop the others.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from functools import cache, lru_cache, partial
from pathlib import Path
from socket import gethostname

from warploom import points, store
from warploom.arch.config import SmConfig
from warploom.arch.errors import ToolError, WarploomError
from warploom.compiler.writeback_hints import annotate_for
from warploom.evaluation.affine_structure import Structure, structure
from warploom.evaluation.bypassing_reuse import Reuse, reuse
from warploom.evaluation.figures import Run, Runs
from warploom.evaluation.toggling import Toggling, toggling
from warploom.evaluation.workloads import sized, traces
from warploom.golden_model.sample import Sampled
from warploom.golden_model.simulate import simulate
from warploom.golden_model.statistics import Statistics, scaled, total
from warploom.golden_model.trace import Trace
from warploom.golden_model.values import Values, values
from warploom.store import Key, Kind

SOURCES = ("warploom/arch", "warploom/compiler", "warploom/kernels", "warploom/golden_model", "warploom/host",
           "warploom/programs", "warploom/evaluation/bypassing_reuse.py", "warploom/evaluation/affine_structure.py",
           "warploom/evaluation/toggling.py", "warploom/evaluation/workloads.py")
"""The inputs of a result, beside its configuration."""


@dataclass(frozen=True)
class Case:
    """One simulation: a workload in a size, under a configuration; with `blocks` of so many blocks of each launch,
    scaled to all (docs/sampling.md). The name that an experiment gives to the configuration, `setting`, makes no
    difference."""

    workload: str
    size: str
    setting: str = field(compare=False)
    config: SmConfig
    blocks: int | None = None


def cases(
    workloads: Iterable[str], size: str, configurations: Mapping[str, SmConfig], blocks: int | None = None
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
    """Simulate what is not cached, each case once, in this order: on this machine, or on the cluster with this address.
    Calls `done` with each case when it ends. Raises `ToolError` if there is no such cluster."""
    store.need_place()
    sources = _sources()
    keys = {case: _key(case, sources) for case in wanted}
    found: Results = {}
    for case, key in keys.items():
        if (known := store.get(key, partial(_decode, case))) is not None:
            found[case] = known
            done(case)
    missing = [(case, key) for case, key in keys.items() if case not in found]
    with closing(points.compute(_simulate, missing, scheduler)) as ended:
        for (case, key), result in ended:
            found[case] = result if isinstance(result, WarploomError) else store.text(
                key, partial(_given, result), partial(_decode, case))
            done(case)
    return found


@cache
def _sources() -> str:
    """The digest of all inputs of a result, beside its configuration, as this process reads them."""
    return store.sources(*SOURCES)


def _key(case: Case, sources: str) -> Key:
    return Key(Kind.SIMULATIONS, f"{case.workload}-{case.size}", {
        "configuration": asdict(case.config), "workload": case.workload, "size": case.size, "blocks": case.blocks,
        "sources": sources,
    })


def _decode(case: Case, text: str) -> Run:
    """A cached run."""
    found = json.loads(text)
    return Run(case.config, Statistics.from_json(found["statistics"]), Values(**found["values"]),
               Reuse(**found["reuse"]), Structure(**found["structure"]), Toggling(**found["toggling"]))


def _simulate(point: tuple[Case, Key]) -> str:
    """A run as it is cached; in a worker, which has a cache of its own if it is on another machine."""
    case, key = point
    if key.parts["sources"] != _sources():
        raise ToolError(f"a worker on {gethostname()} has other sources of Warploom: install this version there")
    return store.text(key, lambda _: _run(case), partial(_checked, case))


def _given(text: str, _: Path) -> str:
    """The text that a worker on another machine made, for the cache of this one."""
    return text


def _checked(case: Case, text: str) -> str:
    """The text, if it is a run's. Raises what `_decode` raises."""
    _decode(case, text)
    return text


def _run(case: Case) -> str:
    """A run, to be cached."""
    name, size = case.workload, case.size
    return json.dumps({
        "statistics": _statistics(case).to_json(), "values": asdict(_values(name, size)),
        "reuse": asdict(_reuse(name, size)), "structure": asdict(_structure(name, size)),
        "toggling": asdict(_toggling(name, size)),
    })


def _statistics(case: Case) -> Statistics:
    """The statistics of all launches."""
    launches = traces(case.workload, case.size)
    hinted = {id(launch.program): annotate_for(launch.program, case.config) for launch in launches}
    found = [_timed(case, replace(launch, program=hinted[id(launch.program)])) for launch in launches]
    return total(found) if len(found) > 1 else found[0]


def _timed(case: Case, launch: Trace) -> Statistics:
    """The statistics of a launch, or their estimate from a sample of its blocks."""
    if case.blocks is None:
        return simulate(case.config, launch).statistics
    sampled = Sampled(launch, case.blocks)
    timed = simulate(case.config, sampled).statistics
    return scaled(timed, sampled.sample(launch.warp_instructions, timed.warp_instructions).factor)


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
