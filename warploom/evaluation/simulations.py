"""Every kernel under every configuration of an experiment: simulated once, cached, two at a time.

A result is cached, with all its inputs as its key, so that an interrupted evaluation continues where it stopped, and a
second one has nothing to simulate.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial

from warploom import processes, store
from warploom.arch.config import SmConfig
from warploom.arch.errors import ExecutionError
from warploom.compiler.compile import compile_file
from warploom.compiler.writeback_hints import annotate_for
from warploom.evaluation.affine_structure import Structure, structure
from warploom.evaluation.bypassing_reuse import Reuse, reuse
from warploom.evaluation.figures import Run, Runs
from warploom.golden_model.functional.executor import execute
from warploom.golden_model.simulate import simulate
from warploom.golden_model.statistics import Statistics
from warploom.golden_model.trace import Trace
from warploom.golden_model.values import Values, values
from warploom.kernels.library import kernel
from warploom.store import Key, Kind

SOURCES = ("warploom/arch", "warploom/compiler", "warploom/kernels", "warploom/golden_model",
           "warploom/evaluation/bypassing_reuse.py", "warploom/evaluation/affine_structure.py")
"""The inputs of a result, beside its configuration."""

WORKERS = 2


@dataclass(frozen=True)
class Case:
    """One simulation: a kernel in a size, under a configuration that the experiment calls `setting`."""

    kernel: str
    size: str
    setting: str
    config: SmConfig


def cases(kernels: Sequence[str], size: str, configurations: Mapping[str, SmConfig]) -> list[Case]:
    """All cases, kernel by kernel, so that a process can use its cached trace for the next case."""
    return [Case(name, size, setting, config) for name in kernels for setting, config in configurations.items()]


def simulate_all(wanted: Sequence[Case], done: Callable[[Case], None]) -> dict[str, Runs]:
    """The runs of each kernel, by setting. Calls `done` with each case when it ends. Raises `WarploomError`."""
    store.need_place()
    sources = store.sources(*SOURCES)
    keys = {case: _key(case, sources) for case in wanted}
    found = {case: known for case, key in keys.items() if (known := store.get(key, partial(_decode, case))) is not None}
    for case in found:
        done(case)
    for case, run in _missing({case: key for case, key in keys.items() if case not in found}, done):
        found[case] = run
    kernels: dict[str, dict[str, Run]] = {}
    for case in wanted:
        kernels.setdefault(case.kernel, {})[case.setting] = found[case]
    return dict(kernels)


def _missing(keys: Mapping[Case, Key], done: Callable[[Case], None]) -> list[tuple[Case, Run]]:
    """Simulate cases in separate processes, which cache the results."""
    if not keys:
        return []
    found = []
    with processes.workers(WORKERS) as pool:
        with processes.interrupts_later():
            jobs = {pool.submit(_simulate, case, key): case for case, key in keys.items()}
        for job in as_completed(jobs):
            found.append((jobs[job], job.result()))
            done(jobs[job])
    return found


def _key(case: Case, sources: str) -> Key:
    return Key(Kind.SIMULATIONS, f"{case.kernel}-{case.size}", {
        "configuration": asdict(case.config), "kernel": case.kernel, "size": case.size, "sources": sources,
    })


def _decode(case: Case, text: str) -> Run:
    """A cached run."""
    found = json.loads(text)
    return Run(case.config, Statistics.from_json(found["statistics"]), Values(**found["values"]),
               Reuse(**found["reuse"]), Structure(**found["structure"]))


def _simulate(case: Case, key: Key) -> Run:
    return store.text(key, lambda _: _run(case), partial(_decode, case))


def _run(case: Case) -> str:
    """A run, to be cached."""
    trace = kernel_trace(case.kernel, case.size)
    hinted = replace(trace, program=annotate_for(trace.program, case.config))
    return json.dumps({
        "statistics": simulate(case.config, hinted).statistics.to_json(),
        "values": asdict(_values(case.kernel, case.size)), "reuse": asdict(_reuse(case.kernel, case.size)),
        "structure": asdict(_structure(case.kernel, case.size)),
    })


@lru_cache(maxsize=1)
def kernel_trace(name: str, size: str) -> Trace:
    """A kernel's trace, which all configurations share. Raises `ExecutionError` if its results are wrong."""
    file = kernel(name).load(size)
    program = compile_file(file.ptx, file.entry)
    execution = execute(program, file.launch)
    for expectation in file.expectations:
        if wrong := expectation.mismatch(execution.buffers[expectation.name]):
            raise ExecutionError(f"{name} ({size}): not what its reference computes: {wrong}")
    assert execution.trace is not None
    return execution.trace


@lru_cache(maxsize=1)
def _values(name: str, size: str) -> Values:
    """The values of a kernel, whatever the configuration."""
    return values(kernel_trace(name, size))


@lru_cache(maxsize=1)
def _reuse(name: str, size: str) -> Reuse:
    """The reuse of a kernel's values, whatever the configuration."""
    return reuse(kernel_trace(name, size))


@lru_cache(maxsize=1)
def _structure(name: str, size: str) -> Structure:
    """The structure in a kernel, whatever the configuration."""
    return structure(kernel_trace(name, size))
