"""The kinds of figures in [RADAIDEH], chapter 3: for a given comparison, the configurations of the bars."""

from collections.abc import Callable, Iterable

from warploom.arch.mechanisms import Alignment, Coalescing, Layout
from warploom.arch.mechanisms.coalescing import IN_HARDWARE
from warploom.evaluation import metrics
from warploom.evaluation.figures import Compare, Figure, Runs, against
from warploom.golden_model.statistics import Statistics

BASELINE = "off"
COMPARATORS = (Coalescing.CORF, Coalescing.CORF_PLUS)

KINDS = {"read-read": "read_read", "write-write": "write_write", "read-write": "read_write"}
"""Coalesced accesses, and their names in `Statistics`."""

Value = Callable[[Statistics], float]
"""A percentage of one run."""


def name(layout: Layout, setting: str) -> str:
    """The name of a configuration in this experiment: ``wid_off``, ``wshift_reg``, ``wid_corf``."""
    return f"{layout}_{setting}"


def shares(number: str, title: str, values: dict[str, Value]) -> Figure:
    """Stacked shares of the baseline."""
    return Figure(number, title, {key: _of(value) for key, value in values.items()}, stacked=True)


def unused(number: str, title: str, used: Value) -> Figure:
    """The share that the baseline leaves unused."""
    return Figure(number, title, {"unused": _of(lambda run: 100 - used(run))})


def used(number: str, title: str, value: Value) -> Figure:
    """The share that the baseline uses, the part that `reg` adds, and the part that `ideal` would add to that."""
    def added(ours: str, to: str) -> Callable[[Runs], float]:
        return lambda runs: _of(value, setting=ours)(runs) - _of(value, setting=to)(runs)

    return Figure(number, title, {
        "baseline": _of(value),
        "reg adds": added(Alignment.REG, BASELINE),
        "ideal adds": added(Alignment.IDEAL, Alignment.REG),
    }, stacked=True)


def kinds(number: str, layout: Layout) -> Figure:
    """Coalesced accesses by kind."""
    def of_kind(kind: str) -> Value:
        return lambda run: metrics.coalesced_share(run, kind)

    bars = {key: _of(of_kind(kind), layout, Alignment.REG) for key, kind in KINDS.items()}
    return Figure(number, f"Coalesced accesses by kind, {layout} layout", bars, stacked=True)


def by_alignment(number: str, title: str, compare: Compare, alignments: Iterable[Alignment] | None = None, *,
                 note: str = "") -> Figure:
    """A comparison under the layout `wid`, for each alignment (by default, all but the upper bound)."""
    chosen = alignments or (*IN_HARDWARE, Alignment.IDEAL)
    bars = {str(alignment): _against(compare, Layout.WID, alignment) for alignment in chosen}
    return Figure(number, f"{title}, wid layout", bars, note=note)


def by_layout(number: str, title: str, compare: Compare, *, note: str = "") -> Figure:
    """A comparison under both layouts, for the alignments that are hardware."""
    return Figure(number, title, {name(layout, alignment): _against(compare, layout, alignment)
                                  for layout in Layout for alignment in IN_HARDWARE}, note=note)


def summary(number: str, title: str, compare: Compare, *, note: str = "") -> Figure:
    """A row of Table 3.7: CORF, CORF++ and ours in both layouts."""
    columns: dict[str, tuple[Layout, str]] = {kind: (Layout.WID, kind) for kind in COMPARATORS}
    columns |= {name(layout, Alignment.REG): (layout, Alignment.REG) for layout in Layout}
    return Figure(number, title, {key: _against(compare, *column) for key, column in columns.items()}, note=note)


def _against(compare: Compare, layout: Layout, setting: str) -> Callable[[Runs], float]:
    return against(compare, name(layout, setting), name(layout, BASELINE))


def _of(value: Value, layout: Layout = Layout.WID, setting: str = BASELINE) -> Callable[[Runs], float]:
    return lambda runs: value(runs[name(layout, setting)].statistics)
