"""Dynamic energy of the register file in a run: its counted events, at the costs of `energy.py`.

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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from warploom.arch.mechanisms import Bypass, Coalescing, Gating
from warploom.evaluation import affine_energy, coalescing_energy, gating_energy, renaming_energy, windows_energy
from warploom.evaluation.assumptions import ASSUMED, Assumptions
from warploom.evaluation.energy import COLUMN_BITS, SUB_BANK_COLUMNS, Costs
from warploom.evaluation.figures import Run, Runs
from warploom.evaluation.gating_energy import SHARED, WHOLE, Organisation
from warploom.evaluation.metrics import saved, share
from warploom.evaluation.storage import flip_flops


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
    counts, config, costs = run.statistics, run.config, Costs.of(run, assumed)
    columns = organisation if config.gating is not Gating.OFF else SHARED
    read, wire = counts.column_reads, costs.wire
    if columns is WHOLE:
        read, wire = SUB_BANK_COLUMNS * counts.sub_bank_reads, costs.of_form(run, gating=Gating.OFF).wire
    selection = (read * costs.selection(config.banks)
                 + counts.column_writes * costs.selection(len(config.write_paths))
                 + counts.operand_columns * costs.operand_selection)
    return Parts(
        macros=(costs.sub_bank * gating_energy.accesses(counts, columns, assumed.row_share)
                * renaming_energy.macros(run)),
        wires=COLUMN_BITS * (read * wire + counts.column_writes * costs.wire),
        registers=COLUMN_BITS * (counts.collector_columns + counts.operand_columns) * costs.flip_flop,
        selection=COLUMN_BITS * selection,
        clock=costs.clock * (run.sm_cycles * flip_flops(config) - COLUMN_BITS * counts.collector_columns),
        added=_added(run, costs),
    )


def _added(run: Run, costs: Costs) -> dict[str, float]:
    """What each mechanism of a run adds."""
    config, found = run.config, dict[str, float]()
    if config.coalescing is not Coalescing.OFF:
        found |= coalescing_energy.added(run, costs)
    if config.gating.has_zero_mask:
        found |= gating_energy.added(run, costs)
    if config.bypass is not Bypass.OFF:
        found |= windows_energy.added(run, costs)
    if config.affine.is_on:
        found |= affine_energy.added(run, costs)
    if config.renames:
        found |= renaming_energy.added(run, costs)
    return found


PARTS = ("macros", "wires", "registers", "selection", "clock", "overhead")
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
    """The same if only the SRAM saves, and all around it takes as much as before, as in [RADAIDEH], chapter 4."""
    before, after = register_file(baseline), register_file(ours)
    return saved(after.macros + before.around + after.overhead, before.total)


def gpu_saved(ours: Run, baseline: Run, assumed: Assumptions = ASSUMED) -> float:
    """Dynamic energy of the GPU saved, percent, if only the register file and time change."""
    part = assumed.register_file_share
    return part * register_file_saved(ours, baseline, assumed) + (1 - part) * _by_time(ours, baseline, assumed)


def gpu_saved_by_work(ours: Run, baseline: Run) -> float:
    """The same if the energy of the rest stays the same."""
    return gpu_saved(ours, baseline, replace(ASSUMED, rest_by_time=0.0))


def gpu_saved_by_time(ours: Run, baseline: Run) -> float:
    """The same if it is proportional to time."""
    return gpu_saved(ours, baseline, replace(ASSUMED, rest_by_time=1.0))


def gpu_saved_by_affine(ours: Run, baseline: Run, assumed: Assumptions = ASSUMED) -> float:
    """The same if the energy of the execution units changes, too."""
    file, lanes = assumed.register_file_share, assumed.execution_share
    return (file * register_file_saved(ours, baseline, assumed)
            + lanes * affine_energy.execution_saved(ours, baseline, assumed)
            + (1 - file - lanes) * _by_time(ours, baseline, assumed))


def _by_time(ours: Run, baseline: Run, assumed: Assumptions) -> float:
    """What the rest of a GPU saves, percent."""
    return assumed.rest_by_time * saved(ours.statistics.cycles, baseline.statistics.cycles)
