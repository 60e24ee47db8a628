"""Dynamic energy of the register file in a run: its counted events, at the costs of `energy/costs.py`.

- *macros*: accesses to sub-banks. A column, 4 B wide, is an eighth of one; `Organisation` says how columns save. Those
  of TFET rows take less;
- *wires*: columns read or written, once across the register file. Where a bank puts out whole words in spite of gating,
  they pass the crossbar, and their bits toggle as without gating;
- *registers*: columns that collectors and operand registers load;
- *selection*: a bank for a write, the crossbar for a read, a collector for an operand;
- *added*: what each mechanism adds, by the module that has its events;
- *clock*: of the words in collectors and of tables in flip-flops, if it is not gated.

For the whole GPU the register file has its share of dynamic power in the baseline; the energy of the rest stays the
same, because it does the same work, or is proportional to time, like that of clocks.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from warploom.arch.mechanisms import Bypass, Coalescing, Gating
from warploom.evaluation.affine import energy as affine_energy
from warploom.evaluation.bypassing import energy as bypassing_energy
from warploom.evaluation.coalescing import energy as coalescing_energy
from warploom.evaluation.energy.assumptions import ASSUMED, Assumptions
from warploom.evaluation.energy.costs import COLUMN_BITS, SUB_BANK_COLUMNS, Costs, Spent, by_part
from warploom.evaluation.figures import Run, Runs
from warploom.evaluation.gating import energy as gating_energy
from warploom.evaluation.gating.energy import SHARED, WHOLE, Organisation
from warploom.evaluation.hardware.storage import flip_flops
from warploom.evaluation.metrics import saved, share
from warploom.evaluation.tfet import renaming


@dataclass(frozen=True)
class Parts:
    """Dynamic energy of a register file in pJ, by part; `added` by what mechanisms add."""

    macros: float
    wires: float
    registers: float
    selection: float
    clock: float
    added: dict[str, float]

    @property
    def around(self) -> float:
        """All but the SRAM of the banks and what mechanisms add."""
        return self.wires + self.registers + self.selection + self.clock

    @property
    def overhead(self) -> float:
        """What mechanisms add."""
        return sum(self.added.values())

    @property
    def total(self) -> float:
        """All of it."""
        return self.macros + self.around + self.overhead


def register_file(run: Run, organisation: Organisation = SHARED, assumed: Assumptions = ASSUMED) -> Parts:
    """Dynamic energy of the register file in one run."""
    found = by_part(spent(run, organisation, assumed))
    return Parts(**{part: found.pop(part) for part in OWN}, added=found)


def spent(run: Run, organisation: Organisation = SHARED, assumed: Assumptions = ASSUMED) -> Iterator[Spent]:
    """What all events of the register file take in one run."""
    config, costs = run.config, Costs.of(run, assumed)
    columns = organisation if config.gating is not Gating.OFF else SHARED
    slow = renaming.macros(run)
    yield from gating_energy.macros(run.statistics, columns, assumed.row_share, slow * costs.sub_bank)
    yield from _around(run, costs, columns)
    for is_there, added in (
        (config.coalescing is not Coalescing.OFF, coalescing_energy.spent),
        (config.gating.has_zero_mask, gating_energy.spent), (config.bypass is not Bypass.OFF, bypassing_energy.spent),
        (config.affine.is_on, affine_energy.spent), (config.renames, renaming.spent),
    ):
        if is_there:
            yield from added(run, costs)


def _around(run: Run, costs: Costs, columns: Organisation) -> Iterator[Spent]:
    """What all but the macros takes without mechanisms."""
    counts, config = run.statistics, run.config
    read, wire = counts.column_reads, costs.wire
    if columns is WHOLE:
        read, wire = SUB_BANK_COLUMNS * counts.sub_bank_reads, costs.of_form(run, gating=Gating.OFF).wire
    for part, event, number, each in (
        ("wires", "a column is read", read, wire),
        ("wires", "a column is written", counts.column_writes, costs.wire),
        ("registers", "a collector loads a column", counts.collector_columns, costs.flip_flop),
        ("registers", "an operand register loads a column", counts.operand_columns, costs.flip_flop),
        ("selection", "a column is read", read, costs.selection(config.banks)),
        ("selection", "a column is written", counts.column_writes, costs.selection(len(config.write_paths))),
        ("selection", "an operand register gets a column", counts.operand_columns, costs.operand_selection),
    ):
        yield Spent(part, event, number, COLUMN_BITS * each)
    idle = run.sm_cycles * flip_flops(config) - COLUMN_BITS * counts.collector_columns
    yield Spent("clock", "a cycle of a flip-flop that loads nothing", idle, costs.clock)


OWN = ("macros", "wires", "registers", "selection", "clock")
"""The parts of a register file without mechanisms."""

PARTS = (*OWN, "overhead")
"""The parts that a table shows."""


def shares(runs: Mapping[str, Runs], baselines: Mapping[str, str]) -> list[dict[str, Any]]:
    """The parts of some settings, percent of the total of the baseline that each setting has; means over kernels. Names
    what mechanisms add, too."""
    return [_mean(setting, [(of_kernel[setting], of_kernel[baseline]) for of_kernel in runs.values()])
            for setting, baseline in baselines.items()]


def _mean(setting: str, pairs: Sequence[tuple[Run, Run]]) -> dict[str, Any]:
    found = [(register_file(ours), register_file(baseline).total) for ours, baseline in pairs]
    parts = {name: fmean(share(getattr(each, name), whole) for each, whole in found) for name in PARTS}
    added = {name: fmean(share(each.added[name], whole) for each, whole in found) for name in found[0][0].added}
    return {"setting": setting, **parts, "total": sum(parts.values()), "added": added}


# ------------------------------------------------------------------ against a baseline


def register_file_saved(ours: Run, baseline: Run, assumed: Assumptions = ASSUMED,
                        organisation: Organisation = SHARED) -> float:
    """Dynamic energy of the register file saved, minus what mechanisms add, percent of the baseline's."""
    after, before = (register_file(run, organisation, assumed).total for run in (ours, baseline))
    return saved(after, before)


def macros_saved(ours: Run, baseline: Run) -> float:
    """`register_file_saved` if only the SRAM saves, and all around it takes as much as before ([RADAIDEH], chapter
    4)."""
    before, after = register_file(baseline), register_file(ours)
    return saved(after.macros + before.around + after.overhead, before.total)


def gpu_saved(ours: Run, baseline: Run, assumed: Assumptions = ASSUMED) -> float:
    """Dynamic energy of the GPU saved, percent, if only the register file and time change."""
    part = assumed.register_file_share
    return part * register_file_saved(ours, baseline, assumed) + (1 - part) * _by_time(ours, baseline, assumed)


def gpu_saved_by_work(ours: Run, baseline: Run) -> float:
    """`gpu_saved` if the energy of the rest stays the same."""
    return gpu_saved(ours, baseline, replace(ASSUMED, rest_by_time=0.0))


def gpu_saved_by_time(ours: Run, baseline: Run) -> float:
    """`gpu_saved` if the energy of the rest is proportional to time."""
    return gpu_saved(ours, baseline, replace(ASSUMED, rest_by_time=1.0))


def gpu_saved_by_affine(ours: Run, baseline: Run, assumed: Assumptions = ASSUMED) -> float:
    """`gpu_saved` if the energy of the execution units changes, too."""
    file, lanes = assumed.register_file_share, assumed.execution_share
    return (file * register_file_saved(ours, baseline, assumed)
            + lanes * affine_energy.execution_saved(ours, baseline, assumed)
            + (1 - file - lanes) * _by_time(ours, baseline, assumed))


def _by_time(ours: Run, baseline: Run, assumed: Assumptions) -> float:
    """What the rest of a GPU saves, percent."""
    return assumed.rest_by_time * saved(ours.statistics.cycles, baseline.statistics.cycles)
