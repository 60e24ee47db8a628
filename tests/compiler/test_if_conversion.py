"""If-conversion: which short sides of branches become guarded nodes, and how (docs/compiler.md)."""

import pytest

from warploom.arch.isa import Op
from warploom.compiler.if_conversion import convert_branches
from warploom.compiler.ir import Half, Node
from warploom.compiler.linker import link
from warploom.compiler.lower import lower
from warploom.compiler.parser import parse

HEAD = ".version 8.3\n.target sm_90\n.address_size 64\n.entry k()\n"
REGISTERS = ".reg .pred %p<8>; .reg .b32 %r<8>; .reg .b64 %d<8>;"


def converted(side: str, guard: str = "%p1") -> list[Node]:
    """The nodes of a kernel with this side behind a branch, before what reads %r0 and %p2."""
    return whole(f"@{guard} bra L; {side} L: st.global.u32 [%d7], %r0; @%p2 st.global.u32 [%d7], 1; ret;")


def whole(body: str) -> list[Node]:
    """The nodes of a kernel."""
    function = lower(link(parse(f"{HEAD}{{ {REGISTERS} {body} }}", "k.ptx"), "k"))
    convert_branches(function)
    return [item for item in function.body if isinstance(item, Node)]


def branches(nodes: list[Node]) -> bool:
    return any(node.op is Op.BRA for node in nodes)


ADD = "add.u32 %r0, %r0, %r1;"


def test_four_nodes_become_guarded_and_five_stay() -> None:
    assert not branches(converted(4 * ADD)) and branches(converted(5 * ADD))


@pytest.mark.parametrize(("guard", "guard_not"), [("%p1", True), ("!%p1", False)])
def test_a_side_executes_where_its_branch_is_not_taken(guard: str, guard_not: bool) -> None:
    add, *_ = converted(ADD, guard)
    assert (add.op, add.guard is not None, add.guard_not) == (Op.IADD, True, guard_not)


@pytest.mark.parametrize("line", [
    "vote.sync.ballot.b32 %r0, %p2, -1;", "match.any.sync.b32 %r0, %r1, -1;", "redux.sync.add.s32 %r0, %r1, -1;",
    "shfl.sync.bfly.b32 %r0, %r1, 1, 31, -1;", "activemask.b32 %r0;", "bar.sync 0;",
    "div.s64 %d1, %d2, %d3; cvt.u32.u64 %r0, %d1;", "setp.eq.u32 %p1, %r0, 0; @%p1 st.global.u32 [%d7], 2;",
])
def test_what_depends_on_other_lanes_a_latch_or_the_guard_stays(line: str) -> None:
    assert branches(converted(line))


def test_logic_of_predicates_is_guarded() -> None:
    logic, *_ = nodes = converted("and.pred %p2, %p2, %p3;")
    assert not branches(nodes) and logic.op is Op.PLOP3 and logic.guard is not None


def test_what_the_side_alone_reads_is_computed_in_all_lanes() -> None:
    product, total, *_ = converted("mul.lo.u32 %r2, %r1, %r1; add.u32 %r0, %r0, %r2;")
    assert (product.op, product.guard) == (Op.IMUL, None) and total.guard is not None


def test_a_load_for_the_side_alone_is_guarded_and_its_register_local() -> None:
    """So is what reads it. Behind a node that writes the register in all lanes it has its own name again."""
    load, first, product, second, *_ = converted(
        "ld.global.u32 %r2, [%d1]; add.u32 %r0, %r0, %r2; mul.lo.u32 %r2, %r1, %r1; add.u32 %r0, %r0, %r2;")
    assert load.guard is not None and load.dst.local and load.dst in first.src
    assert product.guard is None and not product.dst.local
    assert product.dst in second.src and load.dst not in second.src


def test_what_reads_a_local_register_is_guarded_too() -> None:
    load, product, total, *_ = converted(
        "ld.global.u32 %r2, [%d1]; mul.lo.u32 %r3, %r2, %r2; add.u32 %r0, %r0, %r3;")
    assert product.guard is load.guard is not None and product.src[:2] == [load.dst, load.dst]
    assert product.dst.local and product.dst in total.src


def test_a_branch_beyond_the_end_of_the_side_stays() -> None:
    nodes = whole(f"@%p3 bra L; @%p1 bra M; {ADD} L: st.global.u32 [%d7], %r0; M: ret;")
    assert [node.op for node in nodes].count(Op.BRA) == 2


def test_a_pair_is_replaced_by_a_pair() -> None:
    low, high, *_ = converted("ld.global.u64 %d2, [%d1]; st.global.u64 [%d6], %d2;")
    assert low.dst.local and (low.dst.half, high.dst.half) == (Half.LOW, Half.HIGH)
    assert high.dst.number == low.dst.number + 1
