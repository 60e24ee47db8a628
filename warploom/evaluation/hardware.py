"""What the mechanisms cost as gates: the units of the datapath without and with each, and what CORF needs instead."""

import dataclasses
from collections.abc import Sequence

from synth.compare import Comparison, compare
from synth.flow import synthesise
from synth.report import Row
from warploom.arch.config import Alignment, Coalescing, Gating, SmConfig

CORF_UNITS = ("Shifter", "RenameTable", "MaskTable", "Allocator")
"""What CORF needs beside the datapath. It has ten shifters, and an allocator with its free map for each bank."""


def off_and_on(config: SmConfig) -> list[Comparison]:
    """Every unit of the ungated datapath without and with coalescing, in the layout and the alignment of `config`.

    Raises `ConfigError` for an alignment that is no hardware, and what `synthesise` raises.
    """
    on = dataclasses.replace(config, coalescing=Coalescing.ON, gating=Gating.OFF)
    on.check_hardware()
    off = dataclasses.replace(on, coalescing=Coalescing.OFF, alignment=Alignment.REG)
    return compare(synthesise(off), synthesise(on))


def ungated_and_gated(config: SmConfig) -> list[Comparison]:
    """Every unit of the byte-interleaved datapath without gating, and with all of it, in the layout of `config`."""
    off = dataclasses.replace(config, coalescing=Coalescing.OFF, alignment=Alignment.REG, gating=Gating.OFF)
    return compare(synthesise(off), synthesise(dataclasses.replace(off, gating=Gating.CROSS_LANE)))


def alone(config: SmConfig, units: Sequence[str]) -> list[Row]:
    """Units outside the datapath, each by itself: the row of all that is in it."""
    return [synthesise(config, top=unit).rows[0] for unit in units]
