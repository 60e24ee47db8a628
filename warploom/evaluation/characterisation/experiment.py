"""The characterisation of [HAWS], chapter 4, and its Fig. 1.2: the programs of Table 4.2, what they execute,
what their schedulers wait for, and how many instructions compilation makes of their PTX."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from warploom.arch.config import LANES
from warploom.arch.gpu import GpuConfig
from warploom.arch.isa import NO_RECONVERGENCE, Op
from warploom.arch.program import Program
from warploom.compiler import ptx
from warploom.compiler.compile import compile_file, read_ptx
from warploom.compiler.parser import parse
from warploom.evaluation.characterisation.executed import CLASSES, Executed
from warploom.evaluation.characterisation.sass import sass
from warploom.evaluation.figures import Figure, Groups, Measured, Runs
from warploom.evaluation.haws import bars
from warploom.evaluation.haws.experiment import KEPLER_SCALE
from warploom.evaluation.metrics import share
from warploom.evaluation.workloads import listed
from warploom.kernels.library import kernel
from warploom.programs import library

MACHINE = "kepler"
"""The only setting."""


def groups() -> dict[str, tuple[str, ...]]:
    """The programs of Table 4.2."""
    return {"Table 4.2": listed("HAWS 4.2")}


def configurations(gpu: GpuConfig, settings: Sequence[str]) -> dict[str, GpuConfig]:
    """One SM of the GPU with its share of the memory. A user's settings come after this."""
    return {MACHINE: gpu.with_settings(list(KEPLER_SCALE)).with_settings(list(settings))}


def measured(runs: Mapping[str, Runs], counts: Mapping[str, Executed], groups: Groups) -> list[Measured]:
    """The figures, in the order of the source."""
    cycles = {"issued": bars.issued, **{kind: bars.stalled(kind) for kind in bars.CYCLES}}
    waiting = _figure("Fig. 1.2", "Cycles of the schedulers", {
        key: _of_run(value) for key, value in cycles.items()}, stacked=True)
    return [waiting.measure(runs, groups), *(figure.measure(counts, groups) for figure in executed_figures())]


def executed_figures() -> list[Figure]:
    """The figures of what is executed."""
    return [
        _figure("Fig. 4.12", "Executed warp instructions by class", {
            name: _of_class(number) for number, name in enumerate(CLASSES)}, stacked=True),
        _figure("Fig. 4.13a", "Branch efficiency: guarded branches whose active lanes agree", {
            "uniform": lambda found: share(found.branches - found.divergent, found.branches)
            if found.branches else 100.0}),
        _figure("Fig. 4.13b", "Control-flow efficiency: active lanes of an instruction", {
            "active": lambda found: share(found.active, LANES * found.instructions)}),
    ]


def _of_class(number: int) -> Callable[[Executed], float]:
    return lambda found: share(found.classes[number], found.instructions)


def _of_run(value: bars.Value) -> Callable[[Runs], float]:
    return lambda runs: value(runs[MACHINE])


def _figure(number: str, title: str, values: Mapping[str, Callable[[Any], float]], *, stacked: bool = False) -> Figure:
    return Figure(f"HAWS, {number}", title, values, stacked=stacked)


# ------------------------------------------------------------------ code

CODE = ("workload", "PTX", "ours", "SASS", "ours, % of PTX", "SASS, % of PTX", "reconvergence points", "of SASS")
"""Instructions in the code of all kernels of a file, and reconvergence points ([HAWS], Fig. 4.7): of our compiler, and
of NVIDIA's assembler."""


def code(workload: str) -> tuple[str, int, int, int | None, float, float | None, int, int | None]:
    """The row of a workload; what needs the assembler is None without it."""
    path = _path(workload)
    functions = [one for one in parse(read_ptx(path), str(path)).functions if one.body is not None]
    before = sum(_instructions(one.body.body) for one in functions if one.body is not None)
    programs = [compile_file(path, one.name) for one in functions if one.is_entry]
    ours, assembled = sum(len(program.instructions) for program in programs), sass(path)
    points = sum(map(_points, programs))
    if assembled is None:
        return workload, before, ours, None, share(ours, before), None, points, None
    return (workload, before, ours, assembled.instructions, share(ours, before),
            share(assembled.instructions, before), points, assembled.reconvergence_points)


def _path(workload: str) -> Path:
    """The PTX of a workload."""
    return library.program(workload).ptx if workload in library.names() else kernel(workload).ptx


def _instructions(body: Iterable[ptx.Statement]) -> int:
    """PTX instructions, those of nested scopes included."""
    return sum(_instructions(statement.body) if isinstance(statement, ptx.Block)
               else isinstance(statement, ptx.Instruction) for statement in body)


def _points(program: Program) -> int:
    """Instructions at which the sides of a branch meet."""
    return len({one.reconverge for one in program.instructions
                if one.op is Op.BRA and one.guarded and one.reconverge != NO_RECONVERGENCE})
