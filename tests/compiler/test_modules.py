"""Several PTX files as one program: what nvcc compiles separately, linkage, and errors that name file and place."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from warploom import Gpu
from warploom.arch.errors import ExecutionError, LaunchError, PtxError
from warploom.arch.launch import Buffer, Launch
from warploom.cli import main
from warploom.compiler.compile import compile_texts
from warploom.golden_model.functional.executor import execute
from warploom.kernels.launchfile import load
from warploom.running import compiled

FOLDER = Path(__file__).parents[1] / "ptx"
HEAD = ".version 8.7\n.target sm_90\n.address_size 64\n"
KERNEL = """.visible .entry {}(.param .u64 out) {{
    .reg .b32 %r<5>; .reg .b64 %rd<5>; mov.u32 %r0, %tid.x; mov.u32 %r1, 0;
    {}
    ld.param.u64 %rd0, [out]; mad.wide.u32 %rd0, %r0, 4, %rd0; st.global.u32 [%rd0], %r1; ret; }}
"""
CALL = ".param .b32 r; call (r), f; ld.param.b32 %r1, [r];"
LOAD = "ld.global.u32 %r1, [v];"
DECLARED = ".extern .func (.param .b32 r) f;"
LANES = np.arange(32, dtype=np.uint32)


def returns(number, linkage=".visible"):
    """A function."""
    return f"{linkage} .func (.param .b32 r) f() {{ st.param.b32 [r], {number}; ret; }}"


def kernel(body, name="k"):
    return KERNEL.format(name, body)


def texts(*bodies):
    """Files a.ptx, b.ptx, ... with the bodies from line 4 on."""
    return {f"{chr(97 + number)}.ptx": HEAD + body for number, body in enumerate(bodies)}


def answers(files, entry="k", optimise=True):
    launch = Launch((1, 1, 1), (32, 1, 1), (Buffer("out", LANES * 0),), dynamic_shared=64)
    return execute(compile_texts(files, entry, optimise=optimise), launch, record=False).buffers["out"]


def check(expected, *bodies):
    """In each order of the files."""
    for order in (bodies, bodies[::-1]):
        for optimise in (True, False):
            np.testing.assert_array_equal(answers(texts(*order), optimise=optimise), np.broadcast_to(expected, 32))


def failure(*bodies, entry="k"):
    with pytest.raises(PtxError) as caught:
        compile_texts(texts(*bodies), entry)
    return str(caught.value)


# ---------------------------------------------------------------- programs of nvcc, against g++


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    program = tmp_path_factory.mktemp("linked") / "linked"
    sources = [FOLDER / f"linked_{name}.cu" for name in ("main", "functions")]
    subprocess.run(["g++", "-x", "c++", "-o", program, *sources], check=True)
    return np.frombuffer(subprocess.run([program], stdout=subprocess.PIPE, check=True).stdout, np.uint32)


@pytest.mark.parametrize("order", [("main", "functions"), ("functions", "main")])
def test_files_that_nvcc_compiles_separately(order, expected):
    """Functions, variables, a vtable and a pointer to a function of the other file, and equal names of static ones."""
    gpu = Gpu("small")
    module = gpu.module(*(FOLDER / f"linked_{name}.ptx" for name in order))
    assert module.entries == ("linked",)
    out = gpu.zeros(64, np.uint32)
    module["linked"][1, 64](out)
    np.testing.assert_array_equal(out.numpy(), expected)
    assert module.get("weights", np.uint32).tolist() == [100, 200, 300, 400]
    module.set("counter", np.uint32(8))
    module["linked"][1, 64](out)
    assert (out.numpy() != expected).all()


def test_a_launch_file_and_the_command(tmp_path, expected, capsys):
    np.save(tmp_path / "expected.npy", expected)
    files = [FOLDER / f"linked_{name}.ptx" for name in ("main", "functions")]
    path = tmp_path / "linked.toml"
    path.write_text(f"""ptx = {[str(file) for file in files]}\ngrid = 1\nblock = 64\n[[arguments]]\nname = "out"
dtype = "uint32"\nshape = 64\ngenerator = {{ kind = "zeros" }}\nout = true\nexpect = "expected.npy"\n""")
    assert load(path).files[1:3] == tuple(files)
    assert compiled(load(path)).name == "linked"
    assert main(["run", str(path), "--preset", "small"]) == 0
    assert "as expected, bit for bit" in capsys.readouterr().out
    assert main(["compile", *map(str, files)]) == 0
    listing = capsys.readouterr().out
    for file, text in zip(files, ("mov.u32 \t%r1, %tid.x;", "mul.lo.s32"), strict=True):
        lines = file.read_text().split("\n")
        assert any(f"// {file}:{number}: {line.strip()}" in listing for number, line in enumerate(lines, 1)
                   if text in line), file


@pytest.mark.parametrize(("ptx", "message"), [
    ("[]", "ptx: [] must be a string in quotes, or a list of some"), ("[1]", "must be a string in quotes, or a list"),
    ('[""]', "ptx: must not be empty"), ('["none.ptx"]', "none.ptx is not a file; paths are relative"),
])
def test_keys_of_launch_files(tmp_path, ptx, message):
    path = tmp_path / "k.toml"
    path.write_text(f"ptx = {ptx}\ngrid = 1\nblock = 1\n")
    with pytest.raises(LaunchError) as caught:
        load(path)
    assert message in str(caught.value)


def test_a_file_twice(tmp_path):
    path = tmp_path / "k.ptx"
    path.write_text(HEAD + kernel(""))
    with pytest.raises(PtxError, match=r"k\.ptx: is given twice: name each PTX file once"):
        Gpu("small").module(path, path)
    with pytest.raises(LaunchError, match=r"module\(None\): must be the path of a PTX file"):
        Gpu("small").module()


# ---------------------------------------------------------------- linkage


def test_weak_yields():
    check(5, DECLARED + kernel(CALL), returns(5))
    check(5, returns(4, ".weak") + kernel(CALL), returns(5))
    check(5, ".extern .global .u32 v;" + kernel(LOAD), ".weak .global .u32 v = 4;", ".visible .global .u32 v = 5;")
    check(4, ".extern .global .u32 v;" + kernel(LOAD), ".weak .global .u32 v = 4;")


def test_of_weak_ones_the_first_counts():
    files = texts(returns(1, ".weak") + kernel(CALL), returns(2, ".weak") + kernel(CALL, "other"))
    assert [answers(files, entry)[0] for entry in ("k", "other")] == [1, 1]
    assert answers(dict(reversed(files.items())))[0] == 2


def test_common_variables_are_one_of_the_largest_size():
    store = "st.global.u32 [v+4], 9; ld.global.u32 %r1, [v+4];"
    check(9, ".common .global .u32 v;" + kernel(store), ".common .global .u32 v[2];")
    check(7, ".common .global .u32 v;" + kernel(LOAD), ".visible .global .u32 v = 7;")


def test_an_array_without_a_size_is_of_any():
    check(6, ".extern .global .u32 v[];" + kernel("ld.global.u32 %r1, [v+4];"), ".visible .global .u32 v[2] = {5, 6};")


def test_names_of_a_file_are_its_own():
    """Of functions, variables, strings and initialisers, beside one that all files share."""
    own = """.global .u32 v = {0}; .global .u64 p = v; .func (.param .b32 r) g() {{ .reg .b32 a, b; .reg .b64 c;
    ld.global.u32 a, [v]; ld.global.u64 c, [p]; ld.global.u32 b, [c]; add.u32 a, a, b; st.param.b32 [r], a; ret; }}
"""
    calls = ".visible .func (.param .b32 r) f() { .param .b32 s; .reg .b32 a; call (s), g; ld.param.b32 a, [s]; "
    calls += "st.param.b32 [r], a; ret; }"
    both = ".param .b32 r, s; call (r), f; ld.param.b32 %r1, [r]; call (s), g; ld.param.b32 %r2, [s]; "
    both += "shl.b32 %r2, %r2, 8; add.u32 %r1, %r1, %r2;"
    check(10 + (6 << 8), own.format(3) + DECLARED + kernel(both), own.format(5) + calls)
    shared = own.replace(".global .u32 v", ".visible .global .u32 v")
    check(10 + (6 << 8), own.format(3) + DECLARED + kernel(both), shared.format(5) + calls)


def test_pointers_to_functions_of_files():
    """Two functions of one name have two addresses, and each file takes its own."""
    own = """.func (.param .b32 r) g() {{ st.param.b32 [r], {0}; ret; }}
    .visible .func (.param .b64 r) {1}() {{ .reg .b64 a; mov.u64 a, g; st.param.b64 [r], a; ret; }}
"""
    body = """.param .b64 p; and.b32 %r2, %r0, 1; .reg .pred q; setp.eq.u32 q, %r2, 0;
    call (p), first; ld.param.b64 %rd1, [p]; call (p), second; ld.param.b64 %rd2, [p]; selp.u64 %rd1, %rd1, %rd2, q;
    P: .callprototype (.param .b32 _) _; { .param .b32 r; call (r), %rd1, P; ld.param.b32 %r1, [r]; }"""
    check(np.where(LANES % 2, 22, 11), own.format(11, "first") + ".extern .func (.param .b64 r) second;" + kernel(body),
          own.format(22, "second"))


def test_call_targets_are_functions_of_the_file():
    own = ".func (.param .b32 r) g() {{ st.param.b32 [r], {0}; ret; }} "
    body = "P: .calltargets g; mov.u64 %rd1, g; .param .b32 r; call (r), %rd1, P; ld.param.b32 %r1, [r];"
    check(11, own.format(11) + kernel(body), own.format(22) + kernel("", "other"))


def test_dynamic_shared_memory_is_that_of_all_files():
    function = """.visible .func (.param .b32 r) f() {
    .reg .b32 a; ld.shared.u32 a, [x+8]; st.param.b32 [r], a; ret; }"""
    declared = ".extern .shared .align 16 .b8 x[];\n"
    check(9, declared + DECLARED + kernel("st.shared.u32 [x+8], 9;" + CALL), declared + function)


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(("files", "message"), [
    ((DECLARED + "\n" + kernel(CALL), ""),
     "a.ptx:7:30: function 'f' is not defined in these files: give the PTX file that defines it, too"),
    ((DECLARED + "\n" + kernel(CALL), "\n" + returns(1, "")),
     "a.ptx:7:30: function 'f' is not defined in these files: b.ptx:5 defines one without .visible"),
    ((".extern .global .u32 v;\n" + kernel(LOAD), ".global .u32 v;"),
     "a.ptx:7:25: variable 'v' is not defined in these files: b.ptx:4 defines one without .visible"),
    ((returns(1) + kernel(CALL), "\n\n" + returns(2)), "b.ptx:6: function 'f' is defined twice: also at a.ptx:4"),
    ((kernel(""), "\n" + kernel("")), "b.ptx:5: function 'k' is defined twice: also at a.ptx:4"),
    ((".visible .global .u32 v;" + kernel(LOAD), ".visible .global .u32 v;"),
     "b.ptx:4: variable 'v' is defined twice: also at a.ptx:4"),
    ((DECLARED + kernel(CALL), ".visible .func (.param .b64 r) f(.param .b32 x, .param .b8 y[9]) { ret; }"),
     "a.ptx:4: 'f' is a function with results (4) and parameters (none) in bytes here, and a function with results (8) "
     "and parameters (4, 9) in bytes at b.ptx:4"),
    ((".extern .global .u32 v;" + kernel(LOAD), "\n.visible .global .u64 v;"),
     "a.ptx:4: 'v' is a .global variable of 4 bytes here, and a .global variable of 8 bytes at b.ptx:5"),
    ((".common .global .u64 v;" + kernel(LOAD), "\n.visible .global .u32 v;"),
     "a.ptx:4: 'v' is a .global variable of 8 bytes here, and a .global variable of 4 bytes at b.ptx:5"),
    ((".extern .global .u32 v;" + kernel(LOAD), ".visible .const .u32 v;"),
     "a.ptx:4: 'v' is a .global variable of 4 bytes here, and a .const variable of 4 bytes at b.ptx:4"),
    ((".extern .global .u32 f;" + kernel(""), returns(1)),
     "a.ptx:4: 'f' is a .global variable of 4 bytes here, and a function with results (4)"),
    ((DECLARED + kernel("") + "\n.extern .global .u32 f;",),
     "a.ptx:9: 'f' is declared twice in one scope; remove or rename one"),
    ((DECLARED + kernel(CALL), "\n\n.visible .func (.param .b32 r) f() { frob.s32 r; ret; }"),
     "b.ptx:6:38: frob.s32: not supported"),
    ((DECLARED + kernel(CALL), "\n.visible .func (.param .b32 r) f() { add.u32 r r; ret; }"),
     "b.ptx:5:48: unexpected 'r;'"),
    ((DECLARED + kernel(CALL), "\n.visible .func (.param .b32 r) f() { add.u32 r, r"), "b.ptx:5:50: unexpected end"),
])
def test_errors_name_file_and_place(files, message):
    assert failure(*files).startswith(message)


def test_the_entry_is_one_of_all_files():
    files = kernel("", "one"), kernel("", "two")
    assert failure(*files, entry=None) == "a.ptx, b.ptx: name the entry: the files have 2 (one, two)"
    assert failure(*files) == "a.ptx, b.ptx: there is no entry 'k'; entries: one, two"
    assert failure("", "", entry=None).startswith("a.ptx, b.ptx: has no kernel")


def test_an_error_of_a_thread_names_the_file():
    files = texts(DECLARED + kernel(CALL), "\n.visible .func (.param .b32 r) f() {\n trap; }")
    with pytest.raises(ExecutionError, match=r"^b\.ptx:6: thread \(0, 0, 0\) of block \(0, 0, 0\): trap"):
        answers(files)


def test_a_kernel_that_is_weak_in_two_files():
    """As that of a template: the only entry."""
    weak = kernel("mov.u32 %r1, 7;").replace(".visible", ".weak")
    assert (answers(texts(weak, weak), entry=None) == 7).all()


def test_own_functions_in_own_variables():
    """The initialiser of a function's variable names a function that another file has, too."""
    own = """.func (.param .b32 r) f() {{ st.param.b32 [r], {0}; ret; }} .visible .func (.param .b64 r) get{0}() {{
    .global .u64 held = f; .reg .b64 a; ld.global.u64 a, [held]; st.param.b64 [r], a; ret; }}"""
    body = """P: .callprototype (.param .b32 _) _; .param .b64 a, b; .param .b32 r;
    call (a), get3; call (b), get4; ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];
    call (r), %rd1, P; ld.param.b32 %r1, [r]; call (r), %rd2, P; ld.param.b32 %r2, [r]; mad.lo.u32 %r1, %r1, 10, %r2;"""
    check(34, "".join(f".extern .func (.param .b64 r) get{number};" for number in (3, 4)) + kernel(body),
          own.format(3), own.format(4))


def test_the_largest_alignment_of_dynamic_shared_memory_counts():
    wide = """.extern .shared .align 8 .b8 s[]; .visible .func (.param .b64 r) f() {
    .reg .b64 a; ld.shared.u64 a, [s]; st.param.b64 [r], a; ret; }"""
    body = """.shared .u32 before; st.shared.u32 [before], 1; st.shared.u32 [s], 9; st.shared.u32 [s+4], 0;
    .param .b64 r; call (r), f; ld.param.b64 %rd1, [r]; cvt.u32.u64 %r1, %rd1;"""
    check(9, ".extern .shared .b8 s[]; .extern .func (.param .b64 r) f;" + kernel(body), wide)


def test_an_alias_has_the_linkage_of_its_own_declaration():
    """Its function may be the file's own, of a name that another file has, too."""
    alias = returns("{0}", "").replace("f()", "g()") + " .visible .func (.param .b32 r) f{0}(); .alias f{0}, g;"
    declared = "".join(f".extern .func (.param .b32 r) f{number};" for number in (3, 4))
    body = """.param .b32 a, b; call (a), f3; call (b), f4; ld.param.b32 %r1, [a]; ld.param.b32 %r2, [b];
    mad.lo.u32 %r1, %r1, 10, %r2;"""
    check(34, declared + kernel(body), *(alias.replace("{0}", str(number)) for number in (3, 4)))


@pytest.mark.parametrize("linkage", [".extern", ".weak", ".common"])
def test_textures_that_the_kernel_does_not_read(linkage):
    check(7, f"{linkage} .global .texref t;" + kernel("mov.u32 %r1, 7;"), f"{linkage} .global .texref t;")
