"""``warploom cuda``: a CUDA program of a user, whose kernels run on a `Gpu`."""

import argparse
import contextlib
import ctypes
import dataclasses
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path

from warploom import report
from warploom.arch.errors import ConfigError
from warploom.arch.launch import DEFAULT_LIMIT
from warploom.cuda.library import library, needed
from warploom.cuda.session import Session
from warploom.host.gpu import Gpu
from warploom.processes import INTERRUPTS, interrupts_later
from warploom.targets import check_launch
from warploom.verbs import Body, machine, need_simulator
from warploom.verbs.launches import check_ways, describe, show_launches, show_statistics

PR_SET_PDEATHSIG = 1
"""Of Linux's prctl: the signal that a process gets when its parent ends."""

FOLDER = Path("build/cuda")
"""Where folders with the PTX of programs are made."""


def main(options: argparse.Namespace) -> Body:
    """Run the program to its end, and show what its launches have done."""
    check_ways(options)
    if options.rtl:
        need_simulator()
    program = _program(options.program)
    check_launch(options, [program])
    sm, around = machine(options)
    gpu = Gpu(sm if around is None else None, gpu=around, timing=not options.functional, rtl=options.rtl,
              replay=options.replay, launch_files=options.launches, sample=options.blocks,
              limit=options.limit or DEFAULT_LIMIT)
    places = [library(name, version) for name, version in needed(program)]
    session = Session(gpu, program.name, options.out or FOLDER / program.name)
    sys.stdout.flush()
    status, difference = _run([str(program), *options.arguments], places, session, rtl=options.rtl)
    body = {"configuration": dataclasses.asdict(gpu.gpu or gpu.config),
            "program": {"command": [options.program, *options.arguments], "status": status}, **describe(gpu),
            "failure": difference or _failure(options.program, status, session.failures)}
    _show(options.program, gpu, body)
    return body


def _program(name: str) -> Path:
    """The file of a program. Raises `ConfigError`."""
    found = shutil.which(name)
    if found is None:
        raise ConfigError(f"{name}: no program: give the path of one that nvcc has linked, such as ./saxpy")
    return Path(found).absolute()  # links stay: Python finds its virtual environment by that in it


def _run(command: list[str], places: Iterable[Path], session: Session, *, rtl: bool) -> tuple[int, str | None]:
    """The status of a command, and a line if hardware and model differ, which ends it."""
    if not rtl:
        return _served(command, places, session), None
    from warploom.tb.lockstep import LockstepError  # noqa: PLC0415  (the model needs no simulator)

    try:
        return _served(command, places, session), None
    except LockstepError as error:
        return -signal.SIGKILL, str(error)


def _served(command: list[str], places: Iterable[Path], session: Session) -> int:
    """Run a command with the libraries in these folders until it ends; returns its status, negative for a signal."""
    ours, theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)
    ended, end = socket.socketpair()
    path = os.pathsep.join(filter(None, (*map(str, places), os.environ.get("LD_LIBRARY_PATH"))))
    process = None
    with ours, ended, end, contextlib.ExitStack() as connections:
        try:
            with theirs, interrupts_later():
                process = subprocess.Popen(
                    command, pass_fds=(theirs.fileno(),),
                    preexec_fn=_prepare,  # noqa: PLW1509  (this process has no thread yet that could hold a lock)
                    env={**os.environ, "LD_LIBRARY_PATH": path, "WARPLOOM_CUDA": str(theirs.fileno())})
            threading.Thread(target=_closed, args=(end, process), daemon=True).start()
            session.serve(ours, ended, connections)
            return process.wait()
        finally:
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()


def _prepare() -> None:
    """In the new process: let signals that ask it to end do so, for it inherits that they are delayed; and end with
    the process that has started it, even if that is killed."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTS)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _closed(end: socket.socket, process: "subprocess.Popen[bytes]") -> None:
    """Close it when the program ends: processes that it has started and left behind may still have connections."""
    with end:
        process.wait()


def _failure(name: str, status: int, failures: list[str]) -> str | None:
    """What has gone wrong, in a line."""
    if failures:
        return f"{name}: {len(failures)} of its launches failed, the first with: {failures[0]}"
    if status < 0:
        return f"{name}: ended by {_signal(-status)}"
    return f"{name}: ended with status {status}" if status else None


def _signal(number: int) -> str:
    """The name of a signal; most of those for real time have none."""
    return signal.Signals(number).name if number in list(signal.Signals) else f"signal {number}"


def _show(name: str, gpu: Gpu, body: Body) -> None:
    """Print a row for each launch, and the statistics of all."""
    if not gpu.launches:
        print(f"{name} has launched no kernel.")
        return
    show_launches(name, gpu)
    report.fields("All launches", {what.replace("_", " "): body["execution"][what]
                                   for what in ("warp_instructions", "thread_instructions")})
    show_statistics(gpu)
