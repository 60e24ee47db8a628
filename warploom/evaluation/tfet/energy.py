"""Dynamic and leakage energy of a register file of CMOS and TFET rows in a run ([TFET], section 5).

The source gives no energy of an access or a bank, and its tool is not at hand. Our rules:

- everything is at the node of the bank of [BOW], Table IV; energies of `energy/costs.py` are scaled by the ratio of
  feature sizes, and to the supply of CMOS by the square of voltages;
- a bank is the source's eight arrays of 128 bits. An access of a TFET row takes less than one of a CMOS row
  (`renaming.py`);
- crossbar, collectors and wires are those of `register_file_energy.py`, in CMOS, like what gating and coalescing save
  in an access and what mechanisms add, among them the renaming stage;
- the leakage of CMOS SRAM is the published one, in proportion to bits and to the supply. TFET at its supply leaks
  less than CMOS at the same one by a factor, which is an assumption. Collectors, table and lists leak as SRAM of
  their bits;
- CMOS rows that a launch does not need are off. Those of a warp that sleeps leak less, with `drowsy`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from warploom.arch.config import SUB_BANKS
from warploom.arch.gpu import GpuConfig
from warploom.arch.interfaces import WARP_BITS
from warploom.arch.layout import powered_rows, rows_per_warp
from warploom.arch.mechanisms import Layout
from warploom.evaluation.energy.assumptions import ASSUMED, FIGURES, Assumptions
from warploom.evaluation.energy.costs import Costs, by_part, collector_words
from warploom.evaluation.figures import Run
from warploom.evaluation.gating.energy import SHARED, accesses
from warploom.evaluation.hardware.overhead import renamed_rows
from warploom.evaluation.metrics import saved, share
from warploom.evaluation.register_file_energy import register_file
from warploom.evaluation.tfet import renaming
from warploom.evaluation.tfet.renaming import SUPPLIES, TFET_ACCESS
from warploom.synth.sram import FIGURES as SRAM
from warploom.synth.sram import NODE_NM, VOLTAGE

KNOWN, BANK = FIGURES["hybrid"], SRAM["bank"]

ARRAY_BITS = 128
"""Width of an array of the source, of which eight hold a warp register."""

_SCALE = BANK["node_nm"] / NODE_NM * (KNOWN["cmos_voltage"] / VOLTAGE) ** 2


@dataclass(frozen=True)
class Energy:
    """The energy of a run in pJ, by part: `dynamic` and `leakage`."""

    dynamic: Mapping[str, float]
    leakage: Mapping[str, float]

    @property
    def total(self) -> float:
        """All of it."""
        return sum(self.dynamic.values()) + sum(self.leakage.values())


def energy(run: Run, assumed: Assumptions = ASSUMED) -> Energy:
    """Of all SMs of a GPU."""
    return Energy(_dynamic(run, assumed), _leakage(run, assumed))


def _dynamic(run: Run, assumed: Assumptions) -> dict[str, float]:
    counts, config, costs = run.statistics, run.config, Costs.of(run, assumed)
    word = WARP_BITS // ARRAY_BITS * costs.sram(config.rows, ARRAY_BITS) * _enabled(run, assumed)
    slow = renaming.accesses(counts)
    parts = register_file(run, assumed=assumed)
    stage = by_part(renaming.spent(run, costs)) if config.renames else {}
    around = parts.around + parts.overhead - sum(stage.values())
    found = {"CMOS": word * (sum(counts.bank_reads) + sum(counts.bank_writes) - slow),
             "TFET": word * TFET_ACCESS * slow, "around": around, **stage}
    return {part: _SCALE * spent for part, spent in found.items()}


def _enabled(run: Run, assumed: Assumptions) -> float:
    """What gating and coalescing leave of an access of a bank, mean over all."""
    counts = run.statistics
    whole = SUB_BANKS * (sum(counts.bank_reads) + sum(counts.bank_writes))
    return accesses(counts, SHARED, assumed.row_share) / whole if whole else 1.0


def _leakage(run: Run, assumed: Assumptions) -> dict[str, float]:
    config, machine = run.config, run.machine
    assert isinstance(machine, GpuConfig), "a run of a GPU"
    by_bit = (BANK["leakage_mw"] / (8 * BANK["bytes"]) * KNOWN["cmos_voltage"] / BANK["voltage"]
              * assumed.cmos_leakage * 1000 / machine.core_mhz)  # pJ in a cycle
    cycles = run.sm_cycles
    rows = config.banks * sum(launch.cycles * powered_rows(config, launch.registers, launch.warps)
                              for launch in run.launches)
    slow = WARP_BITS * config.banks * config.tfet_rows * cycles
    awake = machine.sms * rows - (1 - assumed.drowsy_leakage) * _asleep(run)
    found = {"CMOS": WARP_BITS * awake, "TFET": SUPPLIES / assumed.tfet_leakage * slow,
             "around": WARP_BITS * collector_words(config) * cycles}
    if config.renames:
        found["renaming"] = prod(renamed_rows(config)) * cycles
    return {part: by_bit * bits for part, bits in found.items()}


def _asleep(run: Run) -> float:
    """Rows that sleep, summed over cycles: those of a warp, mean over launches by their cycles."""
    if not run.config.drowsy:
        return 0.0
    rows = sum(launch.cycles * rows_per_warp(run.config, launch.registers) for launch in run.launches)
    asleep: int = run.statistics.counted["drowsy"]["asleep"]
    banks = 1 if run.config.layout is Layout.WID else run.config.banks  # those with registers of a warp
    return banks * asleep * rows / sum(launch.cycles for launch in run.launches)


# ------------------------------------------------------------------ against a baseline


def energy_saved(ours: Run, baseline: Run, assumed: Assumptions = ASSUMED) -> float:
    """Energy saved, percent of the baseline's."""
    return saved(energy(ours, assumed).total, energy(baseline, assumed).total)


def dynamic_saved(ours: Run, baseline: Run) -> float:
    """Dynamic energy saved, percent of all energy of the baseline."""
    before = energy(baseline)
    return share(sum(before.dynamic.values()) - sum(energy(ours).dynamic.values()), before.total)


def leakage_saved(ours: Run, baseline: Run) -> float:
    """Leakage saved, percent of all energy of the baseline."""
    before = energy(baseline)
    return share(sum(before.leakage.values()) - sum(energy(ours).leakage.values()), before.total)


def tfet_share(run: Run) -> float:
    """The energy of TFET rows, percent of all energy of the run."""
    found = energy(run)
    return share(found.dynamic["TFET"] + found.leakage["TFET"], found.total)
