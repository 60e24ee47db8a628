"""Data-flow analysis: the fixed point of transfer functions over a graph, with sets as bits of Python integers."""

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import cycle


def solve(order: list[int], depths: list[int], sources: Sequence[Sequence[int]], users: Sequence[Sequence[int]],
           transfer: Callable[[int, int], int]) -> list[int]:
    """The least masks for which each block's is the transfer of the union of those of its sources.

    Blocks whose sources have changed are processed in the given order, in which sources come first except around a
    loop; then from the innermost loops outwards, then inwards, and so on. So a change passes through loops one after
    the other, and through a nest of loops of any depth, only a few times.
    """
    masks = [0] * len(order)
    place = {block: index for index, block in enumerate(order)}
    levels = cycle(([place[block] for block in range(len(order))], [-depth for depth in depths], depths))
    changed = set(order)
    while changed:
        level = next(levels)
        waiting = sorted((level[block], place[block]) for block in changed)
        queued, changed = changed, set()
        while waiting:
            block = order[heappop(waiting)[1]]
            queued.remove(block)
            mask = transfer(block, union(masks, sources[block]))
            if mask == masks[block]:
                continue
            masks[block] = mask
            for user in users[block]:
                if level[user] < level[block]:
                    changed.add(user)
                elif user not in queued:
                    queued.add(user)
                    heappush(waiting, (level[user], place[user]))
    return masks


def union(masks: Sequence[int], indices: Sequence[int]) -> int:
    """The union of some of the masks."""
    result = 0
    for index in indices:
        result |= masks[index]
    return result
