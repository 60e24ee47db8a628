"""The kinds of figures in the evaluation of bypassing: for a given comparison, the configurations of the bars."""

from collections.abc import Callable, Mapping, Sequence

from warploom.arch.mechanisms import Bypass
from warploom.evaluation.figures import Compare, Figure, Run, Runs, against
from warploom.evaluation.metrics import saved, share
from warploom.evaluation.traces.reuse import SOURCE_WINDOW, WINDOWS
from warploom.golden_model.times import KINDS

BASELINE = "off"

FULL = 4
"""Entries for each instruction of the window; half as many are the source's small collectors."""

SOURCE_ENTRIES = FULL * SOURCE_WINDOW
HALF_ENTRIES = SOURCE_ENTRIES // 2

DESIGNS = (Bypass.BOW, Bypass.BOW_WR, Bypass.BOW_HINTS)

IN_GROUPS = (Bypass.BOW, Bypass.BOW_HINTS)
"""Designs that are also timed on other SMs."""

Value = Callable[[Run], float]
"""A percentage of one run."""


def name(bypass: Bypass, window: int = SOURCE_WINDOW, entries: int | None = None, *, group: str = "") -> str:
    """The name of a configuration in this experiment: ``bow_3_12`` has a window of 3 and 12 entries; the `group` is its
    prefix if the rest of the SM differs."""
    return f"{group}{bypass}_{window}_{entries or FULL * window}"


def number(source_number: str) -> str:
    """The number of a figure of [BOW]."""
    return f"BOW, {source_number}"


def of_reuse(source_number: str, title: str, values: Mapping[str, Callable[[Run], float]], *, note: str = "",
             stacked: bool = False) -> Figure:
    """Properties of the kernel in the baseline's run."""
    def of(value: Value) -> Callable[[Runs], float]:
        return lambda runs: value(runs[BASELINE])

    return Figure(number(source_number), title, {key: of(value) for key, value in values.items()}, stacked, note)


def by_window(source_number: str, title: str, bypass: Bypass, windows: Sequence[int], compare: Compare) -> Figure:
    """A design with the maximum entries of its window, against the baseline."""
    bars = {str(window): _against(compare, name(bypass, window)) for window in windows}
    return Figure(number(f"{source_number}, {bypass}"), title, bars)


def by_entries(source_number: str, title: str, entries: Sequence[int], compare: Compare) -> Figure:
    """The hinted design with the window of the source and this number of entries."""
    bars = {str(count): _against(compare, name(Bypass.BOW_HINTS, entries=count)) for count in entries}
    return Figure(number(source_number), title, bars)


def by_design(source_number: str, title: str, compare: Compare, *, note: str = "") -> Figure:
    """All designs with the window of [BOW] and all entries, the hinted one with half of them, and the register file
    cache."""
    settings = {str(bypass): name(bypass) for bypass in DESIGNS}
    settings["half of the entries"] = name(Bypass.BOW_HINTS, entries=HALF_ENTRIES)
    settings["rfc"] = name(Bypass.RFC, entries=HALF_ENTRIES)
    bars = {key: _against(compare, setting) for key, setting in settings.items()}
    return Figure(number(source_number), title, bars, note=note)


def in_group(source_number: str, title: str, group: str, compare: Compare, *, note: str = "",
             others: Mapping[str, str] | None = None) -> Figure:
    """Designs on the SM of a group of configurations, after `others`, configurations of the group by bar."""
    settings = {**(others or {}), **{str(bypass): name(bypass, group=group) for bypass in IN_GROUPS}}
    bars = {key: _against(compare, setting, group) for key, setting in settings.items()}
    return Figure(number(source_number), title, bars, note=note)


def _against(compare: Compare, setting: str, group: str = "") -> Callable[[Runs], float]:
    """A configuration against the baseline of its group."""
    return against(compare, setting, f"{group}{BASELINE}")


# ------------------------------------------------------------------ quantities


def bypassed_reads(window: int) -> Value:
    """Reads that find their register in the window, percent."""
    return lambda run: share(run.reuse.bypassed[WINDOWS.index(window)], run.reuse.reads)


def overwritten(window: int) -> Value:
    """Writes that are overwritten before they leave the window, percent."""
    return lambda run: saved(run.reuse.written[WINDOWS.index(window)], run.reuse.writes)


def unneeded(window: int) -> Value:
    """Writes that are overwritten, or not read again, when they leave the window, percent."""
    return lambda run: saved(run.reuse.needed[WINDOWS.index(window)], run.reuse.writes)


def destined(place: str) -> Value:
    """Results with a destination, percent."""
    return lambda run: share(run.reuse.classes.get(place, 0), sum(run.reuse.classes.values()))


def sources(count: int) -> Value:
    """Instructions with this number of register sources, percent of all: control instructions have none."""
    def value(run: Run) -> float:
        counts = run.statistics
        control = counts.warp_instructions - counts.datapath_instructions if count == 0 else 0
        return share(counts.operands[count] + control, counts.warp_instructions)

    return value


def collecting_share(kinds: Sequence[str] = KINDS) -> Value:
    """The time that instructions of some kinds spend in collectors, percent of their time."""
    return lambda run: share(sum(run.statistics.collecting[kind] for kind in kinds),
                             sum(run.statistics.living[kind] for kind in kinds))


def collecting_saved(ours: Run, baseline: Run) -> float:
    """Time in collectors saved, percent."""
    return saved(sum(ours.statistics.collecting.values()), sum(baseline.statistics.collecting.values()))


def crowded(run: Run) -> float:
    """Collectors and cycles in which more than half of the entries are in use, percent of those with any."""
    occupancy: list[int] = run.statistics.counted["bypassed"]["occupancy"]
    return share(sum(occupancy[run.config.entries // 2 + 1 :]), sum(occupancy[1:]))
