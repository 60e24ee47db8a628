"""Commands that are killed, interrupted, or lack disk space or permission: one line, nothing half-written, no process
left, and afterwards they work. A few chosen moments; the random ones are in the long regression.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.disturbed import EVALUATE, RUN, SEVERAL, SWEEP, SYNTH, VERILOG, Command, check_ending, parts, results
from support.small_launches import CONFIG

from warploom.cli import main
from warploom.store import place, runs
from warploom.tb import runner

MOMENTS = {
    "run": (RUN, "/datapath "), "verilog": (VERILOG, "unit.ys"), "synth": (SYNTH, "elaborate.ys"),
    "evaluate": (EVALUATE, "spawn_main"), "sweep": (SWEEP, "spawn_main"),
}
"""Commands, and the process whose start triggers the disturbance."""


BUILD = """
from warploom.tb import runner
from warploom.arch.config import SmConfig
print(runner.build(SmConfig.preset("small"), "SubBank").folder)
"""


@pytest.fixture
def tmp_path(tmp_path_factory) -> Path:
    """A folder with a name that no other worker has at the same time: runs of benches are named after it."""
    return tmp_path_factory.mktemp(f"faults_{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}_")


def command(name, tmp_path) -> Command:
    return Command(MOMENTS[name][0], tmp_path / tmp_path.name, cache(name, tmp_path))  # runs are named after the folder


def cache(name, tmp_path) -> Path:
    """The cache of a command: that of all tests if it runs hardware, otherwise an empty one."""
    if name != "run":
        return tmp_path / "cache"
    runner.build(CONFIG, "Datapath")
    return place()


@pytest.mark.rtl
@pytest.mark.xdist_group("baseline")
@pytest.mark.parametrize(("name", "ending"), [
    ("run", signal.SIGKILL), ("run", signal.SIGINT), ("verilog", signal.SIGTERM), ("evaluate", signal.SIGTERM),
    *(pytest.param(*rest, marks=pytest.mark.long) for rest in [
        ("run", signal.SIGTERM), ("synth", signal.SIGINT), ("synth", signal.SIGKILL), ("evaluate", signal.SIGKILL)]),
])
def test_a_signal_ends_all_of_it(tmp_path, name, ending):
    one = command(name, tmp_path)
    one.wait_until(lambda: any(MOMENTS[name][1] in f"{line} " for line in one.others()))
    one.process.send_signal(ending)
    check_ending(ending, *one.end())
    assert one.leaves_no_process()
    assert not parts(tmp_path)
    assert "out.json" not in results(tmp_path / tmp_path.name)
    if ending == signal.SIGKILL:
        again = command(name, tmp_path)
        assert again.end() == (0, [])
        assert "out.json" in results(tmp_path / tmp_path.name)
    assert not list(runs().glob(f"{tmp_path.name}-*")), "folders of runs that are over"


@pytest.mark.long
def test_an_evaluation_that_is_killed_ends_with_the_same_tables(tmp_path, seed):
    """Killed four times, each time after one simulation more and a moment later; no finished simulation is lost."""
    undisturbed = Command(SEVERAL, tmp_path / "undisturbed", tmp_path / "one")
    assert undisturbed.end() == (0, [])
    expected, cache, rng = results(tmp_path / "undisturbed"), tmp_path / "two", random.Random(seed)

    def finished() -> int:
        return len(list(cache.glob("simulations/*/record")))

    killed = 0
    for _ in range(4):
        goal, one = finished() + rng.randint(1, 6), Command(SEVERAL, tmp_path / "killed", cache)
        one.wait_until(lambda goal=goal: finished() >= goal)
        one.wait_for(rng.uniform(0, 2))
        before = finished()
        one.process.kill()
        status, _ = one.end()
        killed += status == -signal.SIGKILL
        assert one.leaves_no_process()
        assert finished() >= before
    assert killed > 1
    assert Command(SEVERAL, tmp_path / "killed", cache).end() == (0, [])
    assert results(tmp_path / "killed") == expected
    assert len(expected) > 10 and not parts(tmp_path / "killed", cache)


@pytest.mark.rtl
@pytest.mark.parametrize("part", ["simulators", pytest.param("runtimes", marks=pytest.mark.long)])
def test_a_build_that_is_killed_is_begun_again(tmp_path, part):
    """The build of a unit, or of Verilator's own library, which takes longer. Neither needs a `python` on the path."""
    (tmp_path / "python").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "python").chmod(0o755)
    if part == "simulators":
        library = runner._library(False, [])
        shutil.copytree(library, tmp_path / library.relative_to(place()))
    command = [sys.executable, "-c", BUILD]
    environment = {**os.environ, "WARPLOOM_CACHE": str(tmp_path), "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    with subprocess.Popen(command, env=environment) as process:
        while not list(tmp_path.glob(f"{part}/*/verilator.o")):
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()
    assert not list(tmp_path.glob(f"{part}/*/record"))

    def build(_: int) -> str:
        return subprocess.check_output(command, env=environment, text=True, stderr=subprocess.STDOUT)

    with ThreadPoolExecutor(2) as pool:  # at once: one builds, the other waits for it
        first, second = pool.map(build, range(2))
    assert first == second
    assert len(first.splitlines()) == 1
    assert len(list(tmp_path.rglob("record"))) == 3  # the design's, the simulator's and the library's


@pytest.mark.rtl
@pytest.mark.parametrize(("name", "blocks", "line"), [
    ("verilog", 2, "File too large"), pytest.param("run", 4, "out.json: File too large", marks=pytest.mark.long),
    pytest.param("evaluate", 1, "File too large", marks=pytest.mark.long),
    pytest.param("sweep", 1, "File too large", marks=pytest.mark.long),
])
def test_a_disk_that_is_full_is_one_line(tmp_path, name, blocks, line):
    # Python renames what it could write of its bytecode, too, and would read that from then on.
    limit = ("sh", "-c", f'ulimit -f {blocks}; PYTHONDONTWRITEBYTECODE=1 exec "$@"', "sh")
    one = Command(MOMENTS[name][0], tmp_path / "here", cache(name, tmp_path), limit)
    status, lines = one.end()
    assert status == 1
    assert len(lines) == 1, lines
    assert lines[0].startswith("warploom: error: ")
    assert line in lines[0]
    assert one.leaves_no_process()
    assert not parts(tmp_path)
    assert not (tmp_path / "here" / "out.json").exists()


@pytest.mark.parametrize("verb", [RUN, ("regress",), SYNTH[:-2], EVALUATE[:-4]])
def test_a_cache_that_cannot_be_written_is_one_line(tmp_path, monkeypatch, capsys, verb):
    (tmp_path / "file").touch()
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path / "file" / "deep"))
    monkeypatch.chdir(tmp_path)
    assert main([*verb]) == 1
    line = capsys.readouterr().err
    assert line == (f"warploom: error: {tmp_path}/file/deep: Not a directory: results are stored there: set "
                    "WARPLOOM_CACHE to another folder\n")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.long
def test_simultaneous_writers_of_one_file_leave_it_whole(tmp_path):
    """Two commands that write Verilog to one folder have the same result as one command."""
    def verilog(number):
        folder = tmp_path / str(number)
        folder.mkdir()
        one = Command((*VERILOG[:-4], "--out", "../out", "--json", "../out.json"), folder, place())
        return one.end()

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(verilog, range(2))) == [(0, [])] * 2
    together = results(tmp_path)
    shutil.rmtree(tmp_path / "out")
    assert verilog(4) == (0, [])
    assert results(tmp_path) == together
    assert len(together) == 5  # three of Verilog, its sidecar and the document
    assert not parts(tmp_path)
