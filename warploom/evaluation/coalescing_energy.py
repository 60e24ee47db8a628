"""What coalescing and its comparators add to the energy of the register file.

- *encodings*: a look-up for each operand and each destination, and a change for each result that is written. The mask
  buffer and CORF's mask table are flip-flops, of which an issue port looks up in those of its warps; CORF's rename
  table is SRAM, in parts by bank, with a copy for each look-up of a cycle;
- *coalescing logic*: width detector for each result and each eviction of a window, byte multiplexers and sign fill for
  each operand that comes from the register file, or CORF's shifters and allocators; and the arbiter's additions, in
  every cycle. For CORF, as elsewhere, the arbiter is free.
"""

import math

from warploom.arch.config import SmConfig
from warploom.arch.mechanisms import Coalescing
from warploom.evaluation.assumptions import FIGURES
from warploom.evaluation.energy import Costs
from warploom.evaluation.figures import Run
from warploom.evaluation.named import Named, named
from warploom.evaluation.overhead import allocation_table, free_map, mask_buffer, rename_table, rename_table_copies

ARBITER_INPUTS = 16
"""Banks times collectors of the arbiter that was synthesised."""


def added(run: Run, costs: Costs) -> dict[str, float]:
    """The energy by part, pJ."""
    registers = named(run)
    read, changed = _encoding(costs)
    return {"encodings": (registers.operands + registers.results) * read + registers.written * changed,
            "coalescing logic": costs.logic(_passed(run, registers))}


def table_bits(config: SmConfig) -> int:
    """Flip-flops of tables: the mask buffer, or CORF's mask table and the free map of its allocators."""
    if config.coalescing is Coalescing.OFF:
        return 0
    tables = [_table(config)] if config.coalescing is Coalescing.ON else [_table(config), free_map(config)]
    return sum(rows * bits for rows, bits in tables)


def _table(config: SmConfig) -> tuple[int, int]:
    """Words and bits of a word of the table in flip-flops."""
    return mask_buffer(config) if config.coalescing is Coalescing.ON else allocation_table(config)


def _encoding(costs: Costs) -> tuple[float, float]:
    """A look-up, and a change."""
    config, (words, width) = costs.config, _table(costs.config)
    read, write = costs.table_read(words // config.issue_ports, width), width * costs.flip_flop
    if config.coalescing is Coalescing.ON:
        return read, write
    rows, bits = rename_table(config)
    part = costs.sram(math.ceil(rows / config.banks), bits)
    return read + part, write + rename_table_copies(config) * part


def _passed(run: Run, registers: Named) -> float:
    """The area of all logic that is passed, µm²."""
    known, config = FIGURES["logic"], run.config
    if config.coalescing is not Coalescing.ON:
        corf = known["corf"]
        shifted = registers.operands + registers.results
        return float(shifted * corf["shifter"] + registers.results * corf["allocator"])
    ours = known["coalescing"]
    arbiter = ours["arbiter"] * config.banks * config.collectors / ARBITER_INPUTS
    passed = registers.fetched * ours["operand"] + registers.latched * ours["result"]
    return float(passed + run.sm_cycles * arbiter)
