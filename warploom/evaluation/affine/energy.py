"""What the affine unit adds to the energy of the register file, and what it saves in the execution units.

- *compact registers*, SRAM with a copy for each source: a read for each compact operand, a write to all copies for each
  compact result; and their tags, a table in flip-flops: a look-up for each register that an instruction names;
- *expansion*: a compact operand of an instruction in the datapath becomes 32 words.

An attempt takes as much as lanes of the same area; the datapath's lanes then have less to do.
"""

from collections.abc import Iterator

from warploom.arch.config import SmConfig
from warploom.evaluation.energy.assumptions import ASSUMED, FIGURES, Assumptions
from warploom.evaluation.energy.costs import Costs, Spent
from warploom.evaluation.figures import Run
from warploom.evaluation.hardware.overhead import SOURCES, affine_register_file
from warploom.evaluation.metrics import saved


def spent(run: Run, costs: Costs) -> Iterator[Spent]:
    """What compact registers and expansion add."""
    config, counts = run.config, run.statistics.counted["affine"]
    rows, bits = affine_register_file(config)
    rows //= config.schedulers
    read = costs.sram(rows, bits)
    named = sum(run.statistics.source_widths) + sum(run.statistics.destination_widths)
    yield Spent("compact registers", "a value is read", counts["compact_reads"], read)
    yield Spent("compact registers", "all copies of a value change", counts["compact_writes"], SOURCES * read)
    yield Spent("compact registers", "a tag is looked up", named, costs.table_read(rows, 1))
    yield Spent("expansion", "a compact operand is expanded", counts["expanded"],
                costs.logic(FIGURES["logic"]["affine"]["operand"]))


def table_bits(config: SmConfig) -> int:
    """Flip-flops of the tags."""
    return affine_register_file(config)[0] if config.affine.is_on else 0


def execution_saved(ours: Run, baseline: Run, assumed: Assumptions = ASSUMED) -> float:
    """Dynamic energy of the execution units saved, percent of the baseline's, if every lane operation takes the
    same."""
    lanes = assumed.lane * FIGURES["logic"]["affine"]["attempt"] / FIGURES["lane"]["lane"]
    attempts = lanes * ours.statistics.counted["affine"]["attempts"]
    return saved(ours.statistics.lane_operations + attempts, baseline.statistics.lane_operations)
