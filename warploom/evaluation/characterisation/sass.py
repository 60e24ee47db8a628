"""Machine instructions that NVIDIA's assembler makes of PTX, counted where a user has it ([HAWS], section 4.3.2.1).

``ptxas``, of a CUDA toolkit, writes an ELF file with a section ``.text.KERNEL`` of instructions of 16 bytes. They are
told apart by the low 12 bits; these numbers were found by assembling kernels with and without divergent branches.
"""

import shutil
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from warploom.arch.errors import ToolError

ASSEMBLER = "ptxas"
ARCHITECTURE = "sm_75"
"""That of the bundled PTX."""

BYTES = 16
NOP, BSSY = 0x918, 0x945
"""Padding, and the instruction that names a reconvergence point."""

_CODE = ".text."


class Sass(NamedTuple):
    """Instructions of a file's kernels, without the padding at their ends, and reconvergence points."""

    instructions: int
    reconvergence_points: int


def sass(ptx: Path) -> Sass | None:
    """The instructions of a PTX file; None without an assembler. Raises `ToolError` if it fails."""
    if shutil.which(ASSEMBLER) is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        assembled = Path(folder) / "assembled"
        command = [ASSEMBLER, f"-arch={ARCHITECTURE}", str(ptx.absolute()), "-o", str(assembled)]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode:
            raise ToolError(f"{ASSEMBLER}, {ptx}: {result.stderr.strip()}")
        return counted(assembled.read_bytes())


def counted(data: bytes) -> Sass:
    """The instructions in an ELF file. The last one before the padding is a branch to itself, which nothing reaches."""
    kernels = [[word & 0xFFF for word, _ in struct.iter_unpack("<QQ", code)]
               for name, code in _sections(data) if name.startswith(_CODE)]
    return Sass(sum(len(codes) - codes.count(NOP) - 1 for codes in kernels),
                sum(codes.count(BSSY) for codes in kernels))


def _sections(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The names and the contents of the sections of a 64-bit ELF file."""
    (table,) = struct.unpack_from("<Q", data, 0x28)
    size, count, of_names = struct.unpack_from("<HHH", data, 0x3A)
    heads = [struct.unpack_from("<IIQQQQ", data, table + number * size) for number in range(count)]
    names = heads[of_names][4]
    for name, _, _, _, start, length in heads:
        yield data[names + name : data.index(b"\0", names + name)].decode(), data[start : start + length]
