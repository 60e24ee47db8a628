"""Control-flow graph of a lowered kernel: basic blocks, immediate post-dominators, loops.

A guarded EXIT ends no block: the lanes that take it only vanish, and nobody waits for them at a join. Neither does
anybody wait for a lane that traps, so a block with an unguarded TRAP does not count as a way to the exit.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import networkx as nx

from warploom.arch.isa import Op
from warploom.compiler.ir import Label, Node

EXIT_BLOCK = -1
"""The virtual block after every EXIT, as an immediate post-dominator."""


@dataclass(eq=False)
class Block:
    """Nodes that run one after the other. `successors` are block indices: the fall-through first, then the target of
    the branch; one or none where control cannot go both ways."""

    labels: list[str] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    successors: tuple[int, ...] = ()

    @property
    def branch(self) -> Node | None:
        """The BRA at the end, if there is one."""
        return self.nodes[-1] if self.nodes and self.nodes[-1].op is Op.BRA else None


class ControlFlow:
    """The reachable blocks of a body, in source order; block 0 is the entry. `blocks` may be edited in their nodes, as
    long as no branch comes or goes."""

    def __init__(self, body: Iterable[Node | Label]) -> None:
        self.blocks = _reachable(_link(_split(body)))

    @property
    def body(self) -> list[Node | Label]:
        """The flat list of the blocks, without unreachable code."""
        flat: list[Node | Label] = []
        for block in self.blocks:
            flat += [*map(Label, block.labels), *block.nodes]
        return flat

    @cached_property
    def predecessors(self) -> list[list[int]]:
        """Blocks that lead to each block."""
        found: list[list[int]] = [[] for _ in self.blocks]
        for index, block in enumerate(self.blocks):
            for successor in block.successors:
                found[successor].append(index)
        return found

    @cached_property
    def _graph(self) -> nx.DiGraph:
        graph = nx.DiGraph()
        graph.add_nodes_from(range(len(self.blocks)))
        graph.add_edges_from((i, s) for i, block in enumerate(self.blocks) for s in block.successors)
        return graph

    @cached_property
    def dominators(self) -> dict[int, int]:
        """Immediate dominator of each block but the entry."""
        return {b: d for b, d in nx.immediate_dominators(self._graph, 0).items() if d is not None and b != 0}

    @cached_property
    def postdominators(self) -> dict[int, int]:
        """Immediate post-dominator of each block from which the exit can be reached; `EXIT_BLOCK` for the exit."""
        backward = self._graph.reverse()
        for index, block in enumerate(self.blocks):
            if any(node.op is Op.TRAP and node.guard is None for node in block.nodes):
                backward.remove_edges_from([(s, index) for s in block.successors])
            elif not block.successors:
                backward.add_edge(EXIT_BLOCK, index)
        backward.add_node(EXIT_BLOCK)
        found = nx.immediate_dominators(backward, EXIT_BLOCK)
        return {b: d for b, d in found.items() if d is not None and b != EXIT_BLOCK}

    def dominates(self, first: int, second: int) -> bool:
        """True when every path from the entry to block `second` runs through block `first`."""
        while second != first and second in self.dominators:
            second = self.dominators[second]
        return first == second

    @cached_property
    def loops(self) -> list[frozenset[int]]:
        """The blocks of each natural loop, innermost loops first; back edges to one header make one loop."""
        bodies: dict[int, set[int]] = {}
        for tail, header in self._graph.edges:
            if self.dominates(header, tail):
                body = bodies.setdefault(header, {header})
                waiting = [tail]
                while waiting:
                    block = waiting.pop()
                    if block not in body:
                        body.add(block)
                        waiting += self.predecessors[block]
        return sorted(map(frozenset, bodies.values()), key=len)

    @cached_property
    def depths(self) -> list[int]:
        """Number of loops around each block."""
        return [sum(index in loop for loop in self.loops) for index in range(len(self.blocks))]

    def taken_first(self, index: int) -> bool:
        """True when the branch at the end of a block leaves the innermost loop and its fall-through does not.

        The side that leaves must run first: what it does may be what the lanes that stay are waiting for.
        """
        if len(self.blocks[index].successors) < 2:
            return False
        around = next((loop for loop in self.loops if index in loop), frozenset())
        fall_through, taken = self.blocks[index].successors
        return fall_through in around and taken not in around


def _split(body: Iterable[Node | Label]) -> list[Block]:
    blocks, ended = [Block()], False
    for item in body:
        if isinstance(item, Label):
            if blocks[-1].nodes:
                blocks.append(Block())
            blocks[-1].labels.append(item.name)
        else:
            if ended:
                blocks.append(Block())
            blocks[-1].nodes.append(item)
        ended = isinstance(item, Node) and (item.op is Op.BRA or (item.op is Op.EXIT and item.guard is None))
    return blocks


def _link(blocks: list[Block]) -> list[Block]:
    """Fill in the successors."""
    at = {name: index for index, block in enumerate(blocks) for name in block.labels}
    for index, block in enumerate(blocks):
        last = block.nodes[-1] if block.nodes else None
        leaves = last is not None and last.op in (Op.BRA, Op.EXIT) and last.guard is None
        following = [] if leaves or index + 1 == len(blocks) else [index + 1]
        if last is not None and last.op is Op.BRA:
            assert last.target is not None
            following.append(at[last.target])
        block.successors = tuple(dict.fromkeys(following))
    return blocks


def _reachable(blocks: list[Block]) -> list[Block]:
    """The blocks that control can get to, renumbered."""
    seen, waiting = {0}, [0]
    while waiting:
        for successor in blocks[waiting.pop()].successors:
            if successor not in seen:
                seen.add(successor)
                waiting.append(successor)
    kept = sorted(seen)
    number = {old: new for new, old in enumerate(kept)}
    for old in kept:
        blocks[old].successors = tuple(number[s] for s in blocks[old].successors)
    return [blocks[old] for old in kept]
