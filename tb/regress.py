"""The long regression: every kernel in lockstep under every combination of settings, one of them at full size.

A run that passed is kept, with everything that it depends on as its key, so that an interrupted regression goes on
where it stopped and a second one has nothing to do.
"""

import dataclasses
import itertools
import json
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warploom import processes, store
from warploom.arch.config import SmConfig
from warploom.arch.mechanisms import Affine, Alignment, Bypass, Coalescing, Gating, Layout, Scheduler
from warploom.kernels.library import kernel, kernels
from warploom.store import Key, Kind
from warploom.tb.lockstep import LockstepError, lockstep
from warploom.tb.runner import BenchError
from warploom.tb.seeds import seed_of

SOURCES = (
    "warploom/arch", "warploom/compiler", "warploom/kernels", "warploom/golden_model", "warploom/rtl", "warploom/tb")
"""What a result depends on, beside its configuration."""

STEADY_STATE = "matmul"
"""The kernel that also runs at its default size, about 100,000 warp instructions."""

GATED_CORE = "maxwell"
"""The preset whose numbers chapter 4 of [RADAIDEH] gives."""

BYPASSING_SM = "pascal"
"""The preset whose numbers [BOW] gives."""

FEW_WARPS = "small"
"""The preset for every kind of window: with a collector for each of 48 warps a build takes many minutes. Also for every
kind of affine unit, and for what else there is beside it."""

TWO_SETS = "fermi"
"""The preset for affine units of several schedulers."""

WINDOWS = tuple(bypass for bypass in Bypass if bypass.has_window)

ENTRIES = (4, 2)
"""Of a bypassing collector, for each instruction of its window: all, and half of them ([BOW], section IV-C)."""

IN_HARDWARE = (Alignment.REG, Alignment.WRITE)
"""The alignments that are more than a bound of the model."""

OFF: dict[str, Any] = {"coalescing": Coalescing.OFF, "alignment": Alignment.REG, "gating": Gating.OFF,
                       "bypass": Bypass.OFF, "affine": Affine.OFF}
"""The baseline: no mechanism."""

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
        """What varies from case to case, in words."""
        register_file = ("no coalescing" if self.config.coalescing is Coalescing.OFF
                         else f"coalescing by {self.config.alignment}")
        gating = "no gating" if self.config.gating is Gating.OFF else f"gating {self.config.gating}"
        bypassing = (f"{self.config.bypass} of {self.config.window} in {self.config.entries}"
                     if self.config.bypass.has_window else "no bypassing")
        affine = "no affine unit" if self.config.affine is Affine.OFF else f"affine {self.config.affine}"
        core = f"{self.config.name}, {self.config.layout}, {self.config.scheduler}"
        return f"{core}, {register_file}, {gating}, {bypassing}, {affine}"


@dataclass(frozen=True)
class Outcome:
    """How a case went: `failure` is None or one line; `cached` says that it passed in an earlier regression."""

    case: Case
    cycles: int
    warp_instructions: int
    cycles_per_second: float
    cached: bool
    failure: str | None = None


def cases(config: SmConfig) -> Iterator[Case]:
    """All kernels at size tiny: without coalescing under every pair of (layout, scheduler), with it under every pair of
    (layout, alignment), both with every gating, which the core of its publication has too. On a core with few warps
    both with every kind of window, with all entries and with half of them; windows on the SM of their publication, and
    with every gating. Every kind of affine unit, alone and beside the others. Then one kernel at its default size
    without and with coalescing."""
    baseline = dataclasses.replace(config, **OFF)
    coalescing = dataclasses.replace(baseline, coalescing=Coalescing.ON)
    varied = [dataclasses.replace(baseline, layout=layout, scheduler=scheduler)
              for layout, scheduler in itertools.product(Layout, Scheduler)]
    varied += [dataclasses.replace(coalescing, layout=layout, alignment=alignment)
               for layout, alignment in itertools.product(Layout, IN_HARDWARE)]
    varied += [dataclasses.replace(core, gating=gating)
               for core, gating in itertools.product((baseline, coalescing, SmConfig.preset(GATED_CORE)), Gating)]
    varied += [*_windows(), *_affine()]
    for settings in dict.fromkeys(varied):
        yield from (Case(settings, bundled.name, "tiny") for bundled in kernels())
    yield Case(baseline, STEADY_STATE, "default")
    yield Case(coalescing, STEADY_STATE, "default")


def _windows() -> list[SmConfig]:
    """What varies with windows."""
    replace, few, gated = dataclasses.replace, SmConfig.preset(FEW_WARPS), SmConfig.preset(GATED_CORE)
    files = Coalescing.OFF, Coalescing.ON
    found = [replace(few, bypass=bypass, entries=count * few.window, coalescing=coalescing)
             for bypass, count, coalescing in itertools.product(WINDOWS, ENTRIES, files)]
    found += [replace(SmConfig.preset(BYPASSING_SM), bypass=bypass) for bypass in WINDOWS]
    return [*found, *(replace(gated, bypass=Bypass.BOW_HINTS, gating=gating) for gating in Gating)]


def _affine() -> list[SmConfig]:
    """What varies with an affine unit."""
    replace, few = dataclasses.replace, SmConfig.preset(FEW_WARPS)
    whole = replace(few, affine=Affine.ABM)
    found = [replace(few, affine=affine) for affine in Affine if affine.is_on]
    found += [replace(SmConfig.preset(TWO_SETS), affine=Affine.ABM), replace(whole, coalescing=Coalescing.ON),
              replace(whole, gating=Gating.CROSS_LANE)]
    found += [replace(whole, bypass=bypass) for bypass in WINDOWS]
    return [*found, replace(whole, coalescing=Coalescing.ON, gating=Gating.CROSS_LANE, bypass=Bypass.BOW_HINTS)]


def regress(config: SmConfig, base: int, report: Callable[[Outcome], None]) -> list[Outcome]:
    """Run all cases, as many at a time as there are processors, with the seeds of a base; `report` hears of each as it
    ends. Raises `ToolError` when a tool is missing."""
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
    """A line for each kernel that some gating makes faster or slower: gating must change no cycle."""
    runs: dict[Case, dict[Gating, int]] = {}
    for outcome in outcomes:
        if outcome.failure is None:
            case = outcome.case
            ungated = dataclasses.replace(case, config=dataclasses.replace(case.config, gating=Gating.OFF))
            runs.setdefault(ungated, {})[case.config.gating] = outcome.cycles
    return [
        f"{case}: cycles differ with gating: "
        + ", ".join(f"{gating} {cycles}" for gating, cycles in found.items())
        for case, found in runs.items() if len(set(found.values())) > 1
    ]


def _run(case: Case, seed: int, sources: str) -> Outcome:
    key = Key(Kind.OUTCOMES, f"{case.kernel}-{case.size}", {
        "configuration": dataclasses.asdict(case.config), "kernel": case.kernel, "size": case.size, "seed": seed,
        "sources": sources})
    cached = True

    def run(_: Path) -> str:
        nonlocal cached
        cached = False
        done = lockstep(case.config, kernel(case.kernel).load(case.size), seed)
        return json.dumps({"cycles": done.cycles, "warp_instructions": done.warp_instructions,
                           "cycles_per_second": done.cycles_per_second})

    try:
        found = store.text(key, run, lambda text: Outcome(case, **json.loads(text), cached=True))
    except LockstepError as error:
        return Outcome(case, 0, 0, 0.0, False, str(error))
    except BenchError as error:
        return Outcome(case, 0, 0, 0.0, False, error.line)
    return dataclasses.replace(found, cached=cached)

