"""The quantities of [HAWS], chapter 5: percentages of a run, of two runs, and of a workload's code."""

from collections.abc import Callable, Mapping

from warploom.arch.config import SmConfig
from warploom.arch.layout import resident_warps
from warploom.evaluation.figures import Run
from warploom.evaluation.haws.code import HintedCode
from warploom.evaluation.metrics import share
from warploom.golden_model.front_end.stalls import Stall

Value = Callable[[Run], float]

CYCLES: Mapping[str, tuple[Stall, ...]] = {
    "long latency stall": (Stall.MEMORY,),
    "mixed stall": (Stall.COLLECTOR, Stall.PORT, Stall.WAR, Stall.SCOREBOARD, Stall.FENCE, Stall.BARRIER),
    "no warp": (Stall.NO_WARP, Stall.DRAINED),
}
"""What a scheduler does in a cycle without an issue: all of its warps that could go on wait, at least one for memory
and none for anything shorter; they wait for other things; it has none."""


def scheduler_cycles(run: Run) -> int:
    """Cycles of all schedulers of all SMs, each until its SM has finished. For a sample they are not known: its
    statistics are scaled to all blocks, and what the GPU did is not."""
    assert run.memory is not None, "a run of a GPU"
    assert run.statistics.warp_instructions == sum(run.memory.warp_instructions), "a run of all blocks"
    interval = run.config.front_end_interval
    return sum(-(-cycles // interval) for cycles in run.memory.cycles) * run.config.schedulers


def issued(run: Run) -> float:
    """Cycles in which a scheduler issues."""
    return share(scheduler_cycles(run) - sum(run.statistics.stalls.values()), scheduler_cycles(run))


def stalled(kind: str) -> Value:
    """Cycles of a kind in which a scheduler does not issue."""
    return lambda run: share(sum(run.statistics.stalls[cause.name.lower()] for cause in CYCLES[kind]),
                             scheduler_cycles(run))


def hinted(part: str, run: Run) -> int:
    """What hints for order did."""
    count: int = run.statistics.counted["order"][part]
    return count


def each_time(run: Run) -> float:
    """Instructions that a warp executes in hint mode, of the times that it enters it."""
    return share(hinted("executed", run), hinted("entered", run))


def copies(run: Run) -> float:
    """Copies of renamed results, of all that issues."""
    return share(hinted("copies", run), run.statistics.warp_instructions + hinted("copies", run))


def loads(run: Run, code: HintedCode) -> float:
    """Loads that issue in hint mode, of all loads."""
    return share(hinted("loads", run), code.loads)


def alu(run: Run, code: HintedCode) -> float:
    """Instructions that issue in hint mode and are neither loads nor branches, of all that are of no memory access and
    no control."""
    return share(hinted("executed", run) - hinted("loads", run) - hinted("branches", run), code.alu)


def register_usage(code: HintedCode, config: SmConfig) -> float:
    """Registers of the threads of as many warps as fit, of those of the register file."""
    return share(code.registers * resident_warps(config, code.registers), config.rows * config.banks)
