"""Register allocation, proved by a checker that shares no analysis with it."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.allocation_checker import AllocationError, Checker
from support.random_function import empty_function, functions

from warploom.arch.encoding import decode_program, encode_program
from warploom.arch.errors import PtxError
from warploom.arch.isa import GENERAL_REGISTERS, RZ, Op
from warploom.arch.modifiers import Access, Space
from warploom.compiler import interference, liveness
from warploom.compiler.allocate import allocate
from warploom.compiler.emit import Emitted, emit
from warploom.compiler.ir import Function, Imm, Label, Node, RegisterClass, VirtualRegister


def compiled(function: Function, *, optimise: bool = True, **limits: int) -> tuple[Checker, Emitted]:
    """The checker for a function and its program."""
    allocation = allocate(function, **limits, optimise=optimise)
    emitted = emit(function, allocation)
    return Checker(function, allocation, emitted), emitted


@settings(max_examples=150)
@given(functions(), st.sampled_from([8, 16, 255]), st.sampled_from([5, 7]))
def test_random_functions(function, max_registers, max_predicates):
    """Every operand holds the right value, within the limits, and the code survives encoding and decoding."""
    checker, emitted = compiled(function, max_registers=max_registers, max_predicates=max_predicates)
    checker.run()
    program = emitted.program
    assert program.registers <= max_registers
    used = {r for i in program.instructions if i.op is not Op.PLOP3 for r in (i.dst, *i.sources) if r != RZ}
    assert program.registers > max(used, default=0)
    assert decode_program(encode_program(program.instructions)) == program.instructions


def sum_of_inputs(count: int) -> Function:
    """Loads `count` values, then stores each: all of them are live at once."""
    function = empty_function()
    values = [function.new() for _ in range(count)]
    shared = {"space": Space.SHARED, "access": Access.B32}
    for number, value in enumerate(values):
        function.body.append(Node(Op.LD, dst=value, imm=4 * number, modifiers=dict(shared)))
    for number, value in enumerate(values):
        function.body.append(Node(Op.ST, src=[None, None, value], imm=4 * number, modifiers=dict(shared)))
    function.body.append(Node(Op.EXIT))
    return function


def test_as_many_registers_as_live_values():
    checker, emitted = compiled(sum_of_inputs(20))
    assert checker.run() == 20
    assert emitted.program.registers == 20
    assert emitted.program.local_bytes == 0


def test_spills_beyond_the_limit():
    checker, emitted = compiled(sum_of_inputs(20), max_registers=8)
    assert checker.run() == 20
    assert emitted.program.registers == 8
    assert emitted.program.local_bytes >= 4 * 12


@settings(max_examples=60)
@given(functions(values=80, predicates=40), st.sampled_from([8, 16]))
def test_crowded_functions(function, max_registers):
    """Registers spilled by pressure alone, before there is a graph, are spilled correctly."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interference, "CROWD", 30)
        checker, emitted = compiled(function, max_registers=max_registers, max_predicates=5)
    checker.run()
    assert emitted.program.registers <= max_registers


def test_thousands_of_live_values():
    """All are spilled except those that fit with the one being loaded, and each is stored and loaded once."""
    count = 1500
    checker, emitted = compiled(sum_of_inputs(count))
    assert checker.run() == count
    assert emitted.program.registers == GENERAL_REGISTERS
    slots = count - (GENERAL_REGISTERS - 1)
    assert emitted.program.local_bytes <= 4 * (slots + 4)
    assert len(emitted.program.instructions) <= 2 * count + 1 + 2 * (slots + 4)


SHARED = {"space": Space.SHARED, "access": Access.B32}


def load(register: VirtualRegister) -> Node:
    return Node(Op.LD, dst=register, modifiers=dict(SHARED))


def store(register: VirtualRegister, **guard: VirtualRegister) -> Node:
    return Node(Op.ST, src=[None, None, register], modifiers=dict(SHARED), **guard)


def add(register: VirtualRegister, source: VirtualRegister, **guard: VirtualRegister) -> Node:
    return Node(Op.IADD, dst=register, src=[source, source, None], **guard)


@pytest.mark.parametrize("body", [
    lambda a, b, t, p: [load(a), store(b), store(a)],
    lambda a, b, t, p: [load(a), Label("next"), store(b), store(a)],
    lambda a, b, t, p: [load(a), store(a), Node(Op.S2R, dst=b, guard=p), store(b)],
    lambda a, b, t, p: [Label("again"), load(a), add(t, a, guard=p), store(t, guard=p),
                        Node(Op.BRA, target="again", guard=p)],
], ids=["read", "read in the next block", "written in some lanes", "local value in a loop"])
def test_one_register_is_enough(body):
    """b is undefined while a lives, and what is undefined needs no register; t begins where it is written, though not
    in all lanes, because it is local."""
    function = empty_function()
    a, b, t, p = function.new(), function.new(), function.new(local=True), function.new(RegisterClass.PREDICATE)
    function.body += [Node(Op.ISETP, pdst=p), *body(a, b, t, p), Node(Op.EXIT)]
    checker, emitted = compiled(function)
    assert checker.run()
    assert emitted.program.registers == 1


def test_constants_are_made_again():
    """Constants that are live across high pressure need no local memory."""
    function = sum_of_inputs(8)
    constants = [function.new() for _ in range(6)]
    makers = [Node(Op.MOV, dst=c, src=[Imm(n + 1), None, None]) for n, c in enumerate(constants)]
    shared = {"space": Space.SHARED, "access": Access.B32}
    users = [Node(Op.ST, src=[None, None, c], modifiers=shared) for c in constants]
    function.body[:] = [*makers, *function.body[:-1], *users, function.body[-1]]
    checker, emitted = compiled(function, max_registers=8)
    assert checker.run() == 14
    assert emitted.program.local_bytes == 0


def test_pairs_are_aligned_and_copies_coalesced():
    function = empty_function()
    single, low_high, copied = function.new(), function.new_pair(), function.new_pair()
    load = {"space": Space.SHARED, "access": Access.B32}
    function.body += [Node(Op.LD, dst=r, modifiers=dict(load)) for r in (single, *low_high)]
    function.body += [Node(Op.MOV, dst=c, src=[r, None, None]) for c, r in zip(copied, low_high, strict=True)]
    function.body += [Node(Op.ST, src=[*copied, single], modifiers={**load, "space": Space.GLOBAL, "wide": True}),
                      Node(Op.EXIT)]
    checker, emitted = compiled(function)
    assert checker.run() == 3
    assert [i.op for i in emitted.program.instructions] == [Op.LD, Op.LD, Op.LD, Op.ST, Op.EXIT]
    low, high, _ = emitted.program.instructions[3].src
    assert low % 2 == 0
    assert high == low + 1


def test_a_copy_of_a_value_that_lives_on_is_coalesced():
    function = empty_function()
    a, b = function.new(), function.new()
    function.body += [load(a), Node(Op.MOV, dst=b, src=[a, None, None]), store(b), store(a), Node(Op.EXIT)]
    checker, emitted = compiled(function)
    assert checker.run() == 2
    assert [i.op for i in emitted.program.instructions] == [Op.LD, Op.ST, Op.ST, Op.EXIT]


@pytest.mark.parametrize(("optimise", "ops"), [(True, "LD LD ST EXIT"), (False, "LD MOV LD ST EXIT")])
def test_plain_code_joins_no_copies(optimise, ops):
    """Alone, the copied value gets R0, and the copy R1, because it is the high half of a pair."""
    function = empty_function()
    value, (low, high) = function.new(), function.new_pair()
    wide = {**SHARED, "space": Space.GLOBAL, "wide": True}
    function.body += [load(value), Node(Op.MOV, dst=high, src=[value, None, None]), load(low),
                      Node(Op.ST, src=[low, high, None], modifiers=wide), Node(Op.EXIT)]
    checker, emitted = compiled(function, optimise=optimise)
    assert checker.run()
    assert " ".join(i.op.name for i in emitted.program.instructions) == ops


def test_plain_code_makes_no_constant_again():
    function = empty_function()
    constant, *values = (function.new() for _ in range(3))
    function.body += [Node(Op.MOV, dst=constant, src=[Imm(1), None, None]), *map(load, values), *map(store, values),
                      store(constant), Node(Op.EXIT)]
    assert spill_code(compiled(function, max_registers=2)[1]) == []
    assert spill_code(compiled(function, max_registers=2, optimise=False)[1]) != []


def test_a_copy_in_a_loop_goes_first():
    """d is a copy of a, and in the loop of b, which may not share a register with a."""
    function = empty_function()
    b, d, a, p = function.new(), function.new(), function.new(), function.new(RegisterClass.PREDICATE)
    copies = [Node(Op.MOV, dst=d, src=[source, None, None]) for source in (a, b)]
    function.body += [Node(Op.ISETP, pdst=p), load(a), load(b), store(b), copies[0], Label("again"), store(d), load(b),
                      copies[1], Node(Op.BRA, target="again", guard=p), Node(Op.EXIT)]
    checker, emitted = compiled(function)
    assert checker.run()
    assert " ".join(i.op.name for i in emitted.program.instructions) == "ISETP LD LD ST MOV ST LD BRA EXIT"


def spill_code(emitted: Emitted) -> list[Op]:
    return [i.op for i in emitted.program.instructions if i.op in (Op.LD, Op.ST) and i.space is Space.LOCAL]


def test_what_a_loop_uses_is_not_spilled():
    """x and z are used once, and so rather spilled than y, if it were not for the loop."""
    function = empty_function()
    x, y, z, p = *(function.new() for _ in range(3)), function.new(RegisterClass.PREDICATE)
    loop = [Label("again"), store(x), store(z), Node(Op.BRA, target="again", guard=p)]
    function.body += [Node(Op.ISETP, pdst=p), load(x), load(y), load(z), *loop, *(store(y) for _ in range(3)),
                      Node(Op.EXIT)]
    checker, emitted = compiled(function, max_registers=2)
    assert checker.run()
    assert spill_code(emitted) == [Op.ST, Op.LD, Op.LD, Op.LD]


def test_a_loop_in_a_loop_counts_more():
    """y is used three times in the outer loop, x and z once in the inner one."""
    function = empty_function()
    x, y, z, p = *(function.new() for _ in range(3)), function.new(RegisterClass.PREDICATE)
    inner = [Label("inner"), store(x), store(z), Node(Op.BRA, target="inner", guard=p)]
    function.body += [Node(Op.ISETP, pdst=p), load(x), load(y), Label("outer"), *(store(y) for _ in range(3)), load(z),
                      *inner, Node(Op.BRA, target="outer", guard=p), Node(Op.EXIT)]
    checker, emitted = compiled(function, max_registers=2)
    assert checker.run()
    assert spill_code(emitted) == [Op.ST, Op.LD, Op.LD, Op.LD]


def test_a_copy_between_registers_of_one_place_in_memory_is_dropped():
    function = empty_function()
    a, b, *others = (function.new() for _ in range(4))
    function.body += [load(a), Node(Op.MOV, dst=b, src=[a, None, None]), *map(load, others),
                      *(store(other) for other in others for _ in range(6)), store(b), store(a), Node(Op.EXIT)]
    checker, emitted = compiled(function, max_registers=2)
    assert checker.run() == 14
    assert spill_code(emitted) == [Op.ST, Op.LD, Op.LD]


@pytest.mark.parametrize("loop", [False, True])
def test_a_local_value_that_is_spilled_has_no_old_one(loop):
    """It is written in some lanes, and read in these: it is not loaded before, and what is written lives no longer, in
    a loop either."""
    function = empty_function()
    a, t, p = function.new(), function.new(local=True), function.new(RegisterClass.PREDICATE)
    others = [function.new() for _ in range(2)]
    function.body += [Node(Op.ISETP, pdst=p), Label("again"), load(a), add(t, a, guard=p), *map(load, others),
                      *(store(other) for other in others for _ in range(6)), store(t, guard=p),
                      *[Node(Op.BRA, target="again", guard=p)] * loop, Node(Op.EXIT)]
    checker, emitted = compiled(function, max_registers=2)
    assert checker.run()
    assert spill_code(emitted) == [Op.ST, Op.LD]


@pytest.mark.parametrize("number", range(3))
def test_what_is_used_least_is_spilled(number):
    function = empty_function()
    others = [function.new() for _ in range(3)]
    least = others.pop(number)
    function.body += [*map(load, (least, *others)), *(store(other) for other in others for _ in range(2)), store(least),
                      Node(Op.EXIT)]
    checker, emitted = compiled(function, max_registers=2)
    assert checker.run() == 5
    assert spill_code(emitted) == [Op.ST, Op.LD]


def test_a_constant_is_cheaper_to_make_again_than_a_value_to_spill():
    """Its two uses cost two instructions, as would the only use of x or y and the store where that is loaded, but its
    own MOV goes."""
    function = empty_function()
    constant, x, y = (function.new() for _ in range(3))
    function.body += [Node(Op.MOV, dst=constant, src=[Imm(1), None, None]), load(x), load(y), store(x), store(y),
                      store(constant), store(constant), Node(Op.EXIT)]
    checker, emitted = compiled(function, max_registers=2)
    assert checker.run() == 4
    assert emitted.program.local_bytes == 0


@pytest.mark.parametrize(("temporaries", "registers"), [(0, 5), (2, 7)])
def test_registers_of_their_own(temporaries, registers):
    """They have the order of their numbers, and the pair is aligned; temporary values share the next even one. A copy
    is joined with nothing."""
    function = empty_function()
    named = [function.new(), *function.new_pair(), function.new()]
    shared = [function.new(local=True) for _ in range(temporaries)]
    copy = Node(Op.MOV, dst=named[3], src=[named[0], None, None])
    function.body += [*map(load, named[:3]), copy, *(node for t in shared for node in (add(t, named[0]), store(t))),
                      *map(store, named), Node(Op.EXIT)]
    allocation = allocate(function, registers, apart=True)
    assert [allocation.place[register.number] for register in (*named, *shared)] == [0, 2, 3, 4, *[6] * temporaries]
    assert allocation.registers == registers
    assert Checker(function, allocation, emit(function, allocation)).run()
    with pytest.raises(PtxError, match=f"has 4 registers and temporary values, and a thread at most {registers - 1}:"):
        allocate(function, registers - 1, apart=True)


def test_as_many_registers_of_their_own_as_there_are():
    assert allocate(sum_of_inputs(3), 3, apart=True).registers == 3


def test_too_few_registers():
    function = empty_function()
    a, b, c = (function.new() for _ in range(3))
    function.body += [Node(Op.IMAD, dst=a, src=[a, b, c]), Node(Op.EXIT)]
    function.body[:0] = [Node(Op.S2R, dst=r) for r in (a, b, c)]
    with pytest.raises(PtxError, match=r"k\.ptx:1: kernel k: too few registers for its instructions; allow more"):
        compiled(function, max_registers=2)


def planted(function: Function, break_it, **limits: int) -> Checker:
    """The checker for an allocation that `break_it` has changed before emission."""
    allocation = allocate(function, **limits)
    break_it(allocation)
    return Checker(function, allocation, emit(function, allocation))


def share_a_register(allocation):
    first, second = sorted(allocation.place)[:2]
    allocation.place[first] = allocation.place[second]


def forget_a_spill(allocation):
    nodes = allocation.flow.blocks[0].nodes
    nodes.remove(next(node for node in nodes if node.op is Op.ST and node not in allocation.origins))


def fill_from_another_slot(allocation):
    nodes = allocation.flow.blocks[0].nodes
    at = next(i for i, node in enumerate(nodes) if node.op is Op.LD and node not in allocation.origins)
    nodes[at] = replace(nodes[at], imm=(nodes[at].imm + 4) % allocation.local_bytes)


@pytest.mark.parametrize("bug", [share_a_register, forget_a_spill, fill_from_another_slot])
def test_planted_bug_is_caught(bug):
    with pytest.raises(AllocationError, match="does not hold"):
        planted(sum_of_inputs(12), bug, max_registers=8).run()


def test_spill_code_between_beats_is_caught():
    function = empty_function()
    a, b, c = (function.new() for _ in range(3))
    function.body += [*(Node(Op.S2R, dst=r) for r in (a, b, c)),
                      Node(Op.LATCH, src=[a, b, None]), Node(Op.DADD, dst=c, src=[a, b, None]), Node(Op.EXIT)]

    def separate(allocation):
        allocation.flow.blocks[0].nodes.insert(4, Node(Op.MOV, dst=a, src=[Imm(1), None, None]))

    with pytest.raises(AllocationError, match="between two beats"):
        planted(function, separate).run()


def test_liveness_that_ignores_unwritten_lanes_is_caught(monkeypatch):
    """If a guarded write ended the live range, the old value of the other lanes would be overwritten."""
    function = empty_function()
    guard, a, b = function.new(RegisterClass.PREDICATE), function.new(), function.new()
    store = {"space": Space.SHARED, "access": Access.B32}
    function.body += [
        Node(Op.ISETP, pdst=guard), Node(Op.S2R, dst=a), Node(Op.S2R, dst=b),
        Node(Op.ST, src=[None, None, b], modifiers=dict(store)), Node(Op.IADD, dst=a, guard=guard),
        Node(Op.ST, src=[None, None, a], modifiers=dict(store)), Node(Op.EXIT),
    ]
    assert compiled(function)[0].run() == 3
    monkeypatch.setattr(liveness, "kills", lambda node: node.writes)
    with pytest.raises(AllocationError, match="does not hold v1"):
        compiled(function)[0].run()
