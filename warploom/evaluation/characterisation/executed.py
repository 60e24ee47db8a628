"""What the programs of a source execute: classes of instructions, and divergence ([HAWS], Figs. 4.12, 4.13)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from warploom.arch.isa import MEMORY_OPS, Instruction, Op
from warploom.evaluation.cached import of_traces
from warploom.evaluation.workload_mix import FLOATING
from warploom.golden_model.hints.stack import SimtStack
from warploom.golden_model.trace import Trace, WarpTrace

CLASSES = ("integer", "floating point", "control flow", "memory", "conversion", "predicate", "others")
"""The source's classes. `predicate` are comparisons and operations whose result is a predicate, `others` barriers,
fences and moves between lanes."""

_CONTROL = frozenset({Op.BRA, Op.EXIT, Op.TRAP})
_PREDICATE = frozenset({Op.ISETP, Op.FSETP, Op.DSETP, Op.PLOP3, Op.TESTP, Op.VOTE})
_DOUBLE = frozenset({Op.DADD, Op.DMUL, Op.DFMA, Op.DMIN, Op.DMAX, Op.DDIV, Op.DRCP, Op.DSQRT})
_SINGLE = frozenset({Op.MUFU, Op.FDIV, Op.FRCP, Op.FSQRT})
_OTHERS = frozenset({Op.BAR, Op.BARRED, Op.MEMBAR, Op.NOP, Op.SHFL, Op.MATCH, Op.REDUX, Op.LATCH, Op.HIGH})


@dataclass(frozen=True)
class Executed:
    """Dynamic warp instructions of all launches, with and without executing lanes. `classes` by `CLASSES`; `branches`
    are guarded ones, `divergent` those whose active lanes do not agree; `active` lanes are summed over `instructions`.
    """

    classes: list[int]
    branches: int
    divergent: int
    instructions: int
    active: int


def executed(launches: Sequence[Trace]) -> Executed:
    """Count the launches of a workload."""
    classes = np.zeros(len(CLASSES), int)
    flows = np.zeros(3, int)
    for launch in launches:
        kinds = np.array([class_of(instruction) for instruction in launch.program.instructions])
        for warp in launch.warps:
            classes += np.bincount(kinds[warp.pc], minlength=len(CLASSES))
            flows += _flow(launch.program.instructions, warp)
    branches, divergent, active = flows.tolist()
    return Executed(classes.tolist(), branches, divergent, int(classes.sum()), active)


def class_of(instruction: Instruction) -> int:
    """The index of an instruction's class."""
    op = instruction.op
    for number, ops in ((2, _CONTROL), (3, MEMORY_OPS), (4, {Op.CVT}), (5, _PREDICATE), (6, _OTHERS),
                        (1, FLOATING | _DOUBLE | _SINGLE)):
        if op in ops:
            return number
    return 0


def _flow(code: Sequence[Instruction], warp: WarpTrace) -> tuple[int, int, int]:
    """Guarded branches of a warp, those that diverge, and the sum of active lanes."""
    stack, branches, divergent, active = SimtStack(warp.live), 0, 0, 0
    for pc, lanes in zip(warp.pc.tolist(), warp.lanes.tolist(), strict=True):
        instruction = code[pc]
        active += stack.active.bit_count()
        if instruction.op is Op.BRA and instruction.guarded:
            branches += 1
            divergent += stack.diverges(lanes)
        stack.step(instruction, lanes)
    return branches, divergent, active


EXECUTED = of_traces("executed", executed, Executed, "warploom/evaluation/characterisation/executed.py",
                     "warploom/evaluation/workload_mix.py")
"""What workloads execute."""
