"""The experiment of [AFFINE], sections 2.4 and 6.1: structure in kernels, and the affine unit against the same SM
without it."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from warploom.arch.config import LANES, SmConfig
from warploom.arch.isa import Pipe
from warploom.arch.mechanisms import Affine, Alignment, Bypass, Coalescing, Gating, Transient
from warploom.evaluation import metrics
from warploom.evaluation.affine.bars import (
    BASELINE,
    BYPASSED,
    COALESCED,
    COLD,
    FAST,
    FULL,
    GATED,
    PATTERNS,
    SLOW,
    SP_LANES,
    TOGETHER,
    WARM,
    by_part,
    composed,
    composition,
    name,
    number,
    speed_ups,
    structured,
    threads,
)
from warploom.evaluation.affine.energy import execution_saved
from warploom.evaluation.affine.table import table_1
from warploom.evaluation.energy.sensitivity import Headline
from warploom.evaluation.figures import Compare, Figure, against, of_statistics
from warploom.evaluation.register_file_energy import gpu_saved_by_affine, register_file_saved

PARTS = (Affine.A, Affine.AB)
"""Settings that are timed alone, on each of `PART_LANES` lanes."""

PART_LANES = (8, LANES)

OTHERS: dict[str, dict[str, Any]] = {
    COALESCED: {"coalescing": Coalescing.ON}, GATED: {"gating": Gating.CROSS_LANE},
    BYPASSED: {"bypass": Bypass.BOW_HINTS},
    TOGETHER: {"coalescing": Coalescing.ON, "gating": Gating.CROSS_LANE, "bypass": Bypass.BOW_HINTS},
}
"""The settings of the other mechanisms, and of all together."""

PRESSED = tuple(name(affine, lanes) for lanes in PART_LANES for affine in (Affine.OFF, Affine.ABM))
"""Configurations whose scheduler stalls are reported."""


ENERGIES: dict[str, Compare] = {
    "register file": register_file_saved, "execution units": execution_saved, "whole GPU": gpu_saved_by_affine}
"""Bars of the energy saved."""

HEADLINES = (
    Headline("Fig. 8, register file", "-", register_file_saved, FULL, BASELINE),
    Headline("Fig. 8, whole GPU", "-12.0 to 30.0", gpu_saved_by_affine, FULL, BASELINE),
)
"""Figures that assumptions are varied for."""

PARTED = dict.fromkeys((BASELINE, FULL), BASELINE)
"""Settings whose energy is shown by part, and the baseline of each."""


def configurations(config: SmConfig, _: Sequence[str] = ()) -> dict[str, SmConfig]:
    """Every configuration. The mechanisms, the clock of the front end and the lanes of SP of `config` do not
    matter."""
    plain = dataclasses.replace(
        _narrow(config, LANES), affine=Affine.OFF, coalescing=Coalescing.OFF, alignment=Alignment.REG,
        gating=Gating.OFF, bypass=Bypass.OFF, transient=Transient.OFF,
        front_end_interval=1)
    found: dict[str, SmConfig] = {}
    for lanes in SP_LANES:
        for front in (SLOW, FAST):
            for memory in (COLD, WARM):
                sm = _remembering(_clocked(_narrow(plain, lanes), front), memory)
                found |= {name(affine, lanes, front, memory): _with(sm, affine) for affine in (Affine.OFF, Affine.ABM)}
    found |= {name(part, lanes): _with(_narrow(plain, lanes), part) for part in PARTS for lanes in PART_LANES}
    for mechanism, settings in OTHERS.items():
        sm = dataclasses.replace(plain, **settings)
        found |= {composed(mechanism, affine): _with(sm, affine) for affine in (Affine.OFF, Affine.ABM)}
    return found


def _with(config: SmConfig, affine: Affine) -> SmConfig:
    return dataclasses.replace(config, affine=affine)


def _narrow(config: SmConfig, lanes: int) -> SmConfig:
    """An SP pipe of fewer lanes."""
    pipes = (dataclasses.replace(pipe, lanes=lanes) if pipe.kind is Pipe.SP else pipe for pipe in config.pipes)
    return dataclasses.replace(config, pipes=tuple(pipes))


def _clocked(config: SmConfig, front: str) -> SmConfig:
    return dataclasses.replace(config, front_end_interval=2 if front == SLOW else 1)


def _remembering(config: SmConfig, memory: str) -> SmConfig:
    """With warm caches a miss takes one cycle more than a hit, and never waits for another miss."""
    return config if memory == COLD else dataclasses.replace(config, memory_latency=1, memory_interval=1)


# ------------------------------------------------------------------ figures


def figures() -> list[Figure]:
    """The figures of the source, in its order, and the columns of its Table 1."""
    return [*_structure(), *table_1(), *_speed_ups(), *_energy(), *_composition()]


def _structure() -> list[Figure]:
    return [
        threads(),
        structured("load addresses", lambda found: found.load_addresses, PATTERNS),
        structured("store addresses", lambda found: found.store_addresses, PATTERNS),
        structured("load data", lambda found: found.load_data),
        structured("store data", lambda found: found.store_data),
        structured("register reads", lambda found: found.reads),
        structured("register writes", lambda found: found.writes),
        structured("whole instructions", lambda found: found.able),
    ]


def _speed_ups() -> list[Figure]:
    return [speed_ups("Fig. 5", COLD), speed_ups("Fig. 6", WARM), *(by_part(lanes) for lanes in PART_LANES)]


def _energy() -> list[Figure]:
    bars = {key: against(compare, FULL, BASELINE) for key, compare in ENERGIES.items()}
    return [Figure(number("Fig. 8"), "Dynamic energy saved", bars)]


def _composition() -> list[Figure]:
    accesses = of_statistics(metrics.accesses_saved)
    columns = of_statistics(lambda ours, baseline: metrics.saved(
        ours.column_reads + ours.column_writes, baseline.column_reads + baseline.column_writes))
    return [
        composition("Bank accesses saved", accesses, {"coalescing": COALESCED, "bow_hints": BYPASSED}, note="accesses"),
        composition("Columns saved", columns, {"cross_lane": GATED, "all three": TOGETHER}, note="columns"),
    ]
