"""The experiment of [RADAIDEH], chapter 5: kernels as threads, under the scheduler as it is and under the patch."""

from collections.abc import Callable
from itertools import combinations

from warploom.evaluation.figures import AVERAGE, Figure, Groups
from warploom.evaluation.placement.runs import COUNTS, INPUTS, SPEEDS, Placed
from warploom.kernels.library import kernels
from warploom.placement.policy import Policy

SLOW, FAST = SPEEDS

FEW, MANY = COUNTS[0], COUNTS[-1]

BY_POLICY = {Policy.CURRENT: "Fig. 1.2", Policy.PATCHED: "Fig. 5.7"}
"""The figure of each scheduler, under which the source makes one experiment."""

PAIRS = [((few, mhz), (many, mhz)) for few, many in combinations(COUNTS, 2) for mhz in SPEEDS] + [
    ((count, SLOW), (count, FAST)) for count in COUNTS]
"""Settings to compare, the one with less first."""


def usual() -> Groups:
    """The kernels, which are its threads."""
    return {AVERAGE: tuple(one.name for one in kernels())}


def figures() -> list[Figure]:
    """The figures of the experiment, and the comparisons of the text in numbers."""
    scaling = [_scaling(policy, mhz) for policy in Policy for mhz in SPEEDS]
    return [*scaling, _memory(), _inverted(), _loads()]


def _scaling(policy: Policy, mhz: int) -> Figure:
    def gained(count: int) -> Callable[[Placed], float]:
        return lambda placed: 100 * placed.time(policy, FEW, FAST) / placed.time(policy, count, mhz)

    return Figure(f"{BY_POLICY[policy]}, {mhz} MHz", f"Speed by threads, {policy} scheduler, {FEW} at {FAST} MHz = 100",
                  {f"{count} threads": gained(count) for count in COUNTS})


def _memory() -> Figure:
    def gained(policy: Policy, mhz: int) -> Callable[[Placed], float]:
        return lambda placed: 100 * placed.time(Policy.CURRENT, MANY, SLOW) / placed.time(policy, MANY, mhz)

    return Figure("Fig. 5.8", f"Speed with {MANY} threads, current scheduler at {SLOW} MHz = 100", {
        f"{policy}, {mhz} MHz": gained(policy, mhz) for policy in Policy for mhz in SPEEDS})


def _inverted() -> Figure:
    """Of all pairs of settings of which one has more threads, or the faster memory, and else is as the other: those in
    which it takes longer."""
    def share(policy: Policy) -> Callable[[Placed], float]:
        def of(placed: Placed) -> float:
            slower = [placed.time(policy, *more) > placed.time(policy, *less) for less, more in PAIRS]
            return 100 * sum(slower) / len(slower)
        return of

    return Figure("Section 5.4", "Comparisons in which more threads or faster memory take longer", {
        policy: share(policy) for policy in Policy})


def _loads() -> Figure:
    def load(name: str) -> Callable[[Placed], float]:
        return lambda placed: placed.loads[name]

    return Figure("Fig. 5.6", "Work of the busiest of 12 cores, current scheduler, a thread = 100", {
        name: load(name) for name in INPUTS})
