"""Rebuilds the bundled programs' PTX: ``python -m warploom.programs.build [NAME...]``.

Needs a CUDA toolkit (nvcc; 13.0 made the committed files), which using Warploom does not need.
"""

import sys

from warploom.kernels.build import compile_ptx
from warploom.programs.library import FOLDER, mark


def build(name: str) -> None:
    """Compile `<name>/<name>.cu` to PTX beside it, under a first line that names the source's digest."""
    source = FOLDER / name / f"{name}.cu"
    ptx = compile_ptx(source)
    ptx.write_text(mark(source) + ptx.read_text())


if __name__ == "__main__":
    for program in sys.argv[1:] or sorted(path.stem for path in FOLDER.glob("*/*.cu")):
        build(program)
        print(program)
