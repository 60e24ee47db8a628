"""Printing in kernels, and failed assertions."""

import ctypes
import json
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warploom.arch.errors import ExecutionError
from warploom.arch.launch import Buffer, Launch
from warploom.cli import main
from warploom.compiler.compile import compile_file, compile_ptx
from warploom.golden_model.functional import cformat, console, executor
from warploom.golden_model.functional.cformat import render
from warploom.golden_model.functional.executor import execute
from warploom.kernels.launchfile import load

FIXTURES = Path(__file__).parents[1] / "ptx"
PRINT, CHECK = FIXTURES / "print.toml", FIXTURES / "check.toml"

# ---------------------------------------------------------------- formats


def printed(text, *values):
    """(what CUDA prints, arguments taken); values are ints of 32 bits, floats, (64 bits,) or bytes: strings."""
    packed, strings = b"", {}
    for value in values:
        if isinstance(value, int):
            packed += struct.pack("<i", value)
            continue
        packed += bytes(-len(packed) % 8)
        if isinstance(value, bytes):
            strings[1000 + len(strings)] = value
            packed += struct.pack("<Q", max(strings))
        else:
            packed += struct.pack("<d", value) if isinstance(value, float) else struct.pack("<Q", value[0] % (1 << 64))
    return render(text, lambda offset, size: packed[offset : offset + size].ljust(size, b"\0"), strings.__getitem__)


FORMATS = [
    ((b"plain",), b"plain", 0),
    ((b"%d %i %u", -1, -2, -3), b"-1 -2 4294967293", 3),
    ((b"%x %X %o %#x %#o", -1, 255, 8, 255, 8), b"ffffffff FF 10 0xff 010", 5),
    ((b"%c%c", 65, 0), b"A\0", 2),
    ((b"%s|%5s|%-5s|%.2s", b"abc", b"abc", b"abc", b"abc"), b"abc|  abc|abc  |ab", 4),
    ((b"%s", (0,)), b"(null)", 1),
    ((b"%p %p", (0x7000_0000_0000,), (0,)), b"0x700000000000 (nil)", 2),
    ((b"%f %e %g %G %E", 1.5, 1.5, 1e-7, 1e-7, 1.5), b"1.500000 1.500000e+00 1e-07 1E-07 1.500000E+00", 5),
    ((b"%a %A %F", 0.1, 2.0, float("inf")), b"0x1.999999999999ap-4 0X1P+1 INF", 3),
    ((b"%f %f %5.1f", float("nan"), float("-inf"), 2.25), b"nan -inf   2.2", 3),
    ((b"%lld %ld %llu %lx", (-1,), (1 << 40,), (-1,), (-1,)), b"-1 1099511627776 18446744073709551615 " + b"f" * 16, 4),
    ((b"%zu %jd %td", (1 << 40,), (-5,), (-6,)), b"1099511627776 -5 -6", 3),
    ((b"%hd %hu %hhd %hhx", 70000, -1, 300, -1), b"4464 65535 44 ff", 4),
    ((b"%lf %Lf %hf", 1.0, 2.0, 3.0), b"1.000000 2.000000 3.000000", 3),
    ((b"%5d|%-5d|%05d|%+d|% d|%.3d|%8.3d|", 7, 7, 7, 7, 7, 7, 7), b"    7|7    |00007|+7| 7|007|     007|", 7),
    ((b"%*d|%-*d|%*d", 4, 7, 4, 7, -4, 7), b"   7|7   |7   ", 6),
    ((b"%.*f|%.*f|%*.*f", 2, 1.0, -1, 1.0, 6, 1, 1.0), b"1.00|1.000000|   1.0", 7),
    ((b"%d %f %d %s", 1, 2.0, 3, b"x"), b"1 2.000000 3 x", 4),
    ((b"100%% %d%%", 5), b"100% 5%", 1),
    ((b"%y %n %5 %", 5), b"%y %n %5 %", 0),
    ((b"%d" * 34, *range(34)), b"".join(b"%d" % n for n in range(32)) + b"%d%d", 32),
    ((b"%.d" + b"%*d" * 16, 0, *([1, 2] * 16)), b"2" * 15 + b"%*d", 31),
]


@pytest.mark.parametrize(("call", "text", "count"), FORMATS)
def test_formats(call, text, count):
    assert printed(*call) == (text, count)


@given(st.sampled_from("dixXo"), st.text("-+ #0", max_size=3), st.integers(0, 20), st.none() | st.integers(0, 20),
       st.integers(-(2**31), 2**31 - 1))
def test_integers_are_formatted_as_c_does(kind, flags, width, precision, value):
    format_ = f"%{flags}{width or ''}{'' if precision is None else f'.{precision}'}{kind}".encode()
    buffer = ctypes.create_string_buffer(99)
    ctypes.CDLL(None).sprintf(buffer, format_, ctypes.c_int(value))
    assert printed(format_, value) == (buffer.value, 1)


@given(st.binary(max_size=30), st.lists(st.integers(-(2**31), 2**31 - 1), min_size=20, max_size=20))
def test_any_format_prints_something_or_is_refused(format_, values):
    try:
        text, count = render(format_, lambda offset, size: struct.pack("<20i", *values).ljust(400)[offset:][:size],
                             lambda address: b"")
    except cformat.FormatError:
        return
    assert count <= format_.count(b"%") + format_.count(b"*")
    assert count or text == format_.replace(b"%%", b"%")


@pytest.mark.parametrize("call", [(b"%1000000d", 1), (b"%.99999f", 1.0), (b"%*d", 1 << 20, 1), (b"%-*d", -99999, 1)])
def test_a_field_that_is_too_wide_is_refused(call):
    with pytest.raises(cformat.FormatError, match="a field is wider than 65536 characters"):
        printed(*call)


# ---------------------------------------------------------------- kernels


def lines_of(block, warp):
    """The output of a warp of the kernel `print`, and the results in its lanes."""
    threads = [block * 40 + warp * 32 + lane for lane in range(32 if warp == 0 else 8)]
    place = "another block" if block else "the first block"
    lines = [f"thread {i} of {place}, {i / 4:5.2f}" for i in threads]
    chosen = [i for i in threads if i % 16 == 5]
    for i in chosen:
        wide, byte = 0x123456789ABCDEF * i % (1 << 64), (300 + i + 128) % 256 - 128
        lines.append(f"{-i} {wide:#x} {byte} {chr(97 + i % 26)}|{i:<6}|{i:06}|{i:4}|{2.5e9:e}|0x1p-2|(nil)|100%")
    lines += [f"one: {-i}" for i in chosen] + [f"two: {1 - i}" for i in chosen]
    lines += ["end"] * (block == warp == 0)
    return lines, [3 + 11 * (i in chosen) for i in threads]


@pytest.fixture(scope="module")
def wanted():
    """The lines that the kernel `print` prints, and its results."""
    warps = [lines_of(block, warp) for block in range(2) for warp in range(2)]
    return [line for lines, _ in warps for line in lines], [*(count for _, counts in warps for count in counts), 0]


def test_prints_come_in_order_and_return_the_arguments_they_take(wanted, tmp_path, capsys):
    lines, results = wanted
    path = tmp_path / "run.json"
    assert main(["run", str(PRINT), "--functional", "--json", str(path), "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out.split("Printed by the kernel\n")[1].split("\n\n")[0].split("\n") == lines
    assert json.loads(path.read_text())["execution"]["printed"] == "\n".join([*lines, ""])
    assert np.load(tmp_path / "results.npy").tolist() == results


def test_a_silent_kernel_has_no_heading(capsys):
    assert main(["run", "bfs", "--size", "tiny", "--functional"]) == 0
    assert "Printed" not in capsys.readouterr().out


def test_order_does_not_depend_on_how_many_warps_run_together(monkeypatch, wanted):
    monkeypatch.setattr(executor, "RESIDENT_WARPS", 1)
    file = load(PRINT)
    execution = execute(compile_file(file.ptx, file.entry), file.launch, record=False)
    assert execution.printed.split("\n") == [*wanted[0], ""]


def test_a_failed_assertion_ends_the_kernel_with_cudas_line(capsys):
    assert main(["run", str(CHECK), "--functional"]) == 1
    captured = capsys.readouterr()
    place = "print.cu:28: void check(const int *, int): block: [2,0,0], thread: [6,0,0]"
    assert captured.err == f"warploom: error: {place} Assertion `values[i] < limit` failed.\n"
    assert captured.out == "Printed by the kernel\nblock 0\nblock 1\nblock 2\n\n"


def test_an_assertion_that_holds_is_silent(tmp_path):
    text = CHECK.read_text().replace('"print.ptx"', f'"{FIXTURES / "print.ptx"}"').replace("value = 70", "value = 96")
    (tmp_path / "check.toml").write_text(text)
    assert main(["run", str(tmp_path / "check.toml"), "--functional"]) == 0


# ---------------------------------------------------------------- what goes wrong

PTX = """.version 8.0
.target sm_75
.address_size 64
.global .align 1 .b8 number[3] = {37, 100, 0}; .global .align 1 .b8 string[3] = {37, 115, 0};
.global .align 1 .b8 wide[9] = {37, 57, 57, 57, 57, 57, 57, 100, 0}; .global .align 4 .b8 open[4] = {65, 66, 67, 68};
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.visible .entry k(.param .u64 out) {
.reg .b32 %r<9>; .reg .b64 %rd<9>; .local .align 8 .b8 l[16];
ld.param.u64 %rd1, [out]; mov.u64 %rd5, l; cvta.local.u64 %rd2, %rd5;
BODY
ret;
}"""

CALL = """{{ .param .b64 f; .param .b64 a; .param .b32 r; mov.u64 %rd3, {}; st.param.b64 [f], %rd3;
st.param.b64 [a], {}; call (r), vprintf, (f, a); ld.param.b32 %r1, [r]; st.global.b32 [%rd1], %r1; }}"""


def execute_body(body):
    launch = Launch((1, 1, 1), (1, 1, 1), (Buffer("out", np.zeros(1, np.int32)),))
    return execute(compile_ptx(PTX.replace("BODY", body), "k.ptx"), launch)


def test_no_format_returns_minus_one():
    execution = execute_body(CALL.format(0, "%rd2"))
    assert (execution.printed, execution.buffers["out"].tolist()) == ("", [-1])


def test_a_declaration_may_leave_out_the_result():
    text = PTX.replace("(.param .b32 r) vprintf", "vprintf").replace("BODY", """mov.u64 %rd3, number; mov.u32 %r1, 7;
    st.local.u32 [l], %r1; { .param .b64 f; .param .b64 a; st.param.b64 [f], %rd3; st.param.b64 [a], %rd2;
    call.uni vprintf, (f, a); }""")
    launch = Launch((1, 1, 1), (1, 1, 1), (Buffer("out", np.zeros(1, np.int32)),))
    assert execute(compile_ptx(text, "k.ptx"), launch).printed == "7"


WRONG = {
    "format nowhere": (CALL.format(16, "%rd2"), "k.ptx:11: thread (0, 0, 0) of block (0, 0, 0): printf: there is no "
                                                "string at 0x10"),
    "format in parameters": (CALL.format(0x0008_0000_0000_0100, "%rd2"), "there is no string at 0x8000000000100"),
    "format without end": (CALL.format("open", "%rd2"), "printf: there is no string at"),
    "no arguments": (CALL.format("number", 0), "printf: there is no argument at 0x0"),
    "string nowhere": ("mov.u64 %rd4, 9; st.local.u64 [l], %rd4;" + CALL.format("string", "%rd2"),
                       "printf: there is no string at 0x9"),
    "field too wide": (CALL.format("wide", "%rd2"), "printf: a field is wider than 65536 characters"),
    "record nowhere": ("mov.u32 %r1, 4096; st.global.u32 [134217728], %r1;", "printf: there is no record at 0x1000"),
    "assertion nowhere": ("mov.u32 %r1, -1; st.global.u32 [134217732], %r1;", "assert: there is no record at"),
}


@pytest.mark.parametrize(("body", "message"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_printed_is_an_error(body, message):
    with pytest.raises(ExecutionError) as caught:
        execute_body(body)
    assert message in str(caught.value)


def test_a_kernel_cannot_print_without_end(monkeypatch):
    monkeypatch.setattr(console, "MAX_TEXT_BYTES", 1 << 10)
    body = "A: " + CALL.format("number", "%rd2") + " bra A;"
    with pytest.raises(ExecutionError, match="the kernel prints more than 1024 bytes; print from") as caught:
        execute_body(body)
    assert caught.value.printed == "0" * 1025
