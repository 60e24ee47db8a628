"""Module variables: values set by a launch, and warnings for those that are never set."""

import json
from pathlib import Path

import numpy as np
import pytest

from warploom.arch.errors import LaunchError, PtxError
from warploom.arch.launch import Buffer, Launch
from warploom.cli import main
from warploom.compiler.compile import compile_file, compile_ptx
from warploom.golden_model.functional.executor import execute
from warploom.kernels.launchfile import load

FIXTURES = Path(__file__).parents[1] / "ptx"
FILE = FIXTURES / "symbols.toml"


def expected(taps, limits, *, offset=0, shift=0):
    """The expected `y`, for x = 0, 1, ... 99; `offset` is the sum of all added values."""
    i = np.arange(100)
    total = sum(tap * np.minimum(i + k, 99) for k, tap in enumerate(taps))
    return np.clip(total, *limits) + offset + (i >> shift)


def test_symbols_reach_the_kernel_and_come_back(tmp_path, capsys):
    options = ["--functional", "--out", str(tmp_path), "--json", str(tmp_path / "run.json")]
    assert main(["run", str(FILE), *options]) == 0
    wanted = expected([1, 2, 3], (10, 400), offset=-7 + 1000 + 20000, shift=2)
    assert np.load(tmp_path / "y.npy").tolist() == wanted.tolist()
    assert np.load(tmp_path / "counter.npy").tolist() == [105]
    assert capsys.readouterr().err == ""
    assert json.loads((tmp_path / "run.json").read_text())["warnings"] == []


def without_symbols(folder, *kept):
    """The launch file with only those symbols."""
    head, *symbols = FILE.read_text().replace('"symbols.ptx"', f'"{FIXTURES / "symbols.ptx"}"').split("[[symbols]]\n")
    path = folder / "launch.toml"
    path.write_text("[[symbols]]\n".join([head, *(s for s in symbols if s.split('"')[1] in kept)]))
    return path


def test_an_unset_variable_is_zero_and_reported_on_one_line(tmp_path, capsys):
    path = without_symbols(tmp_path, "taps", "counter")
    options = ["--functional", "--out", str(tmp_path), "--json", str(tmp_path / "run.json")]
    assert main(["run", str(path), *options]) == 0
    assert np.load(tmp_path / "y.npy").tolist() == expected([1, 2, 3], (0, 0), offset=3).tolist()
    line = (f"{path}: _Z7symbolsPKfPii reads variables that nothing sets; they are zero: offset (.global), "
            "shift (.global), through_pointer (.global), limits (.const); set it with [[symbols]]")
    assert capsys.readouterr().err == f"warploom: warning: {line}\n"
    assert json.loads((tmp_path / "run.json").read_text())["warnings"] == [line]


PTX = """.version 8.0
.target sm_75
.address_size 64
.const .b32 c; .const .align 4 .b8 zeros[8] = {{0, 0}}; .global .b32 g; .global .b32 h; .global .align 1 .b8 $str[1];
.global .u64 box; .global .u64 p = g; .global .align 1 .b8 __unnamed_1[1];
.visible .entry k(.param .u64 out) {{
.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<2>;
.local .align 8 .b8 l[8]; .shared .b32 tile;
{}
ret;
}}"""

BODIES = {
    "not used": ("", set()),
    "constant read": ("ld.const.u32 %r1, [c];", {"c"}),
    "initialised with zeros": ("ld.const.u32 %r1, [zeros];", set()),
    "empty string": ("mov.u64 %rd1, $str; ld.global.u8 %r1, [%rd1];", set()),
    "empty string of another name": ("ld.global.u8 %r1, [__unnamed_1];", set()),
    "read": ("ld.global.u32 %r1, [g];", {"g"}),
    "read by all": ("ldu.global.u32 %r1, [g];", {"g"}),
    "written": ("st.global.u32 [g], %r1;", set()),
    "written and read": ("st.global.u32 [g], %r1; ld.global.u32 %r1, [g];", set()),
    "read and then written": ("ld.global.u32 %r1, [g]; st.global.u32 [g], %r1;", set()),
    "counted": ("atom.global.add.u32 %r1, [g], 1; red.global.add.u32 [h], 1;", set()),
    "read and counted": ("ld.global.u32 %r1, [h]; red.global.add.u32 [h], 1;", set()),
    "one written, one read": ("ld.global.u32 %r1, [g]; st.global.u32 [h], %r1;", {"g"}),
    "read through a register": ("mov.u64 %rd1, c; add.s64 %rd2, %rd1, 0; ld.const.u32 %r1, [%rd2];", {"c"}),
    "copied": ("mov.u64 %rd1, g; cp.async.ca.shared.global [tile], [%rd1], 4;", {"g"}),
    "address only": ("mov.u64 %rd1, g; setp.eq.s64 %p1, %rd1, 0;", set()),
    "generic": ("mov.u64 %rd1, g; cvta.global.u64 %rd2, %rd1; ld.u32 %r1, [%rd2+0];", {"g"}),
    "before its address is known": ("A: ld.global.u32 %r1, [%rd1]; mov.u64 %rd1, g; bra A;", {"g"}),
    "one of two": ("mov.u64 %rd1, g; mov.u64 %rd2, h; selp.b64 %rd3, %rd1, %rd2, %p1; ld.global.u32 %r1, [%rd3];",
                   {"g", "h"}),
    "through memory": ("mov.u64 %rd1, h; st.local.u64 [l], %rd1; ld.local.u64 %rd2, [l]; ld.global.u32 %r1, [%rd2];",
                       {"g", "h"}),
    "written through memory": ("mov.u64 %rd1, h; st.local.u64 [l], %rd1; ld.local.u64 %rd2, [l]; "
                               "ld.global.u32 %r1, [h]; st.global.u32 [%rd2], %r1;", set()),
    "through an initialised pointer": ("ld.global.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1];", {"g"}),
    "through exchanged memory": ("mov.u64 %rd1, h; atom.global.exch.b64 %rd2, [box], %rd1; ld.global.u32 %r1, [%rd2];",
                                 {"g", "h"}),
    "from another lane": ("mov.u64 %rd1, h; mov.b64 {%r1, %r2}, %rd1; shfl.sync.idx.b32 %r3|%p1, %r1, 0, 31, -1; "
                          "mov.b64 %rd2, {%r3, %r5}; ld.global.u32 %r4, [%rd2];", {"h"}),
    "a vector of addresses": ("mov.u64 %rd1, h; mov.b64 {%r1, %r2}, %rd1; "
                              "mov.b64 %rd3, {%r1, %r2}; ld.global.u32 %r4, [%rd3];", {"h"}),
}


@pytest.mark.parametrize(("body", "unset"), BODIES.values(), ids=BODIES)
def test_unset_variables_that_a_kernel_reads(body, unset):
    program = compile_ptx(PTX.format(body), "k.ptx")
    assert {variable.name for variable in program.module if variable.unset} == unset


def test_a_missing_operand_is_reported():
    with pytest.raises(PtxError, match=r"k\.ptx:9:.*ld\.global\.u32"):
        compile_ptx(PTX.format("mov.u64 %rd1, g; ld.global.u32 %r1;"), "k.ptx")


def test_a_device_function_reads_too():
    program = compile_file(FIXTURES / "symbols.ptx")
    unset = {variable.name for variable in program.module if variable.unset}
    assert unset == {"taps", "limits", "offset", "shift", "through_pointer"}, "limits is read by a function"


@pytest.mark.parametrize(
    ("symbol", "message"),
    [
        (Buffer("limit", np.zeros(1, "i4")), "has no .const or .global variable 'limit'; nearest: limits"),
        (Buffer("taps", np.zeros(4, "f4")), "the symbol 'taps' is given 16 bytes, the variable has 12"),
        (Buffer("given", np.zeros((), "i2")), "the symbol 'given' is given 2 bytes, the variable has 4"),
    ],
)
def test_a_symbol_that_does_not_fit(symbol, message):
    launch = Launch((1, 1, 1), (32, 1, 1), load(FILE).launch.arguments, symbols=(symbol,))
    with pytest.raises(LaunchError) as caught:
        execute(compile_file(FIXTURES / "symbols.ptx"), launch)
    assert message in str(caught.value)


def test_a_symbol_may_fill_a_variable_in_part():
    symbols = (Buffer("taps", np.ones(1, "f4")), Buffer("limits", np.array([0, 1000], "i4")))
    launch = Launch((2, 1, 1), (64, 1, 1), load(FILE).launch.arguments, symbols=symbols)
    y = execute(compile_file(FIXTURES / "symbols.ptx"), launch).buffers["y"]
    assert y.tolist() == expected([1], (0, 1000), offset=3).tolist()
