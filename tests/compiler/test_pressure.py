"""First spills, by pressure alone: which registers, and how many."""

from collections.abc import Iterable

from support.random_function import empty_function

from warploom.arch.isa import Op
from warploom.arch.modifiers import Access, Space
from warploom.compiler.cfg import ControlFlow
from warploom.compiler.interference import build_interference
from warploom.compiler.ir import Function, Node, RegisterClass, VirtualRegister
from warploom.compiler.liveness import Liveness
from warploom.compiler.pressure import excess


def load(register: VirtualRegister) -> Node:
    return Node(Op.LD, dst=register, modifiers={"space": Space.SHARED, "access": Access.B32})


def store(register: VirtualRegister) -> Node:
    return Node(Op.ST, src=[None, None, register], modifiers={"space": Space.SHARED, "access": Access.B32})


def spilled(function: Function, body: Iterable[Node], limit: int, *kept: VirtualRegister) -> list[list[int]]:
    """The numbers of the registers that are spilled."""
    flow = ControlFlow([*body, Node(Op.EXIT)])
    liveness = Liveness(flow, RegisterClass.GENERAL)
    interference = build_interference(flow, liveness, RegisterClass.GENERAL)
    return excess(liveness, interference, limit, {register.number for register in kept})


def test_as_many_as_exceed_the_limit() -> None:
    """Once each, though they are read twice."""
    function = empty_function()
    values = [function.new() for _ in range(12)]
    found = spilled(function, [*map(load, values), *map(store, values), *map(store, values)], 7)
    assert len(found) == len({number for victim in found for number in victim}) == 5


def test_of_the_same_cost_those_that_live_in_most_code() -> None:
    """Not those with the lowest numbers."""
    function = empty_function()
    c, b, a = (function.new() for _ in range(3))
    body = [load(a), load(b), load(c), store(c), store(b), store(a)]
    assert spilled(function, body, 3) == []
    assert spilled(function, body, 2) == [[a.number]]
    assert spilled(function, body, 1) == [[a.number], [b.number]]
    assert spilled(function, body, 2, a) == [[b.number]], "a register that spilling has added stays"


def test_only_what_is_live() -> None:
    """What would be cheapest lives later, where there is room for all."""
    function = empty_function()
    x, y, z, cheap, other = (function.new() for _ in range(5))
    later = [load(cheap), *(node for _ in range(3) for node in (load(other), store(other))), store(cheap)]
    body = [load(x), load(y), load(z), store(z), store(y), store(x), *later]
    assert spilled(function, body, 2) == [[x.number]]


def test_both_halves_of_a_pair_go_together() -> None:
    """They cost as much as both: more than a register with one access less, and less than one with one more. Where the
    low half is over, too."""
    function = empty_function()
    (low, high), single = function.new_pair(), function.new()
    loads = [load(single), load(low), load(high)]
    for stores, expected in ((2, [[single.number]]), (4, [[low.number, high.number]])):
        body = [*loads, *(store(single) for _ in range(stores)), store(high), store(low)]
        assert spilled(function, body, 2) == expected
    body = [load(low), load(high), store(low), load(single), *(store(single) for _ in range(4)), store(high)]
    assert spilled(function, body, 1) == [[low.number, high.number]]
