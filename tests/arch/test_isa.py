"""The machine ISA: encoding round trip, legality of modifiers, pipes and timing classes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warploom.arch.encoding import HEADER_BITS, INSTRUCTION_BITS, decode, decode_program, encode, encode_program
from warploom.arch.isa import MODIFIERS, PT, RZ, Instruction, Op, Pipe, TimingClass
from warploom.arch.modifiers import MODIFIER_KINDS, DType, Kind, Space


def _modifier_values(kind: Kind) -> st.SearchStrategy:
    if kind is Kind.FLAG:
        return st.booleans()
    if kind.value[1] is int:
        return st.integers(0, (1 << kind.bits) - 1)
    return st.sampled_from(list(kind.value[1]))


@st.composite
def instructions(draw) -> Instruction:
    """Any legal instruction."""
    op = draw(st.sampled_from(list(Op)))
    register, predicate = st.integers(0, 255), st.integers(0, 7)
    return Instruction(
        op=op, dst=draw(register), src=draw(st.tuples(register, register, register)), guard=draw(predicate),
        guard_not=draw(st.booleans()), pdst=draw(predicate), psrc=draw(predicate), psrc_not=draw(st.booleans()),
        imm=draw(st.integers(0, 0xFFFFFFFF)), imm_slot=draw(st.integers(0, 3)), param=draw(st.booleans()),
        to_collector=draw(st.booleans()), to_file=draw(st.booleans()),
        **{name: draw(_modifier_values(MODIFIER_KINDS[name])) for name in MODIFIERS.get(op, ())},
    )


@given(instructions())
def test_encoding_round_trip(instruction):
    word = encode(instruction)
    assert word >> INSTRUCTION_BITS == 0
    assert decode(word) == instruction


@given(st.lists(instructions(), max_size=4))
def test_program_round_trip(program):
    code = encode_program(tuple(program))
    assert len(code) == 16 * len(program)
    assert decode_program(code) == tuple(program)


def test_encodings_differ_in_the_field_that_differs():
    plain = Instruction(op=Op.IMAD, dst=1, src=(2, 3, 4))
    assert encode(plain) ^ encode(Instruction(op=Op.IMAD, dst=1, src=(2, 3, 4), high=True)) == 1 << HEADER_BITS
    transient = Instruction(op=Op.IMAD, dst=1, src=(2, 3, 4), to_file=False)
    assert encode(plain) ^ encode(transient) == 1 << HEADER_BITS - 1


def test_hints_are_set_by_default():
    """An instruction without hints writes to both destinations."""
    plain = Instruction(op=Op.MOV, dst=1)
    assert (plain.to_collector, plain.to_file) == (True, True)
    assert encode(plain) >> HEADER_BITS - 2 & 3 == 3


def test_stray_bits_and_unknown_operations_do_not_decode():
    with pytest.raises(ValueError, match="stray bits"):
        decode(encode(Instruction(op=Op.NOP)) | 1 << 127)
    with pytest.raises(ValueError, match="200"):
        decode(200)


@pytest.mark.parametrize("fields", [{"dst": 256}, {"src": (0, 0, 300)}, {"pdst": 8}, {"imm": -1}, {"imm_slot": 4}])
def test_fields_out_of_range_are_refused(fields):
    with pytest.raises(ValueError, match="is outside"):
        Instruction(op=Op.IADD, **fields)


def test_modifier_of_another_operation_is_refused():
    with pytest.raises(ValueError, match="IADD does not take the modifier space"):
        Instruction(op=Op.IADD, space=Space.SHARED)


def test_sources_leave_out_rz_immediates_and_repeats():
    assert Instruction(op=Op.IMAD, dst=1, src=(5, RZ, 5)).sources == (5,)
    assert Instruction(op=Op.IMAD, dst=1, src=(5, 6, 7), imm_slot=1).sources == (5, 7)
    assert Instruction(op=Op.PLOP3, src=(0, 1, PT), lut=0x80).sources == ()


def test_predicates_read_include_guard_and_logic_operands():
    assert Instruction(op=Op.SEL, guard=2, psrc=3).predicates_read == {2, 3}
    assert Instruction(op=Op.PLOP3, src=(0, 1, PT)).predicates_read == {0, 1}


@pytest.mark.parametrize(
    ("instruction", "pipe", "timing"),
    [
        (Instruction(op=Op.LOP3), Pipe.SP, TimingClass.INT_ADD),
        (Instruction(op=Op.IMAX), Pipe.SP, TimingClass.INT_MAX),
        (Instruction(op=Op.FFMA), Pipe.SP, TimingClass.FP_MAD),
        (Instruction(op=Op.CVT, src_type=DType.F32, dst_type=DType.S32), Pipe.SP, TimingClass.FP_ADD),
        (Instruction(op=Op.CVT, src_type=DType.F64, dst_type=DType.S32), Pipe.SFU, TimingClass.DP_ADD),
        (Instruction(op=Op.MUFU), Pipe.SFU, TimingClass.SFU),
        (Instruction(op=Op.LATCH), Pipe.SFU, TimingClass.SFU),
        (Instruction(op=Op.LATCH, memory=True), Pipe.MEM, TimingClass.MEM),
        (Instruction(op=Op.SHFL), Pipe.MEM, TimingClass.MEM),
    ],
)
def test_pipe_and_timing_class(instruction, pipe, timing):
    assert (instruction.pipe, instruction.timing_class) == (pipe, timing)


def test_every_class_has_the_pipe_of_its_operations():
    """Timing classes are in order of their pipes: every operation must obey it."""
    for op in Op:
        instruction = Instruction(op=op)
        if instruction.pipe is not Pipe.CONTROL:
            assert instruction.pipe is instruction.timing_class.pipe, op
