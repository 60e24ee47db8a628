"""The areas behind the energy of logic (`energy.toml`), from synthesis: what an operand, a result or an instruction
passes in each mechanism.

Areas are without flip-flops, but for words in collectors and for lanes. A result passes one of the latches of
write-back, and one of its paths.
"""

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from warploom.arch.config import LANES, SmConfig
from warploom.arch.mechanisms import Affine, Bypass, Coalescing, Gating
from warploom.evaluation.energy.assumptions import FIGURES
from warploom.evaluation.energy.costs import OPERANDS
from warploom.evaluation.hardware.experiment import alone, ungated, windowed
from warploom.synth.compare import logic_um2
from warploom.synth.flow import synthesise
from warploom.synth.report import Row

LAST_STAGE_BITS = 33
"""Flip-flops of the last stage of a lane: word and predicate."""


@dataclass(frozen=True)
class Area:
    """An area in µm², by its key in `energy.toml`, and the one that is there."""

    key: str
    um2: float
    used: float


def areas(config: SmConfig) -> list[Area]:
    """All areas, on the machine without any mechanism but those that an area is about. Raises what `synthesise`
    raises."""
    return [Area(key, um2, _used(key)) for part in PARTS for key, um2 in part(ungated(config))]


def _used(key: str) -> float:
    found: Any = FIGURES
    for name in key.split("."):
        found = found[name]
    return float(found)


Found = Iterator[tuple[str, float]]

Rows = Mapping[str, Row]


def _baseline(config: SmConfig) -> Found:
    """A word of a collector, and a lane."""
    rows = _rows(config, "collector", "lane")
    yield "collector_word.slots", logic_um2(rows["collector"]) / OPERANDS
    yield "lane.lane", logic_um2(rows["lane"])


def _coalescing(config: SmConfig) -> Found:
    """What the arbiter has beyond the plain one is for these banks and collectors
    (`ARBITER_INPUTS` in `coalescing/energy.py`)."""
    on = dataclasses.replace(config, coalescing=Coalescing.ON)
    before = _rows(config, "writeback", "arbiter")
    after = _rows(on, "writeback", "encoding_latch", "operand_path", "coalescing_arbiter")
    yield "logic.coalescing.operand", after["operand_path"].combinational_um2
    yield "logic.coalescing.result", _passed(on, before, after, "encoding_latch")
    yield ("logic.coalescing.arbiter",
           after["coalescing_arbiter"].combinational_um2 - before["arbiter"].combinational_um2)


def _corf(config: SmConfig) -> Found:
    """These are outside the datapath."""
    shifter, allocator = alone(config, ["Shifter", "Allocator"])
    yield "logic.corf.shifter", shifter.combinational_um2
    yield "logic.corf.allocator", allocator.combinational_um2


def _gating(config: SmConfig) -> Found:
    for gating in (Gating.IN_LANE, Gating.CROSS_LANE):
        before, gated = _rows(config, "writeback"), dataclasses.replace(config, gating=gating)
        after = _rows(gated, "writeback", "zero_latch", "gated_operand_path")
        yield f"logic.gating.{gating}.off.operand", after["gated_operand_path"].combinational_um2
        yield f"logic.gating.{gating}.off.result", _passed(gated, before, after, "zero_latch")


def _gating_and_coalescing(config: SmConfig) -> Found:
    """What gating adds to coalescing."""
    on = dataclasses.replace(config, coalescing=Coalescing.ON)
    for gating in (Gating.IN_LANE, Gating.CROSS_LANE):
        before, gated = _rows(on, "writeback", "operand_path"), dataclasses.replace(on, gating=gating)
        after = _rows(gated, "writeback", "zero_latch", "gated_coalescing_operand_path")
        yield (f"logic.gating.{gating}.on.operand", after["gated_coalescing_operand_path"].combinational_um2
               - before["operand_path"].combinational_um2)
        yield f"logic.gating.{gating}.on.result", _passed(gated, before, after, "zero_latch")


def _gated_lanes(config: SmConfig) -> Found:
    """The bypass is what a gated lane has beyond one that only holds, with the register of the last stage."""
    holding = _rows(dataclasses.replace(config, gating=Gating.ACTIVE), "lane")["lane"]
    rows = _rows(dataclasses.replace(config, gating=Gating.CROSS_LANE), "lane", "trivial_detector")
    register = LAST_STAGE_BITS * FIGURES["flip_flop"]["area_um2"]
    yield "lane.bypass", logic_um2(rows["lane"]) - logic_um2(holding) + register
    yield "lane.trivial_detector", rows["trivial_detector"].combinational_um2 / LANES


def _windows(config: SmConfig) -> Found:
    """These alone: in a datapath of so many collectors they have other names, or are dissolved."""
    window = windowed(config, Bypass.BOW_HINTS, 4)
    rows = {row.unit: row for row in synthesise(window, top="BypassingCollector").rows}
    yield "collector_word.window", logic_um2(rows["bypassing_collector"]) / window.entries
    yield "logic.windows.instruction", sum(rows[f"bypassing_collector_{part}"].combinational_um2
                                           for part in ("allocator", "queue", "fetcher"))
    eviction, = alone(window, ["EvictionUnit"])
    yield "logic.windows.eviction", eviction.combinational_um2


def _affine(config: SmConfig) -> Found:
    rows = _rows(dataclasses.replace(config, affine=Affine.ABM), "affine_unit", "expander")
    yield "logic.affine.attempt", rows["affine_unit"].combinational_um2
    yield "logic.affine.operand", rows["expander"].combinational_um2


PARTS: tuple[Callable[[SmConfig], Found], ...] = (
    _baseline, _coalescing, _corf, _gating, _gating_and_coalescing, _gated_lanes, _windows, _affine)


def _passed(config: SmConfig, before: Rows, after: Rows, latch: str) -> float:
    """What a result passes of the additions to write-back: a latch of this name, and a path."""
    latches, one = after[latch].instances, after[latch].combinational_um2
    added = after["writeback"].combinational_um2 - before["writeback"].combinational_um2
    return one + (added - latches * one) / len(config.write_paths)


def _rows(config: SmConfig, *units: str) -> Rows:
    """Units of the datapath, by name."""
    return {row.unit: row for row in synthesise(config, units).rows}
