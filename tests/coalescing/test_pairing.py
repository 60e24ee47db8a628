"""Hints for CORF: which registers are read together, the best partners, and sides for them."""

import random
from collections import Counter
from itertools import combinations

import networkx as nx
import pytest
from support.random_function import empty_function

from warploom.arch.encoding import INSTRUCTION_BITS
from warploom.arch.isa import Instruction, Op
from warploom.arch.program import Hints
from warploom.compiler.allocate import allocate
from warploom.compiler.compile import compile_file
from warploom.compiler.emit import emit
from warploom.compiler.ir import Imm, Label, Node, RegisterClass
from warploom.compiler.pairing import add_reads, find_hints, left_registers, partners
from warploom.kernels.library import kernels

Edges = dict[tuple[int, int], int]


def graph_of(edges: Edges) -> nx.Graph:
    graph = nx.Graph()
    graph.add_weighted_edges_from((a, b, weight) for (a, b), weight in edges.items())
    return graph


def between(edges: Edges, left: frozenset[int]) -> int:
    """Weight between the sides."""
    return sum(weight for (a, b), weight in edges.items() if (a in left) != (b in left))


def random_edges(rng: random.Random, registers: int) -> Edges:
    pairs = [pair for pair in combinations(range(registers), 2) if rng.random() < 0.5]
    return {pair: rng.choice([1, 2, 3, 10, 11, 100]) for pair in pairs}


def best_matching(edges: Edges) -> int:
    """The greatest weight of pairs that share no register, by trying all."""
    if not edges:
        return 0
    (a, b), weight = next(iter(edges.items()))
    without = {pair: w for pair, w in edges.items() if pair != (a, b)}
    apart = {pair: w for pair, w in without.items() if not {a, b} & set(pair)}
    return max(best_matching(without), weight + best_matching(apart))


def best_sides(edges: Edges, registers: int) -> int:
    """The greatest weight between two sides, by trying all."""
    sides = (frozenset(r for r in range(registers) if mask >> r & 1) for mask in range(1 << registers))
    return max(between(edges, left) for left in sides)


def test_partners_are_not_chosen_greedily() -> None:
    """The heaviest pair alone has less weight than the other two."""
    assert partners(graph_of({(1, 2): 5, (2, 3): 8, (3, 4): 5})) == ((1, 2), (3, 4))
    assert partners(graph_of({(1, 2): 5, (2, 3): 11, (3, 4): 5})) == ((2, 3),)
    assert partners(graph_of({(7, 2): 1, (7, 3): 1, (7, 4): 2})) == ((4, 7),)
    assert partners(nx.Graph()) == ()


@pytest.mark.parametrize("seed", range(40))
def test_partners_weigh_the_most(seed: int) -> None:
    edges = random_edges(random.Random(seed), 7)
    found = partners(graph_of(edges))
    assert len({register for pair in found for register in pair}) == 2 * len(found)
    assert sum(edges[pair] for pair in found) == best_matching(edges)


def test_sides_where_all_can_be_apart() -> None:
    """A ring of six, and registers that are all read with the same one."""
    ring = {(0, 1): 1, (1, 2): 3, (2, 3): 2, (3, 4): 2, (4, 5): 9, (0, 5): 1}
    assert left_registers(graph_of(ring)) in ({0, 2, 4}, {1, 3, 5})
    star = {(4, other): other + 1 for other in (0, 1, 2, 3, 9)}
    assert left_registers(graph_of(star)) in ({4}, {0, 1, 2, 3, 9})
    assert left_registers(nx.Graph()) == frozenset()


def test_sides_of_a_triangle_part_its_heavy_edges() -> None:
    edges = {(1, 2): 10, (2, 3): 4, (1, 3): 7}
    assert between(edges, left_registers(graph_of(edges))) == 17


def test_a_register_changes_sides_where_the_tree_misleads() -> None:
    """The tree is 0-1, 0-2, 0-3 with 0 alone on its side; a weight of 6 remains within a side, and moving one register
    gains."""
    edges = {(0, 1): 3, (0, 2): 3, (0, 3): 3, (1, 2): 2, (1, 3): 2, (2, 3): 2}
    assert between(edges, frozenset({0})) == 9
    assert between(edges, left_registers(graph_of(edges))) == best_sides(edges, 4) == 10


def test_sides_against_trying_all() -> None:
    """Never below half, never above the optimum, all if no cycle is odd; close to the optimum on average."""
    reached = possible = 0
    for seed in range(120):
        rng = random.Random(seed)
        edges = random_edges(rng, 8)
        found, best, total = between(edges, left_registers(graph_of(edges))), best_sides(edges, 8), sum(edges.values())
        assert total <= 2 * found and found <= best
        if nx.is_bipartite(graph_of(edges)):
            assert found == total
        reached, possible = reached + found, possible + best
    assert 0.98 * possible < reached < possible


def test_what_counts_as_read_together() -> None:
    """Each register once; no immediate, no RZ, no control instruction."""
    reads: Counter[tuple[int, ...]] = Counter()
    for op, src, slot in [(Op.IMAD, (1, 2, 3), 3), (Op.IADD, (2, 2, 1), 3), (Op.IMAD, (4, 5, 6), 1),
                          (Op.IADD, (7, 255, 255), 3), (Op.BAR, (8, 9, 255), 3)]:
        add_reads(reads, Instruction(op=op, src=src, imm_slot=slot), 10)
    assert reads == {(1, 2): 20, (1, 3): 10, (2, 3): 10, (4, 6): 10}


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("difference", [-1, 1])
def test_loops_weigh_more(depth: int, difference: int) -> None:
    """In the loop a and c, and b and d are read together: ten times each, and in two loops a hundred times. Outside a
    and b are, by one time more or less than these together, and c and d once."""
    function = empty_function()
    a, b, c, d, total = registers = [function.new() for _ in range(5)]
    running = function.new(RegisterClass.PREDICATE)
    looped: list[Node | Label] = [Node(Op.ISETP, None, [*pair, None], pdst=running) for pair in ((a, c), (b, d))]
    count = 2 * 10**depth - 1 + difference
    outside = [Node(Op.IADD, total, [*pair, None]) for pair in [(a, b)] * count + [(c, d)]]
    for loop in map(str, range(depth)):
        looped = [Label(loop), Node(Op.ISETP, pdst=running), *looped, Node(Op.BRA, target=loop, guard=running)]
    function.body = [*(Node(Op.MOV, r, [Imm(5 + r.number), None, None]) for r in registers), *looped, *outside,
                     Node(Op.EXIT)]
    allocation = allocate(function)
    emitted = emit(function, allocation)
    hints = find_hints(emitted, allocation.flow)
    home = [allocation.place[register.number] for register in (a, b, c, d)]
    pairs = (home[:2], home[2:]) if difference > 0 else (home[::2], home[1::2])
    assert {frozenset(pair) for pair in hints.pairs} == set(map(frozenset, pairs))
    assert all((first in hints.left) != (second in hints.left) for first, second in pairs)


def test_bundled_kernels_have_hints_of_about_a_hundredth_of_their_code() -> None:
    """[RADAIDEH], Table 3.4: 1.3 % on average."""
    for kernel in kernels():
        program = compile_file(kernel.ptx)
        assert program.hints == compile_file(kernel.ptx).hints != Hints()
        used = {register for instruction in program.instructions for register in instruction.sources}
        assert used >= {register for pair in program.hints.pairs for register in pair} | program.hints.left
        code = len(program.instructions) * INSTRUCTION_BITS
        assert program.hint_bits(sides=True) - program.hint_bits(sides=False) == program.registers
        assert 0.002 < program.hint_bits(sides=True) / code < 0.02
