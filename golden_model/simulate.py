"""A trace on the golden SM from its first cycle to its last, with the statistics of the run."""

from dataclasses import dataclass

from warploom.arch.config import SmConfig
from warploom.arch.errors import ExecutionError
from warploom.golden_model.sm import Sm
from warploom.golden_model.statistics import Statistics, collect
from warploom.golden_model.trace import Trace


@dataclass(frozen=True)
class Run:
    """A finished simulation: its statistics, and the SM as it was at the end."""

    statistics: Statistics
    sm: Sm


def simulate(config: SmConfig, trace: Trace, *, max_cycles: int = 1 << 40, check: bool = False) -> Run:
    """Time a trace to its end. Raises `LaunchError` when the launch does not fit the SM, `ExecutionError` when it takes
    more than `max_cycles` or cannot go on; with `check` see `Sm`."""
    sm = Sm(config, trace, check=check)
    while True:
        sm.step()
        if sm.finished:
            return Run(collect(sm), sm)
        if sm.cycle >= max_cycles:
            raise ExecutionError(f"{trace.program.name}: not finished after {max_cycles} cycles: raise the limit, or "
                                 "look for a loop that does not end")
        sm.skip()
