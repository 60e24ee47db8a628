"""Child processes, which end when this process ends, even if it is interrupted or killed."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any, TextIO

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
    process = None
    try:
        with interrupts_later():  # else one between its start and our knowledge of it would leave it running
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(SUPERVISOR), *command], cwd=cwd, env=env, stdin=subprocess.PIPE,
                stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            )
            with _lock:
                _running.add(process)
        status = process.wait()
    finally:
        if process is not None:
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
def interrupts_later() -> Iterator[None]:
    """Delay signals that ask us to end until the body has run. Processes that it starts begin with them blocked: a
    signal before they are ready would print a traceback. Only the main thread is ever interrupted: no other waits."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
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
