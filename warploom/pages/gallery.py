"""The gallery: every bundled program and kernel, with its launches and, where its output is an image, a picture."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from warploom.arch.errors import ExecutionError
from warploom.host.gpu import Gpu
from warploom.kernels.library import SIZES as KERNEL_SIZES
from warploom.kernels.library import Kernel
from warploom.pages import rendering
from warploom.pages.pictures import Picture, pictures
from warploom.programs.library import SIZES, Program

SIZE = "default"
"""The inputs with which the programs run for the page."""

Extents = tuple[int, int, int]


@dataclass(frozen=True)
class Entry:
    """A program on the page."""

    name: str
    what: str
    source: str
    stands_for: Mapping[str, str]
    sizes: Sequence[str]
    launches: Sequence[str]
    outputs: Sequence[str]
    pictures: Sequence[Picture]


def write(path: Path, programs: Sequence[Program], kernels: Sequence[Kernel], done: Callable[[str], None]) -> None:
    """Run the programs and write the page; calls `done` with the name of each. Raises `ExecutionError` and `OSError`.
    """
    sections = {"Programs": [_of_program(program, done) for program in programs],
                "Kernels": [_of_kernel(kernel, done) for kernel in kernels]}
    rendering.write("gallery.html", path, sections=sections)


def _of_program(program: Program, done: Callable[[str], None]) -> Entry:
    gpu, given = Gpu(timing=False), program.inputs(SIZE)
    found = program.run(gpu, given)
    if wrong := program.mismatches(given, found):
        raise ExecutionError(f"{program.name} ({SIZE}): {wrong[0]}")
    done(program.name)
    shapes = [(launched.kernel, launched.geometry.grid, launched.geometry.block) for launched in gpu.launches]
    return Entry(program.name, _sentence(program.what), f"warploom/programs/{program.name}/{program.name}.cu",
                 program.suite, SIZES, described(shapes), _outputs(found), pictures(program.name, given, found))


def _of_kernel(kernel: Kernel, done: Callable[[str], None]) -> Entry:
    file = kernel.load(SIZE)
    found = {expected.name: expected.array for expected in file.expectations}
    done(kernel.name)
    return Entry(kernel.name, _sentence(kernel.what), f"warploom/kernels/{kernel.name}/{kernel.name}.cu", {},
                 KERNEL_SIZES, described([(kernel.name, file.launch.grid, file.launch.block)]), _outputs(found),
                 pictures(kernel.name, {}, found))


def described(launches: Sequence[tuple[str, Extents, Extents]]) -> list[str]:
    """A line for each kernel: how often it is launched, with how many blocks of how many threads."""
    lines = []
    for kernel in dict.fromkeys(name for name, *_ in launches):
        shapes = [(grid, block) for name, grid, block in launches if name == kernel]
        times = f"{len(shapes)} launches: " if len(shapes) > 1 else ""
        last = f" ... {_shape(*shapes[-1])}" if len(set(shapes)) > 1 else ""
        lines.append(f"{kernel}, {times}{_shape(*shapes[0])}{last}")
    return lines


def _shape(grid: Extents, block: Extents) -> str:
    return f"{_counted(grid, 'block')} of {_counted(block, 'thread')}"


def _counted(extents: Extents, what: str) -> str:
    return f"{_extents(extents)} {what}{'s' * (prod(extents) > 1)}"


def _extents(extents: Extents) -> str:
    return " x ".join(str(extent) for extent in extents if extent > 1) or "1"


def _outputs(found: Mapping[str, Any]) -> list[str]:
    return [f"{name}: {' x '.join(map(str, array.shape))} {array.dtype}" for name, array in found.items()]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."
