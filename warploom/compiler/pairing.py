"""The compiler's hints for CORF: which registers to pack together, and on which side to place each.

Two registers are *co-read* as often as instructions that read both are executed, by an estimate: a loop runs ten times
([RADAIDEH], section 3.5.2, which leaves the estimate and the encoding of hints open).
"""

from collections import Counter
from itertools import combinations

import networkx as nx

from warploom.arch.isa import Instruction
from warploom.arch.program import Hints
from warploom.compiler.cfg import ControlFlow
from warploom.compiler.emit import Emitted

LOOP_FACTOR = 10
"""Assumed iterations of a loop."""

_DEEPEST = 6  # deeper loops have the same weight


def find_hints(emitted: Emitted, flow: ControlFlow) -> Hints:
    """The hints for a program whose nodes `flow` holds."""
    reads: Counter[tuple[int, ...]] = Counter()
    for block, depth in zip(flow.blocks, flow.depths, strict=True):
        for node in block.nodes:
            if node in emitted.index:
                add_reads(reads, emitted.program.instructions[emitted.index[node]], LOOP_FACTOR ** min(depth, _DEEPEST))
    graph = nx.Graph()
    graph.add_weighted_edges_from((first, second, weight) for (first, second), weight in reads.items())
    return Hints(partners(graph), left_registers(graph))


def add_reads(reads: Counter[tuple[int, ...]], instruction: Instruction, weight: int) -> None:
    """Count an instruction that is executed `weight` times, for each pair of registers that it reads."""
    for pair in combinations(sorted(instruction.sources), 2):
        reads[pair] += weight


def partners(graph: nx.Graph) -> tuple[tuple[int, int], ...]:
    """Pairs that share no register, with the greatest weight that such pairs can have together; exact."""
    return tuple(sorted((min(pair), max(pair)) for pair in nx.max_weight_matching(graph)))


def left_registers(graph: nx.Graph) -> frozenset[int]:
    """The registers on the left, so that co-read ones are on opposite sides.

    The weight between the sides is at least half of the total, and all of it if no cycle of co-read registers is odd.
    The maximum is hard to find in general: here the heaviest tree of co-reads is coloured with two colours, then single
    registers change sides as long as that gains.
    """
    tree = nx.maximum_spanning_tree(graph)
    side = {register: colour == 1 for register, colour in nx.bipartite.color(tree).items()}
    registers = sorted(side)
    while (gaining := next((register for register in registers if _gain(graph, side, register) > 0), None)) is not None:
        side[gaining] ^= True
    return frozenset(register for register, left in side.items() if left)


def _gain(graph: nx.Graph, side: dict[int, bool], register: int) -> int:
    """The gain in weight between the sides when a register changes sides."""
    return sum(edge["weight"] * (1 if side[other] == side[register] else -1)
               for other, edge in graph.adj[register].items())
