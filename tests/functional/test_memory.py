"""Loads, stores and atomics in every space, against plain loops; and the errors of illegal addresses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.assembler import Assembler, Imm, Param

from warploom.arch.errors import ExecutionError, IllegalAddressError, MisalignedAddressError
from warploom.arch.isa import RZ, Op
from warploom.arch.launch import Buffer, Launch, Scalar
from warploom.arch.memory_map import CONST_WINDOW, GLOBALS_BASE, LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW
from warploom.arch.modifiers import Access, Atom, DType, Space, Special
from warploom.golden_model.functional import atomics
from warploom.golden_model.functional.executor import Execution, execute

DTYPES = {Access.U8: np.uint8, Access.S8: np.int8, Access.U16: np.uint16, Access.S16: np.int16, Access.B32: np.uint32}


@pytest.mark.parametrize("access", Access, ids=lambda a: a.name)
def test_narrow_loads_and_stores(access):
    asm = Assembler()
    asm.op(Op.S2R, 0, special=Special.TID_X)
    asm.indexed(4, 0, 0, shift=access.size.bit_length() - 1)
    asm.load(1, 4, access=access)
    asm.indexed(8, 8, 0)
    asm.store(8, 1)
    asm.store(4, 0, access=access)
    asm.op(Op.EXIT)
    data = np.random.default_rng(1).integers(0, 256, 64 * access.size, dtype=np.uint8).view(DTYPES[access])
    launch = Launch((1, 1, 1), (64, 1, 1), (Buffer("in", data), Buffer("out", np.zeros(64, np.uint32))))
    buffers = execute(asm.program((8, 8)), launch).buffers
    assert (buffers["out"] == data.astype(np.int64).astype(np.uint32)).all()
    assert (buffers["in"] == np.arange(64).astype(DTYPES[access])).all()


def test_highest_lane_wins_a_store():
    asm = Assembler()
    asm.op(Op.S2R, 0, special=Special.TID_X)
    asm.pointer(4, 0)
    asm.store(4, 0)
    asm.op(Op.EXIT)
    launch = Launch((1, 1, 1), (50, 1, 1), (Buffer("out", np.zeros(1, np.uint32)),))
    assert execute(asm.program((8,)), launch).buffers["out"][0] == 49


def test_generic_addresses_of_one_warp_in_several_spaces():
    """Lane modulo 5 selects the window; the trace gives addresses in their own spaces."""
    windows = [SHARED_WINDOW, LOCAL_WINDOW, CONST_WINDOW, PARAM_WINDOW, GLOBALS_BASE]
    table = np.array([windows[lane % 5] for lane in range(32)], np.uint64)
    asm = Assembler()
    asm.op(Op.S2R, 0, special=Special.TID_X)
    asm.op(Op.MOV, 1, Imm(0x5A))
    asm.op(Op.MOV, 2, Imm(4))
    asm.store(2, 1, space=Space.SHARED, wide=False)
    asm.store(2, 0, space=Space.LOCAL, wide=False)
    asm.indexed(4, 0, 0, shift=3)
    asm.load(8, 4)
    asm.load(9, 4, imm=4)
    asm.load(10, 8, imm=4, space=Space.GENERIC)
    asm.op(Op.EXIT)
    program = asm.program((8,), shared_bytes=8, local_bytes=8, constants=bytes(range(8)), globals=bytes(range(16, 24)))
    launch = Launch((1, 1, 1), (32, 1, 1), (Buffer("table", table),))
    execution = execute(program, launch)
    expected = [0x5A, None, 0x07060504, 0x7000, 0x17161514]
    wanted = [lane if lane % 5 == 1 else expected[lane % 5] for lane in range(32)]
    assert execution.final_registers(0, 0)[10].tolist() == wanted
    warp, trace = execution.trace.warps[0], execution.trace
    row = warp.address[-2]
    assert trace.spaces[row] == Space.SHARED
    assert trace.addresses[row][:5].tolist() == [4, 4, 4, 4, GLOBALS_BASE + 4]


def access_fails(asm: Assembler, launch: Launch, **fields) -> str:
    with pytest.raises(ExecutionError) as caught:
        execute(asm.program(tuple(8 for _ in launch.arguments), **fields), launch)
    misaligned = "multiple" in str(caught.value)
    assert type(caught.value) is (MisalignedAddressError if misaligned else IllegalAddressError)
    return str(caught.value)


def read_at(offset: int) -> Assembler:
    """Line 10 loads word tid + ctaid * 64 of the first buffer, and `offset` bytes further."""
    asm = Assembler()
    asm.op(Op.S2R, 0, special=Special.TID_X)
    asm.op(Op.S2R, 1, special=Special.CTAID_X)
    asm.op(Op.SHF, 1, RZ, 1, Imm(6))
    asm.op(Op.IADD, 0, 0, 1)
    asm.indexed(4, 0, 0)
    asm.load(8, 4, imm=offset & 0xFFFFFFFF)
    asm.op(Op.EXIT)
    return asm


TWO = (Buffer("first", np.zeros(100, np.uint32)), Buffer("second", np.zeros(7, np.float32)))


@pytest.mark.parametrize(("offset", "words"), [
    (0, ["thread (36, 0, 0) of block (1, 0, 0)", "0 bytes past the end of buffer 'first' (400 bytes)"]),
    (-4, ["thread (0, 0, 0) of block (0, 0, 0)", "4 bytes before buffer 'first'"]),
    (2, ["thread (0, 0, 0) of block (0, 0, 0)", "multiple of 4"]),
    (0x300, ["bytes", "of buffer 'second' (28 bytes)"]),
])
def test_illegal_global_address(offset, words):
    message = access_fails(read_at(offset), Launch((2, 1, 1), (64, 1, 1), TWO))
    assert message.startswith("test.ptx:10: thread") and "load of 4 bytes at 0x" in message
    assert all(word in message for word in words), message


def test_only_executing_lanes_are_checked():
    asm = Assembler()
    asm.op(Op.S2R, 0, special=Special.TID_X)
    asm.op(Op.ISETP, RZ, 0, Imm(100), cond=2, pdst=1)
    asm.indexed(4, 0, 0)
    asm.load(8, 4, guard=1)
    asm.op(Op.EXIT)
    execution = execute(asm.program((8, 8)), Launch((1, 1, 1), (128, 1, 1), TWO))
    assert execution.trace.warps[3].lanes[7] == 0xF


def test_spaces_of_other_lanes_do_not_count():
    """A generic store of lane 0, while the other lanes point to memory that must not be written."""
    asm = Assembler()
    asm.op(Op.S2R, 0, special=Special.TID_X)
    asm.op(Op.ISETP, RZ, 0, Imm(0), cond=0, pdst=1)
    asm.op(Op.MOV, 4, Imm(0))
    asm.op(Op.MOV, 5, Imm(CONST_WINDOW >> 32))
    asm.op(Op.MOV, 4, Imm(GLOBALS_BASE & 0xFFFFFFFF), guard=1)
    asm.op(Op.MOV, 5, Imm(GLOBALS_BASE >> 32), guard=1)
    asm.store(4, 5, space=Space.GENERIC, guard=1)
    asm.op(Op.EXIT)
    execution = execute(asm.program(constants=bytes(8), globals=bytes(8)), Launch((1, 1, 1), (32, 1, 1)))
    assert execution.trace.spaces[0] == Space.GLOBAL


@pytest.mark.parametrize(("space", "address", "why"), [
    (Space.SHARED, 8, "shared memory has 8 bytes"), (Space.LOCAL, 16, "local memory has 16 bytes"),
    (Space.CONST, 5, "multiple of 4"), (Space.SHARED, 0xFFFFFFFC, "shared memory has 8 bytes"),
])
def test_illegal_address_in_a_window(space, address, why):
    asm = Assembler()
    asm.op(Op.MOV, 1, Imm(address))
    asm.load(2, 1, space=space, wide=False)
    asm.op(Op.EXIT)
    message = access_fails(asm, Launch((1, 1, 1), (32, 1, 1)), shared_bytes=8, local_bytes=16, constants=bytes(8))
    assert why in message and f"at {address:#x}" in message


def test_constants_are_read_only():
    asm = Assembler()
    asm.op(Op.MOV, 1, Imm(0))
    asm.store(1, 1, space=Space.CONST, wide=False)
    assert "read-only" in access_fails(asm, Launch((1, 1, 1), (32, 1, 1)), constants=bytes(8))


def test_one_buffer_given_twice_is_one_buffer():
    buffer = Buffer("data", np.arange(64, dtype=np.uint32))
    asm = Assembler()
    asm.op(Op.S2R, 0, special=Special.TID_X)
    asm.indexed(4, 0, 0)
    asm.store(4, RZ)
    asm.indexed(4, 8, 0)
    asm.load(1, 4)
    asm.op(Op.EXIT)
    execution = execute(asm.program((8, 8)), Launch((1, 1, 1), (64, 1, 1), (buffer, buffer)))
    assert not execution.final_registers(0, 1)[1].any() and not execution.buffers["data"].any()


# ---------------------------------------------------------------- atomics


def one_by_one(memory: list, accesses: list[tuple], atom: Atom, bits: int, *, is_signed: bool) -> tuple[list, list]:
    """Atomics (index, operand) in order, on Python integers: for each the old value, and whether it changed."""

    def value(word: int) -> int:
        return word - (1 << bits) if is_signed and word >> bits - 1 else word

    update = {
        Atom.ADD: lambda m, x: m + x, Atom.MIN: lambda m, x: min(m, x, key=value),
        Atom.MAX: lambda m, x: max(m, x, key=value), Atom.AND: lambda m, x: m & x, Atom.OR: lambda m, x: m | x,
        Atom.XOR: lambda m, x: m ^ x, Atom.EXCH: lambda m, x: x, Atom.INC: lambda m, x: 0 if m >= x else m + 1,
        Atom.DEC: lambda m, x: x if m == 0 or m > x else m - 1,
        Atom.CAS: lambda m, x: x[1] if m == x[0] else m,
    }[atom]
    old, changed = [], []
    for at, word in accesses:
        old.append(memory[at])
        memory[at] = update(memory[at], word) & (1 << bits) - 1
        changed.append(memory[at] != old[-1])
    return old, changed


@given(st.sampled_from(Atom), st.sampled_from([DType.U32, DType.S32, DType.U64, DType.S64]), st.data())
def test_atomics_equal_one_by_one(atom, kind, data):
    bits = 64 if kind.is_wide else 32
    word = st.one_of(st.integers(0, 3), st.integers(0, (1 << bits) - 1))
    memory = data.draw(st.lists(word, min_size=4, max_size=4))
    one = st.tuples(st.integers(0, 3), st.tuples(word, word) if atom is Atom.CAS else word)
    accesses = data.draw(st.lists(one, min_size=1, max_size=40))
    index, operand = zip(*accesses, strict=True)
    image = np.array(memory, f"u{bits // 8}")
    operands = np.array(operand, image.dtype)
    old = atomics.update(image, np.array(index), atom, kind, operands, flushed=False)
    changed = atomics.changes(old, atom, kind, operands, flushed=False)
    assert (old.tolist(), changed.tolist()) == one_by_one(memory, accesses, atom, bits, is_signed=kind.name[0] == "S")
    assert image.tolist() == memory


@pytest.mark.parametrize("flushed", [False, True])
def test_float_additions_happen_in_order(flushed):
    rng = np.random.default_rng(2)
    values = (rng.standard_normal(500) * 2.0 ** rng.integers(-130, -120, 500)).astype(np.float32)
    index = rng.integers(0, 3, 500)
    image, plain = np.zeros(3, np.uint32), np.zeros(3, np.float32)
    atomics.update(image, index, Atom.ADD, DType.F32, values.view(np.uint32), flushed=flushed)

    def clean(x: np.float32) -> np.float32:
        return np.float32(np.copysign(0, x)) if flushed and abs(x) < 2.0**-126 else x

    for at, value in zip(index, values, strict=True):
        plain[at] = clean(clean(plain[at]) + clean(value))
    assert (image == plain.view(np.uint32)).all()


def run_atomic(body, space: Space, data: np.ndarray) -> tuple[Execution, np.ndarray]:
    """64 threads execute the code of `body(asm, address register, wide)`; the address is word 0 of the buffer, or of
    shared memory, whose contents are then stored to the buffer."""
    asm = Assembler()
    asm.op(Op.S2R, 0, special=Special.TID_X)
    asm.pointer(4, 0)
    if space is Space.GLOBAL:
        body(asm, 4, True)
    else:
        asm.op(Op.MOV, 6, Imm(0))
        body(asm, 6, False)
        asm.op(Op.BAR)
        for offset in range(0, data.nbytes, 4):
            asm.load(8, 6, imm=offset, space=space, wide=False)
            asm.store(4, 8, imm=offset)
    asm.op(Op.EXIT)
    launch = Launch((1, 1, 1), (64, 1, 1), (Buffer("data", data),))
    execution = execute(asm.program((8,), shared_bytes=64), launch)
    return execution, execution.buffers["data"]


@pytest.mark.parametrize("space", [Space.GLOBAL, Space.SHARED])
def test_old_values_follow_thread_order(space):
    def body(asm: Assembler, at: int, wide: bool) -> None:
        asm.op(Op.ATOM, 12, at, at + 1 if wide else RZ, 0, space=space, wide=wide, atom=Atom.ADD, dst_type=DType.U32)

    execution, data = run_atomic(body, space, np.zeros(1, np.uint32))
    before = [t * (t - 1) // 2 for t in range(64)]
    assert [*execution.final_registers(0, 0)[12], *execution.final_registers(0, 1)[12]] == before
    assert data[0] == 64 * 63 // 2


@pytest.mark.parametrize("space", [Space.GLOBAL, Space.SHARED])
def test_wide_atomic_through_latch(space):
    """Adds 2**32 + tid to a 64-bit word."""

    def body(asm: Assembler, at: int, wide: bool) -> None:
        asm.op(Op.MOV, 7, Imm(1))
        asm.op(Op.LATCH, RZ, at, at + 1 if wide else RZ, RZ, memory=True)
        asm.op(Op.ATOM, 12, 0, 7, space=space, wide=wide, atom=Atom.ADD, dst_type=DType.U64)
        asm.op(Op.HIGH, 13, memory=True)

    execution, data = run_atomic(body, space, np.zeros(1, np.uint64))
    assert data[0] == (64 << 32) + 64 * 63 // 2
    assert execution.final_registers(0, 1)[13].tolist() == list(range(32, 64))


@pytest.mark.parametrize("kind", [DType.U32, DType.U64])
def test_compare_and_swap_through_latch(kind):
    """Thread t stores t + 1 if it finds t: in order, every thread succeeds."""

    def body(asm: Assembler, at: int, wide: bool) -> None:
        asm.op(Op.IADD, 3, 0, Imm(1))
        asm.op(Op.LATCH, RZ, at, at + 1, 0, memory=True)
        operands = (RZ, 3, RZ) if kind is DType.U64 else (3,)
        asm.op(Op.ATOM, 12, *operands, space=Space.GLOBAL, wide=True, atom=Atom.CAS, dst_type=kind)

    execution, data = run_atomic(body, Space.GLOBAL, np.zeros(1, np.uint64 if kind is DType.U64 else np.uint32))
    assert data[0] == 64
    assert execution.final_registers(0, 1)[12].tolist() == list(range(32, 64))


def test_scalar_parameters_reach_the_bank():
    asm = Assembler()
    asm.op(Op.IADD, 1, RZ, Param(8))
    asm.op(Op.EXIT)
    scalars = Scalar("u8", b"\x07"), Scalar("s64", (-2).to_bytes(8, "little", signed=True))
    launch = Launch((1, 1, 1), (32, 1, 1), scalars)
    assert execute(asm.program((1, 8)), launch).final_registers(0, 0)[1, 0] == 0xFFFFFFFE
