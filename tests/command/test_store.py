"""Cached entries are complete: damage of any kind is detected, reported and repaired. An entry is made once for all
processes, and can be removed when it is not in use."""

import ast
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, wait
from datetime import UTC, datetime, timedelta
from importlib import metadata
from pathlib import Path

import pytest
from filelock import FileLock
from support.damage import DAMAGE, flip

from warploom import __version__, processes, store
from warploom.arch.config import SmConfig
from warploom.arch.errors import ToolError
from warploom.cli import main
from warploom.files import write_whole
from warploom.origin import ROOT, commit
from warploom.store import Key, Kind, key
from warploom.tb import designs, regress, runner
from warploom.tb.lockstep import Lockstep, LockstepError
from warploom.tb.regress import Case

SMALL = SmConfig.preset("small")

EVERYBODYS = store.place()
"""The cache of other tests."""

KEY = Key(Kind.REPORTS, "a", {"configuration": {"banks": 4, "timing": [1, 2]}, "sources": "0123"})
FOLDER = Key(Kind.SIMULATORS, "b", {"flags": ["-Wall"]})


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """A separate cache folder."""
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path / "place"))
    return tmp_path / "place"


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_none(tmp_path, capsys, damage):
    path = tmp_path / "new" / "a.record"
    assert store.read(path) is None
    store.write(path, '{"a": 1}')
    assert store.read(path) == {"a": 1}
    assert capsys.readouterr().err == ""
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    assert store.read(path) is None
    assert capsys.readouterr().err == f"warploom: warning: {path} is damaged: made again\n"


def test_a_file_under_another_name_is_not_that(tmp_path):
    store.write(tmp_path / "a.record", "1")
    (tmp_path / "a.record").rename(tmp_path / "b.record")
    assert store.read(tmp_path / "b.record") is None


# ------------------------------------------------------------------ entries


def fill(folder: Path) -> None:
    """A function that makes folders."""
    (folder / "deep").mkdir()
    (folder / "a").write_bytes(b"some bytes")
    (folder / "deep" / "b").write_bytes(b"others")


def no_more(_: Path) -> str:
    """A function that must not be called."""
    return pytest.fail("made again")


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("name", ["a", "deep/b", "record"])
def test_a_damaged_folder_is_made_again(capsys, name, damage):
    folder = store.folder(FOLDER, fill)
    (folder / "a log").touch()
    assert store.folder(FOLDER, no_more) == folder == FOLDER.path
    assert capsys.readouterr().err == ""
    path = folder / name
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    store.folder(FOLDER, fill)
    assert capsys.readouterr().err == f"warploom: warning: {path} is damaged: made again\n"
    assert (folder / "a").read_bytes() + (folder / "deep" / "b").read_bytes() == b"some bytesothers"
    assert not (folder / "a log").exists()


def test_a_folder_that_lacks_a_file_is_made_again(capsys):
    folder = store.folder(FOLDER, fill)
    (folder / "a").unlink()
    store.folder(FOLDER, fill)
    assert f"{folder / 'a'} is damaged" in capsys.readouterr().err
    assert (folder / "a").exists()


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("name", ["text", "record"])
def test_a_damaged_text_is_made_again(capsys, name, damage):
    assert store.get(KEY) is None
    assert store.text(KEY, lambda _: '{"a": 1}') == {"a": 1}
    assert store.text(KEY, no_more) == store.get(KEY) == {"a": 1}
    assert capsys.readouterr().err == ""
    path = KEY.path / name
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    assert store.get(KEY) is None
    assert store.text(KEY, lambda _: '{"a": 2}') == {"a": 2}
    assert capsys.readouterr().err == f"warploom: warning: {path} is damaged: made again\n"


def to_folder(path: Path) -> None:
    """A folder in the place of a file."""
    path.unlink()
    path.mkdir()


def to_file(path: Path) -> None:
    """A file in the place of the folder of a file."""
    shutil.rmtree(path.parent)
    path.parent.touch()


def to_link(path: Path) -> None:
    """A link to nowhere in the place of the folder of a file."""
    shutil.rmtree(path.parent)
    path.parent.symlink_to("nowhere")


@pytest.mark.parametrize("change", [to_folder, to_file, to_link])
@pytest.mark.parametrize("name", ["text", "record"])
def test_an_entry_of_another_kind_of_file_is_made_again(capsys, name, change):
    store.text(KEY, lambda _: '{"a": 1}')
    change(KEY.path / name)
    assert store.get(KEY) is None
    assert store.text(KEY, lambda _: '{"a": 2}') == {"a": 2}
    assert "damaged" in capsys.readouterr().err or change is to_link  # which is an absent entry
    assert store.text(KEY, no_more) == {"a": 2}


def test_a_text_that_cannot_be_decoded_is_made_again(capsys):
    store.text(KEY, lambda _: "[1]")
    assert store.get(KEY, lambda text: json.loads(text)["a"]) is None
    assert store.text(KEY, lambda _: '{"a": 1}', lambda text: json.loads(text)["a"]) == 1
    assert capsys.readouterr().err == f"warploom: warning: {KEY.path / 'text'} is damaged: made again\n"


def test_an_entry_at_the_place_of_another_is_not_that(capsys):
    other = Key(KEY.kind, KEY.name, {**KEY.parts, "sources": "4567"})
    store.text(KEY, lambda _: "1")
    KEY.path.rename(other.path)
    assert store.text(other, lambda _: "2") == 2
    assert "record is damaged" in capsys.readouterr().err


def test_every_part_of_a_key_counts():
    keys = [KEY, Key(Kind.CELLS, KEY.name, KEY.parts), Key(KEY.kind, "b", KEY.parts), Key(KEY.kind, KEY.name, {}),
            *(Key(KEY.kind, KEY.name, {**KEY.parts, name: "other"}) for name in (*KEY.parts, "new"))]
    assert len({key.path for key in keys}) == len(keys)
    assert Key(KEY.kind, KEY.name, dict(reversed(KEY.parts.items()))).path == KEY.path, "their order does not"


def test_sources_that_change_while_a_process_runs_are_its_own(monkeypatch, tmp_path):
    """It has imported what they were, also of a file that an older one replaces."""
    monkeypatch.setattr(key, "ROOT", tmp_path)
    source = tmp_path / "unit.py"
    source.write_text("1")
    written = source.stat().st_mtime_ns
    monkeypatch.setattr(key, "STARTED", time.time_ns())
    before = store.sources("unit.py")
    os.utime(source, ns=(0, key.STARTED + 10**9))
    assert store.sources("unit.py") == store.sources("unit.py") != before
    older = tmp_path / "older.py"
    older.write_text("1")
    os.utime(older, ns=(0, written))
    time.sleep(0.05)  # of the clock of file systems
    older.replace(source)
    assert store.sources("unit.py") != before
    monkeypatch.setattr(key, "STARTED", time.time_ns())
    assert store.sources("unit.py") == before


def test_leftovers_of_a_maker_go_and_its_inputs_stay():
    def make(folder):
        (folder / "log").touch()
        return "1"

    store.text(KEY, make)
    assert sorted(path.name for path in KEY.path.iterdir()) == ["record", "text"]
    record = json.loads((KEY.path / "record").read_text().partition("\n")[2])
    made = record["made"]
    assert (record["kind"], record["name"], record["parts"]) == (KEY.kind, KEY.name, KEY.parts)
    assert (made["warploom"], made["commit"]) == (__version__, commit())
    assert timedelta() <= datetime.now(UTC) - datetime.fromisoformat(made["at"]) < timedelta(minutes=5)


@pytest.mark.parametrize("part", [Kind.DESIGNS, Kind.RUNS])
def test_a_file_in_place_of_a_folder(place, part):
    place.mkdir()
    (place / part).touch()
    with pytest.raises(ToolError, match=f"/{part}: File exists: .*: set WARPLOOM_CACHE to another folder"):
        if part == Kind.RUNS:
            with store.run_folder("bench"):
                pass
        else:
            store.text(Key(part, "unit", {}), lambda _: "", str)


@pytest.mark.parametrize(("error", "left"), [(ToolError, ["log"]), (OSError, None), (KeyboardInterrupt, None)])
def test_a_maker_that_fails_leaves_nothing_or_a_log(error, left):
    """The log of a tool, which the message names."""
    def fail(folder):
        (folder / "log").touch()
        raise error

    for make in (store.text, store.folder):
        with pytest.raises(error):
            make(KEY, fail)
        assert store.get(KEY) is None
        assert left == ([path.name for path in KEY.path.iterdir()] if KEY.path.exists() else None)
    assert store.text(KEY, lambda _: "1") == 1


def test_an_entry_wanted_twice_is_made_once():
    made = []

    def make(_):
        made.append(1)
        time.sleep(0.2)
        return "1"

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda _: store.text(KEY, make), range(8))) == [1] * 8
    assert made == [1]


def test_a_waiting_process_can_be_ended():
    KEY.path.parent.mkdir(parents=True)
    with FileLock(f"{KEY.path}.lock"), ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(store.text, KEY, no_more)
        assert wait([waiting], timeout=0.3).not_done
        processes.abandon(pool, [waiting])
        assert isinstance(waiting.exception(), processes.Abandoned)
    assert store.text(KEY, lambda _: "1") == 1


# ------------------------------------------------------------------ the place


def test_the_place_is_the_users(monkeypatch, tmp_path):
    monkeypatch.setenv("WARPLOOM_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert store.place() == tmp_path / "warploom"
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path / "other"))
    assert store.place() == tmp_path / "other"


OURS = ("warploom", "golden_model", "rtl", "tb", "synth")

MEANS = {
    "filelock": {"warploom/store/entries.py", "warploom/store/folders.py", "warploom/store/holdings.py"},
    "fcntl": {"warploom/store/entries.py"},
    "platformdirs": {"warploom/store/key.py"},
    # outside the store: seeds of tests, the identity of a lockstep run in its result, long names of files, the sources
    # of committed PTX, and what a program computes
    "hashlib": {"warploom/store/key.py", "warploom/store/entries.py", "tb/seeds.py", "tb/identity.py", "rtl/emit.py",
                "warploom/programs/library.py", "warploom/programs/store_gpu/program.py"},
}
"""Names with which code could store files without the store, and the code that may use them."""


def test_all_cached_files_go_through_the_store() -> None:
    found: dict[str, set[str]] = {name: set() for name in MEANS}
    writers = set()
    for path in (path for folder in OURS for path in (ROOT / folder).rglob("*.py")):
        name = str(path.relative_to(ROOT))
        for node in ast.walk(ast.parse(path.read_text())):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [
                node.module] if isinstance(node, ast.ImportFrom) else []
            for module in found.keys() & modules:
                found[module].add(name)
        if "os.replace(" in path.read_text() or "mkstemp(" in path.read_text():
            writers.add(name)
    assert found == MEANS
    assert writers == {"warploom/files.py"}


# ------------------------------------------------------------------ warploom cache


def cache(tmp_path, *arguments):
    """The document of a call."""
    path = tmp_path / "cache.json"
    assert main(["cache", *arguments, "--json", str(path)]) == 0
    return json.loads(path.read_text())


def test_the_listing_counts_what_is_kept(tmp_path, place, capsys):
    store.text(KEY, lambda _: "1")
    KEY.path.with_name("unfinished").mkdir()
    store.folder(FOLDER, fill)
    with pytest.raises(AssertionError), store.run_folder("failed") as failed:
        (failed / "log.txt").write_text("x" * 100)
        raise AssertionError
    (store.runs() / "k.vcd").write_text("y" * 23)
    document = cache(tmp_path)
    kinds = {kind["kind"]: kind for kind in document["kinds"]}
    counts = {name: (kind["entries"], kind["incomplete"]) for name, kind in kinds.items() if kind["entries"]}
    assert counts == {"reports": (2, 1), "simulators": (1, 0), "runs": (2, 0)}
    assert (document["place"], kinds.keys()) == (str(place), {*Kind})
    assert kinds["runs"]["bytes"] == 123
    assert kinds["simulators"]["bytes"] == 16 + (FOLDER.path / "record").stat().st_size
    made = (KEY.path / "record").stat().st_mtime
    assert abs(datetime.fromisoformat(kinds["reports"]["newest"]).timestamp() - made) <= 1
    assert kinds["cells"] == {"kind": "cells", "entries": 0, "incomplete": 0, "bytes": 0, "newest": None}
    assert f"Stored in {place}" in capsys.readouterr().out.replace("\n", "")


def test_a_cleared_entry_is_made_again(tmp_path, place, capsys):
    def fail(_):
        raise OSError("x")

    store.text(KEY, lambda _: "1")
    store.text(Key(Kind.CELLS, "c", {}), lambda _: "1")
    with pytest.raises(OSError, match="x"):
        store.text(Key(Kind.REPORTS, "never made", {}), fail)
    with pytest.raises(AssertionError), store.run_folder("failed"):
        raise AssertionError
    size = sum(path.stat().st_size for path in KEY.path.iterdir())
    assert cache(tmp_path, "clear", "reports")["removed"] == [
        {"kind": "reports", "entries": 1, "bytes": size, "in_use": 0}]
    assert not list((place / "reports").iterdir())
    removed = cache(tmp_path, "clear")["removed"]
    assert {one["kind"]: one["entries"] for one in removed if one["entries"]} == {"cells": 1}
    assert len(list(store.runs().glob("failed-*"))) == 1, "nobody could make that again"
    assert cache(tmp_path, "clear", "runs")["removed"][0]["entries"] == 1
    assert [path.name for path in store.runs().iterdir()] == ["lock"]
    assert store.text(KEY, lambda _: "2") == 2
    assert capsys.readouterr().err == ""


def test_a_kind_that_is_none(capsys):
    assert main(["cache", "clear", "report"]) == 1
    assert "'report': must be one of designs, " in capsys.readouterr().err


def use(ready, end):
    """A process that uses a folder, makes a text and runs a bench."""
    def make(_):
        ready.set()
        end.wait()
        return "1"

    store.folder(FOLDER, fill)
    with store.run_folder("running"):
        store.text(KEY, make)


def test_an_entry_in_use_stays(tmp_path):
    """A folder that it uses, an entry that it makes, the run of a bench."""
    context = multiprocessing.get_context("spawn")
    ready, end = context.Event(), context.Event()
    process = context.Process(target=use, args=(ready, end))
    process.start()
    assert ready.wait(60)
    for kind in ("simulators", "reports", "runs"):
        assert cache(tmp_path, "clear", kind)["removed"] == [{"kind": kind, "entries": 0, "bytes": 0, "in_use": 1}]
    assert len(list(store.runs().glob("running-*"))) == 1
    end.set()
    process.join(60)
    assert store.text(KEY, no_more) == 1
    assert [cache(tmp_path, "clear", kind)["removed"][0]["entries"] for kind in ("simulators", "reports")] == [1, 1]


def clear_and_make(times):
    """A process that makes and clears entries, repeatedly."""
    for _ in range(times):
        assert store.text(KEY, lambda _: "1") == 1
        assert main(["cache", "clear", "reports"]) == 0


def test_making_and_clearing_exclude_each_other(capfd):
    with ProcessPoolExecutor(4, multiprocessing.get_context("spawn")) as pool:
        list(pool.map(clear_and_make, [20] * 4))
    assert capfd.readouterr().err == ""


# ------------------------------------------------------------------ cached files


@pytest.mark.parametrize("name", ["text", "record"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_outcome_of_the_regression_is_made_again(place, monkeypatch, damage, name):
    ran = []

    def lockstep(config, file, seed, *, replay):
        ran.append(file.path)
        return Lockstep(config.name, str(file.path), seed, 1000, 100, 1, {}, 0.5)

    monkeypatch.setattr(regress, "lockstep", lockstep)
    case = Case(SMALL, "vector_add", "tiny")
    first, again = (regress._run(case, 1, store.sources(*regress.SOURCES)) for _ in range(2))
    assert (first.cached, again.cached, again.cycles_per_second, len(ran)) == (False, True, 2000, 1)
    path, = place.glob(f"outcomes/*/{name}")
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    assert regress._run(case, 1, store.sources(*regress.SOURCES)) == first
    assert regress._run(case, 1, store.sources(*regress.SOURCES)) == again


def test_other_tools_make_other_designs_and_outcomes(place, monkeypatch):
    """Amaranth and Yosys write the hardware that both are of."""
    monkeypatch.setattr(regress, "lockstep", lambda config, file, seed, *, replay: Lockstep(
        config.name, str(file.path), seed, 1000, 100, 1, {}, 0.5))
    monkeypatch.setattr(designs, "_convert", lambda component, module: designs.Design(module, "text", []))
    known = metadata.version
    for version in ("0.5.10", "0.6.0", "0.6.0"):
        monkeypatch.setattr(metadata, "version", lambda name, version=version: version if name == "amaranth"
                            else known(name))
        regress._run(Case(SMALL, "vector_add", "tiny"), 1, store.sources(*regress.SOURCES))
        designs.design(SMALL, "Arbiter", None)
    assert len(list(place.glob("outcomes/*/record"))) == len(list(place.glob("designs/*/record"))) == 2


def test_a_run_that_differs_is_not_kept(place, monkeypatch):
    def lockstep(config, file, seed, *, replay):
        raise LockstepError(file, seed, {"cycle": 3, "what": "x", "message": "y"})

    monkeypatch.setattr(regress, "lockstep", lockstep)
    for _ in range(2):
        found = regress._run(Case(SMALL, "vector_add", "tiny"), 1, store.sources(*regress.SOURCES))
        assert "x in cycle 3" in found.failure
    assert not [path for path in (place / "outcomes").iterdir() if path.is_dir()]


@pytest.fixture
def library(place, monkeypatch):
    """A copy of Verilator's own library, in the present cache."""
    with monkeypatch.context() as patch:
        patch.setenv("WARPLOOM_CACHE", str(EVERYBODYS))
        known = runner._library(False, [])
    return shutil.copytree(known, place / known.relative_to(EVERYBODYS))


def damage(capsys, made, *paths):
    """Flip a bit in files of a build, which is then made again."""
    text = (made.folder / "unit.sv").read_text()
    assert capsys.readouterr().err == ""
    for path in paths:
        path.write_bytes(flip(path.read_bytes()))
    assert runner.build(SMALL, "SubBank") == made
    assert capsys.readouterr().err == "".join(f"warploom: warning: {path} is damaged: made again\n" for path in paths)
    assert (made.folder / "unit.sv").read_text() == text
    runner.build(SMALL, "SubBank")
    assert capsys.readouterr().err == ""
    runner.run(made, "warploom.tb.test_subbank", 1)


@pytest.mark.rtl
def test_a_damaged_build_is_made_again(place, capsys, library):
    """Each cached part in turn: Verilog, simulator, ports."""
    made = runner.build(SMALL, "SubBank")
    design, = place.glob("designs/*/text")
    damage(capsys, made, design, made.folder / made.module)
    damage(capsys, made, made.folder / "unit.json")


@pytest.mark.rtl
@pytest.mark.long
@pytest.mark.parametrize("name", ["verilated.o", "common.h.gch"])
def test_a_damaged_library_is_made_again(capsys, library, name):
    made = runner.build(SMALL, "SubBank")
    damage(capsys, made, made.folder / made.module, library / name)


# ------------------------------------------------------------------ atomic writes

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
    path = tmp_path / "a.record"
    store.write(path, "1")
    command = f"""
import resource, sys
from pathlib import Path
from warploom import store
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    store.write(Path(sys.argv[1]), {json.dumps("2" * 2000)})
except OSError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", command, path], capture_output=True, text=True, check=True)
    assert done.stdout == f"[Errno 27] File too large: '{path}'\n"
    assert store.read(path) == 1
    assert list(tmp_path.iterdir()) == [path]
