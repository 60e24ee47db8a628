"""Child processes, which end when this process ends, even if it is interrupted or killed."""

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from typing import Any, TextIO

from warploom.arch.errors import ExecutionError
from warploom.placement import workers as placement

INTERRUPTS = (signal.SIGINT, signal.SIGTERM)

SUPERVISOR = Path(__file__).with_name("supervisor.py")

_running: set[subprocess.Popen[bytes]] = set()
_abandoned: set[subprocess.Popen[bytes]] = set()
_lock = threading.Lock()
_abandoning = threading.Event()


class Abandoned(Exception):
    """A command was ended because its result is no longer needed: it has not failed."""


def run(
    command: Sequence[str], cwd: str | os.PathLike[str], output: TextIO | None, env: Mapping[str, str] | None = None
) -> int:
    """Run a command in a folder, without input, to its end; `output` receives all that it prints. Returns its exit
    status, negative for a signal. Raises `Abandoned`, or our interrupt, once all its processes have ended."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", str(SUPERVISOR), *command], cwd=cwd, env=env, stdin=subprocess.PIPE,
        stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
    )
    with _lock:
        _running.add(process)
    try:
        status = process.wait()
    finally:
        _end(process)
        process.wait()
        with _lock:
            _running.discard(process)
    if process in _abandoned:
        _abandoned.discard(process)
        raise Abandoned
    return status


def abandon(pool: Executor, jobs: Iterable[Future[Any]]) -> None:
    """Start no more jobs of a pool of threads, and end the running ones, with all running commands."""
    pool.shutdown(wait=False, cancel_futures=True)
    _abandoning.set()
    while not all(job.done() for job in jobs):
        with _lock:
            _abandoned.update(_running)
            for process in _running:
                _end(process)
        time.sleep(0.05)
    _abandoning.clear()


def abandoning() -> bool:
    """Whether jobs are being ended: a job that waits then raises `Abandoned`."""
    return _abandoning.is_set()


@contextlib.contextmanager
def workers(count: int | None = None, *, placed: bool = False) -> Iterator[ProcessPoolExecutor]:
    """A pool of Python processes, one for each processor unless `count` is given; submit jobs within
    `interrupts_later`. If `placed`, each stays on a processor (docs/placement.md, *Workers*). They end when the body is
    interrupted, or when this process ends. Raises `ExecutionError` if one was killed."""
    from warploom import compiled  # noqa: PLC0415  (it uses the cache, which uses this module)

    context = multiprocessing.get_context("spawn")
    cores = context.SimpleQueue()
    found = placement.cores(count or os.cpu_count() or 1, placement.available()) if placed else []
    for core in found:
        cores.put(core)
    pool = ProcessPoolExecutor(count, context, _start, (compiled.in_use(), cores if found else None))
    try:
        yield pool
    except BrokenProcessPool:
        raise ExecutionError("a simulation was killed, perhaps for lack of memory: close other programs and run this "
                             "again; cached results are not simulated again") from None
    except BaseException:
        for process in multiprocessing.active_children():
            process.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _start(as_compiled: bool, cores: "SimpleQueue[int] | None") -> None:
    """A worker starts, on one of the cores. Like its parent, it uses the model's compiled modules or not."""
    _follow_parent()
    if cores:
        os.sched_setaffinity(0, {cores.get()})
    if as_compiled:
        from warploom import compiled  # noqa: PLC0415  (as above)

        compiled.use()


def _follow_parent() -> None:
    """End when the parent process ends. Interrupts stay blocked: the parent receives them, and ends this process."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    parent = multiprocessing.parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


@contextlib.contextmanager
def interrupts_later() -> Iterator[None]:
    """Delay signals that ask us to end until the body has run. Processes that it starts begin with them blocked: a
    signal before they are ready would print a traceback. For the main thread only."""
    came: list[int] = []
    handlers = {number: signal.signal(number, lambda number, _: came.append(number)) for number in INTERRUPTS}
    signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTS)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for late in came:
            signal.raise_signal(late)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Close the pipe that the supervisor watches."""
    assert process.stdin is not None
    with contextlib.suppress(OSError):
        process.stdin.close()
