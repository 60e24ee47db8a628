"""Nodes of one instruction, none of which overwrites what a later one reads. A lowering may write its destination at
any point, as if no destination were also a source."""

from collections import Counter
from collections.abc import Sequence

from warploom.arch.isa import Op
from warploom.compiler.ir import Function, Label, Node, RegisterClass, VirtualRegister
from warploom.compiler.truth import A


def unclobbered(items: list[Node | Label], function: Function) -> list[Node | Label]:
    """The nodes and labels of an instruction of a function, with results written where they belong."""
    return _moved_last(_written_directly(items), function) if len(items) > 1 else items


def _written_directly(items: list[Node | Label]) -> list[Node | Label]:
    """The nodes that compute local values write the registers to which these are only moved, without the moves."""
    nodes = _nodes(items)
    moves = [(node, value) for node in nodes
             if node.op is Op.MOV and isinstance(value := node.src[0], VirtualRegister) and value.local]
    if not moves:
        return items
    reads = Counter(register for node in nodes for register in node.reads)
    makers = {node.dst: node for node in nodes if node.dst is not None}
    writes = Counter(node.dst for node in nodes)
    for node, value in moves:
        if reads[value] == writes[value] == writes[node.dst] == 1 and node.dst is not None:
            makers[value].dst = node.dst
            items.remove(node)
    return items


def _moved_last(items: list[Node | Label], function: Function) -> list[Node | Label]:
    """Nodes whose result a later one still reads there write local registers, which are moved at the very end. The
    moves read the guard, too."""
    nodes = _nodes(items)
    moves = _redirected(nodes, function, set())
    if not moves:
        return items
    last = items[-1]
    assert isinstance(last, Node)
    if last.guard is not None:
        moves += _redirected(nodes, function, {last.guard})
    for move in sorted(moves, key=lambda move: (move.pdst is not None, move.pdst == last.guard)):  # the guard last
        move.guard, move.guard_not, move.line = last.guard, last.guard_not, last.line
        items.append(move)
    return items


def _redirected(nodes: Sequence[Node], function: Function, later: set[VirtualRegister]) -> list[Node]:
    """The moves of the results that a later node reads, or that are in `later`; their nodes write local registers."""
    moves: list[Node] = []
    for node in reversed(nodes):
        if node.dst in later and not node.dst.local:
            moves.append(Node(Op.MOV, node.dst, [moved := function.new(local=True), None, None]))
            node.dst = moved
        if node.pdst in later and not node.pdst.local:
            moved = function.new(RegisterClass.PREDICATE, local=True)
            moves.append(Node(Op.PLOP3, None, [moved, None, None], pdst=node.pdst, modifiers={"lut": A}))
            node.pdst = moved
        later.update(node.reads)
    return moves


def _nodes(items: Sequence[Node | Label]) -> list[Node]:
    return [item for item in items if isinstance(item, Node)]
