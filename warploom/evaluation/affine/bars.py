"""The kinds of figures in the evaluation of the affine unit: the configurations of the bars."""

from collections.abc import Callable, Mapping

from warploom.arch.compact import Tag
from warploom.arch.config import LANES
from warploom.arch.mechanisms import Affine
from warploom.evaluation.figures import Compare, Figure, Run, Runs, against, of_statistics
from warploom.evaluation.metrics import ipc_gained, share
from warploom.evaluation.traces.structure import Structure

FAST, SLOW = "fast", "slow"
"""Front ends: clocked like the datapath, or half as fast."""

COLD, WARM = "cold", "warm"
"""Memories: the preset's, or one in which a miss costs about as much as a hit."""

SP_LANES = (8, 16, 32)
"""Lanes of the SP pipe: a warp occupies it for four cycles, for two, or for one."""

COALESCED, GATED, BYPASSED, TOGETHER = "coalescing", "cross_lane", "bow_hints", "together"
"""Other mechanisms with which the affine unit is combined."""

Value = Callable[[Run], float]
"""A percentage of one run."""

THREADS = {"1 to 8": range(1, 9), "9 to 16": range(9, 17), "17 to 24": range(17, 25), "25 to 31": range(25, 32),
           "32": range(32, 33)}
"""Classes of instructions by executing lanes."""

FORMS = {"uniform": Tag.UNIFORM, "affine": Tag.AFFINE, "generic": Tag.GENERIC}
PATTERNS = {"uniform": Tag.UNIFORM, "strided": Tag.AFFINE, "indexed": Tag.GENERIC}
"""The source's names of the same classes for addresses."""


def name(affine: Affine, lanes: int = LANES, front: str = FAST, memory: str = COLD) -> str:
    """The name of a configuration in this experiment: ``8_fast_cold_abm``."""
    return f"{lanes}_{front}_{memory}_{affine}"


def composed(mechanism: str, affine: Affine) -> str:
    """The name of a configuration with another mechanism: ``coalescing_abm``."""
    return f"{mechanism}_{affine}"


BASELINE, FULL = name(Affine.OFF), name(Affine.ABM)


def number(source_number: str) -> str:
    """The number of a figure of [AFFINE]."""
    return f"Affine, {source_number}"


def fig_2(title: str, values: Mapping[str, Value], *, note: str) -> Figure:
    """A part of Fig. 2: shares counted in the trace of a kernel."""
    def of(value: Value) -> Callable[[Runs], float]:
        return lambda runs: value(runs[BASELINE])

    return Figure(number("Fig. 2"), title, {key: of(value) for key, value in values.items()}, stacked=True, note=note)


def structured(what: str, of: Callable[[Structure], list[int]], forms: Mapping[str, Tag] = FORMS) -> Figure:
    """Shares of something that Fig. 2 classifies."""
    def form(tag: Tag) -> Value:
        return lambda run: share(of(run.structure)[tag], sum(of(run.structure)))

    return fig_2("Structure", {key: form(tag) for key, tag in forms.items()}, note=what)


def threads() -> Figure:
    """The histogram of executing lanes of Fig. 2."""
    def among(lanes: range) -> Value:
        return lambda run: share(sum(run.structure.active[count] for count in lanes), sum(run.structure.active))

    values = {key: among(lanes) for key, lanes in THREADS.items()}
    return fig_2("Instructions by executing lanes", values, note="threads")


def speed_ups(source_number: str, memory: str) -> Figure:
    """`abm` against the same SM without it, for every number of lanes and both front ends."""
    return Figure(number(source_number), f"Speed-up of abm, {memory} caches", {
        f"{lanes} lanes, {front}": against(SPEED, name(Affine.ABM, lanes, front, memory),
                                           name(Affine.OFF, lanes, front, memory))
        for lanes in SP_LANES for front in (SLOW, FAST)
    })


def by_part(lanes: int) -> Figure:
    """The speed-up as mechanisms are added."""
    bars = {str(part): against(SPEED, name(part, lanes), name(Affine.OFF, lanes)) for part in Affine if part.is_on}
    return Figure(number("By part"), "Speed-up, fast front end, cold caches", bars, note=f"{lanes} lanes")


def composition(title: str, compare: Compare, mechanisms: Mapping[str, str], *, note: str = "") -> Figure:
    """The affine unit alone; every other mechanism (by bar) alone and with the affine unit; all against neither."""
    settings = {"affine": FULL}
    for key, mechanism in mechanisms.items():
        settings |= {key: composed(mechanism, Affine.OFF), f"{key} and affine": composed(mechanism, Affine.ABM)}
    bars = {key: against(compare, setting, BASELINE) for key, setting in settings.items()}
    return Figure(number("Composition"), title, bars, note=note)


# ------------------------------------------------------------------ quantities

SPEED = of_statistics(ipc_gained)
"""Speed-up: cycles of the baseline divided by ours, minus 1; the instructions of the program are the same."""


def counted(part: str, *whole: str) -> Value:
    """Events of the affine unit in percent of the sum of others; without others, of all warp instructions."""
    def value(run: Run) -> float:
        counts = run.statistics.counted["affine"]
        return share(counts[part], sum(counts[other] for other in whole) if whole else run.statistics.warp_instructions)

    return value


def executing(structure: Structure) -> float:
    """Executing lanes of an instruction that enters the datapath, mean."""
    return sum(lanes * count for lanes, count in enumerate(structure.active)) / sum(structure.active)
