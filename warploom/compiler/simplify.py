"""Simplification of lowered nodes: constants become operands, unread results disappear, multiplications by 2**k become
shifts.

A register whose only write is a MOV of a constant (an `Imm`, a `Param` or zero) holds that constant wherever PTX
defines its value: a read that the write does not reach reads an undefined value, which may be any value.
"""

from collections import Counter, deque
from itertools import pairwise

from warploom.arch.isa import MEMORY_OPS, Op
from warploom.arch.modifiers import Access, Space
from warploom.compiler.fuse import fuse_multiply_add
from warploom.compiler.ir import CONSTANTS, Function, Imm, Node, Operand, Param, VirtualRegister


def simplify(function: Function) -> None:
    """Propagate constants into operands, remove dead nodes and results, use fewer and cheaper nodes; in place."""
    nodes = [item for item in function.body if isinstance(item, Node)]
    _propagate(function, nodes)
    dead = _dead(nodes)
    function.body = [item for item in function.body if item not in dead]
    fuse_multiply_add(function)
    for item in function.body:
        if isinstance(item, Node):
            _reduce(item)


def _propagate(function: Function, nodes: list[Node]) -> None:
    writes = Counter(register for node in nodes for register in node.writes)
    values: dict[VirtualRegister, Operand] = {}
    work = deque(nodes)
    users: dict[VirtualRegister, list[Node]] = {}
    for node in nodes:
        for register in node.reads:
            users.setdefault(register, []).append(node)
    while work:
        node = work.popleft()
        _substitute(node, values)
        if node.op is Op.LD:
            _load_of_parameter(function, node)
        is_constant = node.op is Op.MOV and not isinstance(node.src[0], VirtualRegister)
        if is_constant and node.dst and writes[node.dst] == 1 and node.dst not in values:
            values[node.dst] = node.src[0]
            work.extend(users.get(node.dst, ()))


def _substitute(node: Node, values: dict[VirtualRegister, Operand]) -> None:
    """Put known values into the operand slots, if the node allows it."""
    room = node.op not in MEMORY_OPS and not any(isinstance(operand, CONSTANTS) for operand in node.src)
    for slot in (2, 1, 0):
        operand = node.src[slot]
        if not isinstance(operand, VirtualRegister) or operand not in values:
            continue
        value = values[operand]
        if value is None or room:
            node.src[slot] = value
            room = room and value is None
        elif slot == 0 and node.has_address and isinstance(value, Imm):
            _into_offset(node, value.value)


def _into_offset(node: Node, value: int) -> None:
    """Move the low word of an address into the offset field, if it fits and the high word is zero."""
    total = node.imm + value
    if node.src[1] is None and total < 1 << 31:
        node.src[0], node.imm = None, total


def _load_of_parameter(function: Function, node: Node) -> None:
    """A whole word of the parameter bank at a known offset is an operand, not a memory access."""
    is_word = node.modifiers.get("access") is Access.B32 and node.modifiers.get("space") is Space.PARAM
    whole = function.has_parameter_word(node.imm) and node.imm % node.alignment == 0
    if is_word and node.src[0] is None and whole:
        node.op, node.src, node.imm, node.modifiers, node.alignment = Op.MOV, [Param(node.imm), None, None], 0, {}, 1


def _dead(nodes: list[Node]) -> set[Node]:
    """Nodes to remove; unread results of the others are dropped too.

    The producer of a high word stays while its HIGH does; a LATCH goes with the node that it serves.
    """
    reads = Counter(register for node in nodes for register in node.reads)
    writers: dict[VirtualRegister, list[Node]] = {}
    for node in nodes:
        for register in node.writes:
            writers.setdefault(register, []).append(node)
    dead: set[Node] = set()
    latch = {node: before for before, node in pairwise(nodes) if before.op is Op.LATCH}
    high = {node: after for node, after in pairwise(nodes) if after.op is Op.HIGH}
    producer = {after: node for node, after in high.items()}
    work = deque(reversed(nodes))
    while work:
        node = work.popleft()
        if node in dead or node.op is Op.LATCH:
            continue
        _drop_unread(node, reads)
        if node.writes or node.has_effect or (node in high and high[node] not in dead):
            continue
        gone = [node] if node not in latch else [latch[node], node]
        dead.update(gone)
        for register in (register for one in gone for register in one.reads):
            reads[register] -= 1
            if reads[register] == 0:
                work.extend(writers.get(register, ()))
        if node in producer:
            work.append(producer[node])
    return dead


def _reduce(node: Node) -> None:
    """A cheaper operation of the same effect: a copy for x + 0, shifts for the halves of x * 2**k."""
    if node.op is Op.IADD and node.psrc is None and node.pdst is None and None in node.src[:2]:
        node.op, node.src = Op.MOV, [node.src[0] or node.src[1], None, None]
    factor = node.src[1] if node.op is Op.IMUL else None
    if isinstance(factor, Imm) and factor.value.bit_count() == 1 and factor.value < 1 << 31:
        places = factor.value.bit_length() - 1
        if node.modifiers.pop("high", False):
            node.modifiers["right"] = True
            node.op, node.src = Op.SHF, [node.src[0], None, Imm(32 - places)]
        else:
            node.op, node.src, node.modifiers = Op.SHF, [None, node.src[0], Imm(places) if places else None], {}


def _drop_unread(node: Node, reads: Counter[VirtualRegister]) -> None:
    if node.dst is not None and not reads[node.dst]:
        node.dst = None
    if node.pdst is not None and not reads[node.pdst]:
        node.pdst = None
