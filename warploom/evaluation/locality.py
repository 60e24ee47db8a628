"""The experiment of [HAWS], chapter 6: launch hints, on a GPU with a third of its SMs, slices and channels.

The programs on the source's list launch their kernels with the hints of its Table 6.2, which only some machines follow.
"""

from collections.abc import Callable, Mapping, Sequence

from warploom.arch.gpu import GpuConfig
from warploom.evaluation.figures import Compare, Figure, Groups, Measured, Run, Runs, against
from warploom.golden_model.gpu.load_store import Wait
from warploom.golden_model.gpu.statistics import GpuStatistics

SCALED = ("sms=4", "slices=4", "channels=2")
"""A `k20x` of 14 SMs, 12 slices and 6 channels as large as our grids: with more SMs each would have few blocks."""

BASELINE, BOTH = "lrr", "locality"
BLOCKS, WARPS = "block_scheduler=locality", "scheduler=locality"

MACHINES: dict[str, tuple[str, ...]] = {
    BASELINE: (), "cta_aware": ("scheduler=cta_aware",), "mascar": ("saturation=mascar",), "blocks": (BLOCKS,),
    "warps": (WARPS,), BOTH: (BLOCKS, WARPS),
}
"""The baseline, two comparators, each half of the mechanism alone, and both."""

GAINING = tuple(name for name in MACHINES if name != BASELINE)

HIGH, LOW = "types 1 and 2", "type 3"

TYPES = {HIGH: ("gemm", "two_mm", "transpose", "jacobi_2d", "conv_2d"),
         LOW: ("histogram", "scan", "walsh", "bitonic_sort", "mvt")}
"""The workloads of [HAWS], Table 6.2, by how much their blocks share."""

COLUMNS = ("workload", *MACHINES)


def usual() -> Groups:
    """Table 6.2: those with high locality, to which the published averages belong, the others, and all."""
    return {**TYPES, "all": (*TYPES[HIGH], *TYPES[LOW])}


def configurations(config: GpuConfig, settings: Sequence[str]) -> dict[str, GpuConfig]:
    """All machines; the settings of a user are stronger than `SCALED`."""
    scaled = config.with_settings([*SCALED, *settings])
    return {name: scaled.with_settings([*own]) for name, own in MACHINES.items()}


def measured(runs: Mapping[str, Runs], groups: Groups) -> list[Measured]:
    """The figures of section 6.4. That of duplicates is of the programs that have some in the baseline."""
    sharing = {name: of_workload for name, of_workload in runs.items() if memory(of_workload[BASELINE]).duplicates}
    left = {label: [name for name in names if name in sharing] for label, names in groups.items()}
    found = [figure.measure(runs, groups) for figure in figures()]
    return [*found, *([duplicates().measure(sharing, {label: names for label, names in left.items() if names})]
                      if sharing else [])]


def duplicates() -> Figure:
    """What is left of the duplicates, by machine."""
    return Figure("HAWS, Fig. 6.11", "MSHRs for lines that another SM has requested, of those of the baseline",
                  _each(lambda ours, baseline: 100 * memory(ours).duplicates / memory(baseline).duplicates))


def figures() -> list[Figure]:
    """The figures that all programs have."""
    return [
        Figure("HAWS, Fig. 6.1", "MSHRs for lines that another SM has requested within 2,000 cycles",
               {BASELINE: lambda runs: 100 * _share(runs[BASELINE])}),
        Figure("HAWS, Fig. 6.10", "Speed gained", _each(_faster)),
        Figure("HAWS, Fig. 6.12", "Loads for each MSHR, more than in the baseline", _each(_more_loads)),
    ]


MSHR_COLUMNS = ("workload", "cycles", *(f"{what}, {name}" for what in (
    "MSHRs", "duplicates, %", "cycles that wait for an MSHR") for name in (BASELINE, BOTH)))
"""Cycles of the baseline; and without and with the mechanism the MSHRs that are taken, how many of them are for lines
that another SM has requested, and the cycles in which a transaction waits since none is free, summed over SMs."""


def mshrs(runs: Mapping[str, Runs]) -> list[list[object]]:
    """The rows of a table with `MSHR_COLUMNS`."""
    return [[workload, of_workload[BASELINE].statistics.cycles, *(
        value(of_workload[name]) for value in (lambda run: memory(run).entries, lambda run: 100 * _share(run), _waits)
        for name in (BASELINE, BOTH))] for workload, of_workload in runs.items()]


def loads(runs: Mapping[str, Runs]) -> list[list[object]]:
    """The rows of a table with `COLUMNS`: loads for each MSHR ([HAWS], Fig. 6.12)."""
    return [[workload, *(round(loads_per_entry(of_workload[name]), 2) for name in MACHINES)]
            for workload, of_workload in runs.items()]


def loads_per_entry(run: Run) -> float:
    """Loads that an MSHR serves, mean over those that are taken."""
    found = memory(run)
    return sum(number * count for number, count in enumerate(found.loads_per_entry, 1)) / max(found.entries, 1)


def memory(run: Run) -> GpuStatistics:
    """The statistics of a run on a GPU."""
    assert run.memory is not None, "a run on one SM"
    return run.memory


def _each(compare: Compare) -> dict[str, Callable[[Runs], float]]:
    """A comparison of each machine with the baseline."""
    return {name: against(compare, name, BASELINE) for name in GAINING}


def _faster(ours: Run, baseline: Run) -> float:
    return 100 * (baseline.statistics.cycles / ours.statistics.cycles - 1)


def _share(run: Run) -> float:
    found = memory(run)
    return found.duplicates / max(found.entries, 1)


def _waits(run: Run) -> int:
    return sum(memory(run).waits[str(Wait.MSHR)])


def _more_loads(ours: Run, baseline: Run) -> float:
    return 100 * (loads_per_entry(ours) / loads_per_entry(baseline) - 1) if memory(baseline).entries else 0.0
