"""What is kept is whole: damage of any kind is seen, told, and made good."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from tb import regress, runner
from tb.lockstep import Lockstep
from tb.regress import Case
from warploom import kept
from warploom.arch.config import SmConfig
from warploom.files import write_whole

SMALL = SmConfig.preset("small")


def flip(data: bytes) -> bytes:
    """One bit of the last byte."""
    return data[:-1] + bytes([data[-1] ^ 1])


DAMAGE = {
    "empty": lambda data: b"", "half": lambda data: data[: len(data) // 2], "a byte short": lambda data: data[:-1],
    "longer": lambda data: data + b" ", "last bit": flip, "first bit": lambda data: bytes([data[0] ^ 1]) + data[1:],
    "braces": lambda data: b"{}", "a list": lambda data: b"[1,2]", "binary": lambda data: bytes(range(256)),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_none(tmp_path, capsys, damage):
    path = tmp_path / "new" / "a.kept"
    assert kept.read(path) is None
    kept.write(path, '{"a": 1}')
    assert kept.read(path) == {"a": 1}
    assert capsys.readouterr().err == ""
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    assert kept.read(path) is None
    assert capsys.readouterr().err == f"warploom: warning: {path} is damaged: made again\n"


def test_a_file_under_another_name_is_not_that(tmp_path):
    kept.write(tmp_path / "a.kept", "1")
    (tmp_path / "a.kept").rename(tmp_path / "b.kept")
    assert kept.read(tmp_path / "b.kept") is None


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("name", ["a", "deep/b", kept.SEAL])
def test_a_damaged_folder_is_not_whole(tmp_path, capsys, name, damage):
    (tmp_path / "deep").mkdir()
    (tmp_path / "a").write_bytes(b"some bytes")
    (tmp_path / "deep" / "b").write_bytes(b"others")
    assert not kept.is_whole(tmp_path)
    kept.seal(tmp_path)
    (tmp_path / "a log").touch()
    assert kept.is_whole(tmp_path)
    assert capsys.readouterr().err == ""
    path = tmp_path / name
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    assert not kept.is_whole(tmp_path)
    assert capsys.readouterr().err == f"warploom: warning: {path} is damaged: made again\n"


def test_a_folder_that_lacks_a_file_is_not_whole(tmp_path, capsys):
    (tmp_path / "a").touch()
    kept.seal(tmp_path)
    (tmp_path / "a").unlink()
    assert not kept.is_whole(tmp_path)
    assert f"{tmp_path / 'a'} is damaged" in capsys.readouterr().err


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_outcome_of_the_regression_is_made_again(tmp_path, monkeypatch, damage):
    monkeypatch.setattr(regress, "OUTCOMES", tmp_path)
    ran = []

    def lockstep(config, file, seed):
        ran.append(file.path)
        return Lockstep(config.name, str(file.path), seed, 1000, 100, 1, {}, 0.5, None)

    monkeypatch.setattr(regress, "lockstep", lockstep)
    case = Case(SMALL, "vector_add", "tiny")
    first, again = (regress._run(case, 1, "sources") for _ in range(2))
    assert (first.cached, again.cached, again.cycles_per_second, len(ran)) == (False, True, 2000, 1)
    path, = tmp_path.iterdir()
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    assert regress._run(case, 1, "sources") == first
    assert regress._run(case, 1, "sources") == again


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A copy of Verilator's own library, in the folder where builds are now kept."""
    known = runner._library(False, [])
    monkeypatch.setattr(runner, "BUILDS", tmp_path)
    return shutil.copytree(known, tmp_path / known.name)


def damage(capsys, made, *paths):
    """Flip a bit in files of a build, which is then made again."""
    text = (made.folder / "unit.v").read_text()
    assert capsys.readouterr().err == ""
    for path in paths:
        path.write_bytes(flip(path.read_bytes()))
    assert runner.build(SMALL, "SubBank") == made
    assert capsys.readouterr().err == "".join(f"warploom: warning: {path} is damaged: made again\n" for path in paths)
    assert (made.folder / "unit.v").read_text() == text
    runner.build(SMALL, "SubBank")
    assert capsys.readouterr().err == ""
    runner.run(made, "tb.test_subbank", 1)


@pytest.mark.rtl
def test_a_damaged_build_is_made_again(tmp_path, capsys, library):
    """Whatever is kept of it, in turn: Verilog, simulator, ports."""
    made = runner.build(SMALL, "SubBank")
    design, = tmp_path.glob("*.kept")
    damage(capsys, made, design, made.folder / made.module)
    damage(capsys, made, made.folder / "unit.json")


@pytest.mark.rtl
@pytest.mark.long
@pytest.mark.parametrize("name", ["verilated.o", "common.h.gch"])
def test_a_damaged_library_is_made_again(capsys, library, name):
    made = runner.build(SMALL, "SubBank")
    damage(capsys, made, made.folder / made.module, library / name)


# ------------------------------------------------------------------ files that appear whole

KILLED = """
import os, signal, sys
from pathlib import Path
from warploom import files
files.os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
files.write_whole(Path(sys.argv[1]), b"half")
"""


def test_a_writer_that_is_killed_leaves_the_old_file_and_the_next_one_clears_up(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(b"old")
    done = subprocess.run([sys.executable, "-c", KILLED, path], check=False)
    assert done.returncode < 0
    assert path.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 2
    other = tmp_path / f".a.json.{os.getpid()}.x"  # a process that is still there
    other.touch()
    write_whole(path, b"new")
    assert (path.read_bytes(), sorted(tmp_path.iterdir())) == (b"new", [other, path])


def test_a_disk_that_is_full_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.kept"
    kept.write(path, "1")
    command = f"""
import resource, sys
from pathlib import Path
from warploom import kept
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    kept.write(Path(sys.argv[1]), {json.dumps("2" * 2000)})
except OSError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", command, path], capture_output=True, text=True, check=True)
    assert done.stdout == f"[Errno 27] File too large: '{path}'\n"
    assert kept.read(path) == 1
    assert list(tmp_path.iterdir()) == [path]
