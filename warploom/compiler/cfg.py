"""Control-flow graph of a lowered kernel: basic blocks, immediate post-dominators, loops.

A guarded EXIT does not end a block: the lanes that take it have ended, and other lanes do not wait for them at a join.
Nor do they wait for lanes that cannot reach a barrier any more, where that brings the join of other lanes before one.
No lane waits for a lane that traps either, so a block with an unguarded TRAP does not count as a path to the exit.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from warploom.arch.isa import Op
from warploom.compiler.dominators import Forest, immediate_dominators, postorder, reversed_edges
from warploom.compiler.ir import Label, Node

_BARRIERS = (Op.BAR, Op.BARRED)

EXIT_BLOCK = -1
"""The virtual block after every EXIT, as an immediate post-dominator."""


@dataclass(eq=False)
class Block:
    """Nodes that run one after the other. `successors` are block indices: the fall-through first, then the target of
    the branch; fewer if control cannot go both ways."""

    labels: list[str] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    successors: tuple[int, ...] = ()

    @property
    def branch(self) -> Node | None:
        """The BRA at the end, if there is one."""
        return self.nodes[-1] if self.nodes and self.nodes[-1].op is Op.BRA else None


class ControlFlow:
    """The reachable blocks of a body, in source order; block 0 is the entry. The nodes of `blocks` may be edited, as
    long as no branch is added or removed."""

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
        return reversed_edges([block.successors for block in self.blocks])

    @cached_property
    def postorder(self) -> list[int]:
        """The blocks in an order in which each comes after its successors, except for back edges."""
        return postorder(lambda index: self.blocks[index].successors, 0)

    @cached_property
    def postdominators(self) -> dict[int, int]:
        """Immediate post-dominator of each block from which the exit can be reached; `EXIT_BLOCK` for the exit.

        A guarded EXIT is a path to the exit only where there is no other. Where that moves the join of a branch both of
        whose sides are `_paths`, only these are paths, as far as the exit can be reached by them.
        """
        successors = [block.successors for block in self.blocks]
        joins = self._postdominators(successors, guarded=True) | self._postdominators(successors)
        if not self._meetings:
            return joins
        meeting = joins | self._postdominators(self._paths)
        moved = (index for index, join in joins.items() if join != meeting[index])
        return meeting if any(self._paths[index] == successors[index] for index in moved) else joins

    def _postdominators(self, paths: Sequence[Sequence[int]], *, guarded: bool = False) -> dict[int, int]:
        """The block at which the paths from each block meet, by the successors `paths`, and by guarded EXITs if
        `guarded`."""
        end = len(self.blocks)
        backward: list[list[int]] = [[] for _ in range(end + 1)]
        for index, block in enumerate(self.blocks):
            if any(node.op is Op.TRAP and node.guard is None for node in block.nodes):
                continue
            exits = guarded and any(node.op is Op.EXIT for node in block.nodes)
            for successor in (*paths[index], end) if exits else paths[index] or (end,):
                backward[successor].append(index)
        found = immediate_dominators(backward, end)
        return {block: EXIT_BLOCK if nearest == end else nearest for block, nearest in found.items()}

    @cached_property
    def _paths(self) -> list[tuple[int, ...]]:
        """The successors of each block without those behind which no lanes meet, if behind the other one some do: who
        meets need not wait for lanes that go there. The end of a loop keeps both."""
        paths = []
        for index, block in enumerate(self.blocks):
            left = tuple(filter(self._leads_to_meeting, block.successors))
            is_tail = any(self._dominators.below(index, successor) for successor in block.successors)
            paths.append(block.successors if is_tail or not left else left)
        return paths

    @cached_property
    def _dominators(self) -> Forest:
        found = immediate_dominators([block.successors for block in self.blocks], 0)
        return Forest([found.get(index) for index in range(len(self.blocks))])

    @cached_property
    def _headers(self) -> dict[int, list[int]]:
        """The headers of the natural loops, inner ones first, with the blocks that branch back to them."""
        tails: dict[int, list[int]] = {}
        for tail, block in enumerate(self.blocks):
            for header in block.successors:
                if self._dominators.below(tail, header):
                    tails.setdefault(header, []).append(tail)
        return {header: tails[header] for header in reversed(self._dominators.order) if header in tails}

    @cached_property
    def _loops(self) -> Forest:
        """Each loop, named by its header, is the parent of its blocks and inner loops. Back edges to one header form
        one loop.

        From the innermost outwards, a loop whose blocks are known counts as one block: its header.
        """
        parents: list[int | None] = [None] * len(self.blocks)
        tops = list(range(len(self.blocks)))
        for header, tails in self._headers.items():
            waiting = list(tails)
            while waiting:
                block = _top(waiting.pop(), tops)
                if block != header:
                    parents[block] = tops[block] = header
                    waiting += self.predecessors[block]
        return Forest(parents)

    @cached_property
    def depths(self) -> list[int]:
        """Number of loops around each block."""
        return [depth + (index in self._headers) for index, depth in enumerate(self._loops.depth)]

    def taken_first(self, index: int) -> bool:
        """True if the branch at the end of a block leaves the innermost loop and its fall-through does not, or if it
        skips barriers, or other instructions for which lanes have to meet, on the path of the fall-through.

        The lanes that stay may wait for an action of the side that leaves. A barrier does not wait for lanes that have
        exited, but lanes that will exit without reaching it must exit first.
        """
        if len(self.blocks[index].successors) < 2:
            return False
        around = index if index in self._headers else self._loops.parents[index]
        fall_through, taken = self.blocks[index].successors
        if around is not None and self._loops.below(fall_through, around) != self._loops.below(taken, around):
            return self._loops.below(fall_through, around)
        meet = self.postdominators.get(index, EXIT_BLOCK)
        return taken != meet and not self._waits(taken, meet) and self._waits(fall_through, meet)

    def _waits(self, start: int, end: int) -> bool:
        """Whether lanes have to meet on a path from a block to another."""
        return self._leads_to_meeting(start) and (end == EXIT_BLOCK or not self._before_meetings.below(start, end))

    def _leads_to_meeting(self, index: int) -> bool:
        """Whether lanes have to meet in a block, or behind it."""
        return self._before_meetings.parents[index] is not None

    @cached_property
    def _before_meetings(self) -> Forest:
        """The blocks that lead to where lanes have to meet, each below those that are on all its paths there; all below
        a virtual block behind these meetings. Other blocks are alone."""
        end = len(self.blocks)
        found = immediate_dominators([*self.predecessors, list(self._meetings)], end)
        return Forest([found.get(index) for index in range(end + 1)])

    @cached_property
    def _meetings(self) -> set[int]:
        """The blocks that have an instruction for which lanes have to meet."""
        return {index for index, block in enumerate(self.blocks)
                if any(node.op in _BARRIERS or node.modifiers.get("sync") for node in block.nodes)}


def _top(block: int, tops: list[int]) -> int:
    """The header of the outermost loop so far around a block, or the block itself; shortens the path to it."""
    while tops[block] != block:
        tops[block] = tops[tops[block]]
        block = tops[block]
    return block


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


def _reached(starts: Iterable[int], successors: Sequence[Sequence[int]]) -> set[int]:
    """The blocks that can be reached, the starts among them."""
    seen = set(starts)
    waiting = list(seen)
    while waiting:
        new = set(successors[waiting.pop()]) - seen
        seen |= new
        waiting += new
    return seen


def _reachable(blocks: list[Block]) -> list[Block]:
    """The reachable blocks, renumbered."""
    kept = sorted(_reached([0], [block.successors for block in blocks]))
    number = {old: new for new, old in enumerate(kept)}
    for old in kept:
        blocks[old].successors = tuple(number[s] for s in blocks[old].successors)
    return [blocks[old] for old in kept]
