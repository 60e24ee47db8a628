"""Dynamic energy of the register file, counted from events, and estimates for a whole GPU.

`energy.toml` and `synth/sram.toml` have the published figures; all are rescaled to 45 nm and 1.1 V. The rules:

- *sub-bank*: an access is one to its SRAM macro (`warploom.synth.sram.Macro`), a read and a write alike;
- *wires*: 32 B cross the register file, a square that holds the banks, once for each sub-bank read or written;
- *collector*: 32 B stored cost a fourth of an access to the published collector, rescaled as in `Macro`; and as much
  again when the operand, all four slices of it, leaves for execution;
- *encodings*: a look-up for each operand, a look-up and a change for each result, each an access to a macro of the
  shape of the mask buffer, or of those of CORF's rename and allocation tables.

Not included, for lack of published figures: arbiter, width detectors, byte multiplexers, CORF's shifters, and the
clock.

For the whole GPU two estimates are the bounds: the energy of the rest stays the same, because it does the same work, or
it is proportional to time, like that of clocks.
"""

import math
import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from warploom.arch.config import LANES, SUB_BANKS, SmConfig
from warploom.arch.mechanisms import Coalescing
from warploom.evaluation.figures import Run
from warploom.evaluation.metrics import saved
from warploom.evaluation.overhead import allocation_table, mask_buffer, rename_table
from warploom.golden_model.statistics import Statistics
from warploom.synth.sram import NODE_NM, VOLTAGE, Macro

FIGURES = tomllib.loads(Path(__file__).with_name("energy.toml").read_text())
SLICE_BITS = 256
OPERANDS = 3


@dataclass(frozen=True)
class Costs:
    """Energy of each event in pJ, for one configuration."""

    config: SmConfig

    @cached_property
    def sub_bank(self) -> float:
        """32 B read from or written to a sub-bank."""
        return Macro(self.config.rows, SLICE_BITS).energy_pj

    @cached_property
    def wires(self) -> float:
        """32 B between a bank and a collector, or between a result and a bank."""
        banks_um2 = self.config.banks * SUB_BANKS * Macro(self.config.rows, SLICE_BITS).area_um2
        farads = FIGURES["wire"]["capacitance_ff_per_um"] * 1e-15 * math.sqrt(banks_um2)
        return SLICE_BITS * FIGURES["wire"]["charged"] * farads * VOLTAGE**2 * 1e12

    @cached_property
    def collector_slice(self) -> float:
        """32 B stored in, or read from, a collector."""
        known = FIGURES["collector"]
        bits = OPERANDS * LANES * 32
        size = SLICE_BITS / (8 * known["access_bytes"]) * math.sqrt(bits / (8 * known["bytes"]))
        return known["energy_pj"] * size * NODE_NM / known["node_nm"] * (VOLTAGE / known["voltage"]) ** 2

    @cached_property
    def code(self) -> float:
        """Looking up or changing the address and encoding of a register; nothing in the baseline."""
        if self.config.coalescing is Coalescing.OFF:
            return 0.0
        if self.config.coalescing is Coalescing.ON:
            return Macro(*mask_buffer(self.config)).energy_pj
        return Macro(*rename_table(self.config)).energy_pj + Macro(*allocation_table(self.config)).energy_pj


def register_file_pj(run: Statistics, config: SmConfig) -> float:
    """Dynamic energy of the register file in one run, pJ."""
    costs = Costs(config)
    moved = run.sub_bank_reads + run.sub_bank_writes
    codes = sum(run.source_widths) + 2 * sum(run.destination_widths)
    slices = run.slice_writes + SUB_BANKS * run.operands_stored
    return moved * (costs.sub_bank + costs.wires) + slices * costs.collector_slice + codes * costs.code


def register_file_saved(ours: Run, baseline: Run) -> float:
    """Dynamic energy of the register file saved, percent of the baseline's."""
    return saved(_register_file(ours, baseline), 1.0)


def gpu_saved_by_work(ours: Run, baseline: Run) -> float:
    """Dynamic energy of the GPU saved, percent, if the energy of all but the register file stays the same."""
    return saved(_gpu(_register_file(ours, baseline), 1.0), 1.0)


def gpu_saved_by_time(ours: Run, baseline: Run) -> float:
    """Dynamic energy of the GPU saved, percent, if that of all but the register file is proportional to time."""
    time = ours.statistics.cycles / baseline.statistics.cycles
    return saved(_gpu(_register_file(ours, baseline), time), 1.0)


def _register_file(ours: Run, baseline: Run) -> float:
    return register_file_pj(ours.statistics, ours.config) / register_file_pj(baseline.statistics, baseline.config)


def _gpu(register_file: float, rest: float) -> float:
    """A whole from its register file and its rest, all relative to the baseline."""
    part = FIGURES["gpu"]["register_file_share"]
    return part * register_file + (1 - part) * rest
