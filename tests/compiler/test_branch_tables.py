"""brx.idx: branches through tables of labels, as clang and `nvcc -jtd` make them of `switch`."""

import numpy as np
import pytest

from warploom.arch.launch import Buffer, Launch
from warploom.compiler.compile import compile_ptx
from warploom.golden_model.functional.executor import execute

HEAD = ".version 7.0\n.target sm_75\n.address_size 64\n"
KERNEL = """.visible .entry k(.param .u64 out) {{
.reg .pred %p; .reg .b32 %r<4>; .reg .b64 %rd0;
mov.u32 %r0, %tid.x; ld.param.u64 %rd0, [out]; mad.wide.u32 %rd0, %r0, 4, %rd0; mov.u32 %r1, 99;
{}
END: st.global.u32 [%rd0], %r1; ret; }}
"""


def answers(text, optimise):
    """What 32 threads store."""
    launch = Launch((1, 1, 1), (32, 1, 1), (Buffer("out", np.zeros(32, np.uint32)),))
    program = compile_ptx(HEAD + text, "k.ptx", "k", optimise=optimise)
    return execute(program, launch, record=False).buffers["out"].tolist()


def cases(count):
    """For each of N0, N1, ... a block that leaves its number in %r1."""
    return " ".join(f"N{number}: mov.u32 %r1, {number}; bra END;" for number in range(count))


@pytest.mark.parametrize("optimise", [True, False])
@pytest.mark.parametrize("count", [1, 2, 3, 5, 16, 32])
def test_each_lane_goes_to_its_label(count, optimise):
    body = f"rem.u32 %r2, %r0, {count}; T: .branchtargets N<{count}>; brx.idx %r2, T; {cases(count)}"
    assert answers(KERNEL.format(body), optimise) == [lane % count for lane in range(32)]


@pytest.mark.parametrize("optimise", [True, False])
def test_a_table_as_clang_writes_it(optimise):
    """The default fills holes, the table stands in a block of its own, and a comment in the list."""
    body = f"""setp.gt.u32 %p, %r0, 6; @%p bra N0;
    {{ $L_brx_0: .branchtargets
        N1, N0, // a hole
        N2, N2, N0, N3, N1;
    brx.idx %r0, $L_brx_0; }}
    {cases(4)}"""
    assert answers(KERNEL.format(body), optimise) == [1, 0, 2, 2, 0, 3, 1, *[0] * 25]


@pytest.mark.parametrize("optimise", [True, False])
@pytest.mark.parametrize(("guard", "taken"), [("@%p", range(5)), ("@!%p", range(5, 32))])
def test_a_guard(guard, taken, optimise):
    body = (f"setp.lt.u32 %p, %r0, 5; and.b32 %r2, %r0, 3; T: .branchtargets N<4>; {guard} brx.idx.uni %r2, T; "
            f"mov.u32 %r1, 7; bra END; {cases(4)}")
    assert answers(KERNEL.format(body), optimise) == [lane % 4 if lane in taken else 7 for lane in range(32)]


@pytest.mark.parametrize("optimise", [True, False])
def test_a_loop_over_a_table_in_a_function_that_is_inlined_twice(optimise):
    """A machine of four states. Each copy of the function has labels of its own."""
    function = """.func (.param .b32 sum) run(.param .b32 state) {
    .reg .pred %p; .reg .b32 %r<4>; ld.param.b32 %r0, [state]; mov.u32 %r1, 0; mov.u32 %r2, 0;
    T: .branchtargets A, B, C, D;
    LOOP: brx.idx %r0, T;
    A: add.u32 %r1, %r1, 1; mov.u32 %r0, 2; bra NEXT;
    B: add.u32 %r1, %r1, 10; mov.u32 %r0, 0; bra NEXT;
    C: add.u32 %r1, %r1, 100; mov.u32 %r0, 1; bra NEXT;
    D: st.param.b32 [sum], %r1; ret;
    NEXT: add.u32 %r2, %r2, 1; setp.ge.u32 %p, %r2, 4; @%p mov.u32 %r0, 3; bra LOOP; }
    """
    call = "{{ .param .b32 a; .param .b32 r; st.param.b32 [a], {}; call (r), run, (a); ld.param.b32 {}, [r]; }}"
    body = f"and.b32 %r2, %r0, 3; {call.format('%r2', '%r3')} {call.format(0, '%r1')} add.u32 %r1, %r1, %r3;"

    def run(state, total=0):
        for _ in range(4):
            if state < 3:
                total, state = total + (1, 10, 100)[state], (2, 0, 1)[state]
        return total

    assert answers(function + KERNEL.format(body), optimise) == [run(lane % 4) + run(0) for lane in range(32)]


def test_a_label_of_an_inner_block_is_not_the_one_in_a_table_around_it():
    body = f"T: .branchtargets N1, N1; {{ bra N0; N1: mov.u32 %r1, 50; bra END; N0: brx.idx %r0, T; }} {cases(2)}"
    assert answers(KERNEL.format(f"and.b32 %r0, %r0, 1; {body}"), optimise=True) == [1] * 32
