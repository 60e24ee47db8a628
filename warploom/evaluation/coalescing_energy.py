"""What coalescing and its comparators add to the energy of the register file.

- *encodings*: a look-up for each operand and each destination, and a change for each result. The mask buffer and CORF's
  mask table are flip-flops; CORF's rename table is SRAM, in parts by bank, with a copy for each look-up of a cycle;
- *coalescing logic*: width detector, byte multiplexers and sign fill, or CORF's shifters and allocators; and the
  arbiter's additions, in every cycle. For CORF, as elsewhere, the arbiter is free.
"""

import math

from warploom.arch.config import SmConfig
from warploom.arch.mechanisms import Coalescing
from warploom.evaluation.assumptions import FIGURES
from warploom.evaluation.energy import Costs
from warploom.evaluation.figures import Run
from warploom.evaluation.overhead import NAMED_REGISTERS, allocation_table, mask_buffer, rename_table

ARBITER_INPUTS = 16
"""Banks times collectors of the arbiter that was synthesised."""


def added(run: Run, costs: Costs) -> dict[str, float]:
    """The energy by part, pJ."""
    counts = run.statistics
    operands, results = sum(counts.source_widths), sum(counts.destination_widths)
    read, changed = _encoding(costs)
    return {"encodings": (operands + results) * read + results * changed,
            "coalescing logic": costs.logic(_passed(run, operands, results))}


def table_bits(config: SmConfig) -> int:
    """Flip-flops of the table."""
    if config.coalescing is Coalescing.OFF:
        return 0
    words, width = _table(config)
    return words * width


def _table(config: SmConfig) -> tuple[int, int]:
    """Words and bits of a word of the table in flip-flops."""
    return mask_buffer(config) if config.coalescing is Coalescing.ON else allocation_table(config)


def _encoding(costs: Costs) -> tuple[float, float]:
    """A look-up, and a change."""
    config, (words, width) = costs.config, _table(costs.config)
    write = width * costs.flip_flop
    if config.coalescing is Coalescing.ON:
        return costs.table_read(words // config.issue_ports, width), write
    rows, bits = rename_table(config)
    part = costs.sram(math.ceil(rows / config.banks), bits)
    copies = NAMED_REGISTERS + len(config.write_paths)
    return costs.table_read(words, width) + part, write + copies * part


def _passed(run: Run, operands: int, results: int) -> float:
    """The area of all logic that is passed, µm²."""
    known, config = FIGURES["logic"], run.config
    if config.coalescing is not Coalescing.ON:
        corf = known["corf"]
        return float((operands + results) * corf["shifter"] + results * corf["allocator"])
    ours = known["coalescing"]
    arbiter = ours["arbiter"] * config.banks * config.collectors / ARBITER_INPUTS
    return float(operands * ours["operand"] + results * ours["result"] + run.sm_cycles * arbiter)
