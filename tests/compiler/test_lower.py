"""Lowering of PTX to machine nodes: shapes, the rules of `warploom.compiler.ir`, errors, results on the golden SM."""

import re

import numpy as np
import pytest

from warploom.arch.errors import PtxError
from warploom.arch.isa import MEMORY_OPS, NO_SLOT, Instruction, Op
from warploom.arch.launch import Buffer, Launch
from warploom.compiler.allocate import allocate
from warploom.compiler.emit import emit
from warploom.compiler.ir import Function, Imm, Label, Node, Param, VirtualRegister
from warploom.compiler.linker import link
from warploom.compiler.lower import lower
from warploom.compiler.parser import parse
from warploom.golden_model.functional.executor import execute

HEAD = ".version 8.3\n.target sm_90\n.address_size 64\n"
REGISTERS = """.reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .f32 %f<8>; .reg .f64 %g<8>;
.shared .align 8 .b8 tile[64];"""
TYPES = {"h": "u16", "r": "u32", "d": "u64", "f": "f32", "g": "f64"}


def lowered(*lines: str, keep: str = "") -> Function:
    """The function of a kernel with these lines (from line 7 of the file), results named in `keep` being stored."""
    stores = [f"@{name} st.global.u32 [%d7], 1;" if name[1] == "p" else f"st.global.{TYPES[name[1]]} [%d7], {name};"
              for name in keep.split()]
    body = "\n".join([REGISTERS, *lines, *stores, "ret;"])
    return lower(link(parse(f"{HEAD}.entry k(.param .u64 out, .param .u32 n)\n{{ {body}\n}}\n", "k.ptx"), "k"))


def nodes(function: Function) -> list[Node]:
    return [item for item in function.body if isinstance(item, Node)]


def shape(line: str, keep: str = "") -> list[str]:
    """Names of the operations of one instruction, without stores of the results."""
    found = [node.op.name for node in nodes(lowered(line, keep=keep)) if node.line == 7]
    assert found
    return found


SHAPES = [
    ("add.s32 %r0, %r1, %r2;", "%r0", "IADD"),
    ("add.u16 %h0, %h1, %h2;", "%h0", "IADD LOP3"),
    ("add.s64 %d0, %d1, %d2;", "%d0", "IADD IADD"),
    ("add.sat.s32 %r0, %r1, %r2;", "%r0", "IADD LOP3 ISETP SHF LOP3 SEL"),
    ("mul.wide.s32 %d0, %r1, 4;", "%d0", "SHF SHF"),
    ("mul.wide.s32 %d0, %r1, 12;", "%d0", "IMUL IMUL"),
    ("mul.hi.s32 %r0, %r1, -2147483648;", "%r0", "IMUL"),  # not 2**31
    ("mad.wide.u32 %d0, %r1, %r2, %d3;", "%d0", "IMAD IMAD"),
    ("mul.lo.s64 %d0, %d1, %d2;", "%d0", "IMUL IMUL IMAD IMAD"),
    ("max.s16 %h0, %h1, %h2;", "%h0", "PRMT PRMT IMAX LOP3"),
    ("div.u32 %r0, %r1, %r2;", "%r0", "IDIV"),
    ("rem.s64 %d0, %d1, %d2;", "%d0", "LATCH LREM HIGH"),
    ("shl.b64 %d0, %d1, 3;", "%d0", "SHF SHF"),
    ("shr.s32 %r0, %r1, %r2;", "%r0", "SHF"),
    ("setp.lt.s64 %p0, %d1, 0;", "%p0", "ISETP"),
    ("setp.eq.u64 %p0, %d1, %d2;", "%p0", "ISETP ISETP"),
    ("setp.geu.f32 %p0, %f1, %f2;", "%p0", "FSETP"),
    ("setp.gt.f64 %p0, %g1, %g2;", "%p0", "LATCH DSETP"),
    ("selp.b64 %d0, %d1, %d2, %p1;", "%d0", "SEL SEL"),
    ("sub.f32 %f0, %f1, %f2;", "%f0", "FFMA"),
    ("sub.f32 %f0, %f1, 0f3F800000;", "%f0", "FADD"),
    ("neg.f32 %f0, %f1;", "%f0", "LOP3"),
    ("abs.ftz.f32 %f0, %f1;", "%f0", "LOP3 FMUL"),
    ("div.approx.ftz.f32 %f0, %f1, %f2;", "%f0", "MUFU FMUL"),
    ("fma.rn.f64 %g0, %g1, %g2, %g3;", "%g0", "LATCH DFMA HIGH"),
    ("sqrt.rn.f64 %g0, %g1;", "%g0", "DSQRT HIGH"),
    ("cvt.u32.u16 %r0, %h1;", "%r0", "MOV"),
    ("cvt.s64.s32 %d0, %r1;", "%d0", "SHF MOV"),
    ("cvt.rn.f32.s16 %f0, %h1;", "%f0", "PRMT CVT"),
    ("cvt.rzi.s64.f64 %d0, %g1;", "%d0", "CVT HIGH"),
    ("mov.b32 %r0, {%h1, %h2};", "%r0", "PRMT"),
    ("mov.v4.u32 {%r0, %r1, _, %r2}, {%r1, %r0, 7, 5};", "%r0 %r1 %r2", "MOV MOV MOV MOV"),
    ("ld.global.v2.u32 {%r0, %r1}, [%d1+8];", "%r0 %r1", "LD LD"),
    ("ld.shared.f64 %g0, [tile+16];", "%g0", "LD LD"),
    ("st.global.v4.f32 [%d1], {%f0, %f1, %f2, %f3};", "", "ST ST ST ST"),
    ("st.global.v8.f32 [%d1], {%f0, %f1, %f2, %f3, %f0, %f1, %f2, %f3};", "", "ST ST ST ST ST ST ST ST"),
    ("atom.global.add.u32 %r0, [%d1], 1;", "%r0", "MOV ATOM"),
    ("atom.global.add.u32 _, [%d1], %r1;", "", "RED"),
    ("atom.shared.cas.b64 %d0, [%r1], %d1, %d2;", "%d0", "LATCH ATOM HIGH"),
    ("red.global.add.f64 [%d1], %g1;", "", "LATCH RED"),
    ("vote.sync.ballot.b32 %r0, !%p1, -1;", "%r0", "VOTE"),
    ("shfl.sync.bfly.b32 %r0|%p0, %r1, %r2, 31, -1;", "%r0 %p0", "SHFL"),
    ("bar.sync 1, 64;", "", "BAR"),
    ("fence.acq_rel.gpu;", "", "MEMBAR"),
    ("fence.proxy.async.shared::cta;", "", "MEMBAR"),
]


@pytest.mark.parametrize(("line", "keep", "ops"), SHAPES, ids=[line for line, _, _ in SHAPES])
def test_shape(line, keep, ops):
    assert " ".join(shape(line, keep)) == ops


def check_rules(function: Function) -> None:
    """The rules that `ir` guarantees to the back end; building an `Instruction` checks the modifiers."""
    body = nodes(function)
    written: set[VirtualRegister] = set()
    for number, node in enumerate(body):
        constants = [operand for operand in node.src if isinstance(operand, Imm | Param)]
        assert len(constants) <= (node.op not in MEMORY_OPS), node
        assert all(register in written for register in node.reads if register.local), node
        written.update(node.writes)
        machine = Instruction(op=node.op, imm_slot=NO_SLOT, **node.modifiers)
        previous = body[number - 1]
        assert machine.latched == (previous.op is Op.LATCH), node
        if machine.latched:
            assert (previous.guard, previous.guard_not) == (node.guard, node.guard_not)
            assert previous.modifiers.get("memory", False) == (node.op in MEMORY_OPS)
        if node.op is Op.HIGH:
            assert previous.dst is None or previous.op not in (Op.MOV, Op.LATCH)


@pytest.mark.parametrize("guard", ["", "@%p3 ", "@!%p3 "])
@pytest.mark.parametrize(("line", "keep"), [(line, keep) for line, keep, _ in SHAPES], ids=[s[0] for s in SHAPES])
def test_rules(line, keep, guard):
    function = lowered(guard + line, keep=keep)
    check_rules(function)
    if guard:
        assert all(node.guard is not None for node in nodes(function) if node.line == 7)


@pytest.mark.parametrize("line", [
    "ld.global.v2.u64 {%d1, %d0}, [%d1];", "mul.lo.s64 %d1, %d1, %d2;", "shl.b64 %d1, %d1, %r1;",
    "@%p0 setp.lt.s32 %p0|%p1, %r1, %r2;", "setp.lt.and.s64 %p0|%p1, %d1, %d2, %p0;",
    "bfi.b64 %d2, %d1, %d2, %r1, %r2;", "mad.hi.s64 %d3, %d1, %d2, %d3;",
    "mov.b64 {%r1, %r0}, %d1;", "mov.v2.u64 {%d1, %d2}, {%d2, %d1};", "abs.s64 %d1, %d1;"])
def test_no_result_clobbers_a_later_read(line):
    """Only locals may be read after they are written: PTX reads all operands before it writes."""
    written: set[VirtualRegister] = set()
    for node in nodes(lowered(line, keep="%d0 %d1 %d2 %d3 %r0 %r1 %p0 %p1")):
        if node.line == 7:
            assert not [register for register in node.reads if register in written and not register.local], node
            written.update(node.writes)
    assert written


def test_parameters_and_constants_become_operands():
    """A parameter costs no instruction if an operand can name it; a second constant stays in a register."""
    function = lowered("ld.param.u32 %r1, [n];", "mov.u32 %r2, 5;", "add.u32 %r3, %r1, %r4;",
                       "mad.lo.u32 %r0, %r4, %r2, %r1;", keep="%r0 %r3")
    five, add, mad, *_ = nodes(function)
    assert [node.op.name for node in (five, add, mad)] == ["MOV", "IADD", "IMAD"]
    assert add.src[0] == Param(8)
    assert (mad.src[1], mad.src[2]) == (five.dst, Param(8))


def test_a_constant_may_stand_behind_its_uses():
    function = lowered("bra A; B: add.u32 %r0, %r1, %r3; bra C;", "A: mov.u32 %r2, 5; mov.u32 %r3, %r2; bra B; C:",
                       keep="%r0")
    add = next(node for node in nodes(function) if node.op is Op.IADD)
    assert add.src[1] == Imm(5) and Op.MOV not in {node.op for node in nodes(function)}


@pytest.mark.parametrize("operands", ["%r1, 0", "0, %r1", "%r1, %r2", "%r2, %r1"])
def test_a_sum_with_zero_is_a_copy(operands):
    function = lowered("mov.u32 %r2, 0;", f"add.u32 %r0, {operands};", keep="%r0")
    copy = nodes(function)[0]
    assert (copy.op, copy.src) == (Op.MOV, [*function.names["%r1"], None, None])


def test_a_sum_with_zero_that_has_a_carry_is_no_copy():
    assert shape("add.cc.u32 %r0, %r1, 0; addc.u32 %r2, %r3, %r4;", "%r0 %r2") == ["IADD", "IADD"]


def test_registers_written_twice_are_not_propagated():
    function = lowered("mov.u32 %r1, 5;", "@%p1 mov.u32 %r1, 6;", "add.u32 %r0, %r1, %r2;", keep="%r0")
    assert [node.op.name for node in nodes(function)][:3] == ["MOV", "MOV", "IADD"]


def test_known_addresses_move_into_the_offset():
    """A variable's address costs no register; a structure parameter read through a pointer is still an operand."""
    function = lowered("mov.u32 %r1, tile;", "ld.shared.u32 %r2, [%r1+8];", "mov.b64 %d1, out;",
                       "ld.param.u32 %r3, [%d1+4];", "st.shared.u32 [%r1+12], %r2;", keep="%r3")
    load, parameter, store, *_ = nodes(function)
    assert (load.src, load.imm) == ([None, None, None], 8)
    assert (parameter.op, parameter.src[0]) == (Op.MOV, Param(4))
    assert (store.src[:2], store.imm) == ([None, None], 12)


@pytest.mark.parametrize(("address", "offset"), [(2**31 - 8, 2**31 - 4), (2**31 - 4, 4)])
def test_an_address_beyond_the_offset_field_stays_in_a_register(address, offset):
    load = next(node for node in nodes(lowered(
        f"mov.u32 %r1, {address};", "ld.shared.u32 %r2, [%r1+4];", keep="%r2")) if node.op is Op.LD)
    assert (load.imm, load.src[0] is None) == (offset, offset != 4)


def test_an_address_with_a_high_word_stays_in_registers():
    load = next(node for node in nodes(lowered("mov.u64 %d1, 0x100000010;", "ld.global.u32 %r2, [%d1+4];", keep="%r2"))
                if node.op is Op.LD)
    assert load.imm == 4 and None not in load.src[:2]


@pytest.mark.parametrize(("line", "ops"), [
    ("ld.param.u64 %d2, [%d1];", "MOV MOV"), ("ld.param.u64 %d2, [%d1+4];", "LD MOV"),
    ("ld.param.u32 %r2, [%d1+4];", "MOV"), ("ld.param.u64 %d2, [%d1+8];", "MOV LD"),
    ("ld.param.u32 %r2, [%d1+10];", "LD"), ("ld.param.u32 %r2, [%d1+-4];", "LD"),
    ("ld.param.u32 %r2, [out+6];", "LD"), ("ld.param.u16 %h2, [%d1+4];", "LD")])
def test_a_parameter_is_loaded_where_its_access_may_fail(line, ops):
    """The bank has 12 bytes. An access of 8 bytes fails at byte 4, where it is misaligned, and at its end."""
    function = lowered("mov.b64 %d1, out;", line, keep="%h2 %r2 %d2")
    assert " ".join(node.op.name for node in nodes(function) if node.line == 8) == ops


def test_a_constant_to_store_is_no_offset():
    store = next(node for node in nodes(lowered("mov.u32 %r2, 5;", "st.shared.u32 [%r1+4], %r2;")) if node.op is Op.ST)
    assert store.imm == 4 and isinstance(store.src[0], VirtualRegister) and isinstance(store.src[2], VirtualRegister)


def test_a_parameter_at_an_unknown_address_is_loaded():
    load = next(node for node in nodes(lowered("ld.param.u32 %r2, [%d1+4];", keep="%r2")) if node.line == 7)
    assert (load.op, load.imm) == (Op.LD, 4) and isinstance(load.src[0], VirtualRegister)


def test_unread_results_are_dropped():
    """Dead arithmetic is removed, and so is an unused carry; loads stay."""
    function = lowered("add.cc.u32 %r0, %r1, %r2;", "mul.lo.u32 %r3, %r1, %r2;", "ld.global.u32 %r4, [%d1];",
                       keep="%r0")
    body = nodes(function)
    assert [node.op.name for node in body] == ["IADD", "LD", "ST", "EXIT"]
    assert body[0].pdst is None and body[1].dst is None


def test_address_arithmetic_is_fused():
    """base + index * stride is two IMADs (and a register for the stride, the base being a parameter's words)."""
    function = lowered("ld.param.u64 %d1, [out];", "mul.wide.s32 %d2, %r1, 4;", "add.s64 %d3, %d1, %d2;", keep="%d3")
    stride, low, high, *_ = nodes(function)
    assert [node.op for node in (stride, low, high)] == [Op.MOV, Op.IMAD, Op.IMAD]
    assert low.src[1:] == [stride.dst, Param(0)] and high.src[1:] == [stride.dst, Param(4)]
    assert high.psrc == low.pdst and high.modifiers == {"high": True, "signed": True}


def test_one_of_two_products_is_fused():
    function = lowered("mul.wide.u32 %d1, %r1, 12; mul.wide.u32 %d2, %r2, 20; add.s64 %d3, %d1, %d2;", keep="%d3")
    assert [node.op.name for node in nodes(function) if node.line == 7] == ["IMUL", "IMUL", "IMAD", "IMAD"]


@pytest.mark.parametrize("between", ["L: add.u32 %r2, %r2, 1;", "add.u32 %r1, %r1, 1;", "st.global.u64 [%d7], %d2;"])
def test_a_product_used_otherwise_is_not_fused(between):
    """There is a label, a changed factor, or a second use between the product and the sum."""
    function = lowered("mul.wide.s32 %d2, %r1, 12;", between, "add.s64 %d3, %d1, %d2;", keep="%d3 %r2")
    assert [node.op for node in nodes(function) if node.line == 7] == [Op.IMUL, Op.IMUL]


def test_a_factor_that_changes_ends_all_its_products():
    function = lowered("mul.wide.u32 %d1, %r1, 12; mul.wide.u32 %d2, %r1, 20; add.u32 %r1, %r1, 1; "
                       "add.s64 %d3, %d4, %d1;", keep="%r1 %d2 %d3")
    assert Op.IMAD not in {node.op for node in nodes(function)}


@pytest.mark.parametrize(("lines", "ops"), [
    ("mul.lo.u32 %r2, %r0, %r1; mul.hi.u32 %r3, %r0, %r1; add.cc.u32 %r4, %r2, %r5; addc.u32 %r5, %r3, %r7;",
     "IMAD IMAD"),
    ("mul.lo.u32 %r2, %r0, %r1; mul.hi.u32 %r3, %r0, %r1; "  # a carry enters
     "add.cc.u32 %r6, %r6, %r7; addc.cc.u32 %r4, %r2, %r5; addc.u32 %r5, %r3, %r7;", "IMUL IMUL IADD IADD IADD"),
    ("mul.lo.u32 %r2, %r0, %r1; mul.hi.u32 %r3, %r0, %r1; "  # and one leaves
     "add.cc.u32 %r4, %r2, %r5; addc.cc.u32 %r5, %r3, %r7; addc.u32 %r6, %r6, %r7;", "IMUL IMUL IADD IADD IADD"),
    ("mul.hi.u32 %r2, %r0, %r1; mul.hi.u32 %r3, %r0, %r1; add.cc.u32 %r4, %r2, %r5; addc.u32 %r5, %r3, %r7;",
     "IMUL IMUL IADD IADD"),
])
def test_only_a_whole_product_and_a_sum_of_two_words_are_fused(lines, ops):
    function = lowered(lines, keep="%r4 %r5 %r6")
    assert " ".join(node.op.name for node in nodes(function) if node.line == 7) == ops


@pytest.mark.parametrize(("keep", "ops"), [
    ("", ""), ("%r1", "LATCH LDIV MOV"), ("%r2", "LATCH LDIV HIGH MOV"),
    ("%r1 %r2", "LATCH LDIV HIGH MOV MOV")])
def test_beats_live_and_die_together(keep, ops):
    """A quotient with only one used word: the operation stays for its HIGH, and its LATCH with it."""
    function = lowered("div.s64 %d0, %d1, %d2; mov.b64 {%r1, %r2}, %d0;", keep=keep)
    assert " ".join(node.op.name for node in nodes(function) if node.line == 7) == ops


def test_a_dead_high_word_ends_its_operation():
    """In a loop, what reads the high word stands before it."""
    function = lowered("L: mov.u32 %r3, %r2; div.s64 %d0, %d1, %d2; mov.b64 {%r1, %r2}, %d0; @%p1 bra L;")
    assert [node.op for node in nodes(function)] == [Op.BRA, Op.EXIT]


def test_barrier_number_through_a_register():
    function = lowered("mov.u32 %r1, 3;", "bar.sync %r1;")
    assert [(node.op.name, node.imm) for node in nodes(function)] == [("BAR", 3), ("EXIT", 0)]


def test_thread_counts_come_through_copies():
    function = lowered("mov.u32 %r1, 64;", "mov.u32 %r2, %r1;", "bar.sync 0, %r2;", "barrier.sync 0, %r1;")
    assert [(node.op.name, node.modifiers, node.src) for node in nodes(function)] == [
        ("BAR", {"count": 64}, [None] * 3), ("BAR", {"count": 64}, [None] * 3), ("EXIT", {}, [None] * 3)]


def test_copies_in_a_circle_are_no_constant():
    with pytest.raises(PtxError, match="the thread count must be a constant"):
        lowered("mov.u32 %r1, %r2;", "mov.u32 %r2, %r1;", "bar.sync 0, %r1;")


def test_halfword_swap_is_a_loop():
    """Guarded lanes only: the others jump over the loop, so no register of it is live before it."""
    function = lowered("@%p1 atom.shared.cas.b16 %h0, [%r1], %h1, %h2;", keep="%h0")
    first = nodes(function)[0]
    assert (first.op, first.guard_not) == (Op.BRA, True)
    assert sum(isinstance(item, Label) for item in function.body) == 3
    check_rules(function)


ERRORS = [
    ("ld.global.v8.b64 {%d0, %d0, %d0, %d0, %d0, %d0, %d0, %d0}, [%d1];", "8 elements of .b64 are more than 32 bytes"),
    ("tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [tile, {%f4, %f5}];", "tex.2d.v4.f32.f32: not supported; supported are"),
    ("mov.v2.u32 %d1, {%r1, %r2};", "mov.v2.u32: both operands must be vectors {...} of 2"),
    ("add.rz.f16 %h0, %h1, %h2;", "add.rz.f16: .rz is not supported for add; supported: .rn of f16 and f16x2"),
    ("add.f16 %h0, %h1, 1.0;", "add.f16: a literal is given where .f16 is required: PTX has none"),
    ("min.relu.u16x2 %r0, %r1, %r2;", "min.relu.u16x2: .relu is not supported for min"),
    ("vabsdiff2.u32.s32.u32 %r0, %r1, %r2, %r3;", "vabsdiff2.u32.s32.u32: "),
    ("min.xorsign.abs.f16 %h0, %h1, %h2;", "min.xorsign.abs.f16: .xorsign is not supported for min"),
    ("fma.rn.sat.bf16 %h0, %h1, %h2, %h0;", "fma.rn.sat.bf16: .sat is not supported for fma; supported: .rn of f16"),
    ("setp.eq.f16 %p0|%p1, %h1, %h2;", "setp.eq.f16: there is one result"),
    ("set.eq.f32.f16 %f0, %h1, %h2;", "the result must be one of .f16, .bf16, .u16, .s16, .u32, .s32"),
    ("set.eq.u16.f16x2 %h0, %r1, %r2;", "the result must be one of .f16x2, .bf16x2, .u32, .s32"),
    ("ex2.f16 %h0, %h1;", "ex2.f16: one of .approx is required; supported: .approx of f16 and f16x2, .approx.ftz of b"),
    ("ex2.approx.ftz.f16 %h0, %h1;", "ex2.approx.ftz.f16: .ftz is not for .f16"),
    ("ex2.approx.bf16x2 %r0, %r1;", "ex2.approx.bf16x2: one of .ftz is required; supported: .approx of f16 and f16x2"),
    ("tanh.approx.ftz.f32 %f0, %f1;", "tanh.approx.ftz.f32: .ftz is not supported for tanh; supported: .approx.f32"),
    ("tanh.approx.ftz.bf16 %h0, %h1;", "tanh.approx.ftz.bf16: .ftz is not supported for tanh"),
    ("sin.approx.f16 %h0, %h1;", "sin.approx.f16: this type is not supported for sin; supported: .approx.f32"),
    ("atom.global.add.f16 %h0, [%d1], %h1;", "atom.global.add.f16: one of .noftz is required; supported: add, min"),
    ("atom.global.add.ftz.f16 %h0, [%d1], %h1;", "atom.global.add.ftz.f16: one of .noftz is required; supported: add"),
    ("atom.global.add.noftz.f32 %f0, [%d1], %f1;", "atom.global.add.noftz.f32: .noftz is not supported for atom"),
    ("lop3.or.b32 %r0, %r1, %r2, %r3, 0x40, %p1;", "lop3.or.b32: the results are d|p: a register or _, and a pred"),
    ("lop3.or.b32 %r0|_, %r1, %r2, %r3, 0x40, %p1;", "lop3.or.b32: the results are d|p: a register or _, and a pred"),
    ("lop3.or.b32 %r0|%p0, %r1, %r2, %r3, 0x40;", "lop3.or.b32: takes 6 operands, 5 given"),
    ("lop3.xor.b32 %r0|%p0, %r1, %r2, %r3, 0x40, %p1;", "lop3.xor.b32: takes 5 operands, 6 given"),
    ("lop3.b32 %r0|%p0, %r1, %r2, %r3, 0x40;", "lop3.b32: a register is required as destination"),
    ("cvt.pack.sat.u8.s32 %r0, %r1, %r2;", "cvt.pack.sat.u8.s32: supported: .pack.sat of two s32 to u16 or s16; to u8"),
    ("cvt.pack.sat.u16.u32 %r0, %r1, %r2;", "cvt.pack.sat.u16.u32: supported: .pack.sat of two s32 to u16 or s16; to"),
    ("cvt.pack.sat.u16.s32.b32 %r0, %r1, %r2, %r3;", "cvt.pack.sat.u16.s32.b32: supported: .pack.sat of two s32"),
    ("cvt.pack.sat.s32.u4.b32 %r0, %r1, %r2, %r3;", "cvt.pack.sat.s32.u4.b32: supported: .pack.sat of two s32 to u16"),
    ("cvt.sat.pack.u4.s32.b32 %r0, %r1, %r2, %r3;", "cvt.sat.pack.u4.s32.b32: supported: .pack.sat of two s32 to u16"),
    ("cvt.pack.sat.s4.s32 %r0, %r1, %r2;", "cvt.pack.sat.s4.s32: supported: .pack.sat of two s32 to u16 or s16; to u8"),
    ("cvt.pack.u16.s32 %r0, %r1, %r2;", "cvt.pack.u16.s32: one of .sat is required; supported: "),
    ("cvt.u8.b32 %r0, %r1;", "cvt.u8.b32: one of .pack is required; supported: .pack.sat of two s32 to u16 or s16;"),
    ("min.xorsign.abs.f32 %f0, %f1, %f2, %f0;", "min.xorsign.abs.f32: .xorsign is not supported for min; supported:"),
    ("min.abs.f32 %f0, %f1, %f2;", "min.abs.f32: .abs is not supported for min; supported: f32 of two (.ftz, .NaN, ."),
    ("min.s32 %r0, %r1, %r2, %r3;", "min.s32: takes 3 operands, 4 given"),
    ("atom.global.min.noftz.f16 %h0, [%d1], %h1;", "min takes .u32, .s32, .u64, .s64"),
    ("red.global.cas.b32 [%d1], %r1, %r2;", "red.global.cas.b32: one of .add, .min, .max, .inc, .dec, .and, .or, "),
    ("exit.uni;", "exit.uni: .uni is not supported for exit; supported: alone"),
    ("membar.acq_rel;", "membar.acq_rel: one of .cta, .gl, .sys is required; supported: .cta, .gl, .sys, .proxy.alias"),
    ("fence.gl;", "fence.gl: .gl is not supported for fence; supported: .cta, .cluster, .gpu, .sys, .sc, .acq_rel, .a"),
    ("rcp.approx.f64 %g0, %g1;", "rcp.approx.f64: one of .ftz is required; supported: .rn, .rz, .rm, .rp, .approx of "),
    ("sqrt.f64 %g0, %g1;", "is required; supported: .rn, .rz, .rm, .rp, .approx of f32 (.ftz); .rn, .rz, .rm, .rp of "),
    ("add.sat.u32 %r0, %r1, %r2;", "add.sat.u32: .sat is not supported for add; supported: "),
    ("add.cc.u16 %h0, %h1, %h2;", "add.cc.u16: .cc is not supported for add; supported: "),
    ("min.xorsign.f32 %f0, %f1, %f2;", "min.xorsign.f32: one of .abs is required; supported: "),
    ("setp.lo.s32 %p0, %r1, %r2;", "setp.lo.s32: one of .eq, .ne, .lt, .le, .gt, .ge is required; supported: "),
    ("setp.lt.b32 %p0, %r1, %r2;", "setp.lt.b32: one of .eq, .ne is required; supported: "),
    ("set.hi.u32.b64 %r0, %d1, %d2;", "set.hi.u32.b64: one of .eq, .ne is required; supported: "),
    ("add.u32 %r0, %r1, %d2;", "%d2 is a .b64 register where .u32 is required"),
    (".reg .u8 %c; st.global.u32 [%d1], %c;", "%c is a .u8 register where .u32 is required"),
    (".reg .u8 %c; mov.b32 %c, 0x1234;", "%c is a .u8 register where .b32 is required"),
    ("add.u32 %r0, %r1;", "add.u32: takes 3 operands, 2 given"),
    ("mul.u32 %r0, %r1, %r2;", "mul.u32: one of .lo, .hi is required"),
    ("add.u16.u32 %r0, %r1, %r2;", "add.u16.u32: too many types for add"),
    ("mov.u32 %r0, _;", "_ can only be a destination"),
    ("vote.sync.all.pred %p0, %p1;", "takes 3 operands, 2 given"),
    ("selp.b32 %r0, %r1, %r2, %r3;", "a predicate register is required"),
    ("mov.u32 %r0, %envreg3;", "%envreg3 is neither a variable of this kernel nor a special register"),
    ("add.f32 %f0, %f1, 3;", "an integer literal is given where .f32 is required"),
    ("add.u32 %r0, %r1, 0f3F800000;", "a .f32 literal is given where .u32 is required"),
    ("setp.eq.s64 %p0, %d1, 1.0;", "a .f64 literal is given where .s64 is required"),
    ("cvt.f32.s32 %f0, %r1;", "one of .rn, .rz, .rm, .rp is required"),
    ("cvt.rn.e4m3x2.f32 %h0, %f1, %f2;", "takes two types, both among 8- to 64-bit integers, f32, f64, f16 and bf16"),
    ("cvt.f16.f32 %h0, %f1;", "one of .rn, .rz, .rm, .rp is required"),
    ("cvt.rn.sat.bf16.f32 %h0, %f1;", ".sat is not supported for cvt"),
    ("cvt.rni.ftz.f16.f16 %h0, %h1;", ".ftz is not supported for cvt"),
    ("cvt.rm.f16x2.f32 %r0, %f1, %f2;", "one of .rn, .rz is required"),
    ("cvt.u32.u64 %r0, %r1;", "%r1 has 32 bits where .u64 is required"),
    ("ld.global.u32 %r0, [%r1];", "addresses in this space have 64 bits"),
    ("ld.shared.u32 %r0, [%p1];", "%p1: addresses in this space have 32 or 64 bits"),
    ("ld.shared.u32 %r0, [%h1];", "%h1: addresses in this space have 32 or 64 bits"),
    ("ld.global.u8 %p1, [%d1];", "ld.global.u8: the destination has 1 bits, .u8 does not fit"),
    ("cvt.u8.u32 %p1, %r1;", "cvt.u8.u32: the destination has 1 bits, .u8 does not fit"),
    ("cvt.s8.s32 %p1, %r1;", "cvt.s8.s32: the destination has 1 bits, .s8 does not fit"),
    ("ld.global.u32 %r0, [tile];", "tile lies in .shared, not in .global"),
    ("ld.global.v2.u32 %r0, [%d1];", "2 data operands are required, 1 given"),
    ("atom.global.min.f32 %f0, [%d1], %f1;", "min takes .u32, .s32, .u64, .s64"),
    ("atom.global.add.v2.f32 {%f0, %f1}, [%d1], {%f2, %f3};", "vector atomics are not supported; supported: add, min"),
    ("bar.sync 16;", "the barrier number must be from 0 to 15"),
    ("mov.u32 %r1, 16; bar.sync %r1;", "the barrier number must be from 0 to 15"),
    ("bar.sync 0, 48;", "the thread count must be a constant multiple of 32, from 0 to 1024"),
    ("barrier.red.popc.u32 %r0, 0, 2048, %p0;", "the thread count must be a constant multiple of 32, from 0 to 1024"),
    ("barrier.red.and.pred %p1, 0, %r1, %p0;", "the thread count must be a constant multiple of 32, from 0 to 1024"),
    ("bar.sync 0, %r1;", "the thread count must be a constant multiple of 32, from 0 to 1024"),
    ("bar.sync tile;", "bar.sync: tile is given where a number is required"),
    ("bar.sync 0, tile;", "bar.sync: tile is given where a number is required"),
    ("barrier.red.popc.u32 %r0, tile, %p0;", "tile is given where a number is required"),
    ("bar.warp.sync tile;", "bar.warp.sync: tile is given where a number is required"),
    ("vote.sync.any.pred %p0, %p1, tile;", "tile is given where a number is required"),
    ("vote.sync.ballot.b32 %r0, %p1, tile;", "tile is given where a number is required"),
    ("shfl.sync.idx.b32 %r0, %r1, %r2, 31, tile;", "tile is given where a number is required"),
    ("shfl.sync.idx.b32 %r0, %r1, %r2, tile, -1;", "tile is given where a number is required"),
    ("match.any.sync.b32 %r0, %r1, tile;", "tile is given where a number is required"),
    ("elect.sync _|%p0, tile;", "tile is given where a number is required"),
    ("bar.arrive 0;", "bar.arrive: takes 2 operands, 1 given"),
    ("bar.arrive 0, 0;", "the thread count must be a constant multiple of 32, from 32 to 1024"),
    ("mov.u32 %r1, 0; bar.arrive 0, %r1;", "the thread count must be a constant multiple of 32, from 32 to 1024"),
    ("lop3.b32 %r0, %r1, %r2, %r3, %r4;", "the table must be a constant"),
    ("lop3.b32 %r0, %r1, %r2, %r3, tile;", "lop3.b32: tile is given where a number is required"),
    ("cp.async.ca.shared.global [tile], [%d1], tile;", "tile is given where a number is required"),
    ("cp.async.ca.shared.global [tile], [%d1], 4, tile;", "tile is given where a number is required"),
    ("mov.b64 %d0, {%r1, %r2, %r3};", "3 parts of .b64: two or four are required, of 8 bits or more"),
    ("set.eq.u64.u32 %d0, %r1, %r2;", "the result must be one of .u32, .s32, .f32, .f16, .bf16"),
]


@pytest.mark.parametrize(("line", "message"), ERRORS, ids=[line for line, _ in ERRORS])
def test_error(line, message):
    with pytest.raises(PtxError) as caught:
        lowered(line)
    assert message in str(caught.value)
    assert str(caught.value).startswith("k.ptx:7")


CALL_PARAMETERS = [
    ("st.foo.param.b64 [a], %d1;", ".foo is not supported for st; supported: "),
    ("st.param.v2.b64 [a], %d1;", "2 data operands are required, 1 given"),
    ("st.param.b64 [a], {%d1, %d2};", "1 data operand is required, 2 given"),
    ("st.param.b64 [a], %r1;", "%r1 is a .b32 register where .b64 is required"),
    ("st.param.b8 [a], %p1;", "%p1 is a .pred register where .b8 is required"),
    ("st.param.b64 [a], _;", "_ can only be a destination, not operand"),
    ("ld.wibble.param.b64 %d1, [a];", ".wibble is not supported for ld; supported: "),
    ("ld.param.v4.b64 %d2, [a];", "4 data operands are required, 1 given"),
    ("ld.param.b64 %r2, [a];", "%r2 is a .b32 register where .b64 is required"),
    ("ld.param.b8 %p1, [a];", "the destination has 1 bits, .b8 does not fit"),
    ("ld.param.b64 7, [a];", "a register is required as destination"),
]


@pytest.mark.parametrize(("line", "message"), CALL_PARAMETERS, ids=[line for line, _ in CALL_PARAMETERS])
def test_an_access_to_a_call_parameter_is_checked_as_one_to_memory(line, message):
    with pytest.raises(PtxError) as caught:
        lowered(f"{{ .param .align 16 .b8 a[32]; {line} }}")
    assert message in str(caught.value)
    assert re.match(rf"k\.ptx:7:\d+: {re.escape(line.split()[0])}: ", str(caught.value))


def run(lines: list[str], *columns: np.ndarray) -> np.ndarray:
    """Results (uint64) of lines that compute %d0 from %d1, %d2, %d3, one thread for each element of the columns."""
    loads = [f"ld.global.u64 %d{k + 1}, [%d6+{8 * k}];" for k in range(3)]
    body = "\n".join([REGISTERS, "mov.u32 %r0, %tid.x;", "ld.param.u64 %d5, [in]; mad.wide.u32 %d6, %r0, 24, %d5;",
                      *loads, *lines, "ld.param.u64 %d5, [out]; mad.wide.u32 %d6, %r0, 8, %d5;",
                      "st.global.u64 [%d6], %d0; ret;"])
    function = lower(link(parse(f"{HEAD}.entry k(.param .u64 in, .param .u64 out)\n{{ {body} }}\n", "k.ptx"), "k"))
    program = emit(function, allocate(function)).program
    count = len(columns[0])
    buffers = Buffer("in", np.stack(columns, axis=1)), Buffer("out", np.zeros(count, np.uint64))
    return execute(program, Launch((1, 1, 1), (count, 1, 1), buffers)).buffers["out"]


MASK = (1 << 64) - 1


def signed(value: int) -> int:
    """A 64-bit word as a signed number."""
    return value - (value >> 63 << 64)


WIDE = {
    "add.s64 %d0, %d1, %d2;": lambda a, b, c: a + b,
    "sub.s64 %d0, %d1, %d2;": lambda a, b, c: a - b,
    "mad.lo.s64 %d0, %d1, %d2, %d3;": lambda a, b, c: a * b + c,
    "mul.hi.u64 %d0, %d1, %d2;": lambda a, b, c: a * b >> 64,
    "mul.hi.s64 %d0, %d1, %d2;": lambda a, b, c: signed(a) * signed(b) >> 64,
    "min.s64 %d0, %d1, %d2;": lambda a, b, c: min(signed(a), signed(b)),
    "max.u64 %d0, %d1, %d2;": lambda a, b, c: max(a, b),
    "cvt.u32.u64 %r1, %d2; shl.b64 %d0, %d1, %r1;": lambda a, b, c: a << min(b & 0xFFFFFFFF, 64),
    "cvt.u32.u64 %r1, %d2; shr.s64 %d0, %d1, %r1;": lambda a, b, c: signed(a) >> min(b & 0xFFFFFFFF, 64),
    "shr.s64 %d0, %d1, 37;": lambda a, b, c: signed(a) >> 37,
    "shr.u64 %d0, %d1, 37;": lambda a, b, c: a >> 37,
    "clz.b64 %r1, %d1; cvt.u64.u32 %d0, %r1;": lambda a, b, c: 64 - a.bit_length(),
    "div.s64 %d0, %d1, 7;": lambda a, b, c: abs(signed(a)) // 7 * (-1 if a >> 63 else 1),
    "bfe.s64 %d0, %d1, 9, 40;": lambda a, b, c: signed(a << 15 & MASK) >> 24,
    "cvt.u32.u64 %r1, %d1; mul.wide.u32 %d7, %r1, 12; add.s64 %d0, %d7, %d2;": lambda a, b, c: a % (1 << 32) * 12 + b,
    "cvt.u32.u64 %r1, %d1; cvt.u32.u64 %r2, %d2; mul.wide.s32 %d7, %r1, %r2; add.s64 %d0, %d3, %d7;":
        lambda a, b, c: signed(a << 32 & MASK) * signed(b << 32 & MASK) // (1 << 64) + c,
    "cvt.u32.u64 %r1, %d1; mul.wide.u32 %d0, %r1, 8;": lambda a, b, c: a % (1 << 32) * 8,
    "cvt.u32.u64 %r1, %d1; mul.wide.s32 %d0, %r1, 8;": lambda a, b, c: (signed(a << 32 & MASK) >> 32) * 8,
    "cvt.u32.u64 %r1, %d1; mul.wide.u32 %d7, %r1, 12; add.s64 %d0, %d7, %d7;": lambda a, b, c: a % (1 << 32) * 24,
    "setp.le.s64 %p1, %d1, %d2; selp.u64 %d0, 1, 2, %p1;": lambda a, b, c: 1 if signed(a) <= signed(b) else 2,
    "setp.ne.s64 %p1, %d1, %d2; selp.u64 %d0, 1, 2, %p1;": lambda a, b, c: 1 if a != b else 2,
    "setp.lt.u64 %p1, %d1, 0; selp.u64 %d0, 1, 2, %p1;": lambda a, b, c: 2,
    "setp.le.s64 %p1, %d1, 0; selp.u64 %d0, 1, 2, %p1;": lambda a, b, c: 1 if signed(a) <= 0 else 2,
    "setp.lt.s64 %p1, %d1, 5; selp.u64 %d0, 1, 2, %p1;": lambda a, b, c: 1 if signed(a) < 5 else 2,
    "setp.lt.s64 %p1, %d1, 0x200000000; selp.u64 %d0, 1, 2, %p1;": lambda a, b, c: 1 if signed(a) < 1 << 33 else 2,
}


@pytest.mark.parametrize("lines", WIDE, ids=str)
def test_wide_arithmetic_on_the_golden_model(lines):
    """64-bit expansions against Python's integers: corners, near-equal pairs and small shift amounts included."""
    rng = np.random.default_rng(20261121)
    columns = rng.integers(0, 1 << 64, (3, 256), np.uint64)
    corners = np.array([0, 1, (1 << 32) - 1, 1 << 32, (1 << 63) - 1, 1 << 63, MASK], np.uint64)
    columns[:, :49] = np.stack([np.repeat(corners, 7), np.tile(corners, 7), np.tile(corners[::-1], 7)])
    columns[1, 49:120] = rng.integers(0, 70, 71, np.uint64)
    columns[1, 120:140] = columns[0, 120:140]
    wanted = [WIDE[lines](*map(int, words)) & MASK for words in columns.T]
    assert run([lines], *columns).tolist() == wanted


THIRD = {
    ("and", "1"): lambda t: t, ("or", "1"): lambda t: 1, ("xor", "1"): lambda t: 1 - t,
    ("and", "0"): lambda t: 0, ("or", "0"): lambda t: t, ("xor", "0"): lambda t: t,
    ("and", "!%p3"): lambda t: t, ("or", "!%p3"): lambda t: 1, ("xor", "!%p3"): lambda t: 1 - t,
}
"""What a comparison gives with a third operand, by the result of the test itself; %p3 is false."""


@pytest.mark.parametrize("kind", ["u32", "s64", "u64", "f32", "f64"])
@pytest.mark.parametrize(("combine", "third"), THIRD)
def test_a_comparison_joined_with_a_constant(combine, third, kind):
    """p is bit 0 of the result and q bit 1; `set` gives bit 2."""
    register = {"u32": "r", "s64": "d", "u64": "d", "f32": "f", "f64": "g"}[kind]
    values = f"%{register}1, %{register}2, {third}"
    lines = [f"cvt.{'rn.' * (kind[0] == 'f')}{kind}.u64 %{register}{n}, %d{n};" for n in (1, 2)]
    lines += ["setp.ne.u32 %p3, 0, 0;", f"setp.lt.{combine}.{kind} %p1|%p2, {values};",
              f"set.lt.{combine}.u32.{kind} %r3, {values};", "and.b32 %r3, %r3, 4; cvt.u64.u32 %d0, %r3;",
              "@%p1 or.b64 %d0, %d0, 1;", "@%p2 or.b64 %d0, %d0, 2;"]
    join = THIRD[combine, third]
    wanted = [5 * join(test) + 2 * join(1 - test) for test in (1, 0)]
    assert run(lines, *np.array([[1, 2], [2, 1], [0, 0]], np.uint64)).tolist() == wanted
