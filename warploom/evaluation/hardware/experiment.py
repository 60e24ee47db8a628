"""The cost of the mechanisms in gates: the units of the datapath without and with each, and the units that CORF
needs."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import WARP_BITS
from warploom.arch.mechanisms import Affine, Alignment, Bypass, Coalescing, Gating, Transient
from warploom.synth.compare import Comparison, compare
from warploom.synth.flow import glue, synthesise
from warploom.synth.report import Row
from warploom.synth.sram import Macro

CORF_UNITS = ("Shifter", "RenameTable", "MaskTable", "Allocator")
"""Units that CORF needs beside the datapath. It has ten shifters, and an allocator with its free map for each bank."""

NETWORK = (("Crossbar", "Crossbar"), ("Arbiter", "RotatingArbiter"), ("Dispatcher", "Dispatcher"),
           ("AgeMatrix", None), (None, "EvictionUnit"))
"""The units between collectors and banks, without windows and with them."""

CHANGED = {
    "coalescing": (
        ("arbiter", "coalescing_arbiter"), ("crossbar", "sliced_crossbar"), ("collector", "collector"),
        ("bank", "dual_bank"), ("writeback", "writeback"), (None, "operand_path"), (None, "mask_buffer")),
    "gating": (
        ("collector", "collector"), ("bank", "bank"), (None, "gated_operand_path"), (None, "trivial_detector"),
        ("lane", "lane"), ("writeback", "writeback"), (None, "zero_latch"), (None, "zero_buffer")),
    "affine": (
        (None, "affine_unit"), (None, "end_lane"), (None, "expander"), (None, "compact_slots"), (None, "address_slot"),
        ("dispatcher", "dispatcher")),
}
"""By mechanism, the modules of the datapath that it changes or adds: without and with it."""

BANK = Macro(words=512, width=WARP_BITS)
"""A register bank of [BOW]: 64 KB."""


@dataclass(frozen=True)
class CollectorCost:
    """The collectors of one kind: `words` warp registers are stored in each, in flip-flops."""

    kind: str
    row: Row
    count: int
    words: int

    @property
    def stored_bytes(self) -> int:
        """The storage of all of them for operands and results."""
        return self.count * self.words * WARP_BITS // 8


def off_and_on(config: SmConfig) -> list[Comparison]:
    """Every unit of the ungated datapath without and with coalescing, in the layout and the alignment of `config`.

    Raises `ConfigError` for an alignment without hardware, and what `synthesise` raises.
    """
    on = dataclasses.replace(config, coalescing=Coalescing.ON, gating=Gating.OFF)
    on.check_hardware()
    off = dataclasses.replace(on, coalescing=Coalescing.OFF, alignment=Alignment.REG)
    return compare(synthesise(off), synthesise(on))


def ungated_and_gated(config: SmConfig) -> list[Comparison]:
    """Every unit of the byte-interleaved datapath without gating, and with all of it, in the layout of `config`."""
    off = dataclasses.replace(config, coalescing=Coalescing.OFF, alignment=Alignment.REG, gating=Gating.OFF)
    return compare(synthesise(off), synthesise(dataclasses.replace(off, gating=Gating.CROSS_LANE)))


def without_and_with_affine(config: SmConfig) -> list[Comparison]:
    """Every unit of the plain datapath without the affine unit, and with all of it."""
    off = ungated(config)
    return compare(synthesise(off), synthesise(dataclasses.replace(off, affine=Affine.ABM)))


def changed(config: SmConfig) -> dict[str, list[Comparison]]:
    """By mechanism, the units of `CHANGED`, each synthesised alone: this takes minutes, the datapath as a whole an
    hour. Raises what `synthesise` raises."""
    off = ungated(config)
    on = {"coalescing": dataclasses.replace(off, coalescing=Coalescing.ON),
          "gating": dataclasses.replace(off, gating=Gating.CROSS_LANE),
          "affine": dataclasses.replace(off, affine=Affine.ABM)}
    found = {}
    for mechanism, units in CHANGED.items():
        before, after = ([unit for unit in names if unit] for names in zip(*units, strict=True))
        found[mechanism] = compare(synthesise(off, before), synthesise(on[mechanism], after))
    return found


def alone(config: SmConfig, units: Sequence[str]) -> list[Row]:
    """Units outside the datapath, each alone: its row, including its parts."""
    return [synthesise(config, top=unit).rows[0] for unit in units]


def collectors(config: SmConfig) -> list[CollectorCost]:
    """The collector of the baseline and those with a window: its three kinds with four entries for each instruction,
    the last one also with two; and both on the coalescing register file."""
    found = [_collector("baseline", ungated(config))]
    found += [_collector(bypass, windowed(config, bypass, 4)) for bypass in Bypass if bypass.has_window]
    found.append(_collector(Bypass.BOW_HINTS, windowed(config, Bypass.BOW_HINTS, 2)))
    for kind, plain in (("baseline", ungated(config)), ("bow_hints", windowed(config, Bypass.BOW_HINTS, 4))):
        found.append(_collector(f"{kind}, coalescing", dataclasses.replace(plain, coalescing=Coalescing.ON)))
    return found


def _collector(kind: str, config: SmConfig) -> CollectorCost:
    window = config.bypass.has_window
    row, = alone(config, ["BypassingCollector" if window else "Collector"])
    return CollectorCost(kind, row, config.collectors, config.entries if window else 3)


def network(config: SmConfig) -> list[Comparison]:
    """The units between collectors and banks, without windows and with `bow_hints`; without the crossbar if windows do
    not change the number of collectors, since it then stays the same. The last is the wiring of the datapath: words and
    fields to the dispatch port, and with a window results to collectors and evictions from them."""
    off, on = ungated(config), windowed(config, Bypass.BOW_HINTS, 4)
    found = [Comparison(alone(off, [before])[0] if before else None, alone(on, [after])[0] if after else None)
             for before, after in NETWORK if after != "Crossbar" or off.collectors != on.collectors]
    return [*found, Comparison(glue(off), glue(on))]


def shares(network: Sequence[Comparison]) -> dict[str, float]:
    """The area that the network adds, as shares of one `BANK` by both estimates of SRAM."""
    added = sum(entry.added_um2 for entry in network)
    return {"of a 64 KB bank by CACTI": added / BANK.cacti_area_um2, "by its bit cells": added / BANK.area_um2}


def ungated(config: SmConfig) -> SmConfig:
    """Without any mechanism."""
    return dataclasses.replace(config, coalescing=Coalescing.OFF, alignment=Alignment.REG, gating=Gating.OFF,
                               bypass=Bypass.OFF, transient=Transient.OFF, affine=Affine.OFF)


def windowed(config: SmConfig, bypass: Bypass, entries: int) -> SmConfig:
    """With windows only, and this number of entries for each of their instructions."""
    return dataclasses.replace(ungated(config), bypass=bypass, entries=entries * config.window)
