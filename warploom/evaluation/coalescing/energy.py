"""What coalescing and its comparators add to the energy of the register file.

- *encodings*: a look-up for each operand and each destination, and a change for each result that is written. The mask
  buffer and CORF's mask table are flip-flops, of which an issue port looks up in those of its warps; CORF's rename
  table is SRAM, in parts by bank, with a copy for each look-up of a cycle;
- *coalescing logic*: width detector for each result and each eviction of a window, byte multiplexers and sign fill for
  each operand that comes from the register file, or CORF's shifters and allocators; and the arbiter's additions, in
  every cycle. For CORF, as elsewhere, the arbiter is free.
"""

import math
from collections.abc import Iterator

from warploom.arch.config import SmConfig
from warploom.arch.mechanisms import Coalescing
from warploom.evaluation.energy.assumptions import FIGURES
from warploom.evaluation.energy.costs import Costs, Spent
from warploom.evaluation.energy.named_registers import NamedRegisters, named_registers
from warploom.evaluation.figures import Run
from warploom.evaluation.hardware.overhead import (
    allocation_table,
    free_map,
    mask_buffer,
    rename_table,
    rename_table_copies,
)

ARBITER_INPUTS = 16
"""Banks times collectors of the arbiter that was synthesised."""


def spent(run: Run, costs: Costs) -> Iterator[Spent]:
    """What encodings and logic add."""
    registers = named_registers(run)
    read, change = _encoding(costs)
    yield Spent("encodings", "an encoding is looked up", registers.operands + registers.results, read)
    yield Spent("encodings", "an encoding changes", registers.written, change)
    for event, number, um2 in _passed(run, registers):
        yield Spent("coalescing logic", event, number, costs.logic(um2))


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


def _passed(run: Run, registers: NamedRegisters) -> Iterator[tuple[str, int, float]]:
    """What passes logic, its number, and the area of the logic, µm²."""
    known, config = FIGURES["logic"], run.config
    if config.coalescing is not Coalescing.ON:
        corf = known["corf"]
        yield "a register is shifted", registers.operands + registers.results, corf["shifter"]
        yield "a result gets its place", registers.results, corf["allocator"]
        return
    ours = known["coalescing"]
    yield "an operand from the banks is expanded", registers.fetched, ours["operand"]
    yield "the width of a word to be written is found", registers.latched, ours["result"]
    yield "a cycle of the arbiter", run.sm_cycles, ours["arbiter"] * config.banks * config.collectors / ARBITER_INPUTS
