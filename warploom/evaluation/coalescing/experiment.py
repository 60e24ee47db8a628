"""The experiment of [RADAIDEH], chapter 3: the coalescing register file against the baseline of the same layout."""

import dataclasses
from collections.abc import Sequence

from warploom.arch.config import SmConfig
from warploom.arch.mechanisms import Alignment, Coalescing, Gating, Layout
from warploom.arch.mechanisms.coalescing import BOUNDS, IN_HARDWARE
from warploom.evaluation import metrics
from warploom.evaluation.coalescing.bars import (
    BASELINE,
    COMPARATORS,
    Value,
    by_alignment,
    by_layout,
    kinds,
    name,
    shares,
    summary,
    unused,
    used,
)
from warploom.evaluation.energy.sensitivity import Headline
from warploom.evaluation.figures import Compare, Figure, of_statistics
from warploom.evaluation.register_file_energy import (
    gpu_saved,
    gpu_saved_by_time,
    gpu_saved_by_work,
    register_file_saved,
)

BYTES = (4, 3, 2, 1)
SOURCES = (1, 2, 3)

ACCESSES = of_statistics(metrics.accesses_saved)
WRITES = of_statistics(metrics.collector_writes_saved)
BANDWIDTH = of_statistics(metrics.bank_bandwidth_gained)
WRITE_BANDWIDTH = of_statistics(metrics.collector_bandwidth_gained)
IPC = of_statistics(metrics.ipc_gained)
ENERGIES: dict[str, dict[str, Compare]] = {
    "register file": {"": register_file_saved},
    "whole GPU": {"rest as before": gpu_saved_by_work, "rest by time": gpu_saved_by_time},
}
"""The measured energy, and the two estimates for a whole GPU that the source prints."""


HEADLINES = (
    Headline("Fig. 3.33, register file", "-", register_file_saved, "wid_reg", "wid_off"),
    Headline("Fig. 3.33, whole GPU", "31.1", gpu_saved, "wid_reg", "wid_off"),
    Headline("Table 3.7, whole GPU, CORF++", "17.0", gpu_saved, "wid_corf_plus", "wid_off"),
)
"""Figures that assumptions are varied for."""

PARTED = dict.fromkeys(("wid_off", "wid_reg", "wid_corf_plus"), "wid_off")
"""Settings whose energy is shown by part, and the baseline of each."""


ALIGNMENTS = (*IN_HARDWARE, *BOUNDS)
"""The alignments of the source, and its bounds."""


def configurations(config: SmConfig, _: Sequence[str] = ()) -> dict[str, SmConfig]:
    """Every configuration of the experiment, derived from one, whose layout, coalescing, alignment and gating do not
    matter: CORF and the bounds cannot gate."""
    plain = dataclasses.replace(config, coalescing=Coalescing.OFF, alignment=Alignment.REG, gating=Gating.OFF)
    found = {}
    for layout in Layout:
        baseline = dataclasses.replace(plain, layout=layout)
        found[name(layout, BASELINE)] = baseline
        for alignment in ALIGNMENTS:
            on = dataclasses.replace(baseline, coalescing=Coalescing.ON, alignment=alignment)
            found[name(layout, alignment)] = on
    for kind in COMPARATORS:
        found[name(Layout.WID, kind)] = dataclasses.replace(plain, layout=Layout.WID, coalescing=kind)
    return found


def figures() -> list[Figure]:
    """The figures of the source and its Table 3.7, in its order."""
    return [*_motivation(), *_accesses(), *_bandwidth(), *_performance()]


def _motivation() -> list[Figure]:
    return [
        shares("Fig. 3.3a", "Source operands by bytes", {_count(n, "byte"): _source_width(n) for n in BYTES}),
        shares("Fig. 3.3b", "Destination operands by bytes", {_count(n, "byte"): _destination_width(n) for n in BYTES}),
        unused("Fig. 3.4a", "Unused bandwidth of the banks, baseline", metrics.bank_bandwidth_used),
        unused("Fig. 3.4b", "Unused bandwidth of the collectors, baseline", metrics.collector_bandwidth_used),
        shares("Fig. 3.5", "Instructions by register sources", {_count(n, "source"): _operands(n) for n in SOURCES}),
    ]


def _accesses() -> list[Figure]:
    return [
        by_alignment("Fig. 3.21", "Bank accesses saved", ACCESSES),
        by_alignment("Fig. 3.22", "Collector writes saved", WRITES),
        by_layout("Fig. 3.23", "Bank accesses saved", ACCESSES),
    ]


def _bandwidth() -> list[Figure]:
    return [
        by_alignment("Fig. 3.24", "Bandwidth gained by the register file", BANDWIDTH),
        by_alignment("Fig. 3.25", "Bandwidth gained by the collectors", WRITE_BANDWIDTH),
        used("Fig. 3.26", "Bandwidth of the banks in use, wid layout", metrics.bank_bandwidth_used),
        used("Fig. 3.27", "Bandwidth of the collectors in use, wid layout", metrics.collector_bandwidth_used),
        by_layout("Fig. 3.28", "Bandwidth gained by the register file", BANDWIDTH),
        kinds("Fig. 3.29", Layout.WID),
        kinds("Fig. 3.30", Layout.WSHIFT),
    ]


def _performance() -> list[Figure]:
    found = [by_alignment("Fig. 3.31", "IPC gained", IPC, ALIGNMENTS), by_layout("Fig. 3.32", "IPC gained", IPC)]
    table = [summary("Table 3.7, IPC", "IPC gained", IPC)]
    for part, ways in ENERGIES.items():
        for note, compare in ways.items():
            saved = "dynamic energy saved"
            found.append(by_alignment(f"Fig. 3.33, {part}", saved, compare, ALIGNMENTS, note=note))
            found.append(by_layout(f"Fig. 3.34, {part}", saved, compare, note=note))
            table.append(summary(f"Table 3.7, {part}", saved, compare, note=note))
    return [*found, *table, summary("Table 3.7, accesses", "bank accesses saved", ACCESSES)]


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number > 1)}"


def _source_width(size: int) -> Value:
    return lambda run: metrics.width_share(run.source_widths, size)


def _destination_width(size: int) -> Value:
    return lambda run: metrics.width_share(run.destination_widths, size)


def _operands(count: int) -> Value:
    return lambda run: metrics.operand_share(run, count)
