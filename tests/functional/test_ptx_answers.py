"""Small PTX texts with the answers that the PTX ISA defines: skipped text, scopes of names, parameters of calls."""

import numpy as np
import pytest

from warploom import Gpu
from warploom.arch.errors import PtxError
from warploom.arch.launch import Buffer, Launch, Scalar
from warploom.compiler.compile import compile_ptx
from warploom.golden_model.functional.executor import execute

HEAD = ".version 8.7\n.target sm_90\n.address_size 64\n"
REGISTERS = ".reg .pred %p<4>; .reg .b16 %rs<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<4>; .reg .f64 %fd<4>;"
STORE = "ld.param.u64 %rd8, [out]; mad.wide.u32 %rd8, %r0, 4, %rd8; st.global.u32 [%rd8], %r1; ret;"


def entry(body, start=".entry k"):
    """An entry that stores `%r1` for each thread; `%r0` is the number of the thread."""
    return f".visible {start}(.param .u64 out) {{ {REGISTERS} mov.u32 %r0, %tid.x;\n{body}\n{STORE} }}"


def add(number, head=".func (.param .b32 sum) foo (.param .b32 x)"):
    """A function that adds a number."""
    return (f"{head} {{ .reg .b32 %r<3>; ld.param.b32 %r1, [x]; add.u32 %r2, %r1, {number}; st.param.b32 [sum], %r2; "
            "ret; }\n")


CALL = ".param .b32 a; .param .b32 r; st.param.b32 [a], %r0; call (r), foo, (a); ld.param.b32 %r1, [r];"
THREADS = np.arange(32, dtype=np.uint32)


def answers(text, optimise, more=()):
    """What the 32 threads of the entry `k` store; `more` are its other arguments."""
    program = compile_ptx(HEAD + text, "k.ptx", "k", optimise=optimise)
    launch = Launch((1, 1, 1), (32, 1, 1), (Buffer("out", np.zeros(32, np.uint32)), *more))
    return execute(program, launch, record=False).buffers["out"]


def check(text, expected):
    for optimise in (True, False):
        np.testing.assert_array_equal(answers(text, optimise), np.broadcast_to(expected, 32))


def failure(text):
    """The error in `text`, which has to name the file and a line."""
    with pytest.raises(PtxError) as caught:
        compile_ptx(HEAD + text, "k.ptx", "k")
    assert caught.value.file == "k.ptx"
    assert caught.value.line
    return caught.value.message


# ---------------------------------------------------------------- names


POINTED = ".global .u64 p = g; ld.global.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1];"


@pytest.mark.parametrize(("text", "expected"), [
    (entry("mov.u32 %r1, 5; { add.u32 %r1, %r1, 1; .reg .b32 %r1; mov.u32 %r1, 99; }"), 6),
    (entry("mov.u32 %r1, 5; { add.u32 %r1, %r1, 1; .reg .b64 %r<3>; mov.u64 %r1, 99; }"), 6),
    (entry(".local .u32 v; .local .u32 w; st.local.u32 [v], 6; { st.local.u32 [w], 1; ld.local.u32 %r1, [v];"
           ".local .u32 v; st.local.u32 [v], 5; }"), 6),
    (entry("mov.u32 %r1, 5; { bra L; mov.u32 %r1, 4; L: add.u32 %r1, %r1, 1; } bra L; mov.u32 %r1, 3; L:"), 6),
    (entry(".global .u32 g = 6;" + POINTED), 6),
    (".global .u32 g = 5;" + entry(".global .u32 g = 6;" + POINTED), 6),
    (".global .u32 g = 6;" + entry(POINTED + "{ .global .u32 g = 5; ld.global.u32 %r2, [g]; }"), 6),
    (".global .u32 g = 5;" + entry("{ .global .u32 g = 6;" + POINTED + "}"), 6),
    (".global .u32 out = 3;" + entry("mov.u32 %r1, 6;"), 6),
    (".global .u32 out = 6; .func (.param .b32 r) f() { .reg .b32 %r; ld.global.u32 %r, [out]; st.param.b32 [r], %r;"
     "ret; }" + entry("call (%r1), f;"), 6),
])
def test_a_name_means_the_last_declaration_before_it(text, expected):
    check(text, expected)


@pytest.mark.parametrize(("text", "message"), [
    (entry("mov.u32 %a, 5; .reg .b32 %a;"), "register '%a' is not declared"),
    (entry("bra NEAR+4; NEAR:"), "a branch needs a label, without an offset"),
    (entry("bra 4;"), "a branch needs a label, without an offset"),
    (entry(".global .u64 p = later; .global .u32 later;"), "the initialiser of 'p' refers to 'later', which is no "),
    (".global .u32 out;" + entry(".global .u64 p = out;"), "the initialiser of 'p' refers to 'out', which is no "),
    (".extern .global .u32 g;" + entry(POINTED), "the initialiser of 'p' refers to 'g', which is not defined here"),
])
def test_names_without_meaning(text, message):
    assert failure(text).startswith(message)


def test_global_variables_of_functions_keep_their_contents(tmp_path):
    count = ".func (.param .b32 n) count() { .global .u32 c = 5; .reg .b32 %r; atom.global.add.u32 %r, [c], 1; " \
            "st.param.b32 [n], %r; ret; }\n"
    own = ".global .u32 c = 100; atom.global.add.u32 %r2, [c], 1; add.u32 %r1, %r1, %r2;"
    call = "call (%r1), count;"
    (tmp_path / "k.ptx").write_text(HEAD + count + entry(call) + entry(call + own, ".entry other") + entry(
        "mov.u32 %r1, 1;", ".entry neither"))
    gpu = Gpu("small", timing=False)
    module, out = gpu.module(tmp_path / "k.ptx"), gpu.zeros(1, np.uint32)
    found = []
    for name in ("k", "k", "other", "neither", "k", "other"):
        module[name][1, 1](out)
        found.append(int(out.numpy()[0]))
    assert found == [5, 6, 7 + 100, 1, 8, 9 + 101]


# ---------------------------------------------------------------- parameters


SWAP = """.func (.param .align 4 .b8 y[8]) swap(.param .align 4 .b8 x[8]) {
.reg .b32 %a; .reg .b64 %p; mov.b64 %p, x;
ld.param.b32 %a, [%p+4]; st.param.b32 [y], %a; ld.param.b32 %a, [%p]; st.param.b32 [y+4], %a; ret; }
"""
WRITE = """.func write(.param .align 4 .b8 x[12]) {
.reg .b64 %p; mov.b64 %p, x; st.local.u32 [%p], 1; st.local.u32 [%p+8], 2; ret; }
"""
LATE = add(100).replace("ld.param", "st.param.b32 [sum], 1000; ld.param")
FLOAT = """.func (.param .f32 y) half(.param .f32 x) {
.reg .f32 %f; ld.param.f32 %f, [x]; mul.f32 %f, %f, 0f3F000000; st.param.f32 [y], %f; ret; }
"""


@pytest.mark.parametrize(("text", "expected"), [
    (LATE + entry(".param .b32 a; st.param.b32 [a], %r0; call (a), foo, (a); ld.param.b32 %r1, [a];"), THREADS + 100),
    (LATE + entry(".param .b32 a; st.param.b32 [a], %r0; call (a), foo, (a); call (a), foo, (a);"
                  "ld.param.b32 %r1, [a];"), THREADS + 200),
    (SWAP + entry(".param .align 4 .b8 a[8]; st.param.b32 [a], %r0; st.param.b32 [a+4], 3; call (a), swap, (a);"
                  "ld.param.b32 %r1, [a+4]; ld.param.b32 %r2, [a]; mad.lo.u32 %r1, %r2, 100, %r1;"), THREADS + 300),
    (WRITE + entry(".param .align 8 .b8 a[12]; st.param.b32 [a], 4; st.param.b32 [a+8], 5; call write, (a);"
                   "ld.param.b32 %r1, [a]; ld.param.b32 %r2, [a+8]; add.u32 %r1, %r1, %r2;"), 9),
    (LATE + ".func (.param .b32 y) twice(.param .b32 x) { call (y), foo, (x); call (y), foo, (y); ret; }"
     + entry(CALL.replace("foo", "twice")), THREADS + 200),
    (LATE + entry("mov.u32 %r1, 1; setp.lt.u32 %p1, %r0, 4; @%p1 call (%r1), foo, (%r0);"),
     np.where(THREADS < 4, THREADS + 100, 1)),
    (LATE + entry("call (%r1), foo, (%r0);"), THREADS + 100),
    (LATE + entry("call (%r1), foo, (-7);"), 93),
    (LATE + entry("call (_), foo, (7); mov.u32 %r1, 1;"), 1),
    (FLOAT + entry(".param .f32 a; st.param.f32 [a], 5.0; call (%f1), half, (a); mov.b32 %r1, %f1;"), 0x40200000),
    (FLOAT + entry("call (%f1), half, (5.0); mov.b32 %r1, %f1;"), 0x40200000),
    (FLOAT + entry("call (%f1), half, (0f40A00000); mov.b32 %r1, %f1;"), 0x40200000),
])
def test_parameters_are_passed_by_value(text, expected):
    check(text, expected)


REGISTERS_PASSED = """.func (.reg .u32 sum, .reg .f64 twice) f(.reg .u32 a, .reg .f64 b, .reg .b16 c, .param .b32 d) {
.reg .u32 t; ld.param.u32 t, [d]; add.u32 a, a, t; cvt.u32.u16 t, c; add.u32 sum, a, t; add.f64 twice, b, b; ret; }
"""
PASSED = ".param .b32 x, y; st.param.b32 [x], %r0; cvt.rn.f64.u32 %fd1, %r0; mov.b16 %rs1, 7; mov.f64 %fd2, 1.0;"


@pytest.mark.parametrize(("call", "result", "expected"), [
    ("call (%r1, %fd2), f, (%r0, %fd1, %rs1, 5);", "cvt.rni.u32.f64 %r2, %fd2; add.u32 %r1, %r1, %r2;",
     3 * THREADS + 12),
    ("call (%r1, _), f, (x, 0d3FF0000000000000, 1, %r0);", "", 2 * THREADS + 1),
    ("call (y, _), f, (1, 1.5, 2, x);", "ld.param.b32 %r1, [y];", THREADS + 3),
    ("mov.u32 %r1, 99; setp.lt.u32 %p1, %r0, 7; @%p1 call (%r1, _), f, (%r0, 1.5, 2, x);", "",
     np.where(THREADS < 7, 2 * THREADS + 2, 99)),
    ("call (%r0, _), f, (%r0, 1.5, 2, 3); mov.u32 %r1, %r0; mov.u32 %r0, %tid.x;", "", THREADS + 5),
])
def test_parameters_in_registers(call, result, expected):
    """They are copies: the function may write to them."""
    check(REGISTERS_PASSED + entry(PASSED + call + result), expected)


@pytest.mark.parametrize(("text", "message"), [
    (".func f(.reg .pred p) { ret; }" + entry(""), "register parameters of type .pred are not supported"),
    (".func f(.reg .u8 p) { ret; }" + entry(""), "register parameters of type .u8 are not supported; they have 16, 32"),
    (".func f(.reg .u32 p) { ret; }" + entry("call f, (%rd1);"), "parameter 'p' has 4 bytes, the call gives 8"),
    (".func f(.reg .f64 p) { ret; }" + entry("call f, (1);"), "mov.f64: an integer literal is given where .f64 is"),
    (".func f(.reg .u32 p, .reg .u32 p) { ret; }" + entry("call f, (1, 2);"), "'p' is declared twice in one scope"),
    (".visible .entry k(.reg .u32 p) { ret; }", "a kernel has parameters in .param memory, and none in registers"),
])
def test_parameters_that_registers_cannot_be(text, message):
    assert failure(text).startswith(message)


def test_a_device_function_reads_the_kernels_parameters():
    """Through their address; `.param` alone is the function's own."""
    text = """.func (.param .b32 y) foo(.param .b64 x) {
    .reg .b32 %r<3>; .reg .b64 %p; ld.param.b64 %p, [x]; ld.param::entry.b32 %r1, [%p]; mov.b64 %p, x;
    ld.param::func.b32 %r2, [%p]; add.u32 %r1, %r1, %r2; st.param::func.b32 [y], %r1; ret; }
    """ + entry(".local .b32 l; st.local.b32 [l], 55; mov.b64 %rd1, v; call (%r1), foo, (%rd1);").replace(
        ".param .u64 out", ".param .u64 out, .param .u32 v")
    for optimise in (True, False):
        assert set(answers(text, optimise, (Scalar("u32", np.uint32(1234).tobytes()),))) == {1234 + 8}


@pytest.mark.parametrize(("text", "message"), [
    (LATE + entry("call (5), foo, (7);"), "a call can only return to .param variables of its function, registers "),
    (LATE + entry("call (%r1), foo, (_);"), "a call can only pass .param variables of its function, registers and "),
    (LATE + entry("call (%r1), foo, (%rs1);"), "parameter 'x' has 4 bytes, the call gives 2"),
    (LATE + entry("call (%r1), foo, (out);"), "a call can only pass .param variables of its function, registers and "),
    (FLOAT + entry("call (%f1), half, (5);"), "mov.f32: an integer literal is given where .f32 is required"),
    (add(1).replace("ld.param.b32", "ld.param::entry.b32") + entry(CALL), "ld.param::entry.b32: x lies in .local"),
])
def test_parameters_that_cannot_be_passed(text, message):
    assert failure(text).startswith(message)


# ---------------------------------------------------------------- text without meaning


@pytest.mark.parametrize(("text", "expected"), [
    (entry("mov.u32 %r1, 5;", ".entry /* main */ k"), 5),
    (entry("mov.u32 %r1, 5;", ".entry // main {\n k"), 5),
    (add(7, ".func (.param .b32 sum) /* adds */ foo (.param .b32 x)") + entry(CALL), THREADS + 7),
    (add(7, ".func (.param .b32 /* a ) */ sum) foo (.param .b32 x)") + entry(CALL), THREADS + 7),
    (add(7, ".func .attribute(.unified(1, 2)) (.param .b32 sum) foo (.param .b32 x)") + entry(CALL), THREADS + 7),
    (add(7, ".func (.param .b32 sum) bar (.param .b32 x)") + ".alias /* c */ foo, bar;" + entry(CALL), THREADS + 7),
    ('.file 1 "a.cu", 12, 34 ' + entry("mov.u32 %r1, 5; .loc 1 5 0 add.u32 %r1, %r1, 1;"), 6),
    ('.file 1 "a{b.cu"\n' + entry("mov.u32 %r1, 5;\n.loc 1 5 0, function_name $L+8, inlined_at 1 2 3 add.u32 %r1, "
                                  "%r1, 1;"), 6),
])
def test_skipped_text_hides_nothing(text, expected):
    check(text, expected)


@pytest.mark.parametrize(("text", "message"), [
    (".entry [] k() { ret; } " + entry(""), "unexpected '[]'"),
    (entry(".loc 1 x;"), "unexpected '.loc'"),
    (entry("@%p1 call;"), "unexpected ';'"),
    (entry("@%p1 call foo, bar baz;"), "unexpected 'baz;'"),
    (".global .u32 g;" + entry("ld.global.u32 [g];"), "ld.global.u32: "),
    (".global .u32 g;" + entry("atom.global.add.u32; st.global.u32 [g], 1;"), "atom.global.add.u32: "),
    (".global .u32 g;" + entry("red.global.add.u32; mov.u64 %rd1, g;"), "red.global.add.u32: "),
    (".global .u32 g;" + entry("st.global.u32; ld.global.u32 %r1, [g];"), "st.global.u32: "),
    (entry("mov.f64 %fd1, 0f3F800000;"), "mov.f64: a .f32 literal is given where .f64 is required"),
    (".global .f64 x = 0f3F800000;" + entry(""), "a .f32 literal cannot initialise .f64"),
])
def test_text_that_is_no_ptx(text, message):
    assert failure(text).startswith(message)


@pytest.mark.parametrize("type_", ["b128", "texref"])
def test_registers_of_types_that_are_not_supported(type_):
    message = failure(entry(f".reg .{type_} %x; mov.b64 %x, 1;"))
    assert message.startswith(f"register %x: type .{type_} is not supported")


def test_parameters_of_types_that_are_not_supported():
    text = entry("").replace(".param .u64 out", ".param .u64 out, .param .texref image")
    assert failure(text) == "parameters of type .texref are not supported"


# ---------------------------------------------------------------- hints


def test_hints_have_no_effect():
    """To caches, with and without a policy, and to the launch of the next grid."""
    check(entry("""griddepcontrol.wait; ld.param.u64 %rd1, [out]; mad.wide.u32 %rd2, %r0, 4, %rd1;
prefetch.global.L2::evict_last [%rd2]; prefetchu.L1 [%rd2]; discard.global.L2 [%rd1], 128;
applypriority.global.L2::evict_normal [%rd1], 128;
createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %rd3, 0.5;
createpolicy.range.global.L2::evict_last.b64 %rd4, [%rd1], 128, 128; createpolicy.cvt.L2.b64 %rd5, 0x10F0000000000000;
st.global.L2::cache_hint.u32 [%rd2], %r0, %rd3; ld.global.L1::no_allocate.L2::cache_hint.L2::128B.u32 %r2, [%rd2], %rd4;
atom.global.add.L2::cache_hint.u32 %r3, [%rd2], 5, %rd5; red.global.add.L2::cache_hint.u32 [%rd2], 7, %rd5;
ld.global.u32 %r4, [%rd2]; add.u32 %r1, %r2, %r4; griddepcontrol.launch_dependents;"""), 2 * THREADS + 12)
