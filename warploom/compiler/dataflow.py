"""Data-flow analysis: the fixed point of transfer functions over a graph, with sets as bits of Python integers."""

from collections.abc import Callable, Sequence
from heapq import heappop, heappush


def solve(order: list[int], depths: list[int], sources: Sequence[Sequence[int]], users: Sequence[Sequence[int]],
           transfer: Callable[[int, int], int]) -> list[int]:
    """The least masks for which each block's is the transfer of the union of those of its sources.

    Blocks whose sources have changed are processed from the innermost loops outwards, then inwards, and so on. Blocks
    of the same depth are processed in the given order, in which sources come first except around a loop. So a change
    passes through a nest of loops of any depth only a few times.
    """
    masks = [0] * len(order)
    place = {block: index for index, block in enumerate(order)}
    changed, outwards = set(order), True
    while changed:
        sign = -1 if outwards else 1
        waiting = sorted((sign * depths[block], place[block]) for block in changed)
        queued, changed = changed, set()
        while waiting:
            block = order[heappop(waiting)[1]]
            queued.remove(block)
            mask = transfer(block, union(masks, sources[block]))
            if mask == masks[block]:
                continue
            masks[block] = mask
            for user in users[block]:
                if sign * depths[user] < sign * depths[block]:
                    changed.add(user)
                elif user not in queued:
                    queued.add(user)
                    heappush(waiting, (sign * depths[user], place[user]))
        outwards = not outwards
    return masks


def union(masks: Sequence[int], indices: Sequence[int]) -> int:
    """The union of some of the masks."""
    result = 0
    for index in indices:
        result |= masks[index]
    return result
