"""Blocks, post-dominators, loops, and the side of a branch that runs first."""

from collections import Counter
from random import Random

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st
from support.random_function import empty_function, functions

from warploom.arch.isa import NO_RECONVERGENCE, Op
from warploom.compiler.allocate import allocate
from warploom.compiler.cfg import EXIT_BLOCK, ControlFlow
from warploom.compiler.dominators import immediate_dominators
from warploom.compiler.emit import emit
from warploom.compiler.ir import Function, Label, Node, RegisterClass, VirtualRegister

P = VirtualRegister(0, RegisterClass.PREDICATE)


def body(text: str) -> list[Node | Label]:
    """A body in short hand: ``A:`` a label, ``>A`` a branch, ``?A`` a guarded branch, ``.`` a node, ``x`` exit,
    ``?x`` a guarded exit, ``b`` a barrier, ``!`` a trap."""
    made: list[Node | Label] = []
    for word in text.split():
        if word.endswith(":"):
            made.append(Label(word[:-1]))
        elif word in ".!bx?x":
            op = {".": Op.ISETP, "!": Op.TRAP, "b": Op.BAR}.get(word, Op.EXIT)
            made.append(Node(op, guard=P if word == "?x" else None, pdst=P if word == "." else None))
        else:
            made.append(Node(Op.BRA, target=word[1:], guard=P if word[0] == "?" else None))
    return made


def branches(text: str) -> list[tuple[int, int, bool]]:
    """(target, reconvergence point, taken side first) of the guarded branches in the machine code."""
    function = empty_function()
    function.count = 1
    function.body = body(text)
    code = emit(function, allocate(function)).program.instructions
    return [(i.imm, i.reconverge, i.taken_first) for i in code if i.op is Op.BRA and i.guard != 7]


def test_if_else_meets_behind_both_sides():
    assert branches(". ?A . >B A: . . B: . x") == [(4, 6, False)]


def test_sides_that_meet_only_at_the_exit():
    assert branches(". ?A . x A: . x") == [(4, NO_RECONVERGENCE, False)]


def test_branch_to_the_next_instruction_is_removed():
    function = empty_function()
    function.count = 1
    function.body = body(". ?A A: >B B: . x")
    assert [i.op for i in emit(function, allocate(function)).program.instructions] == [Op.ISETP, Op.ISETP, Op.EXIT]


def test_unreachable_code_is_removed():
    flow = ControlFlow(body(". >A . . B: . A: x"))
    assert [len(block.nodes) for block in flow.blocks] == [2, 1]


def test_guarded_exit_does_not_move_the_join():
    assert branches(". ?A . ?x . A: . x") == [(5, 5, False)]


def test_a_loop_that_only_a_guarded_exit_leaves():
    assert branches(". A: . ?B . B: . ?x >A") == [(4, 4, False)]


def test_who_can_meet_no_more_does_not_move_the_join():
    assert branches(". ?A . ?X . A: b . X: x") == [(5, 5, False), (7, 4, False)]
    assert branches(". ?A . ?B . x B: . A: b x") == [(7, 7, False), (6, 6, False)], "a return after work"
    assert branches(". ?A . ?X . A: . ?X b x X: . x") == [(5, 5, False), (9, 4, False), (9, 7, False)], "one return"


def test_the_join_stays_where_no_other_moves():
    assert branches(". ?X . ?X . b X: x") == [(6, 6, False), (6, 6, False)], "returns before a barrier"
    assert branches(". ?A . ?X . A: . X: x") == [(5, 6, False), (6, 6, False)], "nothing to meet for"


def test_a_loop_with_a_barrier_ends_for_who_meets_no_more():
    assert branches(". A: b . ?B . B: ?A . x") == [(5, 5, False), (1, 6, False)]
    assert branches(". A: ?B . ?X . B: b ?A . X: x") == [(5, 5, False), (8, 4, True), (1, 7, False)], "and inside"


def test_no_lane_waits_for_a_trapping_one():
    assert branches(". ?A . >B A: ! x B: . x") == [(4, 2, False)]


def test_side_that_leaves_the_loop_runs_first():
    assert branches(". A: . ?A . x") == [(1, 3, False)], "the fall-through leaves"
    assert branches(". A: . ?B . >A B: . x") == [(5, 5, True)], "the taken side leaves"


def test_inner_loop_counts():
    """The side that leaves the inner loop runs first, although it stays in the outer loop."""
    flow = ControlFlow(body(". A: . B: . ?C . >B C: . ?A x"))
    assert flow.depths == [0, 1, 2, 2, 1, 0]
    assert [flow.taken_first(block) for block in range(6)] == [False, False, True, False, False, False]


def test_endless_loop():
    assert branches(". ?B A: . >A B: . x") == [(4, 4, False)]


@settings(max_examples=60)
@given(functions(values=4, length=4))
def test_postdominators_by_deleting_blocks(function: Function):
    """A block post-dominates another if without it the exit cannot be reached; all others post-dominate the nearest.
    Edges behind which there is no barrier are none, beside one behind which there is one and which is no back edge, if
    that changes the post-dominator of another block, and where the exit can be reached without them."""
    flow = ControlFlow(function.body)
    for block in flow.blocks[::3]:
        block.nodes.insert(0, Node(Op.BAR))
    whole = nx.DiGraph((i, s) for i, block in enumerate(flow.blocks) for s in block.successors or [EXIT_BLOCK])
    meets = {i for i in range(len(flow.blocks)) if any(nx.has_path(whole, i, j) for j in range(0, len(flow.blocks), 3))}
    dominated = {i: d for i, d in nx.immediate_dominators(whole, 0).items() if i != d}
    dropped = [
        (i, s) for i, block in enumerate(flow.blocks) for s in set(block.successors) - meets
        if meets & set(block.successors) and not any(dominates(dominated, i, s) for s in block.successors)]

    def nearest(graph: nx.DiGraph, block: int) -> int:
        def needs(block: int, other: int) -> bool:
            return other == EXIT_BLOCK or not nx.has_path(nx.restricted_view(graph, [other], []), block, EXIT_BLOCK)

        others = [other for other in graph if other != block and needs(block, other)]
        return next(found for found in others if all(other == found or needs(found, other) for other in others))

    joins = {block: nearest(whole, block) for block in flow.postdominators}
    lasting = nx.restricted_view(whole, [], dropped)
    moved = {block: nearest(lasting, block) for block in joins if nx.has_path(lasting, block, EXIT_BLOCK)}
    others = [block for block in moved if joins[block] != moved[block] and block not in dict(dropped)]
    assert flow.postdominators == (joins | moved if others else joins)


def dominates(dominators: dict[int, int], block: int, header: int) -> bool:
    """Whether a header is a block or dominates it."""
    while block != header and block in dominators:
        block = dominators[block]
    return block == header


def forward(rng: Random, count: int) -> str:
    """A body whose branches all go forward, as `body` takes it; some blocks have a barrier."""
    words = []
    for index in range(count):
        later = f"L{rng.randint(index + 1, count)}"
        words += [f"L{index}:", ".", *["b"] * (rng.random() < 0.15), rng.choice(["?", "?", "?", ">"]) + later]
    return " ".join([*words, f"L{count}:", "x"])


def test_side_without_a_barrier_runs_first_by_definition():
    """Outside loops the taken side runs first if the other one alone has a barrier on a path to their join."""
    rng, found = Random(1), Counter[bool]()
    for _ in range(200):
        flow = ControlFlow(body(forward(rng, rng.randint(8, 16))))
        barriers = [index for index, block in enumerate(flow.blocks) if any(node.op is Op.BAR for node in block.nodes)]
        graph = nx.DiGraph((i, s) for i, block in enumerate(flow.blocks) for s in block.successors)
        graph.add_nodes_from([*range(len(flow.blocks)), EXIT_BLOCK])
        for index, block in enumerate(flow.blocks):
            if len(block.successors) == 2:
                join = flow.postdominators.get(index, EXIT_BLOCK)
                sides = nx.restricted_view(graph, [join], [])
                waits = [side != join and any(nx.has_path(sides, side, barrier) for barrier in barriers
                                              if barrier != join) for side in block.successors]
                expected = waits[0] and not waits[1] and block.successors[1] != join
                assert flow.taken_first(index) == expected
                found[expected] += 1
    assert min(found[True], found[False]) > 50


@settings(max_examples=200)
@given(st.integers(1, 30).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, n - 1), max_size=4), min_size=n, max_size=n)))
def test_dominators_of_any_graph(successors: list[list[int]]):
    graph = nx.DiGraph((i, s) for i, found in enumerate(successors) for s in found)
    graph.add_node(0)
    expected = nx.immediate_dominators(graph, 0)
    assert immediate_dominators(successors, 0) == {b: d for b, d in expected.items() if b != 0}


@settings(max_examples=100)
@given(functions(values=4, blocks=20, length=2))
def test_loops_by_definition(function: Function):
    """A loop is a header with all blocks that reach a branch back to it, which it dominates, not running through it.
    The innermost loop around a block is the smallest."""
    flow = ControlFlow(function.body)
    graph = nx.DiGraph((i, s) for i, block in enumerate(flow.blocks) for s in block.successors)
    graph.add_node(0)

    def dominates(first: int, second: int) -> bool:
        return first in (0, second) or not nx.has_path(nx.restricted_view(graph, [first], []), 0, second)

    loops: dict[int, set[int]] = {}
    for tail, header in graph.edges:
        if dominates(header, tail):
            inside = {tail} if tail == header else {*nx.ancestors(nx.restricted_view(graph, [header], []), tail), tail}
            loops.setdefault(header, {header}).update(inside)
    assert flow.depths == [sum(block in loop for loop in loops.values()) for block in range(len(flow.blocks))]
    for index, block in enumerate(flow.blocks):
        around = min((loop for loop in loops.values() if index in loop), key=len, default=set())
        leaves = len(block.successors) == 2 and block.successors[0] in around and block.successors[1] not in around
        assert flow.taken_first(index) == leaves
