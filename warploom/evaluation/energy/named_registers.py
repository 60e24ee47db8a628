"""The registers that the datapath's instructions name: what tables are looked up for, and what logic is passed for."""

from dataclasses import dataclass

from warploom.evaluation.bypassing.events import events
from warploom.evaluation.figures import Run


@dataclass(frozen=True)
class NamedRegisters:
    """Registers in one run: `operands` and `results` that instructions of the datapath name, operands that are
    `fetched` from the register file, words that pass a write latch (`latched`: results and evictions), and those that
    are `written` to the register file. Accepted attempts of an affine unit never enter the datapath; a window holds
    some operands, and not every result leaves one."""

    operands: int
    fetched: int
    results: int
    latched: int
    written: int


def named_registers(run: Run) -> NamedRegisters:
    """The registers of a run."""
    counts, affine = run.statistics, run.statistics.counted["affine"]
    operands = sum(number * count for number, count in enumerate(counts.operands))
    fetched = counts.counted["bypassed"]["fetched"] if run.config.has_window else operands
    elsewhere = affine["compact_writes"] - affine["expansions"] if run.config.affine.is_on else 0
    results = sum(counts.destination_widths) - elsewhere
    return NamedRegisters(operands, fetched, results, results + events(run).evicted, sum(counts.bank_writes))
