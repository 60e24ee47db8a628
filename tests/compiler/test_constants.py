"""Constant expressions. ptxas 13.0 (V13.0.88) has computed the values: it puts them into the data of a cubin."""

import struct

import numpy as np
import pytest

from warploom.arch.launch import Buffer, Launch
from warploom.compiler.compile import compile_ptx
from warploom.compiler.parser import parse
from warploom.golden_model.functional.executor import execute

INTEGERS = [
    ("3+4", 7), ("(1<<4)|3", 19), ("~0", -1), ("-(3)", -3), ("+5", 5), ("!3", 0), ("!0", 1), ("!!5", 1), ("-~5", 6),
    ("7/2", 3), ("-7/2", -3), ("7/-2", -3), ("-7/-2", 3), ("7 % 3", 1), ("-7 % 3", 0), ("-7 % -3", -7),
    ("-1 % 10U", 5), ("1<2", 1), ("3>=3", 1), ("3>3", 0), ("2<=1", 0), ("5==5", 1), ("5!=5", 0), ("6&3", 2),
    ("6^3", 5), ("6&3==3", 0), ("1&&0", 0), ("2&&4", 1), ("0||7", 1), ("0||0", 0), ("1?10:20", 10), ("0?10:20", 20),
    ("1?2?3:4:5", 3), ("0?1:0?2:3", 3), ("(.s64)5", 5), ("(.u64)-1", -1), ("-8>>1", -4), ("-8 >> 1U", -4),
    ("0xFFFFFFFFFFFFFFFF>>60", 15), ("(.s64)0xFFFFFFFFFFFFFFFF>>60", -1), ("(.u64)-1 / 2", 0x7fffffffffffffff),
    ("(.u64)(.s64)-5 >> 1", 0x7ffffffffffffffd), ("-(.s64)5", -5), ("0xFFFFFFFFFFFFFFFF/2", 0x7fffffffffffffff),
    ("-1/2", 0), ("-1/2U", 0x7fffffffffffffff), ("1<<63>>63", -1), ("1U<<63>>63", 1), ("1<<64", 1), ("1<<65", 2),
    ("1>>70", 0), ("-1>>70", -1), ("1<<-1", 0x8000000000000000), ("2+3*4", 14), ("2*3+4", 10), ("10-2-3", 5),
    ("100/10/5", 2), ("2*7 % 4", 2), ("1<<2+1", 8), ("1<<2<<1", 8), ("~5&7", 2), ("~0 >> 1", 0x7fffffffffffffff),
    ("~(.u64)0 >> 1", 0x7fffffffffffffff), ("1 | 2 ^ 3 & 4", 3), ("7 & 3 == 3", 1), ("1 || 0 && 0", 1), ("-1<1U", 0),
    ("-1<1", 1), ("(1 ? 1U : 1) - 2 < 0", 0), ("(0 ? 1U : 1) - 2 < 0", 1),
    ("9223372036854775807+1", 0x8000000000000000), ("18446744073709551615*2", -2), ("-9223372036854775808/-1", 0),
    ("(0x7fffffffffffffff+1)/2", 0xc000000000000000), ("0x8000000000000000 / 2", 0x4000000000000000),
    ("0xFFFFFFFFFFFFFFFF < 1", 0), ("2 - -3", 5), ("2--3", 5), ("3*-2", -6), ("-5U >> 60", 15), ("5U - 6 < 0", 0),
    ("(5 - 6U) >> 60", 15), ("(5 - 6) >> 60", -1), ("(-1 & -1) >> 60", -1), ("(-1 & 1U) < -5", 1),
    ("(-1 ^ 0) < 1", 1), ("-1 ^ 0 < 1", -2), ("(7 % 4) - 5 < 0", 0), ("!0 - 2 < 0", 1), ("(1<2) - 2 < 0", 1),
    ("(-8 >> 1U) < 0", 1), ("(8U >> 1) - 5 < 0", 0), ("(-1 << 1U) < 0", 1),
    ("(1&&1) - 2 < 0", 1), ("WARP_SZ*2", 64), ("WARP_SZ - 33 < 0", 1), ("-WARP_SZ", -32), ("-(1U) < 0", 0),
    ("010 + 0b11", 11), ("((5))", 5), ("1.5 < 2.0", 1), ("1.5 == 1.5", 1), ("2.5 >= 3.0", 0), ("(1.5 < 2.0) + 1", 2),
]
FLOATS = [
    ("1.5+2.0*3.0", 7.5), ("1.0/3.0", 1 / 3), ("-1.5", -1.5), ("+1.5", 1.5), ("- -1.5", 1.5), ("-(1.5)", -1.5),
    ("1.0-2.0-3.0", -4.0), ("(1.0+2.0)*4.0", 12.0), ("2.0*-3.0", -6.0), ("0d3FF0000000000000 + 1.0", 2.0),
    ("1e300*1e300", float("inf")),
]


def test_integers_in_an_initialiser():
    texts = [text for text, _ in INTEGERS]
    (variable,) = parse(f".global .u64 x[{len(texts)}] = {{{', '.join(texts)}}};").variables
    found = np.frombuffer(variable.initial, np.uint64).tolist()
    assert dict(zip(texts, found, strict=True)) == {text: value % (1 << 64) for text, value in INTEGERS}


def test_floating_point_numbers_in_an_initialiser():
    texts, values = zip(*FLOATS, strict=True)
    (variable,) = parse(f".global .f64 x[{len(texts)}] = {{{', '.join(texts)}}};").variables
    assert np.frombuffer(variable.initial, np.float64).tolist() == list(values)


KERNEL = """.version 8.7\n.target sm_90\n.address_size 64
.global .u32 table[WARP_SZ] = {{1, 1<<1, 3}};
.global .u64 pointers[2] = {{table+4*2, generic(table)+2*2}};
.visible .entry k(.param .u64 out) {{
.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<4>; .reg .f64 %fd<4>; .reg .pred %p<3>; .reg .b16 %h;
ld.param.u64 %rd0, [out+2*0]; mov.u64 %rd1, 0; mov.u32 %r1, 0;
{}
st.global.u64 [%rd0], %rd1; ret; }}
"""


@pytest.mark.parametrize("optimise", [True, False])
@pytest.mark.parametrize(("body", "value"), [
    *((f"mov.b64 %rd1, {text};", value) for text, value in INTEGERS),
    ("mov.b32 %r1, 0x1FFFFFFFF + 1; cvt.u64.u32 %rd1, %r1;", 0),
    ("mov.b32 %r1, -3*4; cvt.s64.s32 %rd1, %r1;", -12),
    ("mov.b16 %h, 255 + 1; cvt.u64.u16 %rd1, %h;", 256),
    ("mov.f64 %fd1, 1.0/3.0; mov.b64 %rd1, %fd1;", *struct.unpack("<q", struct.pack("<d", 1 / 3))),
    ("mov.f32 %f1, 1.0/3.0; mov.b32 %r1, %f1; cvt.u64.u32 %rd1, %r1;", *struct.unpack("<I", struct.pack("<f", 1 / 3))),
    ("add.s64 %rd1, %rd1, -(3 - 5);", 2), ("lop3.b32 %r1, %r1, 5*2, 12, (0xF0&0xCC)|0xAA; cvt.u64.u32 %rd1, %r1;", 12),
    ("setp.lt.s64 %p1, %rd1, 3*4; @%p1 mov.u64 %rd1, 5 > 3;", 1),
    ("setp.eq.u64 %p1, %rd1, 0; setp.eq.and.u64 %p2|%p1, %rd1, !3, !%p1; selp.u64 %rd1, 2+2, ~0, %p2;", -1),
    ("mov.b64 %rd1, {1+1, WARP_SZ*2};", 64 << 32 | 2), ("mov.u64 %rd1, 1 ? 2 : 3;", 2),
    ("ld.global.u32 %r1, [table+4*(2-1)]; cvt.u64.u32 %rd1, %r1;", 2),
    ("ld.global.u32 %r1, [table+4+4]; cvt.u64.u32 %rd1, %r1;", 3),
    ("mov.u64 %rd2, table+(4|8); ld.global.u32 %r1, [%rd2+-(8)]; cvt.u64.u32 %rd1, %r1;", 2),
    ("ld.global.u64 %rd2, [pointers]; ld.global.u32 %r1, [%rd2]; cvt.u64.u32 %rd1, %r1;", 3),
    ("ld.global.u64 %rd2, [pointers+1<<3]; ld.global.u32 %r1, [%rd2]; cvt.u64.u32 %rd1, %r1;", 2),
    ("ld.global.u32 %r1, [table+WARP_SZ-24]; cvt.u64.u32 %rd1, %r1; bar.sync 1+1, 16*2;", 3),
])
def test_operands(body, value, optimise):
    program = compile_ptx(KERNEL.format(body), "k.ptx", optimise=optimise)
    launch = Launch((1, 1, 1), (1, 1, 1), (Buffer("out", np.zeros(1, np.uint64)),))
    assert execute(program, launch, record=False).buffers["out"][0] == value % (1 << 64)
