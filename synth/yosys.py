"""Yosys as a subprocess of this interpreter: a crash or a flood of log lines stays there.

Only the pinned `pyosys` wheel is used, which includes ABC; a `yosys` on `PATH` may be too old for the cells that
Amaranth emits.
"""

import json
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from warploom import processes
from warploom.arch.errors import ToolError

_RUN = "import sys; from pyosys import libyosys; libyosys.run_pass('script ' + sys.argv[1])"


def version() -> str:
    """Version of the `pyosys` wheel. Raises `ToolError` when it is not installed."""
    try:
        return metadata.version("pyosys")
    except metadata.PackageNotFoundError:
        raise ToolError("pyosys (Yosys): needed by synthesis and not installed: pip install pyosys==0.70") from None


def run(script: str, folder: Path, name: str) -> None:
    """Run Yosys commands with `folder` as working directory; `name`.ys and `name`.log stay in it.

    Raises `ToolError` with Yosys's own first error line when it fails.
    """
    version()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.ys").write_text(script)
    log = folder / f"{name}.log"
    with log.open("w") as stream:
        status = processes.run([sys.executable, "-c", _RUN, f"{name}.ys"], folder, stream)
    if status:
        lines = log.read_text(errors="replace").splitlines()
        reason = next((line for line in lines if "ERROR" in line), lines[-1] if lines else "no output")
        raise ToolError(f"Yosys failed ({reason.strip()}); its log is {log}")


def read(path: Path) -> Any:
    """The JSON that Yosys, or nextpnr, wrote. Raises `ToolError` if it is incomplete: neither sees that a disk is
    full."""
    try:
        return json.loads(path.read_bytes())
    except (ValueError, FileNotFoundError):
        raise ToolError(f"{path}: written incompletely: is the disk full?") from None
