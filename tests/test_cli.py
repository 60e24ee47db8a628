"""The command line: exit statuses, one line for every error, and documents that are whole or absent."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from warploom import __version__, report
from warploom.arch.config import SmConfig, presets
from warploom.cli import main

WARPLOOM = [sys.executable, "-m", "warploom.cli"]
VERBS = ["kernels", "presets", "run", "compile", "verilog", "synth", "bench", "demo"]


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
                                       ["run", "bfs", "--rtl", "--functional"], ["presets", "--set", "banks=2"]])
def test_wrong_usage_exits_with_2(arguments, capsys):
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    assert exit_.value.code == 2
    assert "usage: warploom" in capsys.readouterr().err


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
        (["presets", "kepler"], "preset = 'kepler': must be one of fermi, small, or a path ending in .toml"),
        (["run", "bfs", "--preset", "kepler"], "preset = 'kepler': must be one of fermi, small, or a path"),
        (["run", "bfs", "--set", "banks=3"], "--set: banks = 3: must be a power of two"),
        (["run", "bsf"], "'bsf' is no bundled kernel; name one of bfs, "),
        (["run", "absent.toml"], "absent.toml: No such file or directory: name a launch file"),
        (["run", "absent.toml", "--size", "tiny"], "--size tiny goes with a bundled kernel"),
        (["compile", "absent.ptx"], "absent.ptx: cannot be read: "),
        (["presets", "--json", "absent/presets.json"], "absent/presets.json: No such file or directory"),
    ],
)
def test_an_error_is_one_line_and_exit_status_1(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    assert message in one_error_line(capsys)
    assert not list(tmp_path.iterdir())


def test_output_on_a_full_disk_is_one_line():
    with open("/dev/full", "w") as full:
        result = subprocess.run([*WARPLOOM, "presets"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert result.returncode == 1
    assert result.stderr == "warploom: error: No space left on device\n"


def test_a_reader_that_goes_away_is_no_error():
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run([*WARPLOOM, "presets"], stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert result.stderr == b""


def test_an_interrupt_is_one_line(tmp_path):
    """The verb waits for its launch file, which is a pipe that this test holds open."""
    pipe = tmp_path / "launch.toml"
    os.mkfifo(pipe)
    process = subprocess.Popen([*WARPLOOM, "run", pipe], stderr=subprocess.PIPE, text=True)
    writer = None
    while writer is None and process.poll() is None:
        with contextlib.suppress(OSError):  # nobody reads the pipe yet
            writer = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (130, "warploom: interrupted\n")
    os.close(writer)


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
