"""Machine code as text: every part of an instruction appears in the line."""

import pytest

from warploom.arch.isa import NO_RECONVERGENCE, RZ, Instruction, Op
from warploom.arch.modifiers import Access, Atom, Cond, DType, Rounding, Space, Special
from warploom.arch.program import Program
from warploom.compiler.hints import hinted
from warploom.listing import instruction_text, listing, order_note

CASES = [
    (Instruction(op=Op.IADD, dst=3, src=(1, 2, RZ)), "IADD R3 = R1, R2"),
    (Instruction(op=Op.IADD, dst=3, pdst=1, src=(1, RZ, RZ), imm_slot=1, imm=16), "IADD R3, P1 = R1, 0x10"),
    (Instruction(op=Op.MOV, dst=3, imm_slot=0, imm=8, param=True), "MOV R3 = c[0x8]"),
    (Instruction(op=Op.IMAD, dst=4, src=(1, 2, 3), high=True, signed=True, psrc=2),
     "IMAD.high.signed R4 = R1, R2, R3, P2"),
    (Instruction(op=Op.SEL, dst=4, src=(1, 2, RZ), psrc=0, psrc_not=True), "SEL R4 = R1, R2, !P0"),
    (Instruction(op=Op.ISETP, pdst=1, src=(1, RZ, RZ), cond=Cond.NE, signed=True), "ISETP.ne.and.signed P1 = R1, RZ"),
    (Instruction(op=Op.CVT, dst=1, src=(2, 3, RZ), dst_type=DType.F32, src_type=DType.F64),
     "CVT.f32.f64.rn R1 = R2, R3"),
    (Instruction(op=Op.LOP3, dst=4, src=(1, 2, 3), lut=0x3C), "LOP3.0x3c R4 = R1, R2, R3"),
    (Instruction(op=Op.FADD, dst=4, src=(1, 2, RZ), rounding=Rounding.RZ, ftz=True), "FADD.rz.ftz R4 = R1, R2"),
    (Instruction(op=Op.S2R, dst=0, special=Special.CTAID_X), "S2R.ctaid_x R0 ="),
    (Instruction(op=Op.ISETP, pdst=0, src=(1, 2, RZ), cond=Cond.LT, guard=3, guard_not=True),
     "@!P3 ISETP.lt.and P0 = R1, R2"),
    (Instruction(op=Op.LD, dst=5, src=(2, 3, RZ), wide=True, space=Space.GLOBAL, access=Access.B32, imm=0xFFFFFFFC),
     "LD.global.b32.wide R5 = [R3:R2 -0x4]"),
    (Instruction(op=Op.ST, src=(2, RZ, 7), space=Space.SHARED, access=Access.U8, imm=32),
     "ST.shared.u8 [R2 +0x20], R7"),
    (Instruction(op=Op.RED, src=(2, 3, 7), space=Space.GLOBAL, atom=Atom.MAX, dst_type=DType.S32, wide=True),
     "RED.global.max.s32.wide [R3:R2], R7"),
    (Instruction(op=Op.BRA, imm=12, guard=0, reconverge=30), "@P0 BRA 12  // sides meet at 30"),
    (Instruction(op=Op.BRA, imm=12, guard=0, reconverge=NO_RECONVERGENCE), "@P0 BRA 12  // sides meet at the exit"),
    (Instruction(op=Op.BRA, imm=12), "BRA 12"),
    (Instruction(op=Op.PLOP3, pdst=1, src=(0, 2, 7), lut=0xC0), "PLOP3.0xc0 P1 = P0, P2, PT"),
    (Instruction(op=Op.MOV, dst=3, src=(1, RZ, RZ), to_file=False), "MOV R3 = R1  // collector only"),
    (Instruction(op=Op.MOV, dst=3, src=(1, RZ, RZ), to_collector=False), "MOV R3 = R1  // register file only"),
    (Instruction(op=Op.EXIT), "EXIT"),
]


@pytest.mark.parametrize(("instruction", "text"), CASES, ids=[text for _, text in CASES])
def test_instruction_text(instruction, text):
    assert instruction_text(instruction) == text


def test_listing_shows_a_source_line_where_it_changes(tmp_path):
    source = tmp_path / "k.ptx"
    source.write_text("first\n  second;\n")
    code = tuple(Instruction(op=op) for op in (Op.NOP, Op.NOP, Op.EXIT))
    program = Program("k", str(source), code, (2, 2, 1), registers=1)
    assert listing(program).splitlines() == [
        "//    2: second;", "     0  NOP", "     1  NOP", "//    1: first", "     2  EXIT"]
    without = Program("k", "<ptx>", code, (2, 2, 1), registers=1)
    assert listing(without).splitlines() == ["     0  NOP", "     1  NOP", "     2  EXIT"]


def test_listing_shows_hints_for_order():
    """A load, the sum that waits for it, a renamed sum, and a jump of the group."""
    code = (
        Instruction(op=Op.LD, dst=1, src=(0, RZ, RZ), space=Space.GLOBAL),
        Instruction(op=Op.IADD, dst=2, src=(1, 3, RZ)),
        Instruction(op=Op.IADD, dst=3, src=(0, 0, RZ)), Instruction(op=Op.BRA, imm=5), Instruction(op=Op.NOP),
        Instruction(op=Op.IADD, dst=4, src=(3, 0, RZ)), Instruction(op=Op.ST, src=(0, RZ, 4), space=Space.GLOBAL),
        Instruction(op=Op.EXIT))
    program = hinted(Program("k", "<ptx>", code, (1,) * len(code), registers=5))
    assert [order_note(program, pc) for pc in range(len(code))] == [
        "", "hint: stall point, goes on at +1", "hint: R3 to R5, then +2",
        "hint: then +4", "", "hint: then back", "", ""]
    assert program.registers == 6
