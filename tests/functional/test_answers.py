"""What each thread answers to a few lines of PTX whose meaning is easily missed, and what is an error there."""

from pathlib import Path

import numpy as np
import pytest

import warploom
from warploom.arch.errors import ExecutionError, MisalignedAddressError, PtxError

PTX = """\
.version 8.7
.target sm_90
.address_size 64
{variables}
.visible .entry k(.param .u64 out, .param .align 8 .b8 pair[16]) {{
.reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<8>; .reg .b64 %d<4>; .reg .u32 %t; .reg .u64 %o;
.shared .align 8 .b8 tile[16];
ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mad.wide.u32 %o, %t, 16, %o;
mov.u32 %r0, 0; mov.u32 %r1, 0; mov.u64 %d0, 0; mov.u64 %d1, 0;
{lines}
ret;
}}
"""
WORDS = "\nst.global.v2.u32 [%o], {%r0, %r1};"
LONG = "\nst.global.v2.u64 [%o], {%d0, %d1};"
LINE = 10
"""Line of the file that holds the first of `lines`, where there are no variables."""


def answers(folder: Path, lines: str, variables: str = "") -> np.ndarray:
    """Two 64-bit words of each of 32 threads."""
    path = folder / "k.ptx"
    path.write_text(PTX.format(lines=lines, variables=variables))
    gpu = warploom.Gpu("small", timing=False)
    out = gpu.zeros((32, 2), np.uint64)
    gpu.module(path)["k"][1, 32](out, bytes(16))
    return out.numpy()


ANSWERS = {
    "p and q of setp, whose guard is q": (
        "setp.ne.u32 %p1, %t, 99; setp.eq.u32 %p2, %t, 99;\n"
        "@!%p2 setp.eq.and.u32 %p1|%p2, %t, 77, %p1; selp.u32 %r0, 1, 0, %p1; selp.u32 %r1, 1, 0, %p2;",
        lambda t: (0, 1)),
    "p and q of setp, whose guard is p": (
        "setp.lt.u32 %p1, %t, 20; setp.lt.u32 %p2, %t, 10;\n"
        "@%p1 setp.eq.and.u32 %p1|%p2, %t, 7, %p2; selp.u32 %r0, 1, 0, %p1; selp.u32 %r1, 1, 0, %p2;",
        lambda t: (int(t == 7), int(t < 10 and t != 7))),
    "activemask under a guard": (
        "setp.lt.u32 %p1, %t, 5; @%p1 activemask.b32 %r0;", lambda t: (0x1F * (t < 5), 0)),
    "elect of lanes that have not exited": (
        "setp.lt.u32 %p1, %t, 2; @%p1 exit; elect.sync %r0|%p2, 0xffffffff; selp.u32 %r1, 7, 0, %p2;",
        lambda t: (2 * (t > 1), 7 * (t == 2))),
    "elect of some lanes": (
        "setp.ge.u32 %p1, %t, 9; @%p1 elect.sync %r0|%p2, 0xfffffe00; @%p1 selp.u32 %r1, 7, 0, %p2;",
        lambda t: (9 * (t > 8), 7 * (t == 9))),
    "WARP_SZ with an offset": ("add.u32 %r0, %t, WARP_SZ+1; mov.u32 %r1, WARP_SZ-8;", lambda t: (t + 33, 24)),
    "16 bits of a special register": (
        "mov.u16 %h0, %lanemask_ge; cvt.u32.u16 %r0, %h0; cvt.s32.s16 %r1, %lanemask_ge;",
        lambda t: ((0xFFFF << t) & 0xFFFF, (0xFFFF << t & 0xFFFF) - (t < 16) * (1 << 16) & 0xFFFFFFFF)),
}


@pytest.mark.parametrize(("lines", "expected"), ANSWERS.values(), ids=ANSWERS)
def test_words_of_each_thread(tmp_path, lines, expected):
    found = answers(tmp_path, lines + WORDS)[:, 0]
    assert found.tolist() == [low | high << 32 for low, high in map(expected, range(32))]


def test_16_bits_of_an_address(tmp_path):
    lines = "mov.u16 %h0, v; cvt.u32.u16 %r0, %h0;"
    assert (answers(tmp_path, lines + WORDS, ".global .u8 gap[0x12344]; .global .u32 v;")[:, 0] == 0x2344).all()


def masked(*bytes_: int) -> str:
    return ", ".join(f"{0xFF << 8 * byte:#x}(foo)" for byte in bytes_)


IMAGES = {
    "some bytes of an address": (f".u8 v[8] = {{{masked(3, 0)}, 5, 6, 7, 8, 9, 10}}", 0x0A09080706050410),
    "bytes of an address, the highest first": (f".u8 v[8] = {{{masked(7, 6, 5, 4, 3, 2, 1, 0)}}}", 0x0403021000000000),
    "a whole address": (".u64 v = foo", 0x10020304),
    "WARP_SZ": (".u32 v[2] = {WARP_SZ, WARP_SZ+1}", 32 | 33 << 32),
}


@pytest.mark.parametrize(("variable", "image"), IMAGES.values(), ids=IMAGES)
def test_initialised_memory(tmp_path, variable, image):
    """The address of `foo` is 0x10020304, and nothing before or after the variable changes."""
    variables = (".global .u8 gap[0x20304]; .global .u32 foo; .global .align 8 .u64 before = 0x1111; "
                 f".global .align 8 {variable}; .global .align 8 .u64 after = 0x2222;")
    lines = "ld.global.u64 %d0, [v]; ld.global.u64 %d2, [v+8]; ld.global.u64 %d3, [v+-8]; add.u64 %d1, %d2, %d3;"
    assert answers(tmp_path, lines + LONG, variables).tolist() == [[image, 0x3333]] * 32


@pytest.mark.parametrize("initial", [".u16 v = foo", ".u32 v = 0xff(foo)", ".u8 v = 0x0ff0(foo)"])
def test_a_part_of_an_address_is_one_byte(tmp_path, initial):
    with pytest.raises(PtxError, match="an address cannot initialise an element of"):
        answers(tmp_path, "", f".global .u32 foo; .global {initial};")


def test_256_bits_at_once(tmp_path):
    """Every second thread, whose address is a multiple of 32, writes its words and those of the next one."""
    lines = """and.b32 %r0, %t, 1; setp.ne.u32 %p1, %r0, 0; @%p1 exit;
st.global.v8.b32 [%o], {%t, 1, 2, 3, 4, 5, 6, 7};
ld.global.nc.v8.f32 {%r0, _, _, %r1, _, _, _, %r2}, [%o];
cvt.u64.u32 %d0, %r0; cvt.u64.u32 %d1, %r1; cvt.u64.u32 %d2, %r2;
st.global.v4.b64 [%o], {%d0, %d1, %d2, 8};"""
    assert answers(tmp_path, lines).tolist() == [pair for t in range(0, 32, 2) for pair in ([t, 3], [7, 8])]


@pytest.mark.parametrize("store", [
    "st.global.v2.u32 [%d2+0x7ffffffc], {3, 4};", "mov.u64 %d3, 0x400000003; st.global.u64 [%d2+0x7ffffffc], %d3;",
])
def test_offsets_up_to_32_bits(tmp_path, store):
    load = "ld.global.v2.u32 {%r0, %r1}, [%d2+0x7ffffffc]; add.u32 %r0, %r0, 1;"
    found = answers(tmp_path, f"sub.u64 %d2, %o, 0x7ffffffc; {store} {load}{WORDS}")
    assert (found[:, 0] == 4 | 4 << 32).all()


MISALIGNED = {
    "ld.global.u64 %d0, [%o+4];": ("load", 8, 4), "st.global.u64 [%o+4], %d0;": ("store", 8, 4),
    "ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%o+8];": ("load", 16, 8),
    "ld.global.v2.u64 {%d0, %d1}, [%o+8];": ("load", 16, 8),
    "ld.global.v8.b32 {%r0, _, %r1, _, %r2, _, %r3, _}, [%o+8];": ("load", 32, 8),
    "st.global.v2.u8 [%o+1], {%h0, %h1};": ("store", 2, 1),
    "add.u64 %d0, %o, 1; atom.global.cas.b16 %h0, [%d0], 1, 2;": ("load", 2, 1),
}


@pytest.mark.parametrize(("lines", "access"), MISALIGNED.items(), ids=list(MISALIGNED))
@pytest.mark.parametrize("first", [0, 11])
def test_a_whole_access_is_aligned(tmp_path, lines, access, first):
    """Of the threads from `first` on, the others exit; the first is named."""
    kind, size, offset = access
    with pytest.raises(MisalignedAddressError) as caught:
        answers(tmp_path, f"setp.lt.u32 %p1, %t, {first}; @%p1 exit;\n{lines}")
    place = f"k.ptx:{LINE + 1}: thread ({first}, 0, 0) of block (0, 0, 0): {kind} of {size} bytes at "
    address = 0x700000000000 + 16 * first + offset
    assert str(caught.value).endswith(f"{place}{address:#x}: the address must be a multiple of {size}")


SWAP = """\
.version 8.7
.target sm_90
.address_size 64
.visible .entry swap(.param .u64 halves, .param .u64 at) {
.reg .b16 %h<2>; .reg .b64 %d<3>;
ld.param.u64 %d0, [halves]; ld.param.u64 %d1, [at]; add.u64 %d2, %d0, %d1;
atom.global.cas.b16 %h0, [%d2], 0, 7; st.global.u16 [%d0], %h0;
ret;
}
"""


def test_swap_in_the_last_word_of_which_the_buffer_has_half(tmp_path):
    """The machine swaps whole words; PTX accesses 16 bits."""
    (tmp_path / "k.ptx").write_text(SWAP)
    gpu = warploom.Gpu("small", timing=False)
    swap, halves = gpu.module(tmp_path / "k.ptx")["swap"], gpu.zeros(3, np.uint16)
    swap[1, 2](halves, 4)
    assert halves.numpy().tolist() == [7, 0, 7]
    with pytest.raises(ExecutionError, match=r"load of 2 bytes at .* outside global memory, 0 bytes past the end"):
        swap[1, 1](halves, 6)


@pytest.mark.parametrize("space", ["global", "shared", "local", "const"])
def test_memory_of_variables_ends_with_a_whole_word(tmp_path, space):
    """libcu++ accesses the word around a variable of 8 bits."""
    lines = f"ld.{space}.u32 %r0, [lone]; add.u32 %r0, %r0, %t;"
    assert answers(tmp_path, lines + WORDS, f".{space} .u8 lone;")[:, 0].tolist() == list(range(32))


@pytest.mark.parametrize("lines", [
    "ld.param.u64 %d0, [pair+4];", "ld.param.v2.u32 {%r0, %r1}, [pair+4];", "mov.u32 %r0, 4; ld.shared.u64 %d0, [%r0];",
])
def test_known_addresses_are_checked_too(tmp_path, lines):
    with pytest.raises(ExecutionError, match=rf"k.ptx:{LINE}: .* load of 8 bytes at 0x\w+: .* multiple of 8"):
        answers(tmp_path, lines)


def test_elect_waits_for_the_lanes_of_its_mask(tmp_path):
    lines = "setp.lt.u32 %p1, %t, 4; @%p1 bra A;\nelect.sync %r0|%p2, 0xffffffff;\nA: add.u32 %r0, %r0, 1;"
    with pytest.raises(ExecutionError, match="lane 0 of its warp has to execute this instruction"):
        answers(tmp_path, lines + WORDS)
