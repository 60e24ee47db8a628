"""Which virtual registers may not share a physical register, and how much each is used."""

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from warploom.arch.isa import Op
from warploom.compiler.cfg import ControlFlow
from warploom.compiler.ir import Node, RegisterClass, VirtualRegister
from warploom.compiler.liveness import Liveness

_LOOP_WEIGHT = 10
"""How often a loop is guessed to run, for the cost of a spill and the gain of removing a copy."""

_PART = 1 << 20
"""Edges that are gathered before repeated ones are dropped."""


class Edges:
    """The edges of an undirected graph over the numbers 0, 1, ...: first gathered, then asked for."""

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
        both = np.unique(np.concatenate([edges, edges << 32 | edges >> 32]))
        self._ends = (both & 0xFFFFFFFF).astype(np.int32)
        self._starts = np.searchsorted(both, np.arange(count + 1, dtype=np.int64) << 32).tolist()
        self._parts = []

    def of(self, node: int) -> list[int]:
        """The nodes that share an edge with one, in ascending order."""
        return self._ends[self._starts[node] : self._starts[node + 1]].tolist()

    def _close_part(self) -> None:
        nodes, others = np.repeat(self._nodes, self._counts).astype(np.int64), np.array(self._others, np.int64)
        different = nodes != others
        self._parts.append(np.unique(nodes[different] << 32 | others[different]))
        self._nodes, self._counts, self._others = [], [], []


@dataclass
class Interference:
    """Of one register class. `edges` join registers that may not share a place; `cost[n]` counts reads and writes of
    register n and `copies` lists (weight, destination, source), both weighted by loop depth; `makers[n]` are the nodes
    that write it."""

    registers: dict[int, VirtualRegister] = field(default_factory=dict)
    edges: Edges = field(default_factory=Edges)
    cost: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    copies: list[tuple[int, int, int]] = field(default_factory=list)
    makers: dict[int, list[Node]] = field(default_factory=lambda: defaultdict(list))

    def constant(self, register: int) -> Node | None:
        """The node that makes a register which can be made again instead of being spilled."""
        makers = self.makers[register]
        return makers[0] if len(makers) == 1 and makers[0].rematerialisable else None


def copy_source(node: Node) -> VirtualRegister | None:
    """The register that an unguarded MOV copies, None for any other node."""
    source = node.src[0]
    if node.op is Op.MOV and node.guard is None and isinstance(source, VirtualRegister):
        return source
    return None


def build_interference(flow: ControlFlow, kind: RegisterClass) -> Interference:
    """The interference of one class of registers in a control-flow graph.

    A write clobbers every register that is live after it, except that a copy leaves both sides with one value.
    """
    found, liveness = Interference(), Liveness(flow, kind)
    for block in flow.blocks:
        for node in block.nodes:
            for register in (*node.reads, *node.writes):
                if register.kind is kind:
                    found.registers[register.number] = register
    for index, depth in enumerate(flow.depths):
        weight = _LOOP_WEIGHT ** min(depth, 6)
        for access in liveness.accesses[index]:
            for number in (*access.reads, *access.writes):
                found.cost[number] += weight
        for node, live in liveness.after(index):
            source = copy_source(node)
            for register in node.writes:
                if register.kind is not kind:
                    continue
                found.makers[register.number].append(node)
                if source is not None and source.kind is kind:
                    found.copies.append((weight, register.number, source.number))
                    found.edges.add(register.number, live - {source.number})
                else:
                    found.edges.add(register.number, live)
    found.edges.finish(max(found.registers, default=0) + 1)
    return found
