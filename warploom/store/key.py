"""The key of an entry of the store, and its path."""

import errno
import hashlib
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import platformdirs

from warploom.arch.errors import ToolError
from warploom.origin import ROOT

STARTED = time.time_ns()
"""When this process, or the one that it was forked from, imported its code, or soon after."""


class Kind(StrEnum):
    """The kinds of entries."""

    DESIGNS = "designs"
    SIMULATORS = "simulators"
    RUNTIMES = "runtimes"
    PLAYERS = "players"
    TAPES = "tapes"
    OUTCOMES = "outcomes"
    SIMULATIONS = "simulations"
    CELLS = "cells"
    MODULES = "modules"
    REPORTS = "reports"
    COMPILED = "compiled"
    LIBRARIES = "libraries"
    RUNS = "runs"

    @property
    def what(self) -> str:
        """In words."""
        return _WHAT[self]


_WHAT = {
    Kind.DESIGNS: "Verilog of units, with the ports of a bench", Kind.SIMULATORS: "Verilated units",
    Kind.RUNTIMES: "compiled library of Verilator", Kind.PLAYERS: "programs that replay tapes on hardware",
    Kind.TAPES: "runs of the model, to be replayed", Kind.OUTCOMES: "runs that passed the regression",
    Kind.SIMULATIONS: "runs of an evaluation", Kind.CELLS: "cell libraries, as read",
    Kind.MODULES: "mapped modules", Kind.REPORTS: "reports of synthesis",
    Kind.COMPILED: "compiled modules of the cycle model", Kind.LIBRARIES: "CUDA's runtime library, for programs",
    Kind.RUNS: "left by runs that failed, and waveforms",
}


@dataclass(frozen=True)
class Key:
    """The key of an entry: a kind, a readable name, and by name all its inputs, as plain data; for a long text its
    `digest`."""

    kind: Kind
    name: str
    parts: Mapping[str, Any]

    @property
    def path(self) -> Path:
        """The folder of the entry."""
        return place() / self.kind / f"{self.name}-{digest(self._identity)[:16]}"

    @property
    def _identity(self) -> str:
        return json.dumps([self.kind, self.name, self.parts], sort_keys=True)

    def files(self, text: str) -> dict[str, str]:
        """The files that a record names, with their digests. Raises `ValueError` or `LookupError` if it is of another
        entry."""
        record = json.loads(text)
        if Key(record["kind"], record["name"], record["parts"])._identity != self._identity:
            raise ValueError(self.name)
        return record["files"]


def place() -> Path:
    """The cache folder."""
    named = os.environ.get("WARPLOOM_CACHE") or platformdirs.user_cache_path("warploom")
    return Path(os.path.realpath(named))  # which takes links that lead to each other for a name


def need_place(part: str = "") -> None:
    """Make the cache folder, and a part of it. Raises `ToolError` if it cannot be written."""
    for where in dict.fromkeys((place(), place() / part)):
        if reason := _why_not(where):
            raise ToolError(f"{where}: {reason}: results are stored there: set WARPLOOM_CACHE to another folder")


def _why_not(where: Path) -> str | None:
    """Why a folder, which is made if it is absent, cannot be written."""
    try:
        where.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return error.strerror
    return None if os.access(where, os.W_OK) else os.strerror(errno.EACCES)


def digest(content: str | bytes) -> str:
    """A digest of a text or of bytes."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


def _changed(path: Path) -> int:
    """When a file was written, or came to its place, in ns since 1970: a copy may keep the time of the original. A
    change of its rights counts, too."""
    found = path.stat()
    return max(found.st_mtime_ns, found.st_ctime_ns)


def sources(*places: str) -> str:
    """A digest of files, and of all files in folders, of the project, for keys of entries made from them. A process
    executes what it has imported: if a file changed after that, the digest is one of this process alone. Raises
    `FileNotFoundError`."""
    found = hashlib.sha256()
    for name in places:
        root = Path(ROOT, name)
        if not root.exists():
            raise FileNotFoundError(root)
        for path in [root] if root.is_file() else sorted(root.rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                found.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
                if _changed(path) > STARTED:
                    found.update(str(STARTED).encode())
    return found.hexdigest()
