"""Orders and dominators of a graph, and trees that answer in constant time whether a node is below another."""

from collections.abc import Callable, Iterable, Sequence


def immediate_dominators(successors: Sequence[Sequence[int]], root: int) -> dict[int, int]:
    """The immediate dominator of each node that can be reached from `root`, except `root` itself.

    Lengauer and Tarjan's algorithm with path compression: n log n at worst, where walking up the tree from every join
    is quadratic in the length of a chain. Internally nodes are numbered in depth-first order.
    """
    order, parent = _depth_first(successors, root)
    number = {node: i for i, node in enumerate(order)}
    predecessors: list[list[int]] = [[] for _ in order]
    for i, node in enumerate(order):
        for successor in successors[node]:
            predecessors[number[successor]].append(i)
    semi, best, above = list(range(len(order))), list(range(len(order))), [-1] * len(order)
    dominator = [0] * len(order)
    pending: list[list[int]] = [[] for _ in order]
    for i in range(len(order) - 1, 0, -1):
        semi[i] = min(semi[_lowest(p, semi, best, above)] for p in predecessors[i])
        pending[semi[i]].append(i)
        above[i] = parent[i]
        for waiting in pending[parent[i]]:
            lowest = _lowest(waiting, semi, best, above)
            dominator[waiting] = lowest if semi[lowest] < semi[waiting] else parent[i]
        pending[parent[i]] = []
    for i in range(1, len(order)):
        if dominator[i] != semi[i]:
            dominator[i] = dominator[dominator[i]]
    return {order[i]: order[dominator[i]] for i in range(1, len(order))}


def postorder(successors: Callable[[int], Iterable[int]], root: int) -> list[int]:
    """The nodes that can be reached from `root`, each after its successors, except for back edges."""
    order: list[int] = []
    seen, waiting = {root}, [(root, iter(successors(root)))]
    while waiting:
        node, left = waiting[-1]
        following = next((successor for successor in left if successor not in seen), None)
        if following is None:
            order.append(node)
            waiting.pop()
        else:
            seen.add(following)
            waiting.append((following, iter(successors(following))))
    return order


def whole_postorder(successors: Sequence[Sequence[int]]) -> list[int]:
    """All nodes, also those that cannot be reached, each after its successors where no loop prevents it."""
    end = len(successors)
    return postorder([*successors, range(end)].__getitem__, end)[:end]


def reversed_edges(successors: Sequence[Sequence[int]]) -> list[list[int]]:
    """The predecessors of each node."""
    predecessors: list[list[int]] = [[] for _ in successors]
    for node, found in enumerate(successors):
        for successor in found:
            predecessors[successor].append(node)
    return predecessors


def _depth_first(successors: Sequence[Sequence[int]], root: int) -> tuple[list[int], list[int]]:
    """The nodes in depth-first order, and for each position in it that of the parent node."""
    order: list[int] = []
    parent: list[int] = []
    waiting, seen = [(root, -1)], set()
    while waiting:
        node, origin = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting += [(successor, len(order)) for successor in successors[node]]
            order.append(node)
            parent.append(origin)
    return order, parent


def _lowest(node: int, semi: list[int], best: list[int], above: list[int]) -> int:
    """The node with the lowest semidominator on the path up from `node`, except the top; the path becomes one step."""
    if above[node] < 0:
        return node
    path = []
    while above[above[node]] >= 0:
        path.append(node)
        node = above[node]
    top = above[node]
    for lower in reversed(path):
        if semi[best[node]] < semi[best[lower]]:
            best[lower] = best[node]
        above[lower] = top
        node = lower
    return best[node]


class Forest:
    """Trees over the nodes 0, 1, ...; `parents` has None for a root. `depth` counts the nodes above each, `order` has
    parents before their children."""

    def __init__(self, parents: Sequence[int | None]) -> None:
        self.parents = parents
        children: list[list[int]] = [[] for _ in parents]
        waiting: list[int] = []
        for node, parent in enumerate(parents):
            (waiting if parent is None else children[parent]).append(node)
        self.depth = [0] * len(parents)
        self.order: list[int] = []
        while waiting:
            node = waiting.pop()
            self.order.append(node)
            for child in children[node]:
                self.depth[child] = self.depth[node] + 1
            waiting += children[node]
        self._first, self._last = [0] * len(parents), [0] * len(parents)
        for place, node in enumerate(self.order):
            self._first[node] = self._last[node] = place
        for node in reversed(self.order):
            above = parents[node]
            if above is not None:
                self._last[above] = max(self._last[above], self._last[node])

    def below(self, node: int, other: int) -> bool:
        """True when `other` is `node` or above it."""
        return self._first[other] <= self._first[node] <= self._last[other]
