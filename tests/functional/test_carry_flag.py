"""The carry flag of PTX between additions and subtractions: one flag, which a subtraction sets where nothing was
borrowed."""

import random
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import warploom
from warploom.arch.errors import PtxError

PTX = """\
.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {{
.reg .b32 %r<2>; .reg .b64 %rd<4>; .reg .{kind} %a, %b, %c, %d, %e, %f; .reg .pred %p;
mov.u32 %r0, %tid.x; mul.wide.u32 %rd0, %r0, 32; ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];
add.u64 %rd1, %rd1, %rd0; add.u64 %rd2, %rd2, %rd0; setp.lt.u32 %p, %r0, 16;
ld.global.{kind} %a, [%rd1]; ld.global.{kind} %b, [%rd1+8];
ld.global.{kind} %c, [%rd1+16]; ld.global.{kind} %d, [%rd1+24];
{lines}
st.global.{kind} [%rd2], %e; st.global.{kind} [%rd2+8], %f;
ret;
}}
"""
THREADS = 64


def run(module, name: str, words: list[int]) -> list[int]:
    """The 64-bit words that a block of `THREADS` threads makes of others."""
    gpu = warploom.Gpu("small", timing=False)
    out = gpu.zeros(len(words), np.uint64)
    gpu.module(module)[name][1, THREADS](gpu.array(np.array(words, np.uint64)), out)
    return out.numpy().tolist()


def kernel(folder: Path, lines: str, kind: str = "u32") -> Path:
    """A file with a kernel of these lines."""
    path = folder / "k.ptx"
    path.write_text(PTX.format(lines=lines, kind=kind))
    return path


def writes(opcode: str, a: int, b: int, ones: int) -> tuple[int, int]:
    """Result and flag."""
    total = a + b if opcode == "add" else a + (b ^ ones) + 1
    return total & ones, total > ones


def reads(opcode: str, c: int, d: int, ones: int, flag: int) -> int:
    """Result of an instruction that reads the flag."""
    return {"addc": c + d + flag, "subc": c + (d ^ ones) + flag, "madc.lo": c * d + d + flag}[opcode] & ones


@pytest.mark.parametrize(("first", "second", "bits"), [*product(("add", "sub"), ("addc", "subc", "madc.lo"), (32, 64))])
def test_a_flag_written_by_one_operation_is_read_by_the_next(tmp_path, seed, first, second, bits):
    rng, ones = random.Random(seed), (1 << bits) - 1
    words = [rng.choice((0, 1, ones, rng.getrandbits(bits))) for _ in range(4 * THREADS)]
    last = "%c, %d, %d" if second == "madc.lo" else "%c, %d"
    lines = f"{first}.cc.u{bits} %e, %a, %b; {second}.u{bits} %f, {last};"
    found, expected = run(kernel(tmp_path, lines, f"u{bits}"), "k", words), []
    for a, b, c, d in zip(*[iter(words)] * 4, strict=True):
        result, flag = writes(first, a, b, ones)
        expected += [result, reads(second, c, d, ones, flag), 0, 0]
    assert found == expected


def test_division_of_128_bits(seed):
    rng = random.Random(seed)
    corners = (1, 1 << 32, 1 << 64, 1 << 127, (1 << 64) - 1, (1 << 128) - 1)
    pairs = [tuple(rng.choice((*corners, rng.getrandbits(rng.randint(1, 128)) or 1)) for _ in range(2))
             for _ in range(THREADS)]
    halves = [(number & (1 << 64) - 1, number >> 64) for pair in pairs for number in pair]
    file = Path(__file__).parents[1] / "ptx" / "division.ptx"
    found = run(file, "divide", [word for half in halves for word in half])
    results = [low | high << 64 for low, high in zip(found[::2], found[1::2], strict=True)]
    assert list(zip(results[::2], results[1::2], strict=True)) == [divmod(*pair) for pair in pairs]


@pytest.mark.parametrize(("lines", "refused"), [
    ("add.cc.u32 %e, %a, %b; @%p bra L; add.cc.u32 %e, %c, %b; L: addc.u32 %f, 0, 0;", False),
    ("sub.cc.u32 %e, %a, %b; @%p bra L; sub.cc.u32 %e, %c, %b; L: addc.u32 %f, 0, 0;", False),
    ("add.cc.u32 %e, %a, %b; @%p bra L; sub.cc.u32 %e, %c, %b; L: addc.u32 %f, 0, 0;", True),
    ("add.cc.u32 %e, %a, %b; @%p sub.cc.u32 %e, %c, %b; addc.u32 %f, 0, 0;", True),
    ("sub.cc.u32 %e, %a, %b; @%p sub.cc.u32 %e, %c, %b; addc.u32 %f, 0, 0; add.cc.u32 %e, %a, %b;", False),
    ("add.cc.u32 %e, %a, %b; @%p sub.cc.u32 %e, %c, %b; sub.cc.u32 %e, %c, %b; addc.u32 %f, 0, 0;", False),
])
def test_a_flag_of_either_kind_is_refused(tmp_path, lines, refused):
    path, words = kernel(tmp_path, lines), [5] * 4 * THREADS
    if refused:
        with pytest.raises(PtxError, match="the carry flag is that of an addition or that of"):
            run(path, "k", words)
    else:
        assert run(path, "k", words)[1] == ("sub" in lines)
