"""What gating saves in the macros of the register file, and what it adds.

- *column*: an access to a sub-bank has a part for the row and a part for each column: see `Organisation`. Without
  gating sub-banks are one macro each;
- *zero buffer*, SRAM: a look-up for each register that an instruction reads and for each destination, and a write to
  each copy for each result that is written;
- *detector and switches*: zero detection and switches for each result and each eviction of a window, zero forcing and
  switches for each operand that comes from the register file;
- *fields*: the entries of an instruction stored in and read from its collector, and that of its destination in
  every register on the path to write-back.

Decoding of column enables is not included.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from warploom.arch.fields import width
from warploom.arch.interfaces import zero_fields
from warploom.evaluation.energy.assumptions import FIGURES
from warploom.evaluation.energy.costs import SUB_BANK_COLUMNS, Costs, Spent
from warploom.evaluation.energy.named_registers import named_registers
from warploom.evaluation.figures import Run
from warploom.evaluation.hardware.overhead import NAMED_REGISTERS, read_ports, zero_buffer
from warploom.golden_model.statistics import Statistics

TRAVEL = 5
"""Registers that the entry of a destination passes, with a latency of 4: one behind each cycle from d to w, and the
write latch."""

PARTS = ("zero buffer", "detector and switches", "fields")
"""What gating adds to the register file's energy, by part."""


@dataclass(frozen=True)
class Organisation:
    """The organisation of a sub-bank's columns as macros: the shares of an access that belong to the row, in a read and
    in a write (None: that of the assumptions), and whether every enabled column pays them, rather than all together
    once."""

    read: float | None = None
    write: float | None = None
    repeated: bool = False


SHARED = Organisation()
"""Columns share decoder and word line."""

APART = Organisation(0.0, 0.0)
"""Each column is a separate macro; at best it takes an eighth."""

REPEATED = Organisation(repeated=True)
"""Each column is a separate macro; at worst its decoder takes as much as that of the whole sub-bank."""

WHOLE = Organisation(read=1.0)
"""One macro without column enables for reading: all its columns are read; byte enables save in writes."""


def accesses(counts: Statistics, columns: Organisation, row_share: float) -> float:
    """The number of accesses to whole sub-banks that take as much as those of a run."""
    return sum(one.energy for one in macros(counts, columns, row_share, 1.0))


def macros(counts: Statistics, columns: Organisation, row_share: float, sub_bank: float) -> Iterator[Spent]:
    """What accesses take if one to a whole sub-bank takes `sub_bank`, pJ."""
    for done, share, sub_banks, enabled in (
        ("read", columns.read, counts.sub_bank_reads, counts.column_reads),
        ("written", columns.write, counts.sub_bank_writes, counts.column_writes),
    ):
        row, rows = row_share if share is None else share, enabled if columns.repeated else sub_banks
        yield Spent("macros", f"a row of a sub-bank is {done}", rows, row * sub_bank)
        yield Spent("macros", f"a column is {done}", enabled, (1 - row) / SUB_BANK_COLUMNS * sub_bank)


def spent(run: Run, costs: Costs) -> Iterator[Spent]:
    """What zero masks add."""
    config, counts = run.config, run.statistics
    registers = named_registers(run)
    passed = FIGURES["logic"]["gating"][config.gating]["off" if not config.has_sides else "on"]
    entries = 2 * NAMED_REGISTERS * counts.datapath_instructions + TRAVEL * registers.results
    buffer, switches, fields = PARTS
    access = costs.sram(*zero_buffer(config))
    yield Spent(buffer, "an entry is looked up", registers.operands + registers.results, access)
    yield Spent(buffer, "all copies of an entry change", registers.written, read_ports(config) * access)
    yield Spent(switches, "an operand comes from the banks", registers.fetched, costs.logic(passed["operand"]))
    yield Spent(switches, "a word goes to the banks", registers.latched, costs.logic(passed["result"]))
    yield Spent(fields, "an entry is stored on its way", entries, width(zero_fields(config)) * costs.flip_flop)
