"""First spills, before the interference graph is built, if far more registers are live at once than exist.

The graph of n registers that are live together has n * n / 2 edges. So the first choice depends on pressure alone, as
in a linear scan; colouring then chooses among the rest, of which only a limited number are live together.
"""

from collections.abc import Iterable
from heapq import heappop, heappush

from warploom.compiler.interference import Interference
from warploom.compiler.ir import Half
from warploom.compiler.liveness import Liveness


def excess(liveness: Liveness, interference: Interference, limit: int, kept: set[int]) -> list[list[int]]:
    """Registers to spill (pairs together), so that at most `limit` are live after any node; none of those in `kept`.

    Registers with the least cost, in proportion to the code in which they are live, are chosen first. `liveness`
    ignores them afterwards.
    """
    ranks = _ranks(liveness, interference, kept)
    chosen: list[list[int]] = []
    for index in range(len(liveness.accesses)):
        cheapest: list[tuple[float, int]] = []
        new: Iterable[int] | None = None
        for access, live in liveness.after(index):
            for register in live if new is None else live.intersection(new):
                if register in ranks:
                    heappush(cheapest, (ranks[register], register))
            while len(live) > limit and cheapest:
                _, victim = heappop(cheapest)
                if victim in live:
                    chosen.append(_with_partner(victim, interference))
                    live.difference_update(chosen[-1])
                    liveness.ignore(chosen[-1])
            new = access.reads
    return chosen


def _ranks(liveness: Liveness, interference: Interference, kept: set[int]) -> dict[int, float]:
    """Cost of each register, or pair, in proportion to the code between its first and its last use."""
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    place = 0
    for accesses in liveness.accesses:
        for access in accesses:
            place += 1
            for register in (*access.reads, *access.writes):
                first.setdefault(register, place)
                last[register] = place
    ranks = {}
    for register in first.keys() - kept:
        parts = _with_partner(register, interference)
        length = max(last[part] for part in parts) - min(first[part] for part in parts) + 1
        ranks[register] = sum(interference.spill_cost(part) for part in parts) / length
    return ranks


def _with_partner(register: int, interference: Interference) -> list[int]:
    """A register and, of a pair, the other half."""
    half = interference.registers[register].half
    low = register - (half is Half.HIGH)
    pair = [low, low + 1] if half is not Half.NONE else [low]
    return [part for part in pair if part in interference.registers]
