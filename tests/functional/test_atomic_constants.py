"""Atomics with constants as data, from PTX to memory: values known to the compiler change no result."""

import itertools

import numpy as np
import pytest

from warploom.arch.launch import Buffer, Launch
from warploom.compiler.compile import compile_ptx
from warploom.golden_model.functional.executor import execute

THREADS = 4
BEFORE = (4, 16, 3, 9)
"""Contents of memory: some of the values that compare-and-swap compares with, and others."""

OPERATORS = {
    "add": lambda old, a: old + a, "min": min, "max": max, "and": lambda old, a: old & a, "or": lambda old, a: old | a,
    "xor": lambda old, a: old ^ a, "exch": lambda old, a: a, "cas": lambda old, a, b: b if old == a else old,
}

FORMS = list(itertools.product(OPERATORS, (32, 64), ("global", "shared")))


def constant_kernel(operator: str, bits: int, space: str, values: tuple[int, ...]) -> str:
    """Each thread updates a word of its own, by a literal and by constants that reach the operand through a register;
    old and new value of each go to `out`."""
    kind = f"{'b' if operator in ('and', 'or', 'xor', 'exch', 'cas') else 'u'}{bits}"
    lines = []
    for number, registers in enumerate((False, True)):
        names = [f"%v{slot}" if registers else str(value) for slot, value in enumerate(values)]
        moves = [f"mov.b{bits} %v{slot}, {value};" for slot, value in enumerate(values)] if registers else []
        lines += [f"st.{space}.b{bits} [%m], %old;", *moves,
                  f"atom.{space}.{operator}.{kind} %d, [%m], {', '.join(names)};",
                  f"st.global.b{bits} [%out+{16 * number}], %d;", f"ld.{space}.b{bits} %d, [%m];",
                  f"st.global.b{bits} [%out+{16 * number + 8}], %d;"]
    place = "add.u64 %m, %out, 32;" if space == "global" else "mov.u64 %m, words; add.u64 %m, %m, %at;"
    return f""".version 8.3
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p_in, .param .u64 p_out)
{{
.reg .b32 %t; .reg .b64 %at, %in, %out, %m; .reg .b{bits} %old, %d, %v0, %v1;
.shared .align 8 .b8 words[{8 * THREADS}];
mov.u32 %t, %tid.x; mul.wide.u32 %at, %t, 8;
ld.param.u64 %in, [p_in]; add.u64 %in, %in, %at; ld.global.b{bits} %old, [%in];
ld.param.u64 %out, [p_out]; mad.wide.u32 %out, %t, 40, %out;
{place}
{chr(10).join(lines)}
ret;
}}
"""


@pytest.mark.parametrize(("operator", "bits", "space"), FORMS, ids=str)
@pytest.mark.parametrize("data", [4, 16])
def test_constant_data(operator, bits, space, data):
    values = (data, 4) if operator == "cas" else (data,)
    before = np.array(BEFORE, np.uint64)
    buffers = Buffer("in", before), Buffer("out", np.zeros((THREADS, 5), np.uint64))
    program = compile_ptx(constant_kernel(operator, bits, space, values), "k.ptx")
    out = execute(program, Launch((1, 1, 1), (THREADS, 1, 1), buffers)).buffers["out"]
    wanted = [[old, OPERATORS[operator](old, *values)] * 2 for old in BEFORE]
    assert out[:, :4].tolist() == wanted
