"""Interference of virtual registers, which may then not share a physical register, and the cost of each."""

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from warploom.arch.isa import Op
from warploom.compiler.cfg import ControlFlow
from warploom.compiler.ir import Node, RegisterClass, VirtualRegister
from warploom.compiler.liveness import Liveness

_LOOP_WEIGHT = 10
"""Assumed iterations of a loop, for the cost of a spill and the gain of removing a copy."""

_DEEPEST = 6
"""Deeper loops have the same weight."""

CROWD = 512
"""The number of live registers above which no graph is built: more than twice those of a thread."""

_PART = 1 << 20
"""Edges that are collected before duplicates are dropped."""


class Edges:
    """The edges of an undirected graph over the numbers 0, 1, ...: first collected, then queried."""

    def __init__(self) -> None:
        self._nodes: list[int] = []
        self._counts: list[int] = []
        self._others: list[int] = []
        self._parts: list[np.ndarray] = []
        self._starts: list[int] = []
        self._ends = np.zeros(0, np.int32)

    def add(self, node: int, others: set[int]) -> None:
        """Edges from a node to others; one to itself is ignored."""
        self._nodes.append(node)
        self._counts.append(len(others))
        self._others += others
        if len(self._others) > _PART:
            self._close_part()

    def finish(self, count: int) -> None:
        """Sort the edges, all between numbers below `count`."""
        self._close_part()
        edges = np.concatenate(self._parts)
        both = _distinct(np.concatenate([edges, edges << 32 | edges >> 32]))
        self._ends = (both & 0xFFFFFFFF).astype(np.int32)
        self._starts = np.searchsorted(both, np.arange(count + 1, dtype=np.int64) << 32).tolist()
        self._parts = []

    def of(self, node: int) -> np.ndarray:
        """The nodes that share an edge with one, in ascending order."""
        return self._ends[self._starts[node] : self._starts[node + 1]]

    def _close_part(self) -> None:
        nodes, others = np.repeat(self._nodes, self._counts).astype(np.int64), np.array(self._others, np.int64)
        different = nodes != others
        self._parts.append(_distinct(nodes[different] << 32 | others[different]))
        self._nodes, self._counts, self._others = [], [], []


def _distinct(numbers: np.ndarray) -> np.ndarray:
    """The numbers in ascending order, each once; `np.unique` hashes, which takes several times as long."""
    numbers.sort()
    return numbers[np.diff(numbers, prepend=-1) != 0]


@dataclass
class Interference:
    """Of one register class. `edges` join registers that may not share a physical register; `cost[n]` counts reads and
    writes of register n and `copies` lists (weight, destination, source), both weighted by loop depth; `makers[n]` are
    the nodes that write it. `is_crowded` if more than `CROWD` registers are live at once: there are then no edges and
    copies."""

    registers: dict[int, VirtualRegister] = field(default_factory=dict)
    edges: Edges = field(default_factory=Edges)
    cost: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    copies: list[tuple[int, int, int]] = field(default_factory=list)
    makers: dict[int, list[Node]] = field(default_factory=lambda: defaultdict(list))
    is_crowded: bool = False

    def constant(self, register: int) -> Node | None:
        """The node that computes a register, if it can be rematerialised instead of spilled."""
        makers = self.makers[register]
        return makers[0] if len(makers) == 1 and makers[0].rematerialisable else None

    def spill_cost(self, register: int) -> float:
        """The cost of spilling a register: rematerialisation saves the store."""
        return self.cost[register] / 2 if self.constant(register) else self.cost[register]


def copy_source(node: Node) -> VirtualRegister | None:
    """The register that an unguarded MOV copies, None for any other node."""
    source = node.src[0]
    if node.op is Op.MOV and node.guard is None and isinstance(source, VirtualRegister):
        return source
    return None


def build_interference(flow: ControlFlow, liveness: Liveness, kind: RegisterClass) -> Interference:
    """The interference of one class of registers in a control-flow graph, from the liveness of that class.

    A write clobbers every register that is live after it, except that a copy leaves both sides with one value.
    """
    found = Interference()
    for block, accesses, depth in zip(flow.blocks, liveness.accesses, flow.depths, strict=True):
        weight = _weight(depth)
        for node, access in zip(block.nodes, accesses, strict=True):
            if not (access.reads or access.writes):
                continue
            for register in (*node.reads, *node.writes):
                if register.kind is kind:
                    found.registers[register.number] = register
                    found.cost[register.number] += weight
            for number in access.writes:
                found.makers[number].append(node)
    for index, depth in enumerate(flow.depths):
        for access, live in liveness.after(index):
            if len(live) > CROWD:
                found.is_crowded = True
                return found
            for number in access.writes:
                source = copy_source(access.node)
                if source is not None and source.kind is kind:
                    found.copies.append((_weight(depth), number, source.number))
                    found.edges.add(number, live - {source.number})
                else:
                    found.edges.add(number, live)
    found.edges.finish(max(found.registers, default=0) + 1)
    return found


def _weight(depth: int) -> int:
    return _LOOP_WEIGHT ** min(depth, _DEEPEST)
