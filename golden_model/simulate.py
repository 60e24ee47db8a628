"""Runs a trace on the golden SM, from the first cycle to the last, and collects its statistics."""

from dataclasses import dataclass

from warploom.arch.config import SmConfig
from warploom.arch.errors import ExecutionError
from warploom.golden_model.sm import Sm
from warploom.golden_model.statistics import Statistics, collect
from warploom.golden_model.trace import Traced


@dataclass(frozen=True)
class Run:
    """A finished simulation: its statistics, and the SM in its final state."""

    statistics: Statistics
    sm: Sm


def simulate(config: SmConfig, trace: Traced, *, max_cycles: int = 1 << 40, check: bool = False) -> Run:
    """Simulate a trace to its end. Raises `LaunchError` if the launch does not fit the SM, `ExecutionError` if it takes
    more than `max_cycles` or cannot go on. For `check` see `Sm`."""
    sm = Sm(config, trace, check=check)
    while True:
        sm.step()
        if sm.finished:
            return Run(collect(sm), sm)
        if sm.cycle >= max_cycles:
            raise ExecutionError(f"{trace.program.name}: not finished after {max_cycles} cycles: raise the limit, or "
                                 "look for a loop that does not end")
        sm.skip()
