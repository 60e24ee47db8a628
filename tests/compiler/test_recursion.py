"""Recursive functions: CUDA programs against g++, and what PTX may have beyond what nvcc makes of these."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from warploom import Gpu
from warploom.arch.errors import ExecutionError, PtxError
from warploom.arch.isa import Op
from warploom.arch.launch import Buffer, Launch
from warploom.arch.memory_map import LOCAL_BYTES
from warploom.compiler.compile import compile_file, compile_ptx
from warploom.golden_model.functional.executor import execute

SOURCE = Path(__file__).parents[1] / "ptx" / "recursion.cu"
FILES = [SOURCE.with_name(f"{name}.ptx") for name in ("recursion", "recursion_unoptimised")]
KERNELS = ["fibonacci", "ackermann", "mutual", "quicksort", "tree", "loops", "expression"]
THREADS = 64
WORD = 0xFFFFFFFF

HEAD = ".version 8.7\n.target sm_90\n.address_size 64\n"
KERNEL = """.visible .entry k(.param .u64 out) {{
    .reg .pred p; .reg .b32 %r<9>; .reg .b64 %rd<5>; mov.u32 %r0, %tid.x; mov.u32 %r1, 99;
    {}
    ld.param.u64 %rd0, [out]; mad.wide.u32 %rd0, %r0, 4, %rd0; st.global.u32 [%rd0], %r1; ret; }}
"""
LANES = np.arange(32, dtype=np.uint32)


def executed(program, given, threads=32):
    """What a block leaves of each of its numbers."""
    arguments = Buffer("out", np.zeros(threads, np.uint64)), Buffer("in", given)
    launch = Launch((1, 1, 1), (threads, 1, 1), arguments)
    return execute(program, launch, record=False).buffers["out"]


@pytest.fixture(scope="module")
def given():
    return np.random.default_rng(1).integers(0, 1 << 16, THREADS).astype(np.uint32)


@pytest.fixture(scope="module")
def expected(given, tmp_path_factory):
    """What the same functions return on this machine, by kernel."""
    program = tmp_path_factory.mktemp("recursion") / "recursion"
    subprocess.run(["g++", "-x", "c++", "-o", program, SOURCE], check=True)
    output = subprocess.run([program], input=given.tobytes(), stdout=subprocess.PIPE, check=True).stdout
    return dict(zip(KERNELS, np.frombuffer(output, np.uint64).reshape(len(KERNELS), THREADS), strict=True))


# ---------------------------------------------------------------- CUDA programs


@pytest.mark.parametrize(("file", "options"), [
    (FILES[0], {}), (FILES[0], {"max_registers": 12}), (FILES[1], {"optimise": False})], ids=["", "few", "unoptimised"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_programs(kernel, file, options, given, expected):
    """Each thread takes its own way."""
    np.testing.assert_array_equal(executed(compile_file(file, kernel, **options), given), expected[kernel][:32])


def reduced(given):
    """The kernel `barriers`, for all threads of a block."""
    shared = [(0, 1, 1, 2, 3, 5, 8, 13, 21)[value % 9] for value in given.tolist()]

    def reduce(count):
        if count == 1:
            return [shared[0]] * THREADS
        old = [shared[thread % count] for thread in range(THREADS)]
        for thread in range(count // 2):
            shared[thread] = shared[thread] + shared[thread + count // 2] * 3 & WORD
        return [below ^ old[thread ^ 5] for thread, below in enumerate(reduce(count // 2))]

    return [found + shared[63 - thread] & WORD for thread, found in enumerate(reduce(THREADS))]


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_lanes_and_warps_meet(file, given):
    """In a recursion in which all take the same way, and behind one in which they do not."""
    np.testing.assert_array_equal(executed(compile_file(file, "barriers"), given, THREADS), reduced(given))


def test_lanes_of_one_way_stay_together():
    """Those that call from different places, too: calls and returns of a warp take the time of its longest lane."""
    program = compile_file(FILES[0], "fibonacci")
    counts = [execute(program, Launch((1, 1, 1), (32, 1, 1), (
        Buffer("out", np.zeros(32, np.uint64)), Buffer("in", np.array(numbers, np.uint32))))).warp_instructions
        for numbers in ([8] * 32, [8] + [1] * 31)]
    assert counts[0] == counts[1]


def test_timing(given, expected):
    gpu = Gpu("small")
    out = gpu.zeros(THREADS, np.uint64)
    module = gpu.module(FILES[0])
    launched = module["loops"][2, 32](out, gpu.array(given))
    np.testing.assert_array_equal(out.numpy(), expected["loops"])
    assert launched.statistics.cycles


@pytest.mark.rtl
def test_hardware(given, expected):
    """What a call saves has been written: other registers hold anything in hardware, and memory then does, too."""
    gpu = Gpu("small", rtl=True, replay=True)
    out = gpu.zeros(32, np.uint64)
    gpu.module(FILES[0])["expression"][1, 32](out, gpu.array(given[:32]))
    np.testing.assert_array_equal(out.numpy(), expected["expression"][:32])


# ---------------------------------------------------------------- the stack


def down(count):
    """The kernel `deep`."""
    return down(count - 1) * 3 + count & WORD if count else 1


def test_a_full_stack():
    """The thread stops before it writes beyond the stack. A call takes 8 bytes here, for a register and a number, and
    the first one 4."""
    for stack in (400, 404, 408):
        program, most = compile_file(FILES[0], "deep", stack=stack), (stack - 4) // 8
        given = np.arange(most - 31, most + 1, dtype=np.uint32)
        np.testing.assert_array_equal(executed(program, given), [down(count) for count in given.tolist()])
        given[8] = most + 1
        with pytest.raises(ExecutionError) as caught:
            executed(program, given)
        assert str(caught.value).endswith(
            "thread (8, 0, 0) of block (0, 0, 0): the stack is full at a call of '_Z4downj': give a thread more of it "
            "with --stack BYTES, stack=BYTES or cudaDeviceSetLimit")


def test_a_stack_that_is_too_small_for_the_first_call():
    with pytest.raises(ExecutionError, match="the stack is full at a call of '_Z4sortPji'"):
        executed(compile_file(FILES[0], "quicksort", stack=64), np.zeros(32, np.uint32))


def test_the_largest_stack():
    """It has what the kernel's array leaves of local memory."""
    assert compile_file(FILES[0], "quicksort", stack=LOCAL_BYTES).local_bytes == LOCAL_BYTES


def test_a_kernel_without_recursion_has_no_stack():
    text = HEAD + KERNEL.format("")
    assert compile_ptx(text, "k.ptx").local_bytes == 0
    assert compile_ptx(text, "k.ptx") == compile_ptx(text, "k.ptx", stack=8)


# ---------------------------------------------------------------- PTX


def check(text, expected):
    for optimise in (True, False):
        program = compile_ptx(HEAD + text, "k.ptx", "k", optimise=optimise)
        launch = Launch((1, 1, 1), (32, 1, 1), (Buffer("out", LANES * 0),))
        np.testing.assert_array_equal(execute(program, launch, record=False).buffers["out"], expected)


def each(function, *arguments):
    """A function of Python for each lane."""
    return [function(lane, *arguments) & WORD for lane in range(32)]


def test_parameters_in_registers_change_places():
    text = """.func (.reg .b32 r) f(.reg .b32 a, .reg .b32 b) { .reg .pred p; .reg .b32 c;
        setp.eq.u32 p, a, 0; @p mov.u32 r, b; @p ret; sub.u32 c, a, 1; mad.lo.u32 b, b, 3, a;
        setp.gt.u32 p, b, 40; @p call (r), f, (c, b); @p bra X; call (r), f, (b, a); X: add.u32 r, r, c; ret; }
    """

    def f(a, b):
        if a == 0:
            return b
        b = b * 3 + a
        return (f(a - 1, b) if b > 40 else f(b, a)) + a - 1

    check(text + KERNEL.format("call (%r1), f, (%r0, 2);"), each(f, 2))


def test_a_guarded_call_leaves_the_result_in_other_lanes():
    text = """.func (.param .b32 r) f(.param .b32 x) { .reg .pred p; .reg .b32 a, b; ld.param.b32 a, [x];
        mov.u32 b, 5; setp.gt.u32 p, a, 2; sub.u32 a, a, 2; @p call (b), f, (a); ld.param.b32 a, [x];
        mad.lo.u32 a, a, 7, b; st.param.b32 [r], a; ret; }
    """

    def f(x):
        return x * 7 + (f(x - 2) if x > 2 else 5)

    check(text + KERNEL.format("call (%r1), f, (%r0);"), each(f))
    guarded = KERNEL.format("setp.lt.u32 p, %r0, 20; @!p call (%r1), f, (%r0);")
    check(text + guarded, np.where(LANES < 20, 99, each(f)))


def test_a_result_that_is_stored_before_a_call():
    text = """.func (.param .b32 r) f(.param .b32 x) { .reg .pred p; .reg .b32 a, b; ld.param.b32 a, [x];
        st.param.b32 [r], a; setp.eq.u32 p, a, 0; @p ret; sub.u32 b, a, 1;
        { .param .b32 q, s; st.param.b32 [q], b; call (s), f, (q); } ret; }
    """
    check(text + KERNEL.format("call (%r1), f, (%r0);"), LANES)


def test_the_address_of_a_parameter():
    """It is in the frame then, as are variables, with their alignment."""
    text = """.func (.param .b32 r) f(.param .align 8 .b8 x[16], .param .b32 n) {
        .reg .pred p; .reg .b32 a, b, c, d; .reg .b64 at, v; .local .align 64 .b8 l[64]; .param .align 8 .b8 mine[16];
        mov.b64 at, x; ld.param.b32 a, [n]; and.b32 b, a, 12; cvt.u64.u32 v, b; add.u64 at, at, v;
        mov.b64 v, l; cvt.u32.u64 c, v; and.b32 c, c, 63; ld.param.b32 b, [at]; add.u32 b, b, c; st.local.u32 [l+8], b;
        setp.eq.u32 p, a, 0; @p bra END;
        ld.param.v2.b32 {c, d}, [x]; st.param.v2.b32 [mine], {d, c}; ld.param.v2.b32 {c, d}, [x+8];
        add.u32 c, c, a; st.param.v2.b32 [mine+8], {d, c}; sub.u32 c, a, 1;
        call (d), f, (mine, c); ld.param.b32 c, [mine+12]; add.u32 d, d, c; ld.param.b32 c, [x+4];
        mad.lo.u32 d, d, 3, c; ld.local.u32 b, [l+8]; add.u32 b, b, d;
        END: st.param.b32 [r], b; ret; }
    """

    def f(n, x):
        found = x[n // 4 % 4]
        if n == 0:
            return found
        mine = x[1], x[0], x[3], x[2] + n
        return found + (f(n - 1, mine) + mine[3]) * 3 + x[1]

    body = """and.b32 %r3, %r0, 15; { .param .align 8 .b8 a[16]; st.param.v4.b32 [a], {5, 6, 7, 8};
    call (%r1), f, (a, %r3); }
    { .param .align 8 .b8 a[16]; st.param.v4.b32 [a], {9, 4, 1, %r0}; call (%r2), f, (a, 3); xor.b32 %r1, %r1, %r2; }"""
    check(text + KERNEL.format(body), each(lambda lane: f(lane & 15, (5, 6, 7, 8)) ^ f(3, (9, 4, 1, lane))))


@pytest.mark.parametrize("use", ["mad.wide.u32 v, a, 0, l;", "st.local.v2.u64 [m], {m, l}; ld.local.u64 v, [m+8];"])
def test_an_address_of_a_local_variable_in_any_operand(use):
    text = f""".func (.param .b32 r) f(.param .b32 x) {{ .reg .pred p; .reg .b32 a, b; .reg .b64 v; .local .b32 l;
        .local .align 16 .b8 m[16]; ld.param.b32 a, [x]; st.local.b32 [l], a; {use} setp.eq.u32 p, a, 0;
        mov.u32 b, 0; sub.u32 a, a, 1; @!p call (b), f, (a); ld.local.b32 a, [v]; add.u32 b, b, a;
        st.param.b32 [r], b; ret; }}
    """
    check(text + KERNEL.format("call (%r1), f, (%r0);"), LANES * (LANES + 1) // 2)


SUM = """.func (.param .b32 r) sum(.param .b32 x) { .reg .pred p; .reg .b32 a, b; .local .b32 l;
    ld.param.b32 a, [x]; st.local.b32 [l], a; setp.eq.u32 p, a, 0; sub.u32 b, a, 1; @!p call (a), sum, (b);
    ld.local.b32 b, [l]; add.u32 a, a, b; st.param.b32 [r], a; ret; }
"""


def test_a_recursive_function_inside_another_one():
    """Its frames are behind those of the other one. A variable of a function that returns before is on no stack."""
    text = SUM + """.func (.param .b32 r) inlined(.param .b32 x) { .reg .b32 a, b; .local .b32 l;
        ld.param.b32 a, [x]; st.local.b32 [l], a; call (b), sum, (a); ld.local.b32 a, [l]; add.u32 a, a, b;
        st.param.b32 [r], a; ret; }
    .func (.param .b32 r) f(.param .b32 x) { .reg .pred p; .reg .b32 a, b, c; .local .b32 l[3];
        ld.param.b32 a, [x]; st.local.b32 [l+4], a; call (c), inlined, (a); setp.lt.u32 p, a, 2; @p bra END;
        shr.u32 b, a, 1; call (b), f, (b); mad.lo.u32 c, c, 5, b; sub.u32 b, a, 2; call (b), f, (b);
        mad.lo.u32 c, c, 3, b; ld.local.b32 b, [l+4]; add.u32 c, c, b; END: st.param.b32 [r], c; ret; }
    """

    def f(x):
        found = x + x * (x + 1) // 2
        return ((found * 5 + f(x // 2)) * 3 + f(x - 2) + x) & WORD if x > 1 else found

    check(text + KERNEL.format("and.b32 %r2, %r0, 7; call (%r1), f, (%r2);"), [f(lane & 7) for lane in range(32)])


def test_all_copies_share_what_is_not_local():
    text = """.func (.param .b32 r) f(.param .b32 x) { .reg .pred p; .reg .b32 a, b; .reg .b64 at; .shared .b32 s[32];
        mov.u32 b, %tid.x; mov.u64 at, s; mad.wide.u32 at, b, 4, at; ld.shared.u32 b, [at]; ld.param.b32 a, [x];
        add.u32 b, b, a; st.shared.u32 [at], b; setp.eq.u32 p, a, 0; @p bra END; sub.u32 a, a, 1; call (b), f, (a);
        END: st.param.b32 [r], b; ret; }
    """
    body = "call (%r1), f, (%r0); call (%r1), f, (4);"
    check(text + KERNEL.format(body), LANES * (LANES + 1) // 2 + 10)


def test_an_alias():
    text = SUM + ".func (.param .b32 r) other(.param .b32 x);\n.alias other, sum;\n"
    check(text + KERNEL.format("call (%r1), other, (%r0);"), LANES * (LANES + 1) // 2)


POINTED = """.func (.param .b32 r) stop(.param .b32 x) { .reg .b32 a; ld.param.b32 a, [x]; add.u32 a, a, 100;
    st.param.b32 [r], a; ret; }
.extern .func free(.param .b64 p);
.func (.param .b32 r) bad(.param .b32 x) { .reg .b32 a; ld.param.b32 a, [x]; call (a), apply, (a); call free, (0);
    st.param.b32 [r], a; ret; }
.func (.param .b32 r) half(.param .b32 x) { .reg .b32 a, b; ld.param.b32 a, [x]; shr.u32 b, a, 1;
    call (b), apply, (b); mad.lo.u32 a, b, 3, a; st.param.b32 [r], a; ret; }
.func (.param .b32 r) less(.param .b32 x) { .reg .b32 a, b; ld.param.b32 a, [x]; sub.u32 b, a, 1;
    call (b), apply, (b); xor.b32 a, a, b; st.param.b32 [r], a; ret; }
.func (.param .b32 r) apply(.param .b32 x) { .reg .pred p; .reg .b32 a, b; .reg .b64 f, g; ld.param.b32 a, [x];
    and.b32 b, a, 3; setp.eq.u32 p, b, 1; mov.u64 f, half; mov.u64 g, less; selp.u64 f, f, g, p;
    setp.lt.u32 p, a, 3; mov.u64 g, stop; selp.u64 f, g, f, p; setp.eq.u32 p, a, 31; @p mov.u64 f, bad;
    P: .callprototype (.param .b32 _) _ (.param .b32 _);
    { .param .b32 c, d; st.param.b32 [c], a; call (d), f, (c), P; ld.param.b32 b, [d]; }
    add.u32 b, b, a; st.param.b32 [r], b; ret; }
"""
PROTOTYPES = "\n".join(f".func (.param .b32 r) {name}(.param .b32 x);" for name in ("half", "less", "apply")) + "\n"


def test_calls_through_pointers():
    """A function that cannot be called, as it calls one that is not there, is an error only if it is called."""

    def apply(x):
        if x < 3:
            return x + 100 + x
        return (x + 3 * apply(x // 2) if x & 3 == 1 else x ^ apply(x - 1)) + x

    text = PROTOTYPES + POINTED
    check(text + KERNEL.format("min.u32 %r2, %r0, 30; call (%r1), apply, (%r2);"),
          [apply(min(lane, 30)) & WORD for lane in range(32)])
    with pytest.raises(ExecutionError, match=r"thread \(31, 0, 0\).*: 'free' is not supported"):
        check(text + KERNEL.format("call (%r1), apply, (%r0);"), LANES)
    with pytest.raises(PtxError, match="'free' is not supported"):
        check(text + KERNEL.format("call (%r1), bad, (%r0);"), LANES)


def test_what_has_the_same_value_in_every_call_is_not_saved():
    """Constants, parameters and special registers; nor is what is only passed on."""
    text = """.func (.param .b32 r) f(.param .b32 x) { .reg .pred p; .reg .b32 a, t, c; mov.u32 t, %tid.x; mov.u32 c, 7;
        ld.param.b32 a, [x]; setp.eq.u32 p, a, 0; @p bra END; sub.u32 a, a, 1; call (a), f, (a);
        mad.lo.u32 a, a, c, t; END: st.param.b32 [r], a; ret; }
    """ + KERNEL.format("call (%r1), f, (3);")
    check(text, (LANES * 7 + LANES) * 7 + LANES)
    program = compile_ptx(HEAD + text, "k.ptx")
    stores = [each for each in program.instructions if each.op is Op.ST]
    assert len(stores) == 3  # two numbers of return sites, and the result


def test_a_recursion_without_an_end():
    text = ".func f() { call g; ret; } .func g() { call f; ret; }\n"
    with pytest.raises(ExecutionError, match=r"thread \(0, 0, 0\) .* the stack is full at a call of 'f'"):
        check(".func g();\n" + text + KERNEL.format("call f;"), LANES)
