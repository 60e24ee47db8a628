"""The command line: exit statuses, one line for every error, and documents that are whole or absent."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import weakref
from types import SimpleNamespace

import numpy as np
import pytest

from warploom import __version__, command, report
from warploom.arch.config import PARAMETERS, SmConfig, presets
from warploom.arch.parameters import PARTS
from warploom.cli import main
from warploom.kernels.library import kernel, kernels
from warploom.running import Executed
from warploom.tb import lockstep
from warploom.verbs import consistent
from warploom.verbs.run import run_rtl

WARPLOOM = [sys.executable, "-m", "warploom.cli"]
VERBS = ["kernels", "presets", "config", "run", "cuda", "trace", "annotate", "energy", "compile", "verilog", "synth",
         "regress", "evaluate", "sweep", "bench", "demo", "cache"]


def one_error_line(capsys):
    """The only line on standard error, without its prefix."""
    line, = capsys.readouterr().err.splitlines()
    assert line.startswith("warploom: error: ")
    return line.removeprefix("warploom: error: ")


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_examples(verb, capsys):
    with pytest.raises(SystemExit) as exit_:
        main([verb, "--help"])
    assert exit_.value.code == 0
    text = capsys.readouterr().out
    assert f"examples:\n  warploom {verb}" in text
    assert "--json FILE" in text


def test_help_lists_every_verb_and_imports_nothing_heavy():
    code = ("import sys, warploom.cli\ntry: warploom.cli.main(['--help'])\n"
            "except SystemExit: print(sorted({'numpy', 'rich', 'amaranth'} & set(sys.modules)))")
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert all(f"    {verb} " in result.stdout for verb in VERBS)
    assert result.stdout.endswith("[]\n")


@pytest.mark.parametrize("arguments", [[], ["frobnicate"], ["run"], ["run", "bfs", "--size", "huge"],
                                       ["run", "bfs", "--rtl", "--functional"], ["presets", "--set", "banks=2"],
                                       *(["synth", f"--max-ps={limit}"] for limit in ("nan", "inf", "0", "-1"))])
def test_wrong_usage_exits_with_2(arguments, capsys):
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    assert exit_.value.code == 2
    line, = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"(warploom.*): error: .*; see \1 --help", line)


@pytest.mark.parametrize("value", ["z" * 5000, "a b " * 1250, "9" * 5000], ids=["word", "words", "number"])
@pytest.mark.parametrize("arguments", [
    ["VALUE"], ["run", "bfs", "VALUE"], ["run", "bfs", "--other=VALUE"], ["run", "bfs", "--size", "VALUE"],
    ["run", "bfs", "--size=VALUE"], ["run", "bfs", "--seed", "VALUE"], ["run", "bfs", "--blocks", "VALUE"],
    ["synth", "--max-ps", "VALUEx"], ["compile", "a.ptx", "--window", "VALUE"],
], ids=" ".join)
def test_wrong_usage_shows_no_long_value_whole(arguments, value, capsys):
    with pytest.raises(SystemExit) as exit_:
        main([argument.replace("VALUE", value) for argument in arguments])
    assert exit_.value.code == 2
    line = capsys.readouterr().err.splitlines()[-1]
    assert value[:60] in line
    assert "characters)" in line
    assert len(line) < 600


@pytest.mark.parametrize(("options", "message"), [
    (["--json", ""], "--json: must name a file"), (["--json", "a", "--json", "b"], "--json: is given twice")])
def test_a_document_has_one_name(options, message, capsys):
    with pytest.raises(SystemExit):
        main(["presets", *options])
    assert message in capsys.readouterr().err


def test_a_file_is_no_cache(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").touch()
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path / "file"))
    assert main(["cache"]) == 1
    assert one_error_line(capsys) == f"{tmp_path / 'file'}: is a file: set WARPLOOM_CACHE to a folder"


@pytest.mark.parametrize(("arguments", "message"), [
    ("run bfs --blocks many", "--blocks: many: must be a whole number of at least 2"),
    ("run bfs --blocks 1", "--blocks: 1: must be a whole number of at least 2"),
    ("compile a.ptx --max-registers 0", "--max-registers: 0: must be a whole number from 1 to"),
    ("compile a.ptx --stack 0", "--stack: 0: must be a whole number of bytes from 1 to 524288"),
    ("run bfs --stack 1MB", "--stack: 1MB: must be a whole number of bytes from 1 to 524288"),
    ("sweep --random 0", "--random: 0: must be a positive number")])
def test_a_number_that_an_option_does_not_take(arguments, message, capsys):
    with pytest.raises(SystemExit):
        main(arguments.split())
    assert f"argument {message}" in capsys.readouterr().err


def test_fields_of_a_configuration_are_shown_by_part(capsys, tmp_path):
    path = tmp_path / "config.json"
    assert main(["config", "--preset", "small", "--set", "operands.window=4", "--json", str(path)]) == 0
    text, document = capsys.readouterr().out, json.loads(path.read_text())
    assert all(part in text for part in PARTS)
    assert all(name in text for name in PARAMETERS)
    assert document["configuration"]["window"] == 4
    assert document["fields"]["banks"] == {
        "part": "register_file", "value": 2, "unit": "", "legal": "a power of two 1 to 32",
        "meaning": "register banks", "source": "[RADAIDEH], Table 3.5",
    }
    assert document["fields"]["sfu.credits"]["value"] == 32
    assert document["fields"]["mem.classes"]["value"] == {"mem": [1, 2]}


@pytest.mark.parametrize("prefix", ["", "pipes."])
def test_a_pipe_may_have_several_copies(prefix):
    settings = [f"{prefix}sp0.copy={name}" for name in ("sp8", "sp9")]
    assert consistent(settings) == settings


def test_presets_are_shown_side_by_side(capsys, tmp_path):
    path = tmp_path / "presets.json"
    assert main(["presets", "--json", str(path)]) == 0
    text = capsys.readouterr().out
    assert all(name in text for name in ("fermi", "small", "collectors", "timing.dp_div"))
    document = json.loads(path.read_text())
    origin = {key: document[key] for key in ("schema", "verb", "version")}
    assert origin == {"schema": report.SCHEMA_VERSION, "verb": "presets", "version": __version__}
    assert set(document["presets"]) == set(presets())
    assert document["presets"]["fermi"]["banks"] == SmConfig.preset("fermi").banks


def test_a_preset_as_toml_is_a_preset_again(capsys, tmp_path):
    assert main(["presets", "small"]) == 0
    path = tmp_path / "mine.toml"
    path.write_text(capsys.readouterr().out)
    assert SmConfig.preset(str(path)) == SmConfig.preset("small")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["presets", "volta"], "must be one of fermi, gtx480, kepler, maxwell, narrow, pascal, small, or a p"),
        (["run", "bfs", "--preset", "volta"], "preset = 'volta': must be one of fermi, gtx480, kepler, maxwell, nar"),
        (["run", "bfs", "--set", "banks=3"], "--set: banks = 3: must be a power of two"),
        (["run", "bsf"], "'bsf' is neither a bundled kernel nor a bundled program"),
        (["run", "absent.toml"], "absent.toml: No such file or directory: name a launch file"),
        (["run", "absent.toml", "--size", "tiny"], "--size tiny goes with a bundled kernel"),
        (["compile", "absent.ptx"], "absent.ptx: cannot be read: "),
        (["presets", "--json", "absent/presets.json"], "absent/presets.json: No such file or directory"),
        *(([*verb, "--set", "coalescing=on", "--set", "alignment=ideal"], "alignment = ideal: a bound of the golden")
          for verb in (["run", "bfs", "--rtl", "--out", "."], ["verilog"], ["synth"], ["regress"], ["demo"])),
    ],
)
def test_an_error_is_one_line_and_exit_status_1(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    assert message in one_error_line(capsys)
    assert not list(tmp_path.iterdir())


@pytest.fixture(params=[["presets"], ["config"], ["presets", "small"]], ids=" ".join)
def buffered(request, monkeypatch):
    """A command whose output is buffered: tables, which are flushed, and a text that fits into the buffer."""
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    return [*WARPLOOM, *request.param]


def test_output_on_a_full_disk_is_one_line(buffered):
    with open("/dev/full", "w") as full:
        result = subprocess.run(buffered, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert result.returncode == 1
    assert result.stderr == "warploom: error: standard output: No space left on device\n"


def test_a_reader_that_goes_away_is_no_error(buffered):
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run(buffered, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert result.stderr == b""


INTERRUPTIBLE = """\
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from warploom.cli import main
sys.exit(main())
"""
"""A shell's background job ignores interrupts, and so would the processes of a test that runs in one."""


def test_an_interrupt_is_one_line(tmp_path):
    """The verb waits for its launch file, which is a pipe that this test holds open."""
    pipe = tmp_path / "launch.toml"
    os.mkfifo(pipe)
    command = [sys.executable, "-c", INTERRUPTIBLE, "run", pipe]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        writer = None
        while writer is None and process.poll() is None:
            with contextlib.suppress(OSError):  # the pipe has no reader yet
                writer = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
        os.close(writer)
    assert (process.returncode, errors) == (130, "warploom: interrupted\n")


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_at_once_is_one_line(monkeypatch, capsys):
    monkeypatch.setattr(command.gc, "set_threshold", lambda _: signal.raise_signal(signal.SIGINT))
    assert main([]) == 130
    assert capsys.readouterr().err == "warploom: interrupted\n"


INTERRUPTED_IMPORT = """\
import signal, sys
from warploom.cli import main
class Interrupting:
    def find_spec(self, name, *_):
        if name == "warploom.MODULE":
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
sys.exit(main(["presets"]))
"""


@pytest.mark.parametrize("module", ["command", "arch.config", "tb.seeds"])
def test_an_interrupt_during_an_import_is_one_line(module):
    command = [sys.executable, "-c", INTERRUPTED_IMPORT.replace("MODULE", module)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (130, "warploom: interrupted\n")


def test_an_interrupt_while_a_class_is_made_is_one_line(monkeypatch, capsys):
    """Python 3.11 reports it as the cause of another error."""
    class Interrupting:
        def find_spec(self, name, *_):
            if name == "warploom.command":
                raise RuntimeError("Error calling __set_name__") from cause

    monkeypatch.setattr(sys, "meta_path", [Interrupting(), *sys.meta_path])
    monkeypatch.delitem(sys.modules, "warploom.command")
    monkeypatch.delattr("warploom.command")
    cause = KeyboardInterrupt()
    assert main([]) == 130
    assert capsys.readouterr().err == "warploom: interrupted\n"
    cause = None
    with pytest.raises(RuntimeError, match="__set_name__"):
        main([])


@pytest.mark.usefixtures("interrupts")
def test_a_caller_has_its_signals_again():
    before = signal.getsignal(signal.SIGTERM), sys.unraisablehook
    assert main(["presets", "small"]) == 0
    assert (signal.getsignal(signal.SIGTERM), sys.unraisablehook) == before


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_during_a_callback_is_not_lost(monkeypatch, capsys, number, status):
    def verb(_):
        object_ = type("Object", (), {})()
        reference = weakref.ref(object_, lambda _: signal.raise_signal(number))
        del object_
        time.sleep(10)
        return reference

    monkeypatch.setattr(command, "_run", verb)
    assert main([]) == status
    line, = capsys.readouterr().err.splitlines()
    assert line.startswith("warploom: ")


def test_a_document_that_cannot_be_written_leaves_nothing_behind(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    path = tmp_path / "old.json"
    path.write_text("old")
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="No space left"):
        report.write_json(path, {"new": 1})
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_table_cells(capsys):
    report.table("Cells [x]", ("name", "count", "share"), [("a[0]", 1234567, 0.12345), ("b", None, 2.0)])
    text = capsys.readouterr().out
    assert all(cell in text for cell in ("Cells [x]", "a[0]", "1,234,567", "0.1235", " - "))


SUM = """
ptx = "vector_add.ptx"
grid = 2
block = 32
[[arguments]]
name = "a"
dtype = "float32"
shape = 64
generator = { kind = "arange" }
[[arguments]]
name = "b"
dtype = "float32"
shape = 64
generator = { kind = "constant", value = 0.5 }
[[arguments]]
name = "sum"
dtype = "float32"
shape = 64
generator = { kind = "zeros" }
out = true
expect = "expected.npy"
[[arguments]]
type = "s32"
value = 64
"""


@pytest.fixture
def sum_toml(tmp_path):
    """A user's launch file, with PTX and the correct expected result in the same folder."""
    shutil.copy(kernel("vector_add").ptx, tmp_path)
    np.save(tmp_path / "expected.npy", np.arange(64, dtype=np.float32) + np.float32(0.5))
    path = tmp_path / "sum.toml"
    path.write_text(SUM)
    return path


def test_run_checks_times_and_writes_a_launch_of_ones_own(sum_toml, capsys):
    folder = sum_toml.parent
    assert main(["run", str(sum_toml), "--preset", "small", "--out", str(folder / "new" / "out"),
                 "--json", str(folder / "run.json")]) == 0
    text = capsys.readouterr().out
    assert "as expected, bit for bit" in text
    assert "Timing on small" in text
    assert np.array_equal(np.load(folder / "new" / "out" / "sum.npy"), np.load(folder / "expected.npy"))
    document = json.loads((folder / "run.json").read_text())
    assert document["kernel"]["grid"] == [2, 1, 1]
    assert (document["checked"], document["mismatches"], document["failure"]) == (["sum"], [], None)
    assert document["timing"]["warp_instructions"] == document["execution"]["warp_instructions"] > 0
    assert document["timing"]["cycles"] > document["timing"]["warp_instructions"]
    assert document["outputs"] == [str(folder / "new" / "out" / "sum.npy")]


def test_a_result_that_is_not_as_expected_fails_after_everything_is_written(sum_toml, capsys):
    folder = sum_toml.parent
    expected = np.load(folder / "expected.npy")
    expected[7] = -1
    np.save(folder / "expected.npy", expected)
    arguments = ["run", str(sum_toml), "--functional", "--out", str(folder), "--json", str(folder / "run.json")]
    assert main(arguments) == 1
    line = "sum: 1 of 64 elements differ (bit-exact); the first is sum[7] = 7.5, expected -1.0"
    assert one_error_line(capsys) == line
    assert np.load(folder / "sum.npy")[7] == 7.5
    document = json.loads((folder / "run.json").read_text())
    assert document["failure"] == line
    assert "timing" not in document


@pytest.mark.parametrize(("exact", "mismatches", "verdict"), [
    ([], (), "not checked: the launch file expects nothing"), ([True, True], (), "as expected, bit for bit"),
    ([True, False], (), "as expected"), ([True, False], ("a differs",), "1 of 2 buffers are wrong")])
def test_what_a_run_says_of_its_results(exact, mismatches, verdict):
    file = SimpleNamespace(expectations=[SimpleNamespace(exact=each) for each in exact])
    assert Executed(file, None, None, mismatches).verdict == verdict


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("value = 64", "value = 65", "vector_add.ptx:"),
        ('type = "s32"', 'type = "s64"', "argument 4 is a scalar s64 of 8 bytes"),
        ('[[arguments]]\ntype = "s32"\nvalue = 64\n', "", "takes 4 arguments, the launch gives 3"),
        ("grid = 2", 'grid = 2\nentry = "add"', "vector_add.ptx"),
        ("block = 32", "block = 1024", "does not fit: small has room for"),
    ],
)
def test_a_launch_that_does_not_fit_is_one_line(sum_toml, old, new, message, capsys):
    assert SUM.count(old) == 1
    sum_toml.write_text(SUM.replace(old, new).replace("grid = 2", "grid = 3"))
    out, document = sum_toml.parent / "out", sum_toml.parent / "run.json"
    assert main(["run", str(sum_toml), "--preset", "small", "--out", str(out), "--json", str(document)]) == 1
    assert message in one_error_line(capsys)
    assert not out.exists() and not document.exists()


def test_the_machine_code_of_a_kernel_with_its_ptx(capsys, tmp_path):
    path = kernel("vector_add").ptx
    assert main(["compile", str(path), "--json", str(tmp_path / "code.json")]) == 0
    text = capsys.readouterr().out
    assert "add.f32" in text
    assert "FADD.rn R" in text
    assert all(re.match(r"// +\d+: ", line) for line in text.splitlines() if line.startswith("//"))
    document = json.loads((tmp_path / "code.json").read_text())
    assert len(document["code"]) == document["instructions"]
    assert document["code"][-1]["text"] == "EXIT"
    assert "only" not in text
    assert "window" not in document


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_table_breaks_no_word(capsys, monkeypatch, width):
    monkeypatch.setattr(report, "PLAIN_WIDTH", width)
    words = ["issue_per_warp", "two_level", "0.02296"]
    report.table("Words", ("warp instructions", *words), [["of a sentence that is longer than its column", *words]] * 2)
    text = capsys.readouterr().out
    assert all(text.count(word) == 3 for word in words) and text.count("instructions") == 1
    report.table("A path", ("path",), [["/".join(["folder"] * 40)]])
    assert max(map(len, capsys.readouterr().out.splitlines())) <= max(width, 40)
    sentence = [f"word_{number}" for number in range(20)]
    report.table("Sentences", ("first", "number", "last"), [[" ".join(sentence), 12345, " ".join(sentence)]] * 2)
    text = capsys.readouterr().out
    assert all(text.count(f"{word} ") + text.count(f"{word}\n") == 4 for word in sentence) and text.count("12,345") == 2


def test_settings_without_timing_are_named(capsys):
    command = ["run", "bfs", "--size", "tiny", "--preset", "small", "--functional"]
    assert main(command) == 0
    assert capsys.readouterr().err == ""
    assert main([*command, "--set", "scheduler=lrr"]) == 0
    assert "warning: --set: with --functional nothing is timed" in capsys.readouterr().err


def test_the_size_of_a_waveform_is_shown(tmp_path, monkeypatch, capsys):
    compared = lockstep.Lockstep("small", "bfs", 1, 5, 5, 0, {}, 1.0, str(tmp_path / "run.vcd"))
    monkeypatch.setattr(lockstep, "lockstep", lambda *_, **__: compared)
    monkeypatch.setattr(report, "PLAIN_WIDTH", 400)
    (tmp_path / "run.vcd").write_bytes(bytes(1500))
    run_rtl(SmConfig.preset("small"), kernel("bfs").load("tiny"), 1, 5, record=tmp_path / "run.vcd")
    assert f"{tmp_path / 'run.vcd'} (1.5 kB)" in capsys.readouterr().out


def test_machine_code_that_is_not_optimised(capsys, tmp_path):
    """The program is longer, and has the same results, also in functional execution."""
    lengths = []
    for options in ([], ["--no-optimise"]):
        path = tmp_path / "code.json"
        assert main(["compile", str(kernel("bfs").ptx), *options, "--json", str(path)]) == 0
        lengths.append(json.loads(path.read_text())["instructions"])
        assert main(["run", "bfs", "--size", "tiny", "--functional", *options, "--json", str(path)]) == 0
        document = json.loads(path.read_text())
        assert (document["kernel"]["instructions"], document["mismatches"]) == (lengths[-1], [])
    assert lengths[0] < lengths[1]


def test_a_kernel_with_fewer_registers(capsys, tmp_path):
    """Values that have none are in local memory; the results are the same. So a block fits that had no room."""
    path = tmp_path / "run.json"
    few = ["run", "matmul", "--preset", "small", "--set", "rows=16", "--size", "tiny", "--functional",
           "--json", str(path)]
    assert main(few) == 1
    assert "or fewer registers (--max-registers)" in capsys.readouterr().err
    assert main([*few, "--max-registers", "12"]) == 0
    document = json.loads(path.read_text())
    assert (document["kernel"]["registers"], document["mismatches"]) == (12, [])


def test_registers_and_addresses_as_in_other_simulators(tmp_path):
    """The results are the same; more registers are named, and addresses have high words that are zero."""
    found = []
    for options in ([], ["--virtual-registers", "--heap-base", "0xc0000000"]):
        path = tmp_path / "run.json"
        assert main(["run", "hotspot", "--size", "tiny", *options, "--json", str(path)]) == 0
        document = json.loads(path.read_text())
        assert document["mismatches"] == []
        found.append((document["kernel"]["registers"], document["timing"]["source_widths"][0]))
    assert all(less < more for less, more in zip(*found, strict=True))


def test_the_machine_code_of_a_kernel_with_hints(capsys, tmp_path):
    path = kernel("vector_add").ptx
    assert main(["compile", str(path), "--window", "3", "--json", str(tmp_path / "code.json")]) == 0
    text = capsys.readouterr().out
    document = json.loads((tmp_path / "code.json").read_text())
    assert text.count("  // collector only") == document["to_collector"] > 0
    assert text.count("  // register file only") == document["to_file"] > 0
    assert document["window"] == 3
    assert 0 < document["transient_registers"] < document["registers"]


def test_verilog_of_a_unit_with_its_sidecar(capsys, tmp_path):
    folder = tmp_path / "out"
    arguments = ["verilog", "--preset", "small", "--set", "banks=4", "--unit", "Arbiter", "--out", str(folder)]
    assert main([*arguments, "--json", str(tmp_path / "verilog.json")]) == 0
    document = json.loads((tmp_path / "verilog.json").read_text())
    assert document["configuration"]["banks"] == 4
    assert sorted(map(str, folder.iterdir())) == sorted(
        document[name] for name in ("verilog", "package", "waiver", "sidecar"))
    assert f"module {document['module']} (" in (folder / "small-banks_4_arbiter.sv").read_text()
    assert main(["verilog", "--unit", "Mixer", "--out", str(tmp_path / "none")]) == 1
    assert "unit = 'Mixer': must be one of SubBank, " in one_error_line(capsys)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(("arguments", "message"), [
    (["--waves", "run.vcd"], "--waves run.vcd: only hardware has waves: add --rtl"),
    (["--rtl", "--waves", "run.txt"], "run.txt: a waveform must end in .vcd or .fst"),
    (["--rtl", "--waves", "none/run.vcd"], "none/run.vcd: No such file or directory"),
    (["--rtl", "--waves", "run.vcd", "--replay"], "--replay: it replays on hardware, without waves"),
])
def test_waveforms_that_cannot_be_recorded(arguments, message, capsys):
    assert main(["run", "vector_add", "--size", "tiny", "--preset", "small", *arguments]) == 1
    assert message in one_error_line(capsys)


def test_the_bundled_kernels_are_listed_with_both_register_counts(capsys, tmp_path):
    assert main(["kernels", "--json", str(tmp_path / "kernels.json")]) == 0
    rows = json.loads((tmp_path / "kernels.json").read_text())["kernels"]
    assert [row["name"] for row in rows] == [k.name for k in kernels()]
    text = capsys.readouterr().out
    for row in rows:
        assert row["name"] in text
        assert 0 < row["registers"] <= 32, "a kernel must fit the small preset's eight warp slots"
