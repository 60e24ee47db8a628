"""Estimates of the dynamic energy that gating saves in the execution units, and in a whole GPU.

A computing lane takes one unit of energy, for every operation; an inactive lane takes none; a trivial one takes the
share of its last stage and its bypass in the area of a lane. Detection takes the share of the trivial detector. The
shares are those of our integer lane (`energy.toml`); lanes for floats are larger, so their shares are smaller.
"""

from warploom.arch.mechanisms import Gating
from warploom.evaluation.energy.assumptions import ASSUMED, FIGURES, Assumptions
from warploom.evaluation.figures import Run
from warploom.evaluation.gating.energy import PARTS, SHARED, Organisation
from warploom.evaluation.metrics import saved, share
from warploom.evaluation.register_file_energy import register_file, register_file_saved


def inactive(run: Run) -> float:
    """Lane operations of inactive lanes, percent."""
    return share(run.statistics.lanes_inactive, run.statistics.lane_operations)


def trivial(run: Run) -> float:
    """Lane operations that are trivial, percent."""
    return share(run.statistics.lanes_trivial, run.statistics.lane_operations)


def execution_saved(ours: Run, baseline: Run, assumed: Assumptions = ASSUMED) -> float:
    """Dynamic energy of the execution units saved minus overhead, percent of the baseline's."""
    return saved(_execution(ours, assumed), _execution(baseline, assumed))


def execution_overhead(ours: Run, assumed: Assumptions = ASSUMED) -> float:
    """The energy to detect and bypass trivial operations, percent of the energy without gating."""
    if not ours.config.gating.has_zero_mask:
        return 0.0
    looked_at = 100 - inactive(ours)
    return assumed.lane * (looked_at * _area_share("trivial_detector") + trivial(ours) * _area_share("bypass"))


def overhead(part: str, ours: Run, baseline: Run) -> float:
    """A part of what gating adds to the register file, or ``all``, percent of the energy of the baseline's."""
    added = register_file(ours).added
    spent = sum(added.get(name, 0.0) for name in (PARTS if part == "all" else (part,)))
    return share(spent, register_file(baseline).total)


def gpu_saved(ours: Run, baseline: Run, assumed: Assumptions = ASSUMED) -> float:
    """Dynamic energy of the GPU saved in register file and execution units, percent."""
    return (gpu_saved_by_register_file(ours, baseline, assumed) + gpu_saved_by_execution(ours, baseline, assumed))


def gpu_saved_by_register_file(ours: Run, baseline: Run, assumed: Assumptions = ASSUMED,
                               organisation: Organisation = SHARED) -> float:
    """Dynamic energy of the GPU saved in the register file, percent."""
    return assumed.register_file_share * register_file_saved(ours, baseline, assumed, organisation)


def gpu_saved_by_execution(ours: Run, baseline: Run, assumed: Assumptions = ASSUMED) -> float:
    """Dynamic energy of the GPU saved in the execution units, percent."""
    return assumed.execution_share * execution_saved(ours, baseline, assumed)


def gpu_overhead(ours: Run, baseline: Run) -> float:
    """The overhead of gating, percent of the dynamic energy of the GPU."""
    file, lanes = overhead("all", ours, baseline), execution_overhead(ours)
    return ASSUMED.register_file_share * file + ASSUMED.execution_share * lanes


def _execution(run: Run, assumed: Assumptions) -> float:
    """Energy of the execution units, percent of that of all lanes of all instructions."""
    if run.config.gating is Gating.OFF:
        return 100.0
    return 100 - inactive(run) - trivial(run) + execution_overhead(run, assumed)


def _area_share(part: str) -> float:
    """The share of a part in the area of a lane, which has one of it."""
    lane = FIGURES["lane"]
    return float(lane[part] / lane["lane"])
