"""Units of allocation: what copies join."""

from dataclasses import replace

from support.random_function import empty_function

from warploom.arch.isa import Op
from warploom.arch.modifiers import Access, Space
from warploom.compiler.cfg import ControlFlow
from warploom.compiler.coalesce import Units
from warploom.compiler.interference import build_interference
from warploom.compiler.ir import Node, RegisterClass, VirtualRegister
from warploom.compiler.liveness import Liveness


def copy(destination: VirtualRegister, source: VirtualRegister) -> Node:
    return Node(Op.MOV, dst=destination, src=[source, None, None])


def load(register: VirtualRegister) -> Node:
    return Node(Op.LD, dst=register, modifiers={"space": Space.SHARED, "access": Access.B32})


def store(*registers: VirtualRegister) -> list[Node]:
    return [Node(Op.ST, src=[None, None, register], modifiers={"space": Space.SHARED, "access": Access.B32})
            for register in registers]


def units(*nodes: Node) -> Units:
    flow = ControlFlow([*nodes, Node(Op.EXIT)])
    return Units(build_interference(flow, Liveness(flow, RegisterClass.GENERAL), RegisterClass.GENERAL))


def members(found: Units) -> list[list[list[int]]]:
    """The registers of each half of each unit."""
    return [[sorted(half) for half in unit.members] for unit in found.all]


def test_pairs_join_by_the_same_half() -> None:
    """Either copy joins both halves; a copy of one half to the other joins nothing."""
    function = empty_function()
    (a, b), (c, d) = function.new_pair(), function.new_pair()
    alike = units(load(a), load(b), *store(a), copy(d, b), load(c), *store(c, d))
    assert members(alike) == [[[a.number, c.number], [b.number, d.number]]]
    crossed = units(load(a), load(b), *store(b), copy(d, a), load(c), *store(c, d))
    assert members(crossed) == [[[a.number], [b.number]], [[c.number], [d.number]]]


def test_a_register_joins_a_half() -> None:
    function = empty_function()
    single, (low, high) = function.new(), function.new_pair()
    found = units(load(single), copy(high, single), load(low), *store(low, high))
    assert members(found) == [[[low.number], [single.number, high.number]]]


def test_a_guarded_copy_joins_nothing() -> None:
    """In lanes without the guard its ends differ."""
    function = empty_function()
    a, b, guard = function.new(), function.new(), function.new(RegisterClass.PREDICATE)
    code = load(a), replace(copy(b, a), guard=guard), *store(b)
    assert members(units(*code)) == [[[a.number]], [[b.number]]]
    assert members(units(load(a), copy(b, a), *store(b))) == [[[a.number, b.number]]]


def test_what_is_joined_weighs_as_much_as_its_parts() -> None:
    """The registers and their edges: each of three copies has an edge to x, which has three."""
    function = empty_function()
    x, a, b, c = (function.new() for _ in range(4))
    joined, alone = sorted(units(load(x), load(a), copy(b, a), copy(c, b), *store(c, x)).all,
                           key=lambda unit: -unit.weight)
    assert (joined.registers, joined.weight) == ([a.number, b.number, c.number], 3 * 2)
    assert (alone.registers, alone.weight) == ([x.number], 1 + 3)
