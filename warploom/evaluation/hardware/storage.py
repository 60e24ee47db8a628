"""What an SM stores in its register file, its collectors and for its mechanisms: bits in SRAM, and in flip-flops.

A table in SRAM has a copy for each look-up of a cycle, as in the hardware; tables in flip-flops have read ports instead
(`overhead.py`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, prod

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import WARP_BITS
from warploom.arch.mechanisms import Bypass, Coalescing
from warploom.evaluation.affine import energy as affine_energy
from warploom.evaluation.bypassing.events import cache_rows
from warploom.evaluation.coalescing import energy as coalescing_energy
from warploom.evaluation.energy.costs import collector_words
from warploom.evaluation.hardware.overhead import (
    SOURCES,
    affine_register_file,
    read_ports,
    rename_table,
    rename_table_copies,
    renamed_rows,
    zero_buffer,
    zero_buffer_srams,
)
from warploom.synth.sram import Macro

FLIP_FLOP_UM2 = 4.522
"""A DFF_X1 of the Nangate library."""


@dataclass(frozen=True)
class Storage:
    """Bits in SRAM, and in flip-flops."""

    sram_bits: int
    flip_flop_bits: int

    @property
    def bits(self) -> int:
        """All of them."""
        return self.sram_bits + self.flip_flop_bits

    @property
    def area_um2(self) -> float:
        """Their area alone, without logic and wires (docs/synthesis.md, *SRAM is an estimate*)."""
        return Macro(self.sram_bits, 1).area_um2 + FLIP_FLOP_UM2 * self.flip_flop_bits


def storage(config: SmConfig) -> Storage:
    """What an SM stores."""
    return Storage(sum(map(prod, _in_sram(config))), flip_flops(config))


def flip_flops(config: SmConfig) -> int:
    """Bits of collectors, and of tables."""
    tables = coalescing_energy.table_bits(config) + affine_energy.table_bits(config)
    return WARP_BITS * collector_words(config) + tables


def _in_sram(config: SmConfig) -> Iterator[tuple[int, ...]]:
    """Factors of the bits of each table: copies, rows, bits of a row."""
    yield config.banks, config.rows, WARP_BITS
    if config.bypass is Bypass.RFC:
        yield config.banks, ceil(cache_rows(config)), WARP_BITS
    if config.coalescing not in (Coalescing.OFF, Coalescing.ON):
        yield rename_table_copies(config), *rename_table(config)
    if config.gating.has_zero_mask:
        yield read_ports(config) * zero_buffer_srams(config), *zero_buffer(config)
    if config.affine.is_on:
        yield SOURCES, *affine_register_file(config)
    if config.renames:
        yield renamed_rows(config)
