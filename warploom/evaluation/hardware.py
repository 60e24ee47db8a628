"""What the mechanisms cost as gates: the units of the datapath, off and on, and the parts that CORF needs instead."""

import dataclasses
from collections.abc import Sequence

from synth.compare import Comparison, compare
from synth.flow import synthesise
from synth.report import Row
from warploom.arch.config import Alignment, Coalescing, SmConfig

CORF_UNITS = ("Shifter", "RenameTable", "MaskTable", "Allocator")
"""What CORF needs beside the datapath. It has ten shifters, and an allocator with its free map for each bank."""


def off_and_on(config: SmConfig) -> list[Comparison]:
    """Every unit of the datapath without and with coalescing, in the layout and the alignment of `config`.

    Raises `ConfigError` for an alignment that is no hardware, and what `synthesise` raises.
    """
    on = dataclasses.replace(config, coalescing=Coalescing.ON)
    on.check_hardware()
    off = dataclasses.replace(on, coalescing=Coalescing.OFF, alignment=Alignment.REG)
    return compare(synthesise(off), synthesise(on))


def alone(config: SmConfig, units: Sequence[str]) -> list[Row]:
    """Units outside the datapath, each by itself: the row of all that is in it."""
    return [synthesise(config, top=unit).rows[0] for unit in units]
