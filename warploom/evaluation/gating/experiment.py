"""The experiment of [RADAIDEH], chapter 4: gating, against the same datapath without it.

It runs twice: byte-interleaved, as in the source, and on the coalescing register file, which is thread-interleaved.
"""

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial

from warploom.arch.config import SmConfig
from warploom.arch.mechanisms import Alignment, Coalescing, Gating
from warploom.evaluation import metrics
from warploom.evaluation.energy.sensitivity import Headline
from warploom.evaluation.figures import Compare, Figure, of_statistics
from warploom.evaluation.gating import lanes
from warploom.evaluation.gating.bars import (
    BYTES,
    LANE_STEPS,
    THREADS,
    UNCOALESCED,
    both_chapters,
    by_mask,
    name,
    parts,
    steps,
    threads,
)
from warploom.evaluation.gating.energy import APART, PARTS, REPEATED, SHARED, WHOLE, Organisation
from warploom.evaluation.register_file_energy import macros_saved, register_file_saved

COMPOSED = "fermi"
"""The preset on which gating is combined with coalescing."""

ORGANISATIONS = {
    "rows shared": SHARED, "columns apart": APART, "columns apart, rows repeated": REPEATED,
    "no column enables for reads": WHOLE,
}
"""The organisations of columns as macros."""

BRACKET = {note: columns for note, columns in ORGANISATIONS.items() if columns in (SHARED, WHOLE)}
"""The organisations for which a whole GPU is reported."""

OVERHEADS = tuple(name(experiment, Gating.CROSS_LANE) for experiment in (BYTES, THREADS))
"""Configurations whose storage is reported."""


HEADLINES = (
    Headline("Fig. 4.9", "27.0", register_file_saved, "bytes_cross_lane", "bytes_off"),
    Headline("Fig. 4.10", "19.0", lanes.execution_saved, "bytes_cross_lane", "bytes_off"),
    Headline("Fig. 4.11", "8.0", lanes.gpu_saved, "bytes_cross_lane", "bytes_off"),
)
"""Figures that assumptions are varied for, rows shared."""

PARTED = {name(experiment, gating): name(experiment, Gating.OFF)
          for experiment in (BYTES, THREADS) for gating in Gating}
"""Settings whose energy is shown by part, and the baseline of each."""


def configurations(config: SmConfig, settings: Sequence[str]) -> dict[str, SmConfig]:
    """Every configuration: `config` byte-interleaved, and `COMPOSED` with a user's settings with coalescing, in its
    alignment; how they gate, and whether they coalesce, does not matter."""
    composed = SmConfig.preset(COMPOSED).with_settings(list(settings))
    found = {name(BYTES, gating): dataclasses.replace(_uncoalesced(config), gating=gating) for gating in Gating}
    for gating in Gating:
        found[name(THREADS, gating)] = dataclasses.replace(composed, coalescing=Coalescing.ON, gating=gating)
    return {**found, UNCOALESCED: _uncoalesced(composed)}


def _uncoalesced(config: SmConfig) -> SmConfig:
    """The machine without either mechanism; alignments other than `REG` need coalescing."""
    return dataclasses.replace(config, coalescing=Coalescing.OFF, alignment=Alignment.REG, gating=Gating.OFF)


def figures() -> list[Figure]:
    """The figures of the source, byte-interleaved; the same with coalescing; and both chapters together."""
    found = threads(lambda runs: runs[name(BYTES, Gating.OFF)].values)  # the same in every run
    for experiment in (BYTES, THREADS):
        found += [*_accesses(experiment), *_energies(experiment), *_overheads(experiment)]
    energy = register_file_saved
    return [*found, both_chapters("Dynamic energy of the register file saved", energy, note="rows shared")]


def _accesses(experiment: str) -> list[Figure]:
    reads, writes = of_statistics(metrics.column_reads_saved), of_statistics(metrics.column_writes_saved)
    return [
        steps(experiment, "Fig. 4.7", "Columns saved in reads", reads),
        steps(experiment, "Fig. 4.8", "Columns saved in writes", writes),
    ]


def _energies(experiment: str) -> list[Figure]:
    file, units = "Dynamic energy of the register file saved", "Dynamic energy of the execution units saved"
    ways = {note: _by(register_file_saved, columns) for note, columns in ORGANISATIONS.items()}
    ways["rows shared, macros only"] = macros_saved
    return [
        *(steps(experiment, "Fig. 4.9", file, compare, note=note) for note, compare in ways.items()),
        steps(experiment, "Fig. 4.10", units, lanes.execution_saved, keys=LANE_STEPS),
        by_mask(experiment, "Lane operations that are trivial", lanes.trivial),
        *(parts(experiment, "Fig. 4.11", "Dynamic energy of the GPU saved", {
            "register file": _by(lanes.gpu_saved_by_register_file, columns),
            "execution units": lanes.gpu_saved_by_execution,
        }, note=note, stacked=True) for note, columns in BRACKET.items()),
    ]


def _overheads(experiment: str) -> list[Figure]:
    of_file = {part: _overhead(part) for part in (*PARTS, "all")}
    return [
        parts(experiment, "Section 4.5, register file", "Overhead, of its dynamic energy", of_file),
        parts(experiment, "Section 4.5, whole GPU", "Overhead, of its dynamic energy", {
            "all": lanes.gpu_overhead,
        }),
    ]


def _by(compare: Callable[..., float], columns: Organisation) -> Compare:
    return partial(compare, organisation=columns)


def _overhead(part: str) -> Compare:
    return partial(lanes.overhead, part)
