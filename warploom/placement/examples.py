"""The worked examples of [RADAIDEH], chapter 5: a parent on core 0 and seven children, on eight cores.

The figures have no scale of time; ours is stated in docs/placement.md, *Worked examples*. A child computes for
`ITERATION` units and waits for the other children, again and again; the parent forks one every `SPOOL` units, and then
waits for the end.
"""

from collections.abc import Collection

from warploom.placement.policy import Policy
from warploom.placement.scheduler import Machine
from warploom.placement.threads import US, Barrier, Compute, Fork, Phase, Phases, Wait

CHILDREN, CORES = 7, 8
SPOOL, ITERATION = 50, 220
BEFORE_FAULT, FAULT = 195, 15
"""A thread with a page fault has it in its first iteration."""

SMALL, LARGE = US, 160 * US
"""A unit: so that a run is shorter than the period of balancing, and so that it is not."""

FAULTING = (1, 2)
"""The threads with page faults in Figs. 5.1, 5.2 and 5.5."""

FIG_5_1 = Machine(cores=CORES)
FIG_5_2 = FIG_5_1
FIG_5_3 = Machine(cores=CORES, immediate=True, hot=500 * US)
FIG_5_5 = Machine(cores=CORES, policy=Policy.PATCHED)


def threads(unit: int, iterations: int, faulting: Collection[int] = FAULTING) -> Phases:
    """The first thread, which forks all others."""
    phases: list[Phase] = []
    for number in range(1, CHILDREN + 1):
        phases += [Compute(SPOOL * unit), Fork(_child(unit, iterations, number in faulting))]
    return (*phases, Barrier("end", CHILDREN + 1))


def _child(unit: int, iterations: int, faults: bool) -> Phases:
    barrier = Barrier("iteration", CHILDREN)
    iteration: list[Phase] = [Compute(ITERATION * unit), barrier]
    interrupted: list[Phase] = [Compute(BEFORE_FAULT * unit), Wait(FAULT * unit),
                                Compute((ITERATION - BEFORE_FAULT) * unit), barrier]
    first = interrupted if faults else iteration
    return (*first, *(iterations - 1) * iteration, Barrier("end", CHILDREN + 1))
