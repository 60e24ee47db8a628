"""The experiment of [BOW]: bypassing operand collectors and a register file cache, against the same SM without."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from warploom.arch.config import SmConfig
from warploom.arch.layout import fitting_warps, resident_warps
from warploom.arch.mechanisms import Alignment, Bypass, Coalescing, Gating, Transient
from warploom.compiler.writeback_hints import Destination
from warploom.evaluation import metrics
from warploom.evaluation.bypassing import source_energy
from warploom.evaluation.bypassing.bars import (
    BASELINE,
    DESIGNS,
    HALF_ENTRIES,
    IN_GROUPS,
    SOURCE_ENTRIES,
    Value,
    by_design,
    by_entries,
    by_window,
    bypassed_reads,
    collecting_saved,
    collecting_share,
    crowded,
    destined,
    in_group,
    name,
    number,
    of_reuse,
    overwritten,
    sources,
    unneeded,
)
from warploom.evaluation.energy.sensitivity import Headline
from warploom.evaluation.figures import Figure, Groups, Runs, averages, of_statistics
from warploom.evaluation.register_file_energy import register_file_saved
from warploom.evaluation.traces.reuse import SOURCE_WINDOW, WINDOWS

BY_WINDOW = {Bypass.BOW: (2, 3, 7), Bypass.BOW_HINTS: tuple(WINDOWS)}
"""The windows with which a design is timed, with the maximum entries that they need."""

ENTRIES = (4, HALF_ENTRIES, SOURCE_ENTRIES)
"""Numbers of entries with which the hinted design is timed, in the window of the source."""

FEW_COLLECTORS, SCARCE = "fermi", "scarce_"
"""A preset whose baseline has few collectors, and the group of its configurations."""

MANY = "many"
"""The baseline with a collector for each warp, of the preset that has few."""

PRESSED = tuple(f"{group}{setting}" for group in ("", SCARCE) for setting in (BASELINE, name(Bypass.BOW_HINTS)))
"""Configurations whose scheduler stalls are reported."""

IPC = of_statistics(metrics.ipc_gained)


HEADLINES = (
    Headline("Fig. 13, bow", "36.0", register_file_saved, name(Bypass.BOW), BASELINE),
    Headline("Fig. 13, bow_hints", "55.0", register_file_saved, name(Bypass.BOW_HINTS), BASELINE),
)
"""Figures that assumptions are varied for, by our costs."""

PARTED = dict.fromkeys((BASELINE, *map(name, DESIGNS), name(Bypass.RFC, entries=HALF_ENTRIES)), BASELINE)
"""Settings whose energy is shown by part, and the baseline of each."""


def configurations(config: SmConfig, settings: Sequence[str]) -> dict[str, SmConfig]:
    """Every configuration: designs, windows and sizes of `config`, and designs of `FEW_COLLECTORS` with a user's
    settings. How these bypass, coalesce or gate does not matter."""
    plain = _plain(config)
    found = {BASELINE: plain, name(Bypass.RFC, entries=HALF_ENTRIES): _with(plain, Bypass.RFC, entries=HALF_ENTRIES)}
    for bypass, windows in BY_WINDOW.items():
        for window in windows:
            found[name(bypass, window)] = _with(plain, bypass, window)
    found[name(Bypass.BOW_WR)] = _with(plain, Bypass.BOW_WR)
    for entries in ENTRIES:
        found[name(Bypass.BOW_HINTS, entries=entries)] = _with(plain, Bypass.BOW_HINTS, entries=entries)
    base = found[f"{SCARCE}{BASELINE}"] = _plain(SmConfig.preset(FEW_COLLECTORS).with_settings(list(settings)))
    for bypass in IN_GROUPS:
        found[name(bypass, group=SCARCE)] = _with(base, bypass)
    return {**found, f"{SCARCE}{MANY}": dataclasses.replace(base, collectors=base.warps)}


def _plain(config: SmConfig) -> SmConfig:
    return dataclasses.replace(config, bypass=Bypass.OFF, transient=Transient.OFF, coalescing=Coalescing.OFF,
                               alignment=Alignment.REG, gating=Gating.OFF)


def _with(plain: SmConfig, bypass: Bypass, window: int = SOURCE_WINDOW, entries: int | None = None) -> SmConfig:
    return dataclasses.replace(plain, bypass=bypass, window=window, entries=entries or 4 * window)


def figures() -> list[Figure]:
    """The figures of the source, in its order."""
    return [*_motivation(), *_windows(), *_performance(), *_energy()]


def _motivation() -> list[Figure]:
    """Figures from the traces and the baseline."""
    def values(of: Any) -> dict[str, Value]:
        return {str(window): of(window) for window in WINDOWS}

    return [
        of_reuse("Fig. 3, reads", "Reads bypassed, by window, unbounded storage", values(bypassed_reads)),
        of_reuse("Fig. 3, writes", "Writes bypassed, by window, unbounded storage", values(overwritten),
                 note="overwritten"),
        of_reuse("Fig. 3, writes", "Writes bypassed, by window, unbounded storage", values(unneeded),
                 note="or never read again"),
        of_reuse("Fig. 4", "Time of instructions spent in collectors",
                 {"all": collecting_share(), "other": collecting_share(["other"]),
                  "memory": collecting_share(["memory"])}),
        of_reuse("Fig. 7", "Results by destination, window 3", {place: destined(place) for place in Destination},
                 stacked=True),
        of_reuse("Fig. 8", "Instructions by register sources", {str(count): sources(count) for count in range(4)},
                 stacked=True),
    ]


def _windows() -> list[Figure]:
    """Accesses of the register file saved in the cycle model."""
    occupied = {str(bypass): _crowded(name(bypass)) for bypass in DESIGNS}
    return [
        Figure(number("Fig. 9"), "More than half of 12 entries in use, of collectors and cycles with any", occupied),
        by_design("Accesses", "Reads of the register file saved", of_statistics(metrics.bank_reads_saved),
                  note="reads"),
        by_design("Accesses", "Writes of the register file saved", of_statistics(metrics.bank_writes_saved),
                  note="writes"),
    ]


def _crowded(setting: str) -> Any:
    return lambda runs: crowded(runs[setting])


def _performance() -> list[Figure]:
    by_number = {"only as many collectors": f"{SCARCE}{MANY}"}
    return [
        by_design("Fig. 10", "IPC gained, window 3, 12 entries", IPC),
        *(by_window("Fig. 10", "IPC gained, by window", bypass, windows, IPC) for bypass, windows in BY_WINDOW.items()),
        by_entries("Fig. 11", "IPC gained, window 3, by entries, hinted", ENTRIES, IPC),
        *(by_window("Fig. 12", "Time in collectors saved, by window", bypass, windows, collecting_saved)
          for bypass, windows in BY_WINDOW.items()),
        in_group("Scarce collectors", "IPC gained, window 3, 12 entries, fermi", SCARCE, IPC, others=by_number),
        in_group("Scarce collectors", "Time in collectors saved, fermi", SCARCE, collecting_saved, note="time",
                 others=by_number),
    ]


def _energy() -> list[Figure]:
    saved = [by_design("Fig. 13", "Dynamic energy of the register file saved", compare, note=note)
             for note, compare in source_energy.ACCOUNTS.items()]
    spent = [by_design("Fig. 13, overhead", "Overhead, of the register file's energy", compare, note=note)
             for note, compare in source_energy.OVERHEADS.items()]
    return [*saved, *spent]


# ------------------------------------------------------------------ transient registers

TRANSIENT_COLUMNS = ("kernel", "registers", "live", *(f"kept, {window}" for window in WINDOWS),
                     f"saved, {SOURCE_WINDOW}, %", f"transient, {SOURCE_WINDOW}")
ROW_COLUMNS = ("kernel", "registers", *(f"rows, {window}" for window in WINDOWS), f"saved, {SOURCE_WINDOW}, %",
               "warp slots in use", "with transient = on", "warps that rows hold", "with transient = on ")


def transient(runs: Mapping[str, Runs]) -> list[tuple[Any, ...]]:
    """Registers that a register file does not need, for each kernel: registers of a thread; how many are live at once;
    how many of these hold values that are not transient, by window, and the share that [BOW]'s window saves; and how
    many allocated registers hold transient values only."""
    rows = []
    own = WINDOWS.index(SOURCE_WINDOW)
    for kernel, of_kernel in runs.items():
        found = of_kernel[BASELINE].reuse
        rows.append((kernel, found.registers, found.live, *found.kept, metrics.saved(found.kept[own], found.live),
                     found.transient[own]))
    return rows


def occupancy(runs: Mapping[str, Runs], averaged: Groups, group: str = "") -> list[tuple[Any, ...]]:
    """What `transient = on` gains on the machine of a group, for each kernel and on average: registers of a thread;
    those with a row, by window, and the share that the window of [BOW] saves; then, for this window, the warp slots
    that can be used, and the warps whose registers would fit if there were slots for them, without and with it."""
    rows: list[tuple[Any, ...]] = []
    own = WINDOWS.index(SOURCE_WINDOW)
    for kernel, of_kernel in runs.items():
        run = of_kernel[f"{group}{BASELINE}"]
        found, config = run.reuse, run.config
        both = found.registers, found.rows[own]
        rows.append((kernel, found.registers, *found.rows, metrics.saved(found.rows[own], found.registers),
                     *(resident_warps(config, registers) for registers in both),
                     *(fitting_warps(config, registers) for registers in both)))
    columns = [dict(zip(runs, column, strict=True)) for column in list(zip(*rows, strict=True))[1:]]
    return [*rows, *((name, *(round(averages(column, averaged)[name], 1) for column in columns)) for name in averaged)]
