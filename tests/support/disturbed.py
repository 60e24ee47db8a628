"""Commands that run in separate folders and are disturbed: the files that they leave, and their output."""

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path

from support import small_cli
from support.small_launches import LAUNCH, PTX

MARK = "SMALL_CLI_MARK"
"""The environment variable that distinguishes processes of one command from all others."""

RUN = ("run", "k.toml", "--preset", "small", "--rtl", "--out", "out", "--json", "out.json")
REGRESS = ("regress", "--preset", "small", "--seed", "1", "--json", "out.json")
SYNTH = ("synth", "--preset", "small", "--unit", "sub_bank", "--json", "out.json")
VERILOG = ("verilog", "--preset", "small", "--unit", "Arbiter", "--out", "out", "--json", "out.json")
EVALUATE = ("evaluate", "coalescing", "--preset", "small", "--size", "tiny", "--workloads", "vector_add",
            "--out", "out", "--json", "out.json")

SEVERAL = ("evaluate", "calibration", "placement", "--quick", "--out", "out", "--json", "out.json")
SWEEP = ("sweep", "--preset", "small", "--size", "tiny", "--workloads", "vector_add", "--set", "collectors=1..3",
         "--json", "out.json")

STATUS = {signal.SIGKILL: -signal.SIGKILL, signal.SIGTERM: 143, signal.SIGINT: 130}
LINE = {signal.SIGTERM: ["warploom: terminated"], signal.SIGINT: ["warploom: interrupted"]}
"""Exit status and standard error of a command that a signal ends."""


def check_ending(ending: signal.Signals, status: int, lines: list[str]) -> None:
    """A command that a signal has ended reports it in one line. If it was killed, only Python may report leftover
    semaphores, which it then removes."""
    assert status == STATUS[ending]
    assert ending == signal.SIGKILL or lines == LINE[ending], lines


class Command:
    """A command that runs in a folder, with its cache in `cache`, after `prefix`."""

    def __init__(self, arguments: tuple[str, ...], folder: Path, cache: Path, prefix: tuple[str, ...] = ()) -> None:
        self.folder, self.mark = folder, uuid.uuid4().hex
        folder.mkdir(exist_ok=True)
        if not (folder / "k.toml").exists():
            (folder / "k.ptx").write_text(PTX.replace("ROUNDS", "100"))
            (folder / "k.toml").write_text(LAUNCH)
        self.ready = folder / f"ready-{self.mark}"
        environment = {**os.environ, MARK: self.mark, small_cli.READY: str(self.ready), "WARPLOOM_CACHE": str(cache)}
        command = [*prefix, sys.executable, small_cli.__file__, *arguments]
        self.process = subprocess.Popen(command, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)

    def wait_until(self, condition: Callable[[], object]) -> None:
        """Wait for something, or for the end of the command."""
        while not condition() and self.process.poll() is None:
            time.sleep(0.01)

    def wait_ready(self) -> None:
        """Wait until Python has started, and the command line handles signals."""
        self.wait_until(self.ready.exists)

    def wait_for(self, seconds: float) -> None:
        """Wait for this time, or until the end of the command."""
        deadline = time.monotonic() + seconds
        self.wait_until(lambda: time.monotonic() > deadline)

    def end(self) -> tuple[int, list[str]]:
        """Exit status and lines of standard error."""
        _, errors = self.process.communicate(timeout=900)
        self.ready.unlink(missing_ok=True)
        return self.process.returncode, errors.splitlines()

    def others(self) -> list[str]:
        """The command lines of processes of this command, without itself."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal() and int(entry.name) != self.process.pid:
                try:
                    if f"{MARK}={self.mark}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                        found.append((entry / "cmdline").read_text().replace("\0", " "))
                except OSError:  # it has just ended, or belongs to another user
                    continue
        return [line for line in found if line]

    def leaves_no_process(self) -> bool:
        """Whether all processes that it started end within seconds."""
        deadline = time.monotonic() + 10
        while left := self.others():
            if time.monotonic() > deadline:
                print("left:", *left, sep="\n  ")
                return False
            time.sleep(0.05)
        return True


def results(folder: Path) -> dict[str, object]:
    """The output of a command, without parts that may differ: measured times, the commit, and what was cached
    before."""
    found: dict[str, object] = {str(path.relative_to(folder)): path.read_bytes()
                                for path in (folder / "out").rglob("*") if path.is_file()}
    path = folder / "out.json"
    if path.exists():
        document = json.loads(path.read_text())
        document.get("rtl", {}).pop("seconds", None)
        document.pop("commit")
        for run in document.get("runs", []) if document["verb"] == "regress" else []:
            run["verdict"] = run["verdict"].removesuffix(", as before")
        found[path.name] = document
    return found


def parts(*folders: Path) -> list[Path]:
    """Temporary files that a writer has not renamed."""
    return [path for folder in folders for path in folder.rglob(".*") if path.is_file()]
