"""Points of work on worker processes: errors, killed workers, clusters."""

import gc
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from support.work import collecting, divide, refuse, square, square_or_fail, wait
from test_processes import is_there, wait_for

from warploom import points
from warploom.arch.errors import ExecutionError, LaunchError, PtxError, ToolError


def test_every_point_has_its_result() -> None:
    assert dict(points.compute(square, range(100))) == {number: number * number for number in range(100)}
    assert not list(points.compute(square, []))


def test_workers_collect_garbage_as_often_as_their_parent() -> None:
    before = gc.get_threshold()
    gc.set_threshold(before[0] + 1, *before[1:])
    try:
        (_, found), = points.compute(collecting, [None])
        assert found == gc.get_threshold()
    finally:
        gc.set_threshold(*before)


FRESH = """
from support.work import blocked
from warploom import points
if __name__ == "__main__":
    print(*(found >= {2, 15} for _, found in points.compute(blocked, range(2))))
"""


def test_workers_start_with_interrupts_blocked(tmp_path: Path) -> None:
    """The first workers of a process, with which it starts other helpers, too."""
    (tmp_path / "fresh.py").write_text(FRESH)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, tmp_path / "fresh.py"], env=environment, capture_output=True, text=True,
                          check=True)
    assert done.stdout.split() == ["True", "True"]


def test_a_point_that_fails_is_not_in_the_way() -> None:
    """Nor is one that kills its worker."""
    found = dict(points.compute(square_or_fail, range(6)))
    wrong = {number: found.pop(number) for number in (2, 3)}
    assert found == {number: number * number for number in (0, 1, 4, 5)}
    assert isinstance(wrong[2], LaunchError) and str(wrong[2]) == "two"
    assert isinstance(wrong[3], ExecutionError) and "killed" in str(wrong[3])


def test_an_error_of_a_worker_keeps_its_place() -> None:
    (_, error), = points.compute(refuse, ["k.ptx"])
    assert isinstance(error, PtxError)
    assert str(error) == "k.ptx:3:4: no such opcode"
    assert (error.message, error.file, error.line, error.column) == ("no such opcode", "k.ptx", 3, 4)


def test_a_bug_is_no_result() -> None:
    with pytest.raises(ZeroDivisionError), closing(points.compute(divide, [0, 1, 2])) as ended:
        list(ended)


def test_workers_end_with_their_user() -> None:
    """A body that stops early waits for no point that still runs."""
    with closing(points.compute(wait, [0, 0, 1000, 1000])) as ended:
        workers = {next(ended)[1], next(ended)[1]}
    wait_for(lambda: not any(is_there(worker) for worker in workers if isinstance(worker, int)))


@pytest.mark.parametrize(("address", "why"), [
    ("nonsense", "missing port"), ("x://y:3", "unknown address scheme"),
    pytest.param("tcp://127.0.0.1:1", "Timed out", marks=pytest.mark.long)])
def test_no_such_cluster(address: str, why: str) -> None:
    """In a process of its own, since Dask keeps clients that failed."""
    code = f"""\
from support.work import square
from warploom import points
list(points.compute(square, [1], {address!r}))
"""
    ended = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[1], capture_output=True, text=True,
                           check=False)
    last = ended.stderr.splitlines()[-1]
    assert ended.returncode == 1
    assert last.startswith(f"warploom.arch.errors.ToolError: --scheduler {address}: no scheduler of Dask answers")
    assert why in last


SCHEDULER = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard"]
WORKER = [sys.executable, "-m", "distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny", "--no-dashboard"]


@contextmanager
def running(command: list[str], folder: Path, path: str) -> Iterator[subprocess.Popen[str]]:
    """A process of a cluster, which finds modules on the path."""
    environment = {**os.environ, "PYTHONPATH": path}
    with subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("path", [os.pathsep.join(path for path in sys.path if path), ""], ids=["all", "no modules"])
def test_a_cluster(path: str, tmp_path: Path) -> None:
    """Its workers compute, if it finds our modules; without workers there is one clear error."""
    file = tmp_path / "scheduler.json"
    with running([*SCHEDULER, "--scheduler-file", str(file)], tmp_path, path):
        wait_for(lambda: file.exists() and file.read_text())  # it is empty while it is being written
        address = json.loads(file.read_text())["address"]
        with pytest.raises(ToolError, match="it has no workers"):
            list(points.compute(square, [1], address))
        with running([*WORKER, address], tmp_path, path) as worker:
            assert worker.stderr is not None
            assert any("Starting established connection" in line for line in worker.stderr)
            if path:
                assert dict(points.compute(square, range(9), address)) == {number: number**2 for number in range(9)}
            else:
                with pytest.raises(ToolError, match=r"can.t load this version of Warploom .*work"):
                    list(points.compute(square, [1], address))
