"""Every kernel under every configuration of an experiment: simulated once, kept, two at a time.

A result is kept under `build/evaluation/runs`, named after everything that it depends on, so that an interrupted
evaluation goes on where it stopped, and a second one has nothing to simulate.
"""

import hashlib
import json
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path

from golden_model.functional.executor import execute
from golden_model.simulate import simulate
from golden_model.statistics import Statistics
from golden_model.trace import Trace
from golden_model.values import Values, values
from tb.toolchain import source_hash
from warploom import kept, processes
from warploom.arch.config import SmConfig
from warploom.arch.errors import ExecutionError
from warploom.compiler.compile import compile_file
from warploom.compiler.writeback_hints import annotate_for
from warploom.evaluation.affine_structure import Structure, structure
from warploom.evaluation.bypassing_reuse import Reuse, reuse
from warploom.evaluation.figures import Run, Runs
from warploom.kernels.library import kernel

CACHE = Path("build") / "evaluation" / "runs"
SOURCES = ("warploom/arch", "warploom/compiler", "warploom/kernels", "golden_model",
           "warploom/evaluation/bypassing_reuse.py", "warploom/evaluation/affine_structure.py")  # fmt: skip
"""What a result depends on, beside its configuration."""

WORKERS = 2


@dataclass(frozen=True)
class Case:
    """One simulation: a kernel in a size, under a configuration that the experiment calls `setting`."""

    kernel: str
    size: str
    setting: str
    config: SmConfig


def cases(kernels: Sequence[str], size: str, configurations: Mapping[str, SmConfig]) -> list[Case]:
    """All cases, kernel by kernel, so that a process keeps the trace that it needs next."""
    return [Case(name, size, setting, config) for name in kernels for setting, config in configurations.items()]


def simulate_all(wanted: Sequence[Case], done: Callable[[Case], None]) -> dict[str, Runs]:
    """The runs of each kernel, by setting; `done` hears of each case as it ends. Raises `WarploomError`."""
    sources = source_hash(*SOURCES)
    paths = {case: _path(case, sources) for case in wanted}
    found = {case: known for case, path in paths.items() if (known := _read(case, path)) is not None}
    for case in found:
        done(case)
    for case, run in _missing({case: path for case, path in paths.items() if case not in found}, done):
        found[case] = run
    kernels: dict[str, dict[str, Run]] = {}
    for case in wanted:
        kernels.setdefault(case.kernel, {})[case.setting] = found[case]
    return dict(kernels)


def _missing(paths: Mapping[Case, Path], done: Callable[[Case], None]) -> list[tuple[Case, Run]]:
    """Simulate cases in processes of their own; results are kept in files."""
    if not paths:
        return []
    found = []
    pool = ProcessPoolExecutor(WORKERS, multiprocessing.get_context("spawn"), _follow_parent)
    try:
        with processes.interrupts_later():
            jobs = {pool.submit(_simulate, case, path): case for case, path in paths.items()}
        for job in as_completed(jobs):
            found.append((jobs[job], job.result()))
            done(jobs[job])
    except BrokenProcessPool:
        raise ExecutionError("a simulation was killed, for want of memory perhaps: close other programs and run the "
                             "evaluation again; it goes on where it stopped") from None
    except BaseException:
        for process in multiprocessing.active_children():
            process.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
    return found


def _follow_parent() -> None:
    """An interrupt, still blocked, is for the process that started this one, which then ends it; where that is gone,
    this one goes."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    parent = multiprocessing.parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def _path(case: Case, sources: str) -> Path:
    key = hashlib.sha256(repr((sources, case.config.to_toml(), case.kernel, case.size)).encode()).hexdigest()
    return CACHE / f"{case.kernel}-{case.size}-{key[:16]}.kept"


def _read(case: Case, path: Path) -> Run | None:
    """A run that was kept; None where there is none, or not a whole one."""
    def decode(text: str) -> Run:
        found = json.loads(text)
        return Run(case.config, Statistics(**found["statistics"]), Values(**found["values"]), Reuse(**found["reuse"]),
                   Structure(**found["structure"]))  # fmt: skip

    return kept.read(path, decode)


def _simulate(case: Case, path: Path) -> Run:
    trace = _trace(case.kernel, case.size)
    hinted = replace(trace, program=annotate_for(trace.program, case.config))
    run = Run(case.config, simulate(case.config, hinted).statistics, _values(case.kernel, case.size),
              _reuse(case.kernel, case.size), _structure(case.kernel, case.size))  # fmt: skip
    kept.write(path, json.dumps({"statistics": run.statistics.to_json(), "values": asdict(run.values),
                                 "reuse": asdict(run.reuse), "structure": asdict(run.structure)}))  # fmt: skip
    return run


@lru_cache(maxsize=1)
def _trace(name: str, size: str) -> Trace:
    """A kernel's trace, which all configurations share. Raises `ExecutionError` when its results are wrong."""
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
    """What a kernel computes, whatever the configuration."""
    return values(_trace(name, size))


@lru_cache(maxsize=1)
def _reuse(name: str, size: str) -> Reuse:
    """How a kernel uses its values again, whatever the configuration."""
    return reuse(_trace(name, size))


@lru_cache(maxsize=1)
def _structure(name: str, size: str) -> Structure:
    """What structure a kernel has, whatever the configuration."""
    return structure(_trace(name, size))
