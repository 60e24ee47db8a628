"""Estimates of the dynamic energy that gating saves in the register file, and of its overhead.

Costs of an event are those of `energy.Costs`; `energy.toml` has the figures and their sources. The rules:

- *column*: an eighth of the energy to move, or store, a sub-bank's 32 B. An access to a sub-bank's SRAM has a part for
  the row and a part for each column: see `Organisation`. Without gating sub-banks are one macro each;
- *zero buffer*: a look-up for each register that is read and for each destination, and a write to each of four copies
  for each result, each an access to a macro of its shape;
- *logic*: the logic before the banks (for a result) and after them (for an operand), which is zero detection, switches
  and zero forcing, takes for each word the energy of an addition in an adder of the same area;
- *fields*: the four entries of an instruction stored in and read from its collector, and that of its destination in
  every register on the path to write-back, with the energy of a bit in a collector.

Not included: decoding of column enables, and the clock.
"""

from dataclasses import dataclass

from warploom.arch.config import COLUMNS, SUB_BANKS
from warploom.arch.interfaces import width, zero_fields
from warploom.arch.mechanisms import Gating
from warploom.evaluation.energy import FIGURES, SLICE_BITS, Costs
from warploom.evaluation.figures import Run
from warploom.evaluation.metrics import saved, share
from warploom.evaluation.overhead import NAMED_REGISTERS, read_ports, zero_buffer
from warploom.golden_model.statistics import Statistics
from warploom.synth.sram import VOLTAGE, Macro

SUB_BANK_COLUMNS = COLUMNS // SUB_BANKS
"""Columns of a sub-bank."""

TRAVEL = 5
"""Registers that the entry of a destination passes, with a latency of 4: one behind each cycle from d to w, and the
write latch."""


@dataclass(frozen=True)
class Organisation:
    """The organisation of a sub-bank's columns as macros: the shares of an access that belong to the row, in a read and
    in a write, and whether every enabled column pays them, rather than all together once."""

    read: float
    write: float
    repeated: bool = False


OVERHEADS = ("zero buffer", "detector and switches", "fields")
"""The overhead of gating in the register file's energy, by part."""

ROW = FIGURES["sram_row"]["share"]
"""The share of an access to a sub-bank that belongs to the row."""

SHARED = Organisation(ROW, ROW)
"""Columns share decoder and word line."""

APART = Organisation(0.0, 0.0)
"""Each column is a separate macro; at best it takes an eighth."""

REPEATED = Organisation(ROW, ROW, repeated=True)
"""Each column is a separate macro; at worst its decoder takes as much as that of the whole sub-bank."""

WHOLE = Organisation(1.0, ROW)
"""One macro without column enables for reading: all its columns are read; byte enables save in writes."""


@dataclass(frozen=True)
class Parts:
    """Dynamic energy of a register file in pJ: its SRAM, the wires and registers around it, and the overhead of
    gating."""

    macros: float
    around: float
    overhead: float

    @property
    def total(self) -> float:
        """All of it."""
        return self.macros + self.around + self.overhead


def register_file(run: Run, organisation: Organisation) -> Parts:
    """Dynamic energy of the register file in one run."""
    counts, costs = run.statistics, Costs(run.config)
    columns = SHARED if run.config.gating is Gating.OFF else organisation
    reads = _accesses(columns, columns.read, counts.sub_bank_reads, counts.column_reads)
    writes = _accesses(columns, columns.write, counts.sub_bank_writes, counts.column_writes)
    put_out = SUB_BANK_COLUMNS * counts.sub_bank_reads if columns is WHOLE else counts.column_reads
    moved = (put_out + counts.column_writes) * costs.wires
    held = (counts.collector_columns + counts.operand_columns) * costs.collector_slice
    codes = (_sources(counts) + 2 * _results(counts)) * costs.code
    around = (moved + held) / SUB_BANK_COLUMNS + codes
    return Parts((reads + writes) * costs.sub_bank, around, sum(overhead_pj(run).values()))


def _accesses(columns: Organisation, row: float, sub_banks: int, enabled: int) -> float:
    """The number of accesses to whole sub-banks with the same energy, of which the share `row` belongs to the row."""
    return row * (enabled if columns.repeated else sub_banks) + (1 - row) * enabled / SUB_BANK_COLUMNS


def register_file_saved(organisation: Organisation, ours: Run, baseline: Run) -> float:
    """Dynamic energy of the register file saved minus overhead, percent of the baseline's."""
    return saved(register_file(ours, organisation).total, register_file(baseline, organisation).total)


def macros_saved(organisation: Organisation, ours: Run, baseline: Run) -> float:
    """The same if only the SRAM saves, and wires and collectors take as much as before, as in the source."""
    before, after = register_file(baseline, organisation), register_file(ours, organisation)
    return saved(after.macros + before.around + after.overhead, before.total)


# ------------------------------------------------------------------ overhead


def overhead_pj(run: Run) -> dict[str, float]:
    """Energy that gating adds to the register file, by part; nothing without a zero mask."""
    config, counts = run.config, run.statistics
    sources, results = _sources(counts), _results(counts)
    bits = width(zero_fields(config))
    if not bits:
        return dict.fromkeys(OVERHEADS, 0.0)
    passed = FIGURES["gating"][config.gating][config.coalescing]
    held = bits * (2 * NAMED_REGISTERS * counts.datapath_instructions + TRAVEL * results)
    spent = (
        (sources + (1 + read_ports(config)) * results) * Macro(*zero_buffer(config)).energy_pj,
        logic_pj(sources * passed["operand"] + results * passed["result"]),
        held / SLICE_BITS * Costs(config).collector_slice,
    )
    return dict(zip(OVERHEADS, spent, strict=True))


def overhead(part: str, organisation: Organisation, ours: Run, baseline: Run) -> float:
    """A part of the overhead, or ``all``, percent of the energy of the baseline's register file."""
    parts = overhead_pj(ours)
    spent = sum(parts.values()) if part == "all" else parts[part]
    return share(spent, register_file(baseline, organisation).total)


def logic_pj(um2: float) -> float:
    """Energy of logic that a word passes, by its area, at 45 nm and 1.1 V."""
    adder = FIGURES["adder"]
    return float(um2 * adder["energy_pj"] / adder["area_um2"] * (VOLTAGE / adder["voltage"]) ** 2)


def _sources(counts: Statistics) -> int:
    return sum(counts.source_widths)


def _results(counts: Statistics) -> int:
    return sum(counts.destination_widths)
