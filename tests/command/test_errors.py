"""User errors: each gives one line that names position and remedy, a failed exit, and nothing half-written."""

import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock
from support import small_launches

from warploom.arch import errors
from warploom.arch.config import SmConfig
from warploom.cli import main
from warploom.kernels.library import kernel
from warploom.synth.flow import synthesise

PTX = """\
.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n)
{
.reg .b16 %h<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .pred %p<3>;
ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
BODY
ret;
}
"""
LINE = PTX[: PTX.index("BODY")].count("\n") + 1
"""The line of a body's first statement."""

LAUNCH = small_launches.LAUNCH + """\
[[arguments]]
type = "u32"
value = 4
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def fails(folder, capsys):
    """Runs a command that must fail; returns its line, after checking the files that it has left."""

    def run(*arguments):
        before = sorted(folder.rglob("*"))
        assert main([str(argument) for argument in arguments]) == 1
        line, = capsys.readouterr().err.splitlines()
        assert sorted(folder.rglob("*")) == before
        return line.removeprefix("warploom: error: ")

    return run


@pytest.fixture
def fails_to_run(folder, fails):
    """Runs a launch file with a kernel, which must fail."""

    def run(body="", launch=LAUNCH, *options, ptx=PTX):
        (folder / "k.ptx").write_text(ptx.replace("BODY", body))
        (folder / "k.toml").write_text(launch)
        return fails("run", "k.toml", "--out", "out", "--json", "run.json", *options)

    return run


def test_an_innocent_kernel_runs(folder, capsys):
    (folder / "k.ptx").write_text(PTX.replace("BODY", "st.global.u32 [%rd3], %r1;"))
    (folder / "k.toml").write_text(LAUNCH)
    assert main(["run", "k.toml"]) == 0
    assert "thread instructions" in capsys.readouterr().out


SHARED = ".shared .align 4 .b8 s[{}]; st.shared.u32 [s+{}], %r1;"
LOCAL = ".local .align 4 .b8 l[{}]; st.local.u32 [l+{}], %r1;"

BODIES = {
    "unknown opcode": ("frob.u32 %r1, %r2;", ":{}:1: frob.u32: not supported; supported are integer, "),
    "unknown modifier": ("add.u32.foo %r1, %r2, %r3;", ":{}:1: add.u32.foo: .foo is not supported for add"),
    "syntax": ("mov.u32 %r1, 1", ":{1}:1: unexpected 'ret;'; expected ',' or ';'"),
    "undeclared register": ("mov.u32 %q1, 1;", ":{}:9: register '%q1' is not declared"),
    "register beyond the last": ("mov.u32 %r9, 1;", "'%r9' is not declared; '.reg %r<9>' ends before it"),
    "register of other size": ("mov.u32 %rd1, 1;", ":{}:1: mov.u32: %rd1 is a .b64 register where .u32 is required"),
    "undeclared label": ("bra NOWHERE;", ":{}:5: label 'NOWHERE' is not declared"),
    "f16": ("sin.approx.f16 %h1, %h2;", ":{}:1: sin.approx.f16: this type is not supported for sin"),
    "texture": (".global .texref t; tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, {%r1, %r2}];", "not supported"),
    "wmma": ("wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32 {%f1}, {%r1}, {%r2}, {%f2};",
             ":{}:1: wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32: products of matrices are not supported: compile"),
    "bulk copy": ("cp.async.bulk.shared::cta.global [%r1], [%rd1], 16, [%r2];", "bulk copies are not supported"),
    "indirect call": ("call %rd1, ();", "a call through a pointer ends in the name of a .callprototype,"),
    "undeclared function": ("call f, ();", "function 'f' is not declared"),
    "nested blocks": ("{" * 500 + "}" * 500, "nested more than 100 deep"),
    "past the end": ("st.global.u32 [%rd3+4], %r1;",
                     ":{}: thread (63, 0, 0) of block (0, 0, 0): store of 4 bytes at 0x700000000100: it is outside "
                     "global memory, 0 bytes past the end of buffer 'a' (256 bytes)"),
    "misaligned": ("st.global.u32 [%rd3+2], %r1;", ":{}: thread (0, 0, 0) of block (0, 0, 0): store of 4 bytes at "
                                                   "0x700000000002: the address must be a multiple of 4"),
    "null": ("mov.u64 %rd1, 0; ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd3], %r1;",
             "load of 4 bytes at 0x0: a null pointer"),
    "a field of null": ("mov.u64 %rd1, 4000; st.u32 [%rd1+92], %r1;", "store of 4 bytes at 0xffc: a null pointer"),
    "no null": ("mov.u64 %rd1, 4096; st.u32 [%rd1], %r1;", "store of 4 bytes at 0x1000: it is outside global memory"),
    "past shared": (SHARED.format(16, 16), "thread (0, 0, 0) of block (0, 0, 0): store of 4 bytes at 0x10: shared "
                                           "memory has 16 bytes"),
    "past local": (LOCAL.format(16, 16), "store of 4 bytes at 0x10: local memory has 16 bytes"),
    "past the parameters": ("ld.param.u32 %r2, [n+4]; st.global.u32 [%rd3], %r2;", "param memory has 12 bytes"),
    "before the parameters": ("ld.param.u32 %r2, [p+-4]; st.global.u32 [%rd3], %r2;", "param memory has 12 bytes"),
    "half past them": ("ld.param.u64 %rd4, [n]; st.global.u64 [%rd1], %rd4;", "param memory has 12 bytes"),
    "known address": ("mov.u32 %r3, 99; ld.param.u8 %r2, [%r3]; st.global.u32 [%rd3], %r2;", "param memory has"),
    "too much shared": (SHARED.format(50000, 0), "needs 50000 bytes of shared memory, fermi has 49152: use less, or"),
    "huge shared": (SHARED.format(10**11, 0), ":{}: variable 's' does not fit .shared memory of 4294967296 bytes"),
    "huge local": (LOCAL.format(10**6, 0), ":{}: variable 'l' does not fit .local memory of 524288 bytes"),
    "barrier in part of a warp": ("setp.lt.u32 %p1, %r1, 16;\n@%p1 bra S;\nbar.sync 0;\nS: st.global.u32 [%rd3], %r1;",
                                  ":{2}: barrier 0: only part of warp 0 of block (0, 0, 0) reaches it"),
    "barrier in some warps": ("setp.lt.u32 %p1, %r1, 32;\n@%p1 bra S;\nbar.sync 1;\nS: bar.sync 2;",
                              ":{3}: barrier 2: only part (1 of 2 warps) of block (0, 0, 0) reaches it"),
    "trap": ("trap;", ":{}: thread (0, 0, 0) of block (0, 0, 0): trap: the kernel stops itself"),
}


@pytest.mark.parametrize(("body", "message"), BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("options", [(), ("--functional",)], ids=["timed", "functional"])
def test_a_kernel_that_is_wrong(fails_to_run, body, message, options):
    """``{n}`` in a message stands for the nth line of the body."""
    line = fails_to_run(body, LAUNCH, *options)
    assert message.format(*range(LINE, LINE + 9)) in line
    assert line.startswith(("k.ptx", "k: ", "k.toml: k: "))


FILES = {
    "32-bit addresses": (("size 64", "size 32"), "k.ptx:3:1: only .address_size 64 is supported"),
    "prototype only": ((".visible", ".extern .func f();\n.visible"), "function 'f' is not defined in this file"),
    "recursion": ((".visible", ".func f() { call f, (); ret; }\n.visible"), "the stack is full at a call of 'f'"),
    "struct": ((".param .u32 n", ".param .align 4 .b8 n[12]"), "the kernel's parameter n is .b8 of 12 bytes"),
    "another block required": (("u32 n)", "u32 n)\n.reqntid 32, 2"),
                               "block = (64, 1, 1): the kernel requires (32, 2, 1) (.reqntid)"),
    "smaller block promised": (("u32 n)", "u32 n)\n.maxntid 32, 1, 1"), "of 64 threads exceeds the limit of 32"),
    "float parameter": ((".param .u32 n", ".param .f32 n"), "argument 2 is a scalar u32 of 4 bytes, the kernel's "
                                                            "parameter n is .f32 of 4 bytes"),
}


@pytest.mark.parametrize(("change", "message"), FILES.values(), ids=FILES)
def test_a_file_that_is_wrong(fails_to_run, change, message):
    body = "call f, ();" if "func" in change[1] else ""
    assert message in fails_to_run(body, ptx=PTX.replace(*change))


LAUNCHES = {
    "float for a whole number": (('type = "u32"', 'type = "f32"'), "k: argument 2 is a scalar f32 of 4 bytes, the "
                                                                   "kernel's parameter n is .u32 of 4 bytes"),
    "too many arguments": (("[[arg", '[[arguments]]\ntype = "u32"\nvalue = 1\n[[arg'), "k takes 2 arguments"),
    "no such entry": (("grid", 'entry = "j"\ngrid'), "k.ptx: there is no entry 'j'; entries: k"),
    "entry of two lines": (("grid", 'entry = "k\\nk"\ngrid'), r"there is no entry 'k\nk'"),
    "no such PTX": (('"k.ptx"', '"gone.ptx"'), "k.toml: ptx: gone.ptx is not a file; paths are relative to the launch"),
    "key like another": (("grid", "dynamic_share = 1\ngrid"), "dynamic_share: is not a key here; keys are ptx, "),
    "block larger than the SM": (("block = 64", "block = 1024"), "a block of 32 warps with"),
    "large dynamic shared": (("grid", "dynamic_shared = 65536\ngrid"), "needs 65536 bytes of shared memory, small has"),
    "grid beyond the limit": (("grid = 1", "grid = [2147483647, 65535]"), "warps and limit = 10000000 instructions"),
    "no limit": (("grid", "limit = 0\ngrid"), "k.toml: limit: 0 must be a whole number from 1 to "),
    "empty buffer": (("shape = 64", "shape = 0"), "shape: 0 must be a whole number of at least 1"),
}


@pytest.mark.parametrize(("change", "message"), LAUNCHES.values(), ids=LAUNCHES)
def test_a_launch_that_is_wrong(fails_to_run, change, message):
    assert message in fails_to_run("", LAUNCH.replace(*change, 1), "--preset", "small")


@pytest.mark.parametrize("body", ["A: add.u32 %r1, %r1, 1; bra A;", "A:\n" + "add.u32 %r1, %r1, 1;\n" * 500 + "bra A;"])
def test_an_endless_loop_ends_at_the_limit(fails_to_run, body):
    line = fails_to_run(body, "limit = 20_000\n" + LAUNCH)
    counts = re.search(r"k has not ended after (\d+) warp instructions, which count as (\d+) \(at least 16 for", line)
    assert 16 * int(counts[1]) == 2 * int(counts[2]) > 2 * 20_000, "two warps"
    assert "an endless loop, lanes of one warp that wait for each other, or limit = 20000 is too low: raise it" in line


@pytest.mark.parametrize("old", ["'<u4'", "'shape'", "(64,)", "}", "NUMPY"])
def test_an_array_file_that_is_damaged(folder, fails_to_run, old):
    np.save("a.npy", np.zeros(64, np.uint32))
    data = (folder / "a.npy").read_bytes()
    assert data.count(old.encode()) == 1
    (folder / "a.npy").write_bytes(data.replace(old.encode(), b"(" * len(old)))
    line = fails_to_run("", LAUNCH.replace('generator = { kind = "zeros" }', 'file = "a.npy"'))
    assert line.startswith("k.toml: arguments 1: file: a.npy: not an .npy file of numbers: ")


SHAPES = [(2**70,), (2**31, 2**31, 2**31), (-4,), (10**18,), (4, -16), ("x",), (1.5,), (None,), 7, ()]


@pytest.mark.parametrize("shape", SHAPES)
def test_an_array_file_of_an_absurd_shape(fails_to_run, shape):
    header = repr({"descr": "<u4", "fortran_order": False, "shape": shape}).ljust(117) + "\n"
    Path("a.npy").write_bytes(b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header.encode() + bytes(256))
    line = fails_to_run("", LAUNCH.replace('generator = { kind = "zeros" }', 'file = "a.npy"'))
    assert line.startswith("k.toml: arguments 1: file: a.npy")
    assert len(line) < 400


def test_arrays_are_bounded_together_and_before_they_are_made(fails_to_run, monkeypatch):
    monkeypatch.setattr("warploom.kernels.arrays.generate", lambda *_: pytest.fail("an array was made"))
    monkeypatch.setattr("warploom.kernels.arrays.MAX_TOTAL_BYTES", 255)
    line = "k.toml: arguments 1: shape: [64] of uint32 makes the arrays of this file more than 0 MiB together"
    assert fails_to_run() == f"{line}: use smaller ones"


def test_all_arrays_count(fails_to_run, monkeypatch):
    np.save("a.npy", np.zeros(64, np.uint32))
    monkeypatch.setattr("warploom.kernels.arrays.MAX_TOTAL_BYTES", 3 * 256 - 1)
    symbol = '[[symbols]]\nname = "s"\nfile = "a.npy"\n'
    line = fails_to_run("", LAUNCH.replace("out = true", 'out = true\nexpect = "a.npy"') + symbol)
    assert line.startswith("k.toml: symbols 1: file: a.npy makes the arrays of this file more than 0 MiB together")


@pytest.mark.parametrize("body", ["mov.u32 %{}, 1;", "bra {};", "call {}, ();", "{}.u32 %r1, %r2;", "mov.u32 %r1, {};"])
def test_a_long_name_is_not_repeated_whole(fails_to_run, body):
    assert len(fails_to_run(body.format("a" * 5000))) < 1000


@pytest.mark.parametrize("scalar", ["s32", "b32"])
def test_whole_numbers_of_one_size_are_the_same(folder, scalar):
    """PTX has no signed parameters: nvcc writes .u32 for an int."""
    (folder / "k.ptx").write_text(PTX.replace("BODY", ""))
    (folder / "k.toml").write_text(LAUNCH.replace('"u32"', f'"{scalar}"'))
    assert main(["run", "k.toml", "--functional"]) == 0


CONTENTS = {"absent": b"", "folder": b"", "empty": b"", "binary": bytes(range(256)), "zeros": b"\0" * 99,
            "brackets": b"a = " + b"[" * 5000, "digits": b"a = " + b"9" * 5000}


READERS = {"x.ptx": ["compile"], "x.toml": ["run"], "preset.toml": ["presets"], "x.lib": ["synth", "--liberty"]}


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("name", READERS)
def test_a_file_that_is_not_what_it_should_be(folder, fails, name, content):
    path = folder / name
    if content == "folder":
        path.mkdir()
    elif content != "absent":
        path.write_bytes(CONTENTS[content])
    if (name, content) == ("preset.toml", "empty"):
        assert main([*READERS[name], name]) == 0, "what a configuration leaves out is the default"
    else:
        assert fails(*READERS[name], name).startswith(name)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("timing=3", "timing is not a configuration field: it is the classes of the pipes, timing.CLASS in a setting"),
        ("timing.int_add=3", "pipes.sp0.classes.int_add = 3: must be [latency, interval] in cycles"),
        ("name=3", "name = 3: must be letters, digits, - and _, at most 100 bytes: it names files"),
        ("name='../x'", "name = '../x': must be letters, digits, - and _, at most 100 bytes: it names files"),
        ("name=" + "x" * 300, "... (302 characters): must be letters, digits, - and _, at most 100 bytes"),
        ("bnaks=4", "'bnaks' is not a configuration field; fields are active_warps, "),
        ("bnaks=4", "; nearest: banks"),
        ("banks", "--set banks: must be FIELD=VALUE, such as banks=4"),
        ("banks=", "--set banks=: must be FIELD=VALUE"),
        ("=", "--set =: must be FIELD=VALUE"),
        ("banks=" + "[" * 5000, ": not a TOML value"),
        ("banks=" + "9" * 5000, "999... (5,002 characters): must be a whole number from 1 to 32"),
        ("banks=0x" + "9" * 5000, "banks = a value with more than 4,300 digits: must be a whole number from 1 to 32"),
        ("sp0.classes=" + "9" * 5000, "pipes.sp0.classes = "),
        ("a\nb=1", r"'a\nb' is not a configuration field"),
    ],
)
def test_a_setting_that_is_nonsense(fails, setting, message):
    assert message in fails("run", "bfs", "--set", setting)


@pytest.mark.parametrize(("command", "message"), [
    ("run bfs --seed 2", "--seed: only hardware has power-up contents: add --rtl"),
    ("run bfs --gpu fermi --functional", "--gpu: leave out --functional, which times nothing"),
    ("run bfs --gpu k20x --blocks 2", "--gpu: leave out --rtl and --blocks, which are for one SM"),
    ("run bfs --blocks 2 --functional", "--blocks: only the cycle model takes a sample of the blocks: leave out"),
    ("regress --against nope", "--against: nope: no such file"),
    ("run gaussian --seed 2", "--seed: only hardware has power-up contents: add --rtl"),
    ("sweep --set banks=2,4 --seed 2", "--seed: only points that are drawn depend on it: add --random N"),
    ("synth --ipc tiny", "--ipc: it is of whole datapaths: add --all or --pairs"),
    ("synth --fpga", "--fpga: it is of one unit: name it with --unit, such as Datapath"),
    ("evaluate hardware --size tiny", "evaluate hardware: --size and --quick must be left out: it has no inputs"),
    ("evaluate hardware_units --quick", "hardware_units: --size and --quick must be left out: it has no inputs"),
    ("evaluate coalescing --set coalescing=on --workloads bfs", "--set coalescing must be left out: the experiment"),
    ("evaluate tfet --set tfet_rows=56", "--set tfet_rows must be left out: the experiment sets it itself"),
    ("evaluate tfet --set drowsy=2", "evaluate tfet: --set drowsy must be left out: the experiment sets it itself"),
    ("evaluate locality --set block_scheduler=locality", "--set block_scheduler must be left out: the experiment sets"),
    ("evaluate locality --set saturation=mascar", "--set saturation must be left out: the experiment sets it itself"),
    ("run bfs --set banks=4 --set register_file.banks=2", "--set register_file.banks=2: banks = 4 is given, too"),
    ("run bfs --set sp0.lanes=16 --set pipes.sp0.lanes=32", "sp0.lanes = 16 is given, too: give one of them"),
    ("sweep --set banks=4 --set register_file.banks=2,8", "banks = 4 is given, too: give one of them"),
    ("evaluate coalescing --set banks=4 --set banks=2", "banks = 4 is given, too: give one of them"),
])
def test_no_option_is_ignored(fails, command, message):
    assert message in fails(*command.split())


@pytest.mark.parametrize("command", ["run bfs --preset", "evaluate coalescing --preset", "presets", "synth --preset"])
def test_an_empty_name_is_no_preset(fails, command):
    assert fails(*command.split(), "").startswith("preset = '': must be one of fermi, ")


def test_an_unknown_name_comes_with_the_nearest(fails):
    assert fails("run", "hotspt").endswith("; nearest: hotspot")
    assert errors.nearest("quite different", ["banks"]) == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--json", "there"), "there: Is a directory"),
        (("--json", "x" * 300), f"{'x' * 80}... (301 characters) File name too long"),
        (("--json", "file/x.json"), "file/x.json: No such file or directory"),
        (("--json", "/dev/full"), "/dev/full: No space left on device"),
        (("--out", "file"), "file: Not a directory"),
        (("--out", "file/deep"), "file/deep: Not a directory"),
        (("--out", "new", "--json", "new"), "--json: new will be a folder, for --out new: name another file"),
        (("--out", "new/deep", "--json", "new"), "--json: new will be a folder, for --out new/deep: name another file"),
    ],
)
def test_output_that_cannot_be_written(folder, fails, options, message):
    (folder / "there").mkdir()
    (folder / "file").touch()
    assert fails("run", "bfs", "--size", "tiny", "--functional", *options) == message


@pytest.mark.parametrize(("options", "written", "reason"), [
    (("run", "k.toml", "--json", "k.toml"), "--json: k.toml", "the command reads"),
    (("run", "k.toml", "--json", "./k.ptx"), "--json: k.ptx", "the command reads"),
    (("run", "k.toml", "--out", "."), "--out: a.npy", "the command reads"),
    (("run", "k.toml", "--out", "out", "--json", "out/a.npy"), "--out: out/a.npy", "--json writes"),
    (("annotate", "k.toml", "--json", "a.npy"), "--json: a.npy", "the command reads"),
    (("compile", "k.ptx", "--json", "k.ptx"), "--json: k.ptx", "the command reads"),
    (("evaluate", "silicon", "--from", "a.npy", "--json", "a.npy"), "--json: a.npy", "the command reads"),
    (("report", "k.toml", "--out", "link"), "--out: link", "the command reads"),
    (("report", "k.toml", "--out", "r", "--json", "r"), "--out: r", "--json writes"),
    (("trace", "k.toml", "--out", "a.npy"), "--out: a.npy", "the command reads"),
    (("trace", "bfs", "--out", "p", "--json", "p"), "--out: p", "--json writes"),
    (("run", "k.toml", "--rtl", "--waves", "r.vcd", "--json", "r.gtkw"), "--waves: r.gtkw", "--json writes"),
    (("sweep", "--csv", "s", "--json", "s"), "--csv: s", "--json writes"),
    (("synth", "--liberty", "k.ptx", "--json", "k.ptx"), "--json: k.ptx", "the command reads"),
])
def test_no_output_replaces_an_input_or_another_output(folder, fails, options, written, reason):
    (folder / "k.ptx").write_text(PTX.replace("BODY", ""))
    (folder / "k.toml").write_text(LAUNCH.replace('generator = { kind = "zeros" }', 'file = "a.npy"'))
    (folder / "link").symlink_to("k.toml")
    (folder / "out").mkdir()
    np.save(folder / "a.npy", np.zeros(64, np.uint32))
    before = {path: path.read_bytes() for path in folder.glob("k.*")}
    assert fails(*options) == f"{written} would be replaced, but {reason} it: name another file"
    assert {path: path.read_bytes() for path in folder.glob("k.*")} == before


@pytest.mark.parametrize("protected", ["there", "there/j.json", "there/new.json"])
def test_what_may_not_be_written_is_found_before_the_work(folder, fails, monkeypatch, protected):
    (folder / "there").mkdir()
    (folder / "there/j.json").touch()
    name = protected if protected.endswith("json") else "there/j.json"
    refused = folder / protected if (folder / protected).exists() else folder / "there"
    monkeypatch.setattr(os, "access", lambda path, _: Path(path).resolve() != refused)
    monkeypatch.setattr("warploom.verbs.kernels.main", lambda _: pytest.fail("it works first"))
    assert fails("kernels", "--json", name) == f"{name}: Permission denied"


def test_a_recording_is_refused_before_the_work(fails):
    assert fails("regress", "--record", "nowhere/r") == "nowhere/r: No such file or directory"


def test_a_file_keeps_its_mode_and_may_have_a_long_name(folder):
    path = folder / ("x" * 250)
    path.touch()
    path.chmod(0o640)
    assert main(["presets", "small", "--json", path.name]) == 0
    assert path.stat().st_mode & 0o777 == 0o640
    assert path.read_text().startswith("{")
    assert list(folder.iterdir()) == [path]


def test_a_new_file_has_the_users_mode(folder):
    before = os.umask(0o027)
    try:
        assert main(["presets", "small", "--json", "new.json"]) == 0
    finally:
        os.umask(before)
    assert (folder / "new.json").stat().st_mode & 0o777 == 0o640


def test_a_device_needs_no_folder_that_may_be_written(monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, _: Path(path) == Path("/dev/null"))
    assert main(["presets", "small", "--json", "/dev/null"]) == 0


def test_devices_and_links_stay_what_they_are(folder):
    (folder / "link.json").symlink_to("target.json")
    assert main(["presets", "--json", "link.json"]) == 0
    assert (folder / "link.json").is_symlink()
    assert (folder / "target.json").read_text().startswith("{")
    os.mkfifo("pipe.json")
    reader = os.open("pipe.json", os.O_RDONLY | os.O_NONBLOCK)
    assert main(["presets", "small", "--json", "pipe.json"]) == 0
    assert os.read(reader, 1) == b"{"
    os.close(reader)


@pytest.mark.parametrize("verb", [["run", "bfs", "--rtl"], ["bench"], ["demo"]])
def test_a_missing_compiler_is_found_before_anything_is_done(fails, monkeypatch, verb):
    toolchain = pytest.importorskip("warploom.tb.toolchain")
    toolchain.versions.cache_clear()
    monkeypatch.setenv("PATH", "/nonexistent")
    line = fails(*verb)
    assert line.startswith("g++: a C++ compiler is needed to build simulations and CUDA's library, and not installed (")


def test_a_missing_package_is_one_line(fails, monkeypatch):
    monkeypatch.setitem(sys.modules, "warploom.verbs.kernels", None)
    monkeypatch.delattr("warploom.verbs.kernels", raising=False)
    assert "a required Python package is not installed: pip install -r requirements.txt" in fails("kernels")


def test_a_cache_that_is_a_link_to_itself(folder, fails, monkeypatch):
    (folder / "loop").symlink_to("loop")
    monkeypatch.setenv("WARPLOOM_CACHE", str(folder / "loop"))
    assert main(["presets"]) == main(["cache"]) == 0
    assert fails("evaluate", "coalescing", "--size", "tiny", "--workloads", "vector_add").startswith(
        f"{folder}/loop: File exists: results are stored there: set WARPLOOM_CACHE")


def test_memory_that_runs_out_is_one_line(fails, monkeypatch):
    def exhaust(*_):
        raise MemoryError

    monkeypatch.setattr("warploom.verbs.kernels.main", exhaust)
    assert fails("kernels") == "out of memory: use smaller buffers or a smaller grid"


@pytest.mark.parametrize("redirection", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_output_is_no_error(redirection):
    command = f"exec {sys.executable} -m warploom.cli presets {redirection}"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_output_in_a_small_character_set(folder, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    shutil.copy(kernel("bfs").ptx, "Kräfte.ptx")
    command = [sys.executable, "-m", "warploom.cli", "compile", "Kräfte.ptx"]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 0 and rb"Kr\xe4fte.ptx" in done.stdout


def test_two_syntheses_of_the_same_take_turns(tmp_path, monkeypatch):
    """The second waits for the entry that the first makes: here for its cell library, which then cannot be read."""
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path))
    (tmp_path / "my.lib").write_text("nothing")
    with pytest.raises(errors.ConfigError, match="not a Liberty file"):
        synthesise(SmConfig(), liberty=tmp_path / "my.lib")
    lock, = tmp_path.glob("cells/liberty-*.lock")
    with ThreadPoolExecutor(1) as pool:
        with FileLock(lock):
            second = pool.submit(synthesise, SmConfig(), liberty=tmp_path / "my.lib")
            assert wait([second], timeout=0.3).not_done
        with pytest.raises(errors.ConfigError, match="not a Liberty file"):
            second.result(timeout=30)
