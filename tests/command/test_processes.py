"""Child processes end when their parent ends."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from warploom import processes

TREE = "sleep 100 & echo $! > grandchild; echo $$ > child; wait"
"""A command with a child of its own."""

PARENT = f"""
import signal, sys
from warploom import processes
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a background job begins with ignored
processes.run(["sh", "-c", {TREE!r}], sys.argv[1], None)
"""


SLOW_TO_DIE = """
import fcntl, pathlib, time
lock = open("lock", "w")
fcntl.flock(lock, fcntl.LOCK_EX)
memory = bytearray(1 << 29)
memory[::4096] = bytes(1 for _ in range(1 << 17))
pathlib.Path("ready").touch()
time.sleep(100)
"""
"""Holds its files while half a gigabyte is freed; its lock identifies it."""


def is_there(process: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(process, 0)
        return True
    return False


def wait_for(condition) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def written(path) -> bool:
    return path.exists() and path.read_text().endswith("\n")


@pytest.mark.parametrize(("script", "status"), [("exit 0", 0), ("exit 3", 3), ("kill -9 $$", -9), ("kill -11 $$", -11)])
def test_status_and_output(tmp_path, script, status):
    with (tmp_path / "log").open("w") as log:
        assert processes.run(["sh", "-c", f"pwd; echo $NAME >&2; {script}"], tmp_path, log, {"NAME": "x"}) == status
    assert (tmp_path / "log").read_text().split() == [str(tmp_path), "x"]


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_outlives_us(tmp_path, ending):
    names = [tmp_path / name for name in ("child", "grandchild")]
    with subprocess.Popen([sys.executable, "-c", PARENT, tmp_path], stderr=subprocess.DEVNULL) as parent:
        wait_for(lambda: all(map(written, names)))
        tree = [int(name.read_text()) for name in names]
        assert all(map(is_there, tree))
        parent.send_signal(ending)
    assert parent.returncode == -ending
    wait_for(lambda: not any(map(is_there, tree)))


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_while_a_command_starts_ends_it(tmp_path, monkeypatch):
    started = []

    class Interrupted(subprocess.Popen):
        """Interrupted when the process runs, before anybody knows of it."""

        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            started.append(self.pid)
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(processes.subprocess, "Popen", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        processes.run(["sleep", "100"], tmp_path, None)
    assert not any(map(is_there, started))
    assert len(started) == 1


def test_no_signal_is_blocked_in_a_command(tmp_path):
    with (tmp_path / "log").open("w") as log:
        assert processes.run(["grep", "SigBlk", "/proc/self/status"], tmp_path, log) == 0
    assert int((tmp_path / "log").read_text().split()[1], 16) == 0


@pytest.mark.parametrize("ending", processes.INTERRUPTS)
def test_an_interrupt_comes_later(ending):
    came = []
    previous = signal.signal(ending, lambda number, _: came.append(number))
    try:
        with processes.interrupts_later():
            signal.raise_signal(ending)
            os.kill(os.getpid(), ending)
            blocked = subprocess.run(["grep", "SigBlk", "/proc/self/status"], capture_output=True, check=True).stdout
            assert not came
        assert set(came) == {ending}
        assert int(blocked.split()[1], 16) >> ending - 1 & 1
        signal.raise_signal(ending)
        assert len(came) > 1
    finally:
        signal.signal(ending, previous)


def test_a_pool_is_abandoned_at_once(tmp_path):
    def work(number):
        folder = tmp_path / str(number)
        folder.mkdir()
        return processes.run(["sh", "-c", TREE], folder, None)

    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(work, number) for number in range(3)]
        wait_for(lambda: written(tmp_path / "0" / "child") and written(tmp_path / "1" / "child"))
        processes.abandon(pool, jobs)
    assert [type(job.exception()) for job in jobs[:2]] == [processes.Abandoned] * 2
    assert not processes._running | processes._abandoned
    assert jobs[2].cancelled()
    children = [int(path.read_text()) for path in tmp_path.glob("*/*child")]
    assert len(children) == 4
    wait_for(lambda: not any(map(is_there, children)))


@pytest.mark.parametrize("command", ['exec "$@"', '"$@" & wait'], ids=["child", "grandchild"])
def test_nothing_is_left_when_a_run_returns(tmp_path, command):
    """Not even an ending process may remain: it could still write into a folder that is being removed."""

    def interrupt():
        wait_for((tmp_path / "ready").exists)
        os.kill(os.getpid(), signal.SIGINT)

    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with ThreadPoolExecutor(1) as pool, pytest.raises(KeyboardInterrupt):
            pool.submit(interrupt)
            processes.run(["sh", "-c", command, "sh", sys.executable, "-c", SLOW_TO_DIE], tmp_path, None)
        with (tmp_path / "lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        signal.signal(signal.SIGINT, previous)
