"""Instructions on 32-bit words for which `vectors/` has no recordings, against Python's integers."""

import numpy as np
import pytest

from warploom.arch.errors import PtxError
from warploom.arch.launch import Buffer, Launch
from warploom.compiler.compile import compile_ptx
from warploom.golden_model.functional.executor import execute

PTX = """.version 8.3
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {{
.reg .b32 %r, %a, %b, %c, %n; .reg .b64 %in, %out, %at;
mov.u32 %n, %tid.x; mul.wide.u32 %at, %n, 12; ld.param.u64 %in, [in]; add.u64 %in, %in, %at;
ld.global.b32 %a, [%in]; ld.global.b32 %b, [%in+4]; ld.global.b32 %c, [%in+8];
{}
ld.param.u64 %out, [out]; mad.wide.u32 %out, %n, 4, %out; st.global.b32 [%out], %r;
ret;
}}"""

CORNERS = [0, 1, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x00FF80FF, 0x80007FFF, 0x7FFF8000]
PAIRS = np.concatenate([np.stack(np.meshgrid(CORNERS, CORNERS), -1).reshape(-1, 2),
                        np.random.default_rng(16).integers(0, 1 << 32, (135, 2))]).astype(np.uint32)


def results(line: str, rows: np.ndarray, *, optimise: bool = True) -> list[int]:
    """%r of a line of PTX for each row (%a, %b, %c)."""
    program = compile_ptx(PTX.format(line), "k.ptx", optimise=optimise)
    count = len(rows)
    buffers = Buffer("in", rows), Buffer("out", np.zeros(count, np.uint32))
    return execute(program, Launch((1, 1, 1), (count, 1, 1), buffers), record=False).buffers["out"].tolist()


def parts(word: int, bits: int, signed: bool) -> list[int]:
    """The numbers of so many bits in a word, lowest first."""
    found = [word >> place & (1 << bits) - 1 for place in range(0, 32, bits)]
    return [part - (part >> bits - 1 << bits) for part in found] if signed else found


def apart(bits: int, signed: bool, function):
    """The function of two words that applies `function` to their parts."""
    def whole(a: int, b: int) -> int:
        done = map(function, parts(a, bits, signed), parts(b, bits, signed))
        return sum(part % (1 << bits) << bits * place for place, part in enumerate(done))

    return whole


def added(bits: int, a: int, b: int) -> int:
    """The sum of the absolute differences of the parts of %a and %b, and of %c, which is %a."""
    differences = zip(parts(a, bits, False), parts(b, bits, False), strict=True)
    return (a + sum(abs(x - y) for x, y in differences)) % (1 << 32)


PACKED = {
    "add.u16x2 %r, %a, %b;": apart(16, False, lambda x, y: x + y),
    "add.s16x2 %r, %a, %b;": apart(16, True, lambda x, y: x + y),
    "min.u16x2 %r, %a, %b;": apart(16, False, min),
    "max.u16x2 %r, %a, %b;": apart(16, False, max),
    "min.s16x2 %r, %a, %b;": apart(16, True, min),
    "max.s16x2 %r, %a, %b;": apart(16, True, max),
    "min.s16x2.relu %r, %a, %b;": apart(16, True, lambda x, y: max(0, min(x, y))),
    "max.s16x2.relu %r, %a, %b;": apart(16, True, lambda x, y: max(0, x, y)),
    "min.relu.s32 %r, %a, %b;": apart(32, True, lambda x, y: max(0, min(x, y))),
    "max.s32.relu %r, %a, %b;": apart(32, True, lambda x, y: max(0, x, y)),
    "vabsdiff2.u32.u32.u32 %r, %a, %b, %r;": apart(16, False, lambda x, y: abs(x - y)),
    "vabsdiff2.u32.u32.u32.add %r, %a, %b, %c;": lambda a, b: added(16, a, b),
    "vabsdiff4.u32.u32.u32 %r, %a, %b, %r;": apart(8, False, lambda x, y: abs(x - y)),
    "vabsdiff4.u32.u32.u32.add %r, %a, %b, %c;": lambda a, b: added(8, a, b),
    "mov.b32 %r, %a; add.u16x2 %r, %r, 0x00018000;": lambda a, b: apart(16, False, lambda x, y: x + y)(a, 0x00018000),
}


@pytest.mark.parametrize("line", PACKED, ids=str)
def test_parts_of_a_word(line):
    rows = np.column_stack([PAIRS, PAIRS[:, 0]])
    assert results(line, rows) == [PACKED[line](int(a), int(b)) for a, b in PAIRS]


def nth(mask: int, base: int, offset: int) -> int:
    """fns.b32 as the PTX ISA writes it."""
    position, left, step = base, max(abs(offset) - 1, 0), -1 if offset < 0 else 1
    while 0 <= position < 32:
        if mask >> position & 1:
            if not left:
                return position
            left -= 1
        if not offset:
            break
        position += step
    return 0xFFFFFFFF


def test_find_the_nth_set_bit():
    rng = np.random.default_rng(32)
    rows = np.column_stack([rng.integers(0, 1 << 32, 1024), rng.integers(0, 34, 1024), rng.integers(-20, 21, 1024)])
    rows[:4, 0], rows[4:8, 0], rows[8:300, 2] = 0xFFFFFFFF, 0, 0
    rows[:4, 1:] = [(0, 32), (31, -32), (0, 33), (31, -(1 << 31))]
    wanted = [nth(*map(int, row)) for row in rows]
    assert results("fns.b32 %r, %a, %b, %c;", rows.astype(np.uint32)) == wanted
    wanted = [nth(int(row[0]), 0, 3) for row in rows]
    assert results("fns.b32 %r, %a, 0, 3;", rows.astype(np.uint32)) == wanted


@pytest.mark.parametrize("optimise", [True, False])
@pytest.mark.parametrize(("line", "wanted"), [
    ("lop3.or.b32 %d|%p, %a, %b, %c, 0x96, %q;", lambda d, q: (d, d != 0 or q)),
    ("lop3.and.b32 %d|%p, %a, %b, %c, 0x96, !%q;", lambda d, q: (d, d != 0 and not q)),
    ("lop3.and.b32 _|%p, %a, %b, %c, 0x196, 1;", lambda d, q: (7, d != 0)),
    ("mov.b32 %d, %a; lop3.or.b32 %d|%q, %d, %b, %c, 0x96, %q; mov.pred %p, %q;", lambda d, q: (d, d != 0 or q)),
    ("@%q lop3.or.b32 %d|%p, %a, %b, %c, 0x96, 0;", lambda d, q: (d, d != 0) if q else (7, False)),
])
def test_lop3_with_a_predicate(line, wanted, optimise):
    """%p is the upper bit of the result."""
    rows = np.concatenate([np.column_stack([PAIRS, PAIRS[:, 0] ^ PAIRS[:, 1]]),  # whose parity is 0
                           np.column_stack([PAIRS, PAIRS[::-1, 0]])]).astype(np.uint32)
    text = f""".reg .b32 %d; .reg .pred %p, %q; mov.b32 %d, 7; setp.ne.u32 %p, %n, %n; and.b32 %r, %n, 1;
    setp.eq.u32 %q, %r, 1; {line} selp.u32 %r, 0x80000000, 0, %p; and.b32 %d, %d, 0x7FFFFFFF; or.b32 %r, %r, %d;"""
    expected = []
    for number, (a, b, c) in enumerate(rows.tolist()):
        d, p = wanted(a ^ b ^ c, bool(number & 1))
        expected.append(d & 0x7FFFFFFF | bool(p) << 31)
    assert results(text, rows, optimise=optimise) == expected


@pytest.mark.parametrize("optimise", [True, False])
@pytest.mark.parametrize("type_", ["u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2"])
def test_packed_conversions(type_, optimise):
    """As the PTX ISA writes them, bit by bit."""
    bits, signed = int(type_[1:]), type_[0] == "s"
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    rng = np.random.default_rng(9)
    rows = np.concatenate([np.column_stack([PAIRS, PAIRS[::-1, 1]]), rng.integers(-20, 20, (200, 3)).astype(np.uint32)])

    def packed(row: list[int]) -> int:
        a, b = (min(max(word - (word >> 31 << 32), low), high) % (1 << bits) for word in row[:2])
        return a << bits | b if bits == 16 else (row[2] << 2 * bits | a << bits | b) % (1 << 32)

    line = f"cvt.pack.sat.{type_}.s32{'' if bits == 16 else '.b32'} %r, %a, %b{'' if bits == 16 else ', %c'};"
    assert results(line, rows, optimise=optimise) == [packed(row) for row in rows.tolist()]


def test_packed_conversions_of_constants():
    rows = PAIRS[:64].repeat(2, 1)[:, :3]
    assert results("cvt.pack.sat.u8.s32.b32 %r, 300, -5, 0x1234;", rows) == [0x1234FF00] * 64
    assert results("mov.b32 %r, %a; cvt.pack.sat.s16.s32 %r, 70000, %r;", rows) == [
        0x7FFF0000 | min(max(a - (a >> 31 << 32), -0x8000), 0x7FFF) & 0xFFFF for a in rows[:, 0].tolist()]


@pytest.mark.parametrize("optimise", [False, True])
@pytest.mark.parametrize(("line", "expected"), [
    ("mov.b32 {x0, x1, x2, x3}, %a; mov.b32 %r, {x3, x2, x1, x0};", lambda a: a[::-1]),
    ("mov.b32 {_, x1, _, x3}, %a; mov.b16 %h, {x3, x1}; cvt.u32.u16 %r, %h;", lambda a: (a[3], a[1], 0, 0)),
    ("cvt.u16.u32 %h, %a; mov.b16 {x0, x1}, %h; mov.b32 %r, {x1, x0, x0, x1};", lambda a: (a[1], a[0], a[0], a[1])),
    # what is above a byte is no part of it
    ("ld.global.s8 x0, [%in+1]; mov.b16 %h, {x0, x0}; cvt.u32.u16 %r, %h;", lambda a: (a[1], a[1], 0, 0)),
    ("ld.global.s8 x2, [%in+2]; mov.b32 %r, {x2, x2, x2, x2};", lambda a: (a[2],) * 4),
])
def test_moves_of_bytes(line, expected, optimise):
    found = results(".reg .b8 x<4>; .reg .b16 %h; " + line, np.c_[PAIRS, PAIRS[:, 0]], optimise=optimise)
    assert found == [int.from_bytes(bytes(expected(int(a).to_bytes(4, "little"))), "little") for a, _ in PAIRS]


@pytest.mark.parametrize(("line", "message"), [
    ("mov.b16 {x0, x1, x2, x3}, %h;", "4 parts of .b16"), ("mov.b32 {%a, %b, %c}, %a;", "3 parts of .b32"),
    ("mov.b32 {x0, x1}, %a;", "x0 is a .b8 register where .b16 is required"),
])
def test_moves_of_other_parts_are_refused(line, message):
    with pytest.raises(PtxError, match=message):
        results(".reg .b8 x<4>; .reg .b16 %h; " + line, np.c_[PAIRS, PAIRS[:, 0]])
