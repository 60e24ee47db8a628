"""The long regression: every kernel in lockstep under every combination of settings, one of them at full size.

A run that passed is cached, with all its inputs as its key, so that an interrupted regression continues where it
stopped, and a second one has nothing to do. With other seeds, or other hardware with the same ports, runs of the golden
model are replayed (`warploom.tb.tape`).
"""

import dataclasses
import itertools
import json
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from warploom import processes, store
from warploom.arch.config import SmConfig
from warploom.arch.errors import ToolError
from warploom.arch.isa import Pipe
from warploom.arch.mechanisms import MECHANISMS, OFF, Runs, Switch, WindowDelay
from warploom.kernels.library import kernel, kernels
from warploom.store import Key, Kind
from warploom.tb.combinations import covering_array, lattice
from warploom.tb.lockstep import LockstepError, lockstep
from warploom.tb.runner import BenchError
from warploom.tb.seeds import seed_of
from warploom.tb.toolchain import versions, writers

SOURCES = ("warploom/arch", "warploom/compiler", "warploom/kernels", "warploom/golden_model", "warploom/rtl",
           "warploom/tb", "warploom/running.py")
"""The sources on which a result depends, in addition to its configuration and to the versions of tools."""

STEADY_STATE = "matmul"
"""The kernel that also runs at its default size, about 100,000 warp instructions."""

COMBINED = ("bfs", "hotspot", "matmul")
"""The kernels that run under combinations: divergence, a branch in a loop, shared memory and barriers."""

PORTS = (1, 2, 4)
"""Issue ports of the smallest machine, each with a scheduler, under every combination of mechanisms."""

WORKERS = os.cpu_count() or 1


@dataclass(frozen=True)
class Case:
    """One run: a configuration, a kernel, its size."""

    config: SmConfig
    kernel: str
    size: str

    def __str__(self) -> str:
        return f"{self.kernel} ({self.size}; {self.settings})"

    @property
    def settings(self) -> str:
        """The settings that vary from case to case, in words."""
        words = [mechanism.describe(self.config) for mechanism in MECHANISMS if mechanism.words]
        words += _in_words(self.config)
        return ", ".join([self.config.name, self.config.layout, self.config.scheduler, *filter(None, words)])


def _in_words(config: SmConfig) -> Iterator[str]:
    """What a configuration has of several pipes of SP, several issue ports, pairs, collectors that they share, or fast
    ones, slow rows, second ports of banks, and registers without rows, in words."""
    sp = [config.pipes[number] for number in config.numbers(Pipe.SP)]
    if len(sp) > 1:
        yield (f"{len(sp)} pipes of SP of {sp[0].lanes} lanes, {len(config.dispatch_ports)} dispatch ports, "
               f"{len(config.write_paths)} write paths")
    if config.issue_ports > 1:
        yield f"{config.issue_ports} issue ports"
    if config.has_pairs:
        yield "pairs"
    if config.shows_claims:
        yield " + ".join(str(len(numbers)) for numbers in config.collector_sets) + " collectors"
    if config.tfet_rows:
        yield f"{config.tfet_rows} TFET rows"
    if config.bank_ports > 1:
        yield "banks with two ports"
    if not (config.arrival_delay and config.turnaround):
        yield f"arrival delay {config.arrival_delay}, turnaround {config.turnaround}"
    if config.dispatch_delay:
        yield "dispatch in two cycles"
    if config.window_delay is not WindowDelay.AUTO:
        yield f"window delay {config.window_delay}"
    if config.has_unallocated:
        yield "transient registers without rows"


@dataclass(frozen=True)
class Outcome:
    """The result of a case: `failure` is None or one line; `cached`: it passed in an earlier regression; `by` is the
    comparing part (`warploom.tb.lockstep`)."""

    case: Case
    cycles: int
    warp_instructions: int
    cycles_per_second: float
    cached: bool
    by: str | None = None
    failure: str | None = None


def cases(config: SmConfig) -> Iterator[Case]:
    """All kernels at size tiny under the settings of every mechanism's runs, each once, and some kernels under
    combinations of settings; then one kernel at its default size under some."""
    baseline = config.with_settings([*OFF])
    varied = [core for mechanism in MECHANISMS for runs in mechanism.runs for core in _cores(runs, baseline)]
    tiny = [Case(core, bundled.name, "tiny") for core in varied for bundled in kernels()]
    tiny += [Case(core, name, "tiny") for core in _combined(baseline) for name in COMBINED]
    yield from dict.fromkeys(tiny)
    for mechanism in MECHANISMS:
        for settings in mechanism.full_size:
            yield Case(baseline.with_settings([*settings]), STEADY_STATE, "default")


def _combined(baseline: SmConfig) -> Iterator[SmConfig]:
    """All combinations of mechanisms on the smallest machine and on this one, and pairs of all settings on this one."""
    small = SmConfig.preset("small")
    for ports in PORTS:
        yield from lattice(small.with_settings([f"schedulers={ports}", f"issue_ports={ports}"]))
    yield from lattice(baseline)
    yield from covering_array(baseline)


def _cores(runs: Runs, baseline: SmConfig) -> Iterator[SmConfig]:
    """The configurations of some runs."""
    core = SmConfig.preset(runs.preset) if runs.preset else baseline
    names = [name for name, _ in runs.axes]
    for chosen in itertools.product(*(values for _, values in runs.axes)):
        axes = (f"{name}={value}" for name, value in zip(names, chosen, strict=True))
        yield core.with_settings([*runs.settings, *axes])


def regress(config: SmConfig, base: int, report: Callable[[Outcome], None]) -> list[Outcome]:
    """Run all cases, as many at a time as there are processors, with the seeds of a base. Calls `report` with each case
    when it ends. Raises `ToolError` if a tool is missing."""
    store.need_place()
    sources = store.sources(*SOURCES)
    outcomes = []
    with ThreadPoolExecutor(WORKERS) as pool:
        futures = [pool.submit(_run, case, seed_of(str(case), base), sources) for case in cases(config)]
        try:
            for future in futures:
                outcomes.append(future.result())
                report(outcomes[-1])
        except BaseException:
            processes.abandon(pool, futures)
            raise
    return outcomes


def disagreements(outcomes: Iterable[Outcome]) -> list[str]:
    """A line for each kernel that is faster or slower with a mechanism that must change no cycle."""
    return [line for mechanism in MECHANISMS if not mechanism.changes_cycles
            for switch in mechanism.switches for line in _unequal(outcomes, mechanism.name, switch)]


def _unequal(outcomes: Iterable[Outcome], mechanism: str, switch: Switch) -> list[str]:
    runs: dict[Case, dict[str, int]] = {}
    for outcome in outcomes:
        if outcome.failure is None:
            case = outcome.case
            without = dataclasses.replace(case, config=case.config.with_settings([f"{switch.field}={switch.default}"]))
            runs.setdefault(without, {})[getattr(case.config, switch.field)] = outcome.cycles
    return [
        f"{case}: cycles differ with {mechanism}: "
        + ", ".join(f"{value} {cycles}" for value, cycles in found.items())
        for case, found in runs.items() if len(set(found.values())) > 1
    ]


def _run(case: Case, seed: int, sources: str) -> Outcome:
    key = Key(Kind.OUTCOMES, f"{case.kernel}-{case.size}", {
        "configuration": dataclasses.asdict(case.config), "kernel": case.kernel, "size": case.size, "seed": seed,
        "sources": sources, "tools": versions() | writers()})
    cached = True

    def run(_: Path) -> str:
        nonlocal cached
        cached = False
        done = lockstep(case.config, kernel(case.kernel).load(case.size), seed, replay=True)
        if store.sources(*SOURCES) != sources:
            raise ToolError("the sources have changed since the regression began: begin it again")
        return json.dumps({"cycles": done.cycles, "warp_instructions": done.warp_instructions,
                           "cycles_per_second": done.cycles_per_second, "by": done.by})

    try:
        found = store.text(key, run, lambda text: Outcome(case, **json.loads(text), cached=True))
    except LockstepError as error:
        return Outcome(case, 0, 0, 0.0, False, failure=str(error))
    except BenchError as error:
        return Outcome(case, 0, 0, 0.0, False, failure=error.line)
    return dataclasses.replace(found, cached=cached)

