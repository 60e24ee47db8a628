"""Calls through pointers: virtual functions, tables of functions, `.callprototype`, `.calltargets`, and stops."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from warploom import Gpu
from warploom.arch.errors import ExecutionError, PtxError
from warploom.arch.launch import Buffer, Launch, Scalar
from warploom.arch.memory_map import FUNCTION_BYTES, FUNCTIONS_BASE
from warploom.compiler import ptx
from warploom.compiler.compile import compile_file, compile_ptx
from warploom.compiler.pointer_calls import choose
from warploom.golden_model.functional.executor import execute

SOURCE = Path(__file__).parents[1] / "ptx" / "pointers.cu"
THREADS, OBJECTS = 64, 64

HEAD = ".version 8.7\n.target sm_90\n.address_size 64\n"
FUNCTIONS = """
.func (.param .b32 r) one(.param .b32 x) {
    .reg .b32 a; ld.param.b32 a, [x]; add.u32 a, a, 1; st.param.b32 [r], a; ret; }
.func (.param .b32 r) two(.param .b32 x) {
    .reg .b32 a; ld.param.b32 a, [x]; mul.lo.u32 a, a, 2; st.param.b32 [r], a; ret; }
.func (.param .b32 r) three(.param .b32 x) { .reg .pred p; .reg .b32 a; ld.param.b32 a, [x]; setp.lt.u32 p, a, 9;
    @p bra LOW; mov.u32 a, 77; LOW: xor.b32 a, a, 3; st.param.b32 [r], a; ret; }
.func (.param .b64 r) long(.param .b32 x) { st.param.b64 [r], 5; ret; }
"""
KERNEL = """.visible .entry k(.param .u64 out, .param .u64 pointer) {{
    .reg .pred p, q; .reg .b32 %r<5>; .reg .b64 %rd<5>;
    mov.u32 %r0, %tid.x; mov.u32 %r1, 99; ld.param.u64 %rd1, [pointer];
    {}
    ld.param.u64 %rd0, [out]; mad.wide.u32 %rd0, %r0, 4, %rd0; st.global.u32 [%rd0], %r1; ret; }}
"""
CALL = "{{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r0; {}; ld.param.b32 %r1, [b]; }}"
PROTOTYPE = "P: .callprototype (.param .b32 _) _ (.param .b32 _);"
LANES = np.arange(32, dtype=np.uint32)
ONE, TWO, THREE = LANES + 1, 2 * LANES, np.where(LANES < 9, LANES, 77) ^ 3


def called(statement):
    """A call with `%r0`, whose result is in `%r1`."""
    return CALL.format(statement)


def launched(text, pointer=0):
    return Launch((1, 1, 1), (32, 1, 1), (Buffer("out", LANES * 0), Scalar("u64", pointer.to_bytes(8, "little"))))


def check(text, expected, pointer=0):
    for optimise in (True, False):
        program = compile_ptx(HEAD + text, "k.ptx", "k", optimise=optimise)
        found = execute(program, launched(text, pointer), record=False).buffers["out"]
        np.testing.assert_array_equal(found, expected)


def stopped(text, pointer=0):
    """The message of the stop in which the text ends when it is executed."""
    program = compile_ptx(HEAD + text, "k.ptx", "k")
    with pytest.raises(ExecutionError) as caught:
        execute(program, launched(text, pointer), record=False)
    return str(caught.value)


# ---------------------------------------------------------------- CUDA programs, against g++


@pytest.fixture(scope="module")
def given():
    numbers = np.random.default_rng(1).integers(0, 1 << 32, THREADS, np.uint32)
    numbers[::3] %= 64
    return numbers


@pytest.fixture(scope="module")
def expected(given, tmp_path_factory):
    """What the same functions return on this machine: those of each thread, then those of each object."""
    program = tmp_path_factory.mktemp("pointers") / "pointers"
    subprocess.run(["g++", "-x", "c++", "-o", program, SOURCE], check=True)
    output = subprocess.run([program], input=given.tobytes(), stdout=subprocess.PIPE, check=True).stdout
    return np.frombuffer(output, np.uint32)


@pytest.mark.parametrize("optimise", [True, False])
@pytest.mark.parametrize("name", ["pointers", "pointers_unoptimised"])
def test_classes_tables_and_objects(name, optimise, given, expected):
    """The threads of a warp call different functions."""
    program = compile_file(SOURCE.with_name(f"{name}.ptx"), "all", optimise=optimise)
    arguments = Buffer("out", np.zeros(3 * THREADS, np.uint32)), Buffer("in", given)
    launch = Launch((2, 1, 1), (THREADS // 2, 1, 1), arguments)
    found = execute(program, launch, record=False).buffers["out"]
    np.testing.assert_array_equal(found, expected[: 3 * THREADS])


def test_pointers_and_objects_of_another_kernel_and_of_the_host(expected):
    """An address is the same in each kernel, and in variables before the first launch."""
    gpu = Gpu("small")
    module = gpu.module(SOURCE.with_name("pointers.ptx"))
    objects, functions = (gpu.zeros(OBJECTS, np.uint64) for _ in range(2))
    memory, out = gpu.zeros(32 * OBJECTS, np.uint8), gpu.zeros(OBJECTS, np.uint32)
    times = int(module.get("fixed", np.uint64)[0])
    module["make"][1, OBJECTS](objects, memory, functions)
    module["visit"][1, OBJECTS](out, objects, functions, times)
    np.testing.assert_array_equal(out.numpy(), expected[3 * THREADS :])
    with pytest.raises(ExecutionError, match="the pointer that is called is no function"):
        module["visit"][1, OBJECTS](out, objects, functions, times + 1)


# ---------------------------------------------------------------- PTX


@pytest.mark.parametrize("choice", [
    PROTOTYPE, "P: .callprototype (.param .u32 r) _ (.param .f32 x);", "P: .calltargets one, two;",
    "P: .calltargets two, one, three, one;",
])
def test_each_lane_calls_the_function_that_it_holds(choice):
    body = (f"setp.lt.u32 p, %r0, 11; mov.u64 %rd1, one; mov.u64 %rd2, two; selp.u64 %rd1, %rd1, %rd2, p; {choice} "
            f"{called('call (b), %rd1, (a), P')}")
    check(FUNCTIONS + KERNEL.format(body), np.where(LANES < 11, ONE, TWO))


def test_an_array_of_functions_is_a_choice():
    array = ".const .u64 list[3] = {three, one, two}; .global .u64 other = long;"
    body = ("rem.u32 %r2, %r0, 3; mov.u64 %rd2, list; mad.wide.u32 %rd2, %r2, 8, %rd2; ld.const.u64 %rd1, [%rd2];"
            f"{called('call (b), %rd1, (a), list')}")
    check(FUNCTIONS + array + KERNEL.format(body), np.choose(LANES % 3, [THREE, ONE, TWO]))


@pytest.mark.parametrize(("guard", "lanes"), [("@p", LANES < 5), ("@!p", LANES >= 5)])
def test_a_guard(guard, lanes):
    body = (f"setp.lt.u32 p, %r0, 5; mov.u64 %rd1, three; {PROTOTYPE} .param .b32 a, b; st.param.b32 [a], %r0; "
            f"st.param.b32 [b], 98; {guard} call (b), %rd1, (a), P; ld.param.b32 %r1, [b];")
    check(FUNCTIONS + KERNEL.format(body), np.where(lanes, THREE, 98))


@pytest.mark.parametrize("count", range(6))
def test_a_choice_takes_as_many_comparisons_as_a_tree_is_deep(count):
    """And one more with the function itself: the pointer may be anything between two, below, or above all."""
    at, scratch = ptx.Instruction("call", (), (), None, 1, 1), ptx.Register("q")
    cases = [(address, [ptx.Label(f"function {address}", 1)]) for address in range(16, 16 + 8 * count, 8)]
    code = [*choose(at, ptx.Register("p"), cases, scratch, ptx.Instruction("other", (), (), None, 1, 1))]
    labels = {one.name: place for place, one in enumerate(code) if isinstance(one, ptx.Label)}
    for pointer in range(10, 24 + 8 * count):
        place, compared, reached = 0, 0, []
        while place < len(code):
            match code[place]:
                case ptx.Label(name):
                    reached += [name] * name.startswith("function")
                case ptx.Instruction(opcode="setp", modifiers=(how, "u64"), operands=(_, _, ptx.Immediate(_, address))):
                    holds, compared = {"lt": pointer < address, "ne": pointer != address}[how], compared + 1
                case ptx.Instruction(opcode="bra", operands=(ptx.Symbol(target),), guard=guard):
                    place = labels[target] if guard is None or holds else place
                case ptx.Instruction(opcode=name):
                    reached.append(name)
            place += 1
        assert reached == [f"function {pointer}" if pointer in dict(cases) else "other"]
        assert compared <= (count - 1).bit_length() + (count > 0)


def test_a_call_in_a_loop_and_in_a_function_that_is_called_twice():
    apply = f""".func (.param .b32 r) apply(.param .b64 f, .param .b32 x) {{
        .reg .b64 f1; .reg .b32 n, v; .reg .pred p; ld.param.b64 f1, [f]; ld.param.b32 v, [x]; mov.u32 n, 0; {PROTOTYPE}
        L: {{ .param .b32 a; .param .b32 b; st.param.b32 [a], v; call (b), f1, (a), P; ld.param.b32 v, [b]; }}
        add.u32 n, n, 1; setp.lt.u32 p, n, 3; @p bra L; st.param.b32 [r], v; ret; }}
    """
    body = (".param .b64 f; .param .b32 a, b; mov.u64 %rd1, one; st.param.b64 [f], %rd1; st.param.b32 [a], %r0; "
            "call (b), apply, (f, a); mov.u64 %rd1, two; st.param.b64 [f], %rd1; ld.param.b32 %r1, [b]; "
            "st.param.b32 [a], %r1; call (b), apply, (f, a); ld.param.b32 %r1, [b];")
    check(FUNCTIONS + apply + KERNEL.format(body), 8 * (LANES + 3))


def test_addresses():
    """Of 64 bits, or their low 32; not null; compared, and the same for an alias and in any initialiser."""
    before = ".alias other, two; .global .u64 held = two; .global .b8 bytes[2] = {0xFF(two), 0xFF00(two)};"
    body = """mov.u64 %rd1, two; mov.b32 %r1, two; cvt.u32.u64 %r2, %rd1; setp.eq.u32 p, %r1, %r2;
    setp.eq.and.u64 p, %rd1, other, p; ld.global.u64 %rd2, [held]; setp.eq.and.u64 p, %rd1, %rd2, p;
    ld.global.u16 %r2, [bytes]; and.b32 %r1, %r1, 0xFFFF; setp.eq.and.u32 p, %r1, %r2, p;
    mov.u64 %rd2, one; setp.ne.and.u64 p, %rd1, %rd2, p; setp.ne.and.u64 p, %rd1, 0, p; selp.u32 %r1, 1, 0, p;"""
    check(FUNCTIONS + before + KERNEL.format(body), 1)


def test_another_kernel_may_have_stored_a_pointer():
    """Also one to a function that is named in no function which this kernel calls."""
    stores = ".visible .entry stores(.param .u64 out) { .reg .b64 a; mov.u64 a, two; ret; }"
    body = f"{PROTOTYPE} {called('call (b), %rd1, (a), P')}"
    check(FUNCTIONS + stores + KERNEL.format(body), TWO, FUNCTIONS_BASE + FUNCTION_BYTES)


@pytest.mark.parametrize("pointer", [0, FUNCTIONS_BASE, FUNCTIONS_BASE + FUNCTION_BYTES + 1, FUNCTIONS_BASE * 2,
                                     FUNCTIONS_BASE + 3 * FUNCTION_BYTES, (1 << 32) + FUNCTIONS_BASE + FUNCTION_BYTES])
def test_another_value_is_an_error(pointer):
    """Null, a function whose address nothing takes, within one, behind all, of another type, with another high word."""
    body = f"mov.u64 %rd2, two; mov.u64 %rd2, long;\n{PROTOTYPE}\n{called('call (b), %rd1, (a), P')}"
    text = FUNCTIONS + KERNEL.format(body)
    line = (HEAD + text).split("\n").index(called("call (b), %rd1, (a), P")) + 1
    assert stopped(text, pointer) == (f"k.ptx:{line}: thread (0, 0, 0) of block (0, 0, 0): the pointer that is called "
                                      "is no function of the PTX with these parameters and results")


def test_a_call_that_no_function_fits():
    """Its kernel may be compiled, and executed as long as no thread calls."""
    text = FUNCTIONS + KERNEL.format(f"setp.ne.u64 p, %rd1, 0;\n{PROTOTYPE}\n@p call (%r1), %rd1, (%r0), P;")
    check(text, 99)
    assert "the pointer that is called is no function" in stopped(text, FUNCTIONS_BASE)


def test_a_call_without_white_space():
    """Functions that no name leads to are parsed, too."""
    stores = ".visible .entry stores(.param .u64 out) { .reg .b64 a; mov.u64 a, two; ret; }"
    body = f"{PROTOTYPE} {called('call(b),%rd1,(a),P')}"
    check(FUNCTIONS + stores + KERNEL.format(body), TWO, FUNCTIONS_BASE + FUNCTION_BYTES)


RECURSIVE = f""".func (.param .b32 r) again(.param .b32 x) {{ .reg .b64 f; .reg .b32 v; .reg .pred p;
    ld.param.b32 v, [x]; setp.eq.u32 p, v, 31; mov.u64 f, again; @!p mov.u64 f, one; {PROTOTYPE}
    {{ .param .b32 a; .param .b32 b; st.param.b32 [a], v; call (b), f, (a), P; ld.param.b32 v, [b]; }}
    st.param.b32 [r], v; ret; }}
"""


def test_recursion():
    """Lane 31 does not come to an end."""
    start = FUNCTIONS + RECURSIVE
    call = called("call (b), again, (a)")
    check(start + KERNEL.format(f"and.b32 %r0, %r0, 15; {call} mov.u32 %r0, %tid.x;"), (LANES & 15) + 1)
    assert "thread (31, 0, 0) of block (0, 0, 0): the stack is full at a call of 'again'" in stopped(
        start + KERNEL.format(call))


def test_functions_that_all_call_each_other():
    """Each of them is there once, with a branch to each."""
    again = RECURSIVE.replace("v, 31;", "v, 32;").replace("@!p", "@p mov.u64 f, again0; @!p")
    text = "".join(again.replace("again(", f"again{number}(").replace("f, again;", f"f, again{number};")
                   for number in range(20))
    declared = ".func (.param .b32 r) again0(.param .b32 x);\n"
    body = KERNEL.format(called("call (b), again3, (a)"))
    check(FUNCTIONS + declared + text + body, ONE)
    assert len(compile_ptx(HEAD + FUNCTIONS + declared + text + body, "k.ptx", "k").instructions) < 20 * 21 * 20


@pytest.mark.parametrize(("function", "message"), [
    (".extern .func free(.param .b64 p); .func (.param .b32 r) bad(.param .b32 x) { call free, (0); ret; }",
     "'free' is not supported: there is no device heap"),
    (".extern .func far(); .func (.param .b32 r) bad(.param .b32 x) { call far; ret; }",
     "function 'far' is not defined in this file: give the PTX file that defines it, too"),
])
def test_a_function_that_cannot_be_called_is_an_error_where_it_is(function, message):
    """As destructors that free their object are, in every vtable."""
    body = f"""setp.eq.u32 p, %r0, %r2; mov.u64 %rd1, bad; @!p mov.u64 %rd1, two; {PROTOTYPE}
    {called("call (b), %rd1, (a), P")}"""
    text = f"{FUNCTIONS}\n{function}\n{KERNEL.format(body)}"
    check(text.replace("%r0, %r2", "%r0, 64"), TWO)
    line = (HEAD + text).split("\n").index(function) + 1
    assert stopped(text) == f"k.ptx:{line}: thread (0, 0, 0) of block (0, 0, 0): {message}"
    only = body.replace("P: .callprototype (.param .b32 _) _ (.param .b32 _);", "P: .calltargets bad;")
    assert failure(f"{FUNCTIONS}\n{function}\n{KERNEL.format(only)}") == message


@pytest.mark.parametrize("choice", [PROTOTYPE, "P: .calltargets far, two;"])
def test_a_pointer_to_a_function_that_is_not_defined(choice):
    """Its name is in the message: a file is missing."""
    message = "function 'far' is not defined in this file: give the PTX file that defines it, too"
    declared = ".extern .func (.param .b32 r) far(.param .b32 x);"
    body = f"""setp.eq.u32 p, %r0, %r2; mov.u64 %rd1, far; @!p mov.u64 %rd1, two;
    {choice} {called("call (b), %rd1, (a), P")}"""
    text = FUNCTIONS + declared + KERNEL.format(body)
    check(text.replace("%r0, %r2", "%r0, 64"), TWO)
    assert stopped(text).endswith(f"thread (0, 0, 0) of block (0, 0, 0): {message}")
    assert failure(text.replace("@!p mov.u64 %rd1, two;", "").replace("far, two", "far")) == message


def failure(text):
    with pytest.raises(PtxError) as caught:
        compile_ptx(HEAD + text, "k.ptx", "k")
    assert caught.value.file == "k.ptx" and caught.value.line
    return caught.value.message


@pytest.mark.parametrize(("text", "message"), [
    (FUNCTIONS + KERNEL.format(called("call (b), %rd1, (a)")),
     "a call through a pointer ends in the name of a .callprototype, of .calltargets or of an array of functions"),
    (FUNCTIONS + KERNEL.format(called("call (b), %rd1, (a), Q")),
     "a call through a pointer ends in the name of a .callprototype, of .calltargets or of an array of functions"),
    (FUNCTIONS + KERNEL.format(PROTOTYPE + called("call (b), %r1, (a), P")),
     "a pointer to a function must be a register of 64 bits"),
    (FUNCTIONS + KERNEL.format(PROTOTYPE + called("call (b), p, (a), P")),
     "a pointer to a function must be a register of 64 bits"),
    (FUNCTIONS + KERNEL.format(PROTOTYPE + called("call (b), %rd1, (a, a), P")),
     "'P' has 1 parameters, the call gives 2"),
    (FUNCTIONS + KERNEL.format(PROTOTYPE + called("call %rd1, (a), P")), "'P' has 1 results, the call gives 0"),
    (FUNCTIONS + KERNEL.format("P: .callprototype (.param .b32 r) _ (.param .b64 x);"
                               + called("call (b), %rd1, (a), P")),
     "parameter 'x' has 8 bytes, the call gives 4"),
    (FUNCTIONS + KERNEL.format("P: .calltargets one, %rd1; " + called("call (b), %rd1, (a), P")),
     "'P' has to name functions, and '%rd1' is none"),
    (FUNCTIONS + KERNEL.format("P: .calltargets long; " + called("call (b), %rd1, (a), P")),
     "parameter 'r' has 8 bytes, the call gives 4"),
    (FUNCTIONS + KERNEL.format("mov.u64 %rd1, one+8;"), "the address of a function cannot have an offset"),
    (FUNCTIONS + KERNEL.format("mov.u64 %rd1, k;"),
     "'k' is a kernel, whose address is for launches by kernels: they are not supported"),
    (FUNCTIONS + KERNEL.format("ld.global.u32 %r1, [one];"), "ld.global.u32: one is not a variable of this kernel"),
    (FUNCTIONS + KERNEL.format(PROTOTYPE + "mov.u64 %rd1, P;"), "choice 'P' cannot be an operand of 'mov.u64'"),
])
def test_errors(text, message):
    assert failure(text).startswith(message)


# ---------------------------------------------------------------- vtables


DIRECT = "ld.u64 f, [v+{1}];"


@pytest.mark.parametrize(("use", "load"), [
    ("", DIRECT), ("", "add.s64 w, v, {1}; ld.u64 f, [w];"),
    ("", "add.s64 w, v, -8; mov.b64 u, w; ld.global.u64 f, [u+{2}];"), ("setp.ne.u64 p, table, 0;", DIRECT),
    ("setp.eq.u32 p, %r0, 0; selp.u64 table, table, other, p;", DIRECT),
])
def test_functions_of_another_place_in_vtables_are_not_inlined(use, load):
    """Of two virtual functions the first calls the second: no recursion, which 100 such functions would multiply. The
    address of the table may be compared and chosen."""
    slots = ", ".join(f"f{n}" for n in range(100))
    table = f".global .align 8 .u64 _ZTV1A[102] = {{0, 0, {slots}}};\n"
    function = """.func (.param .b32 r) f{0}(.param .b64 this, .param .b32 x) {{ .reg .b64 t, v, w, u, f; .reg .b32 a;
    ld.param.b64 t, [this]; ld.param.b32 a, [x]; add.u32 a, a, {0}; ld.u64 v, [t]; """ + load + """
    {{ .param .b64 p; .param .b32 a0; .param .b32 b; st.param.b64 [p], t; st.param.b32 [a0], a;
    P: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b32 _); call (b), f, (p, a0), P; ld.param.b32 a, [b]; }}
    st.param.b32 [r], a; ret; }}
"""
    last = """.func (.param .b32 r) f99(.param .b64 this, .param .b32 x) {
    .reg .b32 a; ld.param.b32 a, [x]; st.param.b32 [r], a; ret; }
"""
    functions = "".join(function.format(n, 8 * n + 8, 8 * n + 16) for n in range(4)) + "".join(
        last.replace("f99", f"f{n}") for n in range(4, 100))
    body = f""".local .align 8 .u64 object; .reg .b64 table, other; mov.u64 %rd3, _ZTV1A; cvta.global.u64 %rd4, %rd3;
    add.u64 table, %rd4, 16; add.u64 other, %rd4, 16; {use}
    mov.u64 %rd2, object; cvta.local.u64 %rd2, %rd2; st.u64 [%rd2], table;
    .param .b64 o; .param .b32 a; .param .b32 b; st.param.b64 [o], %rd2; st.param.b32 [a], %r0;
    call (b), f0, (o, a); ld.param.b32 %r1, [b];"""
    text = functions + table + KERNEL.format(body)
    check(text, LANES + 6)
    assert len(compile_ptx(HEAD + text, "k.ptx", "k").instructions) < 100


@pytest.mark.parametrize("change", [
    "mov.u64 %rd2, 8; add.u64 %rd3, %rd3, %rd2;", "L: add.u64 %rd3, %rd3, 8; setp.gt.u32 p, %r0, 99; @p bra L;",
    "add.u64 %rd3, %rd3, 8; selp.u64 %rd3, %rd3, %rd4, p;",
])
def test_addresses_in_a_vtable_that_are_not_known(change):
    """Where an object's address point comes out of a sum, a loop or a choice, all its functions may be reached."""
    table = ".global .align 8 .u64 _ZTV1A[4] = {0, 0, one, two};"
    body = f"""mov.u64 %rd3, _ZTV1A; add.u64 %rd4, %rd3, 24; mov.u64 %rd3, _ZTV1A; setp.eq.u32 p, %r0, %r0; {change}
    .local .align 8 .u64 object; st.local.u64 [object], %rd3;
    .reg .b64 v, f; ld.local.u64 v, [object]; ld.u64 f, [v+8];
    {PROTOTYPE} {called("call (b), f, (a), P")}"""
    check(FUNCTIONS + table + KERNEL.format(body), ONE)


@pytest.mark.parametrize("store", [
    "mov.u64 table, _ZTV1A; add.u64 point, table, 16; st.u64 [%rd2], point;",
    "mov.u64 point, _ZTV1A+16; st.u64 [%rd2], point;", "st.u64 [%rd2], _ZTV1A+16;",
    "mov.u64 point, _ZTV1A+16; call set, (%rd2, point);",
])
@pytest.mark.parametrize("load", [
    "ld.u64 v, [%rd2]; ld.u64 f, [v+8];", "ld.u64 v, [%rd2]; ld.v2.u64 {other, f}, [v];",
    "ld.u64 v, [%rd2]; add.u64 w, v, 16; add.u64 x, w, 18446744073709551608; ld.u64 f, [x];",
])
def test_address_points_and_distances(store, load):
    """A symbol with an offset, a register that a call passes, the second element of a vector, an unsigned constant."""
    text = f"""{FUNCTIONS} .global .align 16 .u64 _ZTV1A[4] = {{0, 0, one, three}};
    .func set(.param .b64 o, .param .b64 t) {{
        .reg .b64 a, b; ld.param.u64 a, [o]; ld.param.u64 b, [t]; st.u64 [a], b; ret; }}
    """
    body = f"""{PROTOTYPE} .reg .b64 table, point, v, w, x, f, other; .local .align 8 .u64 object;
    mov.u64 %rd3, object; cvta.local.u64 %rd2, %rd3; {store} {load} {called("call (b), f, (a), P")}"""
    check(text + KERNEL.format(body), THREE)


def test_an_object_that_is_initialised_has_an_address_point():
    text = FUNCTIONS + """.global .align 16 .u64 _ZTV1A[4] = {0, 0, one, three}; .global .u64 object = _ZTV1A+16;
    """
    body = f"""{PROTOTYPE} .reg .b64 v, f; ld.global.u64 v, [object]; ld.u64 f, [v+8];
    {called("call (b), f, (a), P")}"""
    check(text + KERNEL.format(body), THREE)


def test_a_pointer_in_another_space_is_of_no_vtable():
    """The call does not reach the functions that only a vtable names."""
    body = f"""{PROTOTYPE} .reg .b64 v, f; ld.const.u64 f, [table]; {called("call (b), f, (a), P")}"""
    text = FUNCTIONS + ".const .align 8 .u64 table[1] = {two};" + KERNEL.format(body)
    vtable = ".global .align 16 .u64 _ZTV1A[4] = {0, 0, one, three}; .global .u64 object = _ZTV1A+16;"
    check(vtable + text, TWO)
    assert len(compile_ptx(HEAD + vtable + text, "k.ptx", "k").instructions) == len(
        compile_ptx(HEAD + text, "k.ptx", "k").instructions)


def test_an_address_with_two_writers_has_no_distance():
    """Lanes below 9 take the second function, the others the first one."""
    text = FUNCTIONS + """.global .align 16 .u64 _ZTV1A[4] = {0, 0, one, three}; .global .u64 object = _ZTV1A+16;
    """
    body = f"""{PROTOTYPE} .reg .b64 t, v, f; setp.lt.u32 p, %r0, 9; ld.global.u64 t, [object]; mov.u64 v, t;
    @p add.u64 v, t, 8; ld.u64 f, [v]; {called("call (b), f, (a), P")}"""
    check(text + KERNEL.format(body), np.where(LANES < 9, THREE, ONE))


def test_a_register_may_hold_addresses_of_two_vtables():
    text = FUNCTIONS + """.global .align 8 .u64 _ZTV1A[3] = {0, 0, one}; .global .align 8 .u64 _ZTV1B[3] = {0, 0, two};
    """
    body = f"""{PROTOTYPE} .reg .b64 t, u, v, f; .local .align 8 .u64 object; setp.lt.u32 p, %r0, 9;
    mov.u64 t, _ZTV1A; @p mov.u64 t, _ZTV1B; add.u64 u, t, 16; st.local.u64 [object], u;
    ld.local.u64 v, [object]; ld.u64 f, [v]; {called("call (b), f, (a), P")}"""
    check(text + KERNEL.format(body), np.where(LANES < 9, TWO, ONE))


def test_a_parameter_in_a_register_has_two_writers():
    """The call, and what the function does."""
    text = f"""{FUNCTIONS} .global .u64 _ZTV1A[4] = {{0, 0, one, three}};
    .func (.reg .b32 r) apply(.reg .b64 f, .reg .b64 o, .reg .b32 x) {{ .reg .pred p; setp.lt.u32 p, x, 9; {PROTOTYPE}
        .reg .b64 v; ld.u64 v, [o]; @p ld.u64 f, [v];
        {{ .param .b32 a; .param .b32 b; st.param.b32 [a], x; call (b), f, (a), P; ld.param.b32 r, [b]; }} ret; }}
    """
    body = """.reg .b64 o; .local .u64 object;
    mov.u64 %rd3, _ZTV1A; add.u64 %rd2, %rd3, 16; st.local.u64 [object], %rd2;
    ld.u64 %rd1, [%rd2+8]; mov.u64 o, object; cvta.local.u64 %rd4, o; call (%r1), apply, (%rd1, %rd4, %r0);"""
    check(text + KERNEL.format(body), np.where(LANES < 9, ONE, THREE))


@pytest.mark.parametrize("undefined", ["add.u64 v, v, 8;", "mov.u64 v, w; mov.u64 w, v;", "mov.u64 v, v;"])
def test_registers_that_depend_on_themselves(undefined):
    """Their only writer reads them, as LLVM writes what begins undefined."""
    body = f"{PROTOTYPE} .reg .b64 v, w, f; {called('ld.u64 f, [v]; call (b), f, (a), P')} {undefined}"
    assert compile_ptx(HEAD + FUNCTIONS + KERNEL.format(body), "k.ptx", "k")
