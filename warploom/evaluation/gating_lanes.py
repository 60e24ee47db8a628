"""Estimates of the dynamic energy that gating saves in the execution units, and in a whole GPU.

A computing lane takes one unit of energy, for every operation; an inactive lane takes none; a trivial one takes the
share of its last stage and its bypass in the area of a lane. Detection takes the share of the trivial detector. The
shares are those of our integer lane (`energy.toml`); lanes for floats are larger, so their shares are smaller.
"""

from warploom.arch.mechanisms import Gating
from warploom.evaluation.energy import FIGURES
from warploom.evaluation.figures import Run
from warploom.evaluation.gating_energy import Organisation, overhead, register_file_saved
from warploom.evaluation.metrics import saved, share

REGISTER_FILE, EXECUTION = (FIGURES["gpu"][f"{part}_share"] for part in ("register_file", "execution"))
"""Shares of a GPU's dynamic energy."""


def inactive(run: Run) -> float:
    """Lane operations of inactive lanes, percent."""
    return share(run.statistics.lanes_inactive, run.statistics.lane_operations)


def trivial(run: Run) -> float:
    """Lane operations that are trivial, percent."""
    return share(run.statistics.lanes_trivial, run.statistics.lane_operations)


def execution_saved(ours: Run, baseline: Run) -> float:
    """Dynamic energy of the execution units saved minus overhead, percent of the baseline's."""
    return saved(_execution(ours), _execution(baseline))


def execution_overhead(ours: Run) -> float:
    """The energy to detect and bypass trivial operations, percent of the energy without gating."""
    if not ours.config.gating.has_zero_mask:
        return 0.0
    looked_at = 100 - inactive(ours)
    return looked_at * _area_share("trivial_detector") + trivial(ours) * _area_share("bypass")


def gpu_saved_by_register_file(organisation: Organisation, ours: Run, baseline: Run) -> float:
    """Dynamic energy of the GPU saved in the register file, percent."""
    return float(REGISTER_FILE * register_file_saved(organisation, ours, baseline))


def gpu_saved_by_execution(ours: Run, baseline: Run) -> float:
    """Dynamic energy of the GPU saved in the execution units, percent."""
    return float(EXECUTION * execution_saved(ours, baseline))


def gpu_overhead(organisation: Organisation, ours: Run, baseline: Run) -> float:
    """The overhead of gating, percent of the dynamic energy of the GPU."""
    file = overhead("all", organisation, ours, baseline)
    return float(REGISTER_FILE * file + EXECUTION * execution_overhead(ours))


def _execution(run: Run) -> float:
    """Energy of the execution units, percent of that of all lanes of all instructions."""
    if run.config.gating is Gating.OFF:
        return 100.0
    return 100 - inactive(run) - trivial(run) + execution_overhead(run)


def _area_share(part: str) -> float:
    """The share of a part in the area of a lane, which has one of it."""
    lane = FIGURES["lane"]
    return float(lane[part] / lane["lane"])
