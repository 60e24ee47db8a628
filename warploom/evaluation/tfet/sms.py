"""The experiment of [TFET], Figs. 3, 6, 7 and 13: TFET rows of each SM, on four SMs with their share of the memory."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import ceil
from statistics import fmean
from typing import Any

from warploom.arch.gpu import GpuConfig
from warploom.evaluation import cached
from warploom.evaluation.metrics import share
from warploom.evaluation.simulations import Case, annotated, inputs
from warploom.evaluation.tfet.experiment import BASELINE, INTENSIVE, MACHINES, MEM_RA, MEMORY, TUBA_TRWS
from warploom.golden_model.gpu.limits import FEW, MANY
from warploom.golden_model.gpu.simulate import simulate_gpu
from warploom.golden_model.gpu.statistics import in_sequence
from warploom.golden_model.sample import Sampled
from warploom.golden_model.statistics import Statistics

SCALE = ("sms=4", "slices=2", "channels=2", "mesh_columns=3")
"""Four SMs of `tfet_gpu` with their share of L2 and DRAM, rounded up to powers of two: 4/15 of six channels."""

COMPARED = (BASELINE, MEM_RA, TUBA_TRWS)

COLUMNS = ("workload", "machine", "cycles", "latency", "waiting, %", "requests", "served", "served, %",
           "free rows, %", "spread, %", "unbalanced, %")
"""Of each workload and machine: cycles; the mean latency of a line beyond the L1, in cycles; the share of the SMs'
cycles in which the scheduler waits for memory; requests for TFET rows and those that are served, by SM, and the share
of all; free TFET rows, mean over samples; the distance of the SM with the most from the one with the fewest at the same
time; and the share of samples in which one SM has so few that TUBA would lower its limit, and another one so many that
it would raise it."""


@dataclass(frozen=True)
class BySm:
    """What four SMs did: `waiting` is in percent of their cycles, and `free` are the free TFET rows of all SMs in each
    sample, in percent; there is none without renaming."""

    cycles: int
    latency: float
    waiting: float
    requests: tuple[int, ...]
    served: tuple[int, ...]
    free: tuple[tuple[float, ...], ...]

    def row(self, workload: str, machine: str) -> tuple[object, ...]:
        """By `COLUMNS`."""
        spreads = [max(sample) - min(sample) for sample in self.free]
        unbalanced = [min(sample) < FEW and max(sample) > MANY for sample in self.free]
        return (workload, machine, self.cycles, self.latency, self.waiting, list(self.requests), list(self.served),
                share(sum(self.served), sum(self.requests)) if sum(self.requests) else None,
                *(fmean(found) if found else None for found in ([fmean(sample) for sample in self.free], spreads)),
                100 * fmean(unbalanced) if unbalanced else None)


def groups() -> dict[str, tuple[str, ...]]:
    """The memory-intensive programs."""
    return {MEMORY: INTENSIVE}


def configurations(gpu: GpuConfig, settings: Sequence[str]) -> dict[str, GpuConfig]:
    """The machines; the settings of a user are stronger than the scale."""
    scaled = gpu.with_settings([*SCALE, *settings])
    return {name: scaled.with_settings([*MACHINES[name]]) for name in COMPARED}


def measured(case: Case) -> BySm:
    """All launches of a workload, or a sample of their blocks, on the SMs of its machine."""
    gpu = case.config
    assert isinstance(gpu, GpuConfig), "several SMs"
    launches = annotated(case.workload, case.size, gpu)
    runs = [simulate_gpu(gpu, launch if case.blocks is None else Sampled(launch, case.blocks)) for launch in launches]
    sms = [of_one for run in runs for of_one in run.sms]
    rows = gpu.sm.banks * gpu.sm.tfet_rows
    samples = [sample for run in runs for sample in zip(*run.free_rows, strict=False)]  # while all SMs are at work
    return BySm(
        cycles=sum(run.statistics.run_cycles for run in runs),
        latency=in_sequence([run.statistics for run in runs]).mean_latency,
        waiting=share(sum(each.stalls["memory"] for each in sms), gpu.sm.schedulers * sum(
            ceil(each.cycles / gpu.sm.front_end_interval) for each in sms)),
        requests=_by_sm("requests", [run.sms for run in runs]), served=_by_sm("served", [run.sms for run in runs]),
        free=tuple(tuple(share(free, rows) for free in sample) for sample in samples))


def _by_sm(name: str, launches: Sequence[Sequence[Statistics]]) -> tuple[int, ...]:
    """What the stage counted, by SM, in all launches; zeros without a stage."""
    return tuple(sum(found.counted["renaming"].get(name, 0) for found in of_one)
                 for of_one in zip(*launches, strict=True))


def _make(case: Case) -> str:
    return json.dumps(asdict(measured(case)))


def _read(_: Case, text: str) -> BySm:
    found: Mapping[str, Any] = json.loads(text)
    return BySm(**{name: _tuples(value) for name, value in found.items()})


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _name(case: Case) -> str:
    return f"tfet-sms-{case.workload}-{case.size}"


WORK = cached.Work(_make, _read, _name, inputs, (*cached.SOURCES, "warploom/evaluation/tfet/sms.py",
                                               "warploom/evaluation/simulations.py"))
