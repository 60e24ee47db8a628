"""The experiment of [TFET], section 6: a file of CMOS and TFET rows, on one SM with its share of the memory."""

from collections.abc import Callable, Mapping, Sequence

from warploom.arch.gpu import GpuConfig
from warploom.arch.layout import powered_rows
from warploom.evaluation.energy.sensitivity import Headline
from warploom.evaluation.figures import Compare, Figure, Groups, Measured, Run, Runs, against, of_statistics
from warploom.evaluation.metrics import gained, share
from warploom.evaluation.tfet.energy import dynamic_saved, energy, energy_saved, leakage_saved, tfet_share
from warploom.evaluation.workloads import NAMED
from warploom.golden_model.statistics import Statistics

SCALE = ("sms=1", "slices=1", "channels=1", "mesh_columns=1", "l2_sets=32", "dram_bytes=8")
"""One SM of `tfet_gpu` with its share of L2 and DRAM, rounded up to powers of two: a 15th of six channels."""

BASELINE, ALL_TFET, DROWSY, STAGE = "baseline", "all_tfet", "drowsy", "stage"
CMOS_RA, MEM_RA, IDEAL = "cmos_ra", "mem_ra", "ideal_mem_ra"
DYNCTA, TWO_LEVEL, TUBA_TRWS = "mem_ra_dyncta", "mem_ra_two_level", "mem_ra_tuba_trws"
LARGE, SMALL = "mem_ra_625", "mem_ra_875"

_MEM_RA = "renaming=mem_ra"
_HYBRID = ("tfet_rows=56", _MEM_RA)

MACHINES: Mapping[str, Sequence[str]] = {
    BASELINE: (), ALL_TFET: ("tfet_rows=256",), DROWSY: ("drowsy=2",), STAGE: ("renaming=cmos_first",),
    CMOS_RA: ("tfet_rows=56", "renaming=cmos_first"), MEM_RA: _HYBRID,
    LARGE: ("tfet_rows=96", _MEM_RA), SMALL: ("tfet_rows=32", _MEM_RA),
    DYNCTA: (*_HYBRID, "block_scheduler=dyncta"), TWO_LEVEL: (*_HYBRID, "scheduler=two_level"),
    TUBA_TRWS: (*_HYBRID, "block_scheduler=tuba", "scheduler=trws"),
}
"""What is compared, with its settings; `stage` has the stage alone, and CMOS rows."""

PARTITIONS = (BASELINE, SMALL, MEM_RA, LARGE)
"""Partitions of which the ideal one is chosen for each program: none, 12.5, 22 and 37.5 % of TFET rows."""

MOST_SLOWER = 5
"""Percent of time that the ideal partition may cost."""

TABLE_2: Mapping[str, tuple[str, int]] = {
    "bfs_levels": ("BFS", 4), "binomial": ("BN", 4), "backprop": ("BP", 4), "coulombic": ("CP", 6),
    "laplace3d": ("LPS", 6), "matmul": ("MM", 4), "transpose": ("MT", 4), "nearest_neighbour": ("NE", 8),
    "nqueens": ("NQU", 1), "nw": ("NW", 7), "ray_tracing": ("RAY", 3), "scan_large": ("SLA", 8), "srad": ("SRAD", 3),
    "store_gpu": ("STO", 1),
}
"""Our programs by the abbreviation of [TFET], Table 2, and its blocks of an SM."""

ALL, MEMORY = "Table 2", "memory-intensive"
INTENSIVE = ("bfs_levels", "backprop", "transpose", "nearest_neighbour", "nw")
"""Those that the source calls memory-intensive."""


def groups() -> dict[str, tuple[str, ...]]:
    """All programs of Table 2, and the memory-intensive ones."""
    return {ALL: tuple(TABLE_2), MEMORY: INTENSIVE}


def configurations(gpu: GpuConfig, settings: Sequence[str]) -> dict[str, GpuConfig]:
    """All machines; the settings of a user are stronger than the scale."""
    scaled = gpu.with_settings([*SCALE, *settings])
    return {name: scaled.with_settings([*own]) for name, own in MACHINES.items()}


def with_ideal(runs: Mapping[str, Runs]) -> dict[str, Runs]:
    """The runs, with the one of the ideal partition of each program."""
    return {name: {**of_kernel, IDEAL: _ideal(of_kernel)} for name, of_kernel in runs.items()}


def _ideal(runs: Runs) -> Run:
    """That with the least energy among those that are hardly slower than the baseline, which is one of them."""
    most = runs[BASELINE].statistics.cycles * (1 + MOST_SLOWER / 100)
    fitting = [runs[name] for name in PARTITIONS if runs[name].statistics.cycles <= most]
    return min(fitting, key=lambda run: energy(run).total)


# ------------------------------------------------------------------ figures

def slower(ours: Statistics, baseline: Statistics) -> float:
    """Cycles added."""
    return gained(ours.cycles, baseline.cycles)


def waiting(run: Run) -> float:
    """Cycles in which the scheduler waits for memory, and for nothing shorter."""
    return share(run.statistics.stalls["memory"] * run.config.front_end_interval, run.sm_cycles * run.config.schedulers)


def count(run: Run, name: str) -> int:
    """What the stage counted."""
    found: int = run.statistics.counted["renaming"][name]
    return found


def served(run: Run) -> float:
    """Requests for a TFET row that get one; all if there is none."""
    return share(count(run, "served"), count(run, "requests")) if count(run, "requests") else 100.0


def prediction_error(run: Run) -> float:
    """The difference between a predicted stall and the next access of the warp, of that access; mean over accesses."""
    found = run.statistics.counted["predicted"]
    return share(found["errors"] / 1000, found["compared"])


def measured(runs: Mapping[str, Runs], found: Groups) -> list[Measured]:
    """All figures, in the order of the source; those with a published average of the memory-intensive programs have it
    apart. `found` are the groups."""
    chosen = {name: [member for member in members if member in INTENSIVE]
              for name, members in found.items() if name.partition(",")[0] in (MEMORY, NAMED)}
    intensive = {name: members for name, members in chosen.items() if members}
    few = {name: runs[name] for members in intensive.values() for name in members}
    bfs = {name: runs[name] for name in runs if name == "bfs_levels"}
    return [*(figure.measure(runs, found) for figure in figures()),
            *(figure.measure(few, intensive) for figure in of_intensive() if few),
            *(figure.measure(bfs) for figure in of_bfs() if bfs)]


def figures() -> list[Figure]:
    """The figures of all programs."""
    energies, times = energy_saved, of_statistics(slower)
    first, partitions = (ALL_TFET, DROWSY, CMOS_RA, MEM_RA, IDEAL), (SMALL, MEM_RA, LARGE)
    last = (MEM_RA, DYNCTA, TWO_LEVEL, TUBA_TRWS)
    return [
        _figure("Fig. 4", "Time in which the scheduler waits for memory", {
            BASELINE: lambda runs: waiting(runs[BASELINE])}),
        _against("Fig. 9a", "Time added", times, first), _against("Fig. 9b", "Energy saved", energies, first),
        _against("Stage", "Time added by the stage alone", times, (STAGE,)),
        *(_against(f"Fig. 10, {note}", "Saved, of all energy", compare, (CMOS_RA, MEM_RA))
          for note, compare in (("dynamic", dynamic_saved), ("leakage", leakage_saved))),
        _figure("Section 6.1.1", "Energy of TFET rows, of all", {MEM_RA: lambda runs: tfet_share(runs[MEM_RA])}),
        _against("Fig. 11a", "Time added", times, partitions),
        _against("Fig. 11b", "Energy saved", energies, partitions),
        _figure("Fig. 12", "Error of the predicted stall", {MEM_RA: lambda runs: prediction_error(runs[MEM_RA])}),
        _against("Fig. 15a", "Time added", times, last), _against("Fig. 15b", "Energy saved", energies, last),
    ]


def of_intensive() -> list[Figure]:
    """The averages that the source prints for memory-intensive programs."""
    both, times = (MEM_RA, TUBA_TRWS), of_statistics(slower)
    return [
        _against("Fig. 15a, intensive", "Time added", times, both),
        _against("Fig. 15b, intensive", "Energy saved", energy_saved, both),
        *(_against(f"Fig. 15b, intensive, {note}", "Saved, of all energy", compare, (TUBA_TRWS,))
          for note, compare in (("dynamic", dynamic_saved), ("leakage", leakage_saved))),
        _figure("Fig. 14", "Requests for TFET rows that are served", {
            name: lambda runs, name=name: served(runs[name]) for name in both}),
    ]


def of_bfs() -> list[Figure]:
    """Figs. 6 and 13: breadth-first search alone."""
    def change(name: str) -> Callable[[Runs], float]:
        return lambda runs: share(count(runs[TUBA_TRWS], name) - count(runs[MEM_RA], name),
                                  count(runs[MEM_RA], name))

    return [_figure("Fig. 6", "Requests for TFET rows that are served", {MEM_RA: lambda runs: served(runs[MEM_RA])}),
            _figure("Fig. 13", "Requests more than with mem_ra", {"requests": change("requests"),
                                                                "served": change("served")})]


def headlines() -> list[Headline]:
    """The published savings, to be varied."""
    return [Headline(f"saved: {name}", published, energy_saved, name, BASELINE)
            for name, published in ((ALL_TFET, "86"), (DROWSY, "7"), (CMOS_RA, "12.3"), (MEM_RA, "34"),
                                    (TUBA_TRWS, "40"))]


def _against(number: str, title: str, compare: Compare, names: Sequence[str]) -> Figure:
    """A comparison of several machines with the baseline."""
    return _figure(number, title, {name: against(compare, name, BASELINE) for name in names})


def _figure(number: str, title: str, values: Mapping[str, Callable[..., float]]) -> Figure:
    return Figure(f"TFET, {number}", title, values)


# ------------------------------------------------------------------ why

CIRCUMSTANCES = ("workload", "in the source", "its blocks of an SM", "warps of an SM", "occupancy, %", "registers",
                 "rows that are on, %", "new values", "requests", "served", "stalls of the stage")
"""What each program is, and what the stage did with `mem_ra`. Warps, the most that an SM holds at once, and registers
are those of the launch with the most cycles."""


def circumstances(runs: Mapping[str, Runs]) -> list[tuple[object, ...]]:
    """A row for each program."""
    return [_circumstances(name, runs[name]) for name in runs]


def _circumstances(name: str, runs: Runs) -> tuple[object, ...]:
    ours, plain = runs[MEM_RA], runs[BASELINE]
    longest = max(plain.launches, key=lambda launch: launch.cycles)
    abbreviation, blocks = TABLE_2.get(name, ("", 0))
    return (name, abbreviation, blocks, longest.warps, 100 * plain.statistics.occupancy, longest.registers,
            rows_on(plain), *(count(ours, each) for each in ("values", "requests", "served", "stalls")))


def rows_on(run: Run) -> float:
    """CMOS rows that are powered, of all rows, mean over cycles."""
    rows = sum(launch.cycles * powered_rows(run.config, launch.registers, launch.warps) for launch in run.launches)
    return share(rows, run.config.rows * sum(launch.cycles for launch in run.launches))
