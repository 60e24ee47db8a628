"""``warploom cuda``: a CUDA program of a user, whose kernels run on a `Gpu`."""

import argparse
import dataclasses
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

from warploom import report
from warploom.arch.errors import ConfigError
from warploom.arch.launch import DEFAULT_LIMIT
from warploom.cuda.library import library, needed
from warploom.cuda.session import Session
from warploom.host.gpu import Gpu
from warploom.processes import interrupts_later
from warploom.verbs import Body, machine, need_simulator
from warploom.verbs.launches import check_ways, describe, show_launches, show_statistics

FOLDER = Path("build/cuda")
"""Where folders with the PTX of programs are made."""


def main(options: argparse.Namespace) -> Body:
    """Run the program to its end, and show what its launches have done."""
    check_ways(options)
    if options.rtl:
        need_simulator()
    program = _program(options.program)
    sm, around = machine(options)
    gpu = Gpu(sm if around is None else None, gpu=around, timing=not options.functional, rtl=options.rtl,
              replay=options.replay, launch_files=options.launches, sample=options.blocks,
              limit=options.limit or DEFAULT_LIMIT)
    place = library(*needed(program))
    session = Session(gpu, program.name, options.out or FOLDER / program.name)
    sys.stdout.flush()
    status, difference = _run([str(program), *options.arguments], place, session, rtl=options.rtl)
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
    return Path(found).resolve()


def _run(command: list[str], place: Path, session: Session, *, rtl: bool) -> tuple[int, str | None]:
    """The status of a command, and a line if hardware and model differ, which ends it."""
    if not rtl:
        return _served(command, place, session), None
    from warploom.tb.lockstep import LockstepError  # noqa: PLC0415  (the model needs no simulator)

    try:
        return _served(command, place, session), None
    except LockstepError as error:
        return -signal.SIGKILL, str(error)


def _served(command: list[str], place: Path, session: Session) -> int:
    """Run a command with the library in a folder until it ends; returns its status, negative for a signal."""
    ours, theirs = socket.socketpair()
    path = os.pathsep.join(filter(None, (str(place), os.environ.get("LD_LIBRARY_PATH"))))
    process = None
    with ours:
        try:
            with theirs, interrupts_later():
                process = subprocess.Popen(
                    command, pass_fds=(theirs.fileno(),),
                    env={**os.environ, "LD_LIBRARY_PATH": path, "WARPLOOM_CUDA": str(theirs.fileno())})
            session.serve(ours)
            return process.wait()
        finally:
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()


def _failure(name: str, status: int, failures: list[str]) -> str | None:
    """What has gone wrong, in a line."""
    if failures:
        return f"{name}: {len(failures)} of its calls failed, the first with: {failures[0]}"
    if status < 0:
        return f"{name}: ended by {signal.Signals(-status).name}"
    return f"{name}: ended with status {status}" if status else None


def _show(name: str, gpu: Gpu, body: Body) -> None:
    """Print a row for each launch, and the statistics of all."""
    if not gpu.launches:
        print(f"{name} has launched no kernel.")
        return
    show_launches(name, gpu)
    report.fields("All launches", {what.replace("_", " "): body["execution"][what]
                                   for what in ("warp_instructions", "thread_instructions")})
    show_statistics(gpu)
