"""The definitions: one small function for each quantity, of the statistics of one kernel. All are percentages.

*Saved* is the share of the baseline that is removed, *gained* the share that is added; the baseline has the same
layout.
"""

from collections.abc import Sequence

from warploom.golden_model.statistics import Statistics

BYTES = 4
"""Bytes of a lane in a full-width access."""


def saved(ours: float, baseline: float) -> float:
    """How much less `ours` is than the baseline; 0 if there is nothing to save."""
    return 100 * (1 - ours / baseline) if baseline else 0.0


def gained(ours: float, baseline: float) -> float:
    """How much more `ours` is than the baseline."""
    return 100 * (ours / baseline - 1)


def share(part: float, whole: float) -> float:
    """A part of a whole; 0 if there is no whole."""
    return 100 * part / whole if whole else 0.0


def width_share(widths: Sequence[int], size: int) -> float:
    """Operands that need `size` bytes (1..4), of a histogram by bytes ([RADAIDEH], Fig. 3.3)."""
    return share(widths[size - 1], sum(widths))


def operand_share(run: Statistics, count: int) -> float:
    """Instructions with `count` register sources (1..3), of those that read any (Fig. 3.5)."""
    return share(run.operands[count], sum(run.operands[1:]))


def accesses_saved(ours: Statistics, baseline: Statistics) -> float:
    """Bank accesses saved (Figs. 3.21, 3.23)."""
    return saved(ours.bank_accesses, baseline.bank_accesses)


def bank_reads_saved(ours: Statistics, baseline: Statistics) -> float:
    """Reads of the banks saved."""
    return saved(sum(ours.bank_reads), sum(baseline.bank_reads))


def bank_writes_saved(ours: Statistics, baseline: Statistics) -> float:
    """Writes of the banks saved, minus those that a mechanism adds."""
    return saved(sum(ours.bank_writes), sum(baseline.bank_writes))


def collector_writes_saved(ours: Statistics, baseline: Statistics) -> float:
    """Collector writes saved (Fig. 3.22)."""
    return saved(ours.collector_writes, baseline.collector_writes)


def bank_bandwidth_gained(ours: Statistics, baseline: Statistics) -> float:
    """Requests served by a bank access, against the baseline's (Figs. 3.24, 3.28)."""
    return gained(ours.bank_requests / ours.bank_accesses, baseline.bank_requests / baseline.bank_accesses)


def collector_bandwidth_gained(ours: Statistics, baseline: Statistics) -> float:
    """Operands stored by a collector write, against the baseline's (Fig. 3.25)."""
    return gained(ours.operands_stored / ours.collector_writes, baseline.operands_stored / baseline.collector_writes)


def bank_bandwidth_used(run: Statistics) -> float:
    """Bytes needed by operands read and written, of those that the bank accesses could move (Figs. 3.4a, 3.26)."""
    return share(_bytes(run.source_widths) + _bytes(run.destination_widths), BYTES * run.bank_accesses)


def collector_bandwidth_used(run: Statistics) -> float:
    """Bytes needed by stored operands, of those that the collector writes could move (Figs. 3.4b, 3.27)."""
    return share(_bytes(run.source_widths), BYTES * run.collector_writes)


def coalesced_share(run: Statistics, kind: str) -> float:
    """Coalesced bank accesses of a kind, of all coalesced ones (Figs. 3.29, 3.30)."""
    return share(run.coalesced[kind], sum(run.coalesced.values()))


def ipc_gained(ours: Statistics, baseline: Statistics) -> float:
    """Warp instructions per cycle gained (Figs. 3.31, 3.32)."""
    return gained(ours.ipc, baseline.ipc)


def column_reads_saved(ours: Statistics, baseline: Statistics) -> float:
    """4 B columns that need not be read (Fig. 4.7)."""
    return saved(ours.column_reads, baseline.column_reads)


def column_writes_saved(ours: Statistics, baseline: Statistics) -> float:
    """4 B columns that need not be written (Fig. 4.8)."""
    return saved(ours.column_writes, baseline.column_writes)


def _bytes(widths: Sequence[int]) -> int:
    return sum(size * count for size, count in enumerate(widths, start=1))
