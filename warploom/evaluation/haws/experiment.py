"""The experiment of [HAWS], chapter 5: hints for order on two GPUs, of which it takes as much as its inputs fill."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from warploom.arch.config import SmConfig
from warploom.arch.gpu import GpuConfig, Machine
from warploom.evaluation.figures import Figure, Groups, Measured, Run, Runs, against, of_statistics
from warploom.evaluation.haws import bars
from warploom.evaluation.haws.code import HintedCode
from warploom.evaluation.metrics import ipc_gained, share
from warploom.evaluation.simulations import Case
from warploom.evaluation.simulations import cases as all_cases
from warploom.evaluation.study import Study
from warploom.evaluation.workloads import NAMED, listed

SCALE = ("sms=1", "slices=1", "channels=1", "l2_sets=32", "dram_bytes=8")
"""One SM of `hd7970` with its share of L2 and DRAM, rounded up to powers of two: a 32nd of six slices and channels."""

KEPLER = "k20x"
"""The GPU of Fig. 5.16."""

KEPLER_SCALE = ("sms=1", "slices=1", "channels=1", "dram_bytes=16")
"""One SM of `k20x` with its share: a 14th of twelve slices and six channels."""

OFF, ON, SHORT = "off", "hints", "short copies"

SCHEDULERS: Mapping[str, Sequence[str]] = {
    OFF: (), ON: ("hints=on",), "preexecution": ("hints=preexecution",), "cta_aware": ("scheduler=cta_aware",)}
"""What is compared, with its settings."""

LRR, SMALL = "lrr", "cta_aware, small groups"

APART: Mapping[str, Sequence[str]] = {
    SHORT: ("hints=short_copies",), LRR: ("scheduler=lrr",), SMALL: ("scheduler=cta_aware", "active_warps=2")}
"""What explains them, on the machine with all warps: hints whose copies skip execution, as in the source; and for
CTA-aware order the one of which it is a variant, and groups of two warps of each scheduler."""

AHEAD = (ON, "preexecution")
"""Those in which a warp that waits executes later instructions."""

FULL, FEW, KEPLER_FULL = "full", "few", "kepler"

WARPS: Mapping[str, Sequence[str]] = {FULL: (), FEW: ("warps=8",)}
"""Warps of an SM: those of the source, and a fifth, to see how much of the gain other warps leave."""

MEMORY_BOUND, OTHERS, ON_KEPLER = "memory-bound", "not memory-bound", "Table 5.3"
"""The groups: Table 5.1 by its types M and N, and Table 5.3."""

TYPE_N = ("bitonic_sort", "fft")


def name_of(machine: str, scheduler: str) -> str:
    """The name of a setting: ``full_off``, ``few_hints``, ``kepler_hints``."""
    return f"{machine}_{scheduler}"


class Hinted(NamedTuple):
    """A run with hints, and the code that it executes."""

    run: Run
    code: HintedCode


def groups() -> dict[str, tuple[str, ...]]:
    """The programs of Tables 5.1 and 5.3."""
    table = listed("HAWS 5.1")
    return {MEMORY_BOUND: tuple(one for one in table if one not in TYPE_N), OTHERS: TYPE_N,
            ON_KEPLER: listed("HAWS 5.3")}


def configurations(gpu: GpuConfig, settings: Sequence[str]) -> dict[str, GpuConfig]:
    """The machines of Table 5.1's programs. A user's settings come after the scale."""
    scaled = gpu.with_settings(list(SCALE)).with_settings(list(settings))
    found = {name_of(machine, scheduler): scaled.with_settings([*fewer, *chosen])
             for machine, fewer in WARPS.items() for scheduler, chosen in SCHEDULERS.items()}
    return found | {name_of(FULL, scheduler): scaled.with_settings([*chosen]) for scheduler, chosen in APART.items()}


def kepler(settings: Sequence[str]) -> dict[str, Machine]:
    """The machines of Table 5.3's programs."""
    scaled = GpuConfig.preset(KEPLER).with_settings(list(KEPLER_SCALE)).with_settings(list(settings))
    return {name_of(KEPLER_FULL, scheduler): scaled.with_settings(list(chosen))
            for scheduler, chosen in SCHEDULERS.items()}


def cases(study: Study) -> list[Case]:
    """The programs of each table on its GPU; those that a user names on both."""
    def of(machines: Mapping[str, Machine], *wanted: str) -> list[Case]:
        return all_cases(_names(members(study.groups, *wanted, NAMED)), study.wanted.size, machines)

    return [*of(study.configurations(), MEMORY_BOUND, OTHERS), *of(kepler(study.wanted.settings), ON_KEPLER)]


def members(found: Groups, *wanted: str) -> Groups:
    """Those of some groups that are left."""
    return {label: names for label, names in found.items() if label.partition(",")[0] in wanted}


def _names(found: Groups) -> list[str]:
    return list(dict.fromkeys(name for names in found.values() for name in names))


def measured(
    runs: Mapping[str, Runs], code: Mapping[str, HintedCode], found: Groups, config: SmConfig
) -> list[Measured]:
    """All figures, in the order of the source; `found` are the groups, `config` the SM of Table 5.2."""
    def of(groups: Groups, values: Mapping[str, Any], figures: Sequence[Figure]) -> list[Measured]:
        return [figure.measure({name: values[name] for name in _names(groups)}, groups)
                for figure in figures if groups]

    table = members(found, MEMORY_BOUND, OTHERS, NAMED)
    both = {name: Hinted(runs[name][name_of(FULL, ON)], code[name]) for name in _names(table)}
    return [*of(table, code, code_figures(config)), *of(table, runs, run_figures()),
            *of(members(found, OTHERS), runs, [speed_up("Fig. 5.10, others")]), *of(table, both, mode_figures()),
            *of(members(found, ON_KEPLER, NAMED), runs, [speed_up("Fig. 5.16", KEPLER_FULL)])]


def code_figures(config: SmConfig) -> list[Figure]:
    """The figures of the programs' code."""
    kinds: dict[str, Callable[[HintedCode], int]] = {
        "long latency": lambda code: code.long_latency, "independent": lambda code: code.independent,
        "others": lambda code: code.instructions - code.long_latency - code.independent}
    return [
        _figure("Fig. 5.2", "Instructions of the code", {
            key: (lambda code, count=count: share(count(code), code.instructions))
            for key, count in kinds.items()}, stacked=True),
        _figure("Fig. 5.5", "Registers that resident warps use", {"vector": lambda c: bars.register_usage(c, config)}),
    ]


def run_figures() -> list[Figure]:
    """The figures of the runs of Table 5.1's programs."""
    each = {OFF: "baseline", ON: ON}
    shares = {"issued": bars.issued, **{kind: bars.stalled(kind) for kind in bars.CYCLES}}
    return [
        speed_up("Fig. 5.10"), speed_up("8 warps", FEW), cta_aware(),
        *(_figure("Fig. 5.11", "Cycles of the schedulers", {
            key: _of(value, scheduler) for key, value in shares.items()}, title, stacked=True)
          for scheduler, title in each.items()),
        _figure("Fig. 5.12", "Cycles in which schedulers wait for memory", {
            title: _of(bars.stalled("long latency stall"), scheduler) for scheduler, title in each.items()}),
        _figure("Fig. 5.13", "Instructions in hint mode, of the times that a warp enters it", {
            scheduler: _of(bars.each_time, scheduler) for scheduler in AHEAD}),
        _figure("Copies", "Copies of renamed results, of all that issues", {
            scheduler: _of(bars.copies, scheduler) for scheduler in AHEAD}),
    ]


def speed_up(number: str, machine: str = FULL) -> Figure:
    """Cycles of the baseline divided by those of each scheduler, minus 1."""
    compare = of_statistics(ipc_gained)
    return _figure(number, "Speed-up", {
        scheduler: against(compare, name_of(machine, scheduler), name_of(machine, OFF))
        for scheduler in (*SCHEDULERS, *([SHORT] if machine == FULL else [])) if scheduler != OFF})


def cta_aware() -> Figure:
    """Why CTA-aware order gains or loses: both sizes of groups over round robin, and round robin over the baseline."""
    compare = of_statistics(ipc_gained)
    return _figure("CTA-aware", "Speed-up", {
        f"{ours} over {baseline}": against(compare, name_of(FULL, ours), name_of(FULL, other))
        for ours, baseline, other in (("cta_aware", LRR, LRR), (SMALL, LRR, LRR), (LRR, "gto", OFF))})


def mode_figures() -> list[Figure]:
    """What issues in hint mode, of all that a program executes."""
    return [
        _figure("Fig. 5.14", "ALU instructions that issue in hint mode", {ON: lambda both: bars.alu(*both)}),
        _figure("Fig. 5.15", "Loads that issue in hint mode", {ON: lambda both: bars.loads(*both)}),
    ]


def _of(value: bars.Value, scheduler: str) -> Callable[[Runs], float]:
    return lambda runs: value(runs[name_of(FULL, scheduler)])


def _figure(number: str, title: str, values: Mapping[str, Callable[..., float]], note: str = "", *,
            stacked: bool = False) -> Figure:
    return Figure(f"HAWS, {number}", title, values, stacked=stacked, note=note)


# ------------------------------------------------------------------ why

CIRCUMSTANCES = ("workload", "resident warps of an SM", "DRAM busy, %", "latency", "times in hint mode",
                 "copies of what issues, %", "gain, %", "gain with 8 warps, %")
"""What explains a gain: of the baseline how many warps hide latency, how busy memory is and how long a line takes; what
hints did; and the gain with all warps and with few."""


def circumstances(runs: Mapping[str, Runs], found: Groups) -> list[tuple[str, float, float, float, int, float, float,
                                                                          float]]:
    """A row for each of Table 5.1's programs."""
    return [(name, *_circumstances(runs[name])) for name in _names(members(found, MEMORY_BOUND, OTHERS, NAMED))]


def _circumstances(runs: Runs) -> tuple[float, float, float, int, float, float, float]:
    plain, hinted = runs[name_of(FULL, OFF)], runs[name_of(FULL, ON)]
    assert plain.memory is not None, "a run of a GPU"
    gain, few = (ipc_gained(runs[name_of(machine, ON)].statistics, runs[name_of(machine, OFF)].statistics)
                 for machine in WARPS)
    return (plain.statistics.occupancy * plain.config.warps, 100 * plain.memory.bus_utilisation,
            plain.memory.mean_latency, bars.hinted("entered", hinted), bars.copies(hinted), gain, few)
