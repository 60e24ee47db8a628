"""What slow rows save in the macros of the register file, and what a renaming stage adds ([TFET], section 5).

An access of a TFET row takes as much as one of a CMOS row times the square of the ratio of supplies, whichever cycles
it takes. The renaming stage looks up the table for each register of an instruction, and writes all of its copies for
each new value; each new value takes a row from a list, and gives one back.
"""

from collections.abc import Iterator

from warploom.arch.fields import index_bits
from warploom.evaluation.energy.assumptions import FIGURES
from warploom.evaluation.energy.costs import Costs, Spent
from warploom.evaluation.energy.named_registers import named_registers
from warploom.evaluation.figures import Run
from warploom.evaluation.hardware.overhead import NAMED_REGISTERS
from warploom.golden_model.statistics import Statistics

SUPPLIES = FIGURES["hybrid"]["tfet_voltage"] / FIGURES["hybrid"]["cmos_voltage"]
"""The supply of TFET rows, of that of CMOS rows."""

TFET_ACCESS = SUPPLIES**2
"""The energy of an access of a TFET row, of one of a CMOS row."""


def accesses(counts: Statistics) -> int:
    """Accesses of TFET rows."""
    return sum(counts.counted["slow"].values())


def macros(run: Run) -> float:
    """The energy of the accesses of a run, of what they take if all rows are CMOS rows."""
    counts = run.statistics
    slow = accesses(counts) if run.config.tfet_rows else 0
    return 1 - (1 - TFET_ACCESS) * slow / (sum(counts.bank_reads) + sum(counts.bank_writes)) if slow else 1.0


def spent(run: Run, costs: Costs) -> Iterator[Spent]:
    """What the stage adds."""
    rows, bits = run.config.rows, index_bits(run.config.rows)
    registers, values = named_registers(run), run.statistics.counted["renaming"]["values"]
    table = costs.sram(rows, 1 + bits)
    yield Spent("renaming", "a row is looked up", registers.operands + registers.written, table)
    yield Spent("renaming", "all copies of the table change", values, NAMED_REGISTERS * table)
    yield Spent("renaming", "a list gives or takes a row", 2 * values, costs.sram(rows, bits))
