"""Rebuilds the bundled kernels' PTX and their ptxas register counts: ``python -m warploom.kernels.build [NAME...]``.

Needs a CUDA toolkit (nvcc and ptxas; 13.0 made the committed files), which using Warploom does not need.
"""

import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent


def build(name: str) -> int:
    """Compile `<name>/<name>.cu` to PTX beside it, and write ptxas's register count for sm_75 to `kernel.toml`.

    Returns the count.
    """
    folder = FOLDER / name
    compile_ptx(folder / f"{name}.cu")
    report = _tool(folder, "ptxas", "-v", "-arch=sm_75", f"{name}.ptx", "-o", "/dev/null")
    match = re.search(r"Used (\d+) registers", report)
    assert match, report
    metadata = folder / "kernel.toml"
    metadata.write_text(re.sub(r"(?m)^(ptxas_registers = )\d+", rf"\g<1>{match[1]}", metadata.read_text()))
    return int(match[1])


def compile_ptx(source: Path) -> Path:
    """Compile a CUDA source to PTX beside it.

    The compiler runs in the source's folder, so that no path of this machine enters the PTX.
    """
    ptx = source.with_suffix(".ptx")
    _tool(source.parent, "nvcc", "-arch=compute_75", "-ptx", source.name, "-o", ptx.name)
    return ptx


def _tool(folder: Path, *command: str) -> str:
    """Standard error of a successful command; exits with one line if it is missing or fails."""
    try:
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        sys.exit(f"{command[0]}: not found; the CUDA toolkit has it, install that and put its bin folder on PATH")
    if result.returncode:
        sys.exit(f"{command[0]} failed on {folder.name}:\n{result.stderr.strip()}")
    return result.stderr


if __name__ == "__main__":
    for kernel in sys.argv[1:] or sorted(path.stem for path in FOLDER.glob("*/*.cu")):
        print(f"{kernel}: {build(kernel)} registers with ptxas")
