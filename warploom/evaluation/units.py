"""The experiment of [HAWS], chapter 4, on execution units: how schedulers share them, and lanes of those they own."""

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial

from warploom.arch.config import SmConfig
from warploom.arch.pipes import MOST_LANES, PipeConfig, Sharing, shared_by
from warploom.evaluation import metrics
from warploom.evaluation.figures import Figure, Groups, Runs, of_statistics
from warploom.evaluation.workloads import listed, on_list

TABLE = "HAWS 4.2"
"""The source's table of programs."""

LANES = (4, 7, 8, 15, 16, 31, 32)
"""Lanes of each owned unit; the first number is the source's baseline."""

POLICIES = (Sharing.EVEN, Sharing.STATIC, Sharing.FAIR)

MACHINES = {
    "": (),
    "fast memory": ("memory_interval=1", "memory_latency=1", "mshrs=1024", "mshr_merges=64", "lsu.credits=64"),
    "fast memory, many collectors": ("memory_interval=1", "memory_latency=1", "mshrs=1024", "mshr_merges=64",
                                     "lsu.credits=64", "collectors=64", "sfu_collectors=0", "mem_collectors=0"),
}
"""Settings that take away what hides the units: the bandwidth of memory, then the number of collectors."""

LATER = "fair, as late as even"
"""Turns, where shared units take as long as if they were divided, but each instruction has all of their lanes."""

IPC = of_statistics(metrics.ipc_gained)


def usual() -> Groups:
    """The programs and kernels of the source's table."""
    return {on_list(TABLE): listed(TABLE)}


def configurations(config: SmConfig, _: Sequence[str] = ()) -> dict[str, SmConfig]:
    """The policies on each machine, and the numbers of lanes, by setting."""
    found = {}
    for machine, settings in MACHINES.items():
        changed = config.with_settings(list(settings))
        for sharing in POLICIES:
            found[setting(sharing, machine)] = dataclasses.replace(changed, pipes=shared_by(changed.pipes, sharing))
    found[LATER] = dataclasses.replace(config, pipes=tuple(map(
        partial(_later, config.schedulers), shared_by(config.pipes, Sharing.FAIR))))
    return found | {f"{lanes} lanes": with_lanes(config, lanes) for lanes in LANES}


def setting(sharing: Sharing, machine: str = "") -> str:
    """The name of a policy on a machine."""
    return f"{sharing}, {machine}" if machine else str(sharing)


def with_lanes(config: SmConfig, lanes: int) -> SmConfig:
    """The machine, whose owned pipes have another number of lanes."""
    return dataclasses.replace(config, pipes=tuple(
        pipe if pipe.is_shared else dataclasses.replace(pipe, lanes=lanes) for pipe in config.pipes))


def _later(schedulers: int, pipe: PipeConfig) -> PipeConfig:
    """A shared pipe with the latencies that it has if schedulers divide its lanes."""
    more = -(-MOST_LANES * schedulers // pipe.lanes) - -(-MOST_LANES // pipe.lanes) if pipe.is_shared else 0
    return dataclasses.replace(pipe, classes={
        name: (latency + more, interval) for name, (latency, interval) in pipe.classes.items()})


def figures() -> list[Figure]:
    """The figures of the source, in its order."""
    policies = [
        Figure("Fig. 4.11, units", "IPC gained over static sharing",
               {str(ours): _gained(setting(ours, machine), setting(Sharing.STATIC, machine))
                for ours in (Sharing.EVEN, Sharing.FAIR)}, note=machine)
        for machine in MACHINES
    ]
    why = Figure("Fig. 4.11, why", "IPC gained over static sharing", {
        name: _gained(name, setting(Sharing.STATIC)) for name in (str(Sharing.FAIR), LATER, str(Sharing.EVEN))})
    first, *others = LANES
    return [*policies, why, Figure("Fig. 4.14, units", f"IPC gained over {first} lanes of each owned unit", {
        str(lanes): _gained(f"{lanes} lanes", f"{first} lanes") for lanes in others})]


def _gained(ours: str, baseline: str) -> Callable[[Runs], float]:
    return lambda runs: IPC(runs[ours], runs[baseline])
