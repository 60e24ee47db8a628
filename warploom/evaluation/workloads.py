"""Workloads of the evaluation: bundled kernels, of one launch each, and bundled programs, of one or more."""

from collections.abc import Container, Iterable
from functools import lru_cache

from warploom.arch.errors import ExecutionError, LaunchError, nearest, shown
from warploom.compiler.compile import compile_file
from warploom.evaluation.figures import Groups
from warploom.golden_model.functional.executor import execute
from warploom.golden_model.trace import Trace
from warploom.host.gpu import Gpu
from warploom.kernels.library import kernel, kernels
from warploom.programs import library

KERNELS, PROGRAMS, ALL = "kernels", "programs", "all"
"""What may be chosen beside names."""

SEVEN, NAMED = "seven kernels", "named workloads"
"""The groups of all bundled kernels, and of what a user names."""

LISTED = {
    "RADAIDEH": ("hotspot", "pathfinder"), "TFET": ("matmul",),
    "HAWS 4.2": ("histogram", "matmul", "vector_add"), "HAWS 5.1": ("matmul", "reduction"), "HAWS 5.3": ("matmul",),
}
"""The kernels that stand for benchmarks of a source, or of one of its tables; programs say this themselves."""


def names() -> list[str]:
    """All workloads: kernels, then programs."""
    return [*(one.name for one in kernels()), *library.names()]


def listed(source: str) -> tuple[str, ...]:
    """The programs and kernels that stand for a source's benchmarks; `source` is a key of docs/sources.md, or with the
    number of one of its tables, those in the table."""
    def is_on(keys: Iterable[str]) -> bool:
        return any(source in (key, key.partition(" ")[0]) for key in keys)

    programs = (program.name for program in library.programs() if is_on(program.suite))
    return (*programs, *dict.fromkeys(name for key, names in LISTED.items() if is_on([key]) for name in names))


def usual(source: str) -> dict[str, tuple[str, ...]]:
    """The groups of an experiment of a source: what is on its list, and the kernels."""
    return {on_list(source): listed(source), SEVEN: _kernels()}


def on_list(source: str) -> str:
    """The name of the group of what is on a source's list."""
    return f"{len(listed(source))} of [{source}]"


def chosen(wanted: Iterable[str], source: str) -> dict[str, tuple[str, ...]]:
    """The groups that a user has chosen: names, `KERNELS`, `PROGRAMS` or `ALL`; without any those of the source. Raises
    `LaunchError` for what is no workload."""
    wanted = list(dict.fromkeys(wanted))
    groups: dict[str, tuple[str, ...]] = {}
    if PROGRAMS in wanted or ALL in wanted:
        groups[f"{len(library.names())} programs"] = tuple(library.names())
    if KERNELS in wanted or ALL in wanted:
        groups[SEVEN] = _kernels()
    if named := tuple(_known(name) for name in wanted if name not in (KERNELS, PROGRAMS, ALL)):
        groups[NAMED] = named
    return groups or usual(source)


def remaining(groups: Groups, there: Container[str]) -> dict[str, tuple[str, ...]]:
    """The groups without the workloads that are not there, which their names then tell."""
    found = {}
    for name, members in groups.items():
        absent = [member for member in members if member not in there]
        if len(absent) < len(members):
            label = f"{name}, without {', '.join(absent)}" if absent else name
            found[label] = tuple(member for member in members if member in there)
    return found


def sized(name: str, size: str) -> str:
    """The size in which a workload is simulated: kernels have no large inputs, and take their default ones."""
    return "default" if size == "large" and name in _kernels() else size


@lru_cache(maxsize=1)
def traces(name: str, size: str) -> tuple[Trace, ...]:
    """The traces of a workload's launches, in order, which all configurations share. Raises `ExecutionError` if its
    results are wrong, `LaunchError` for an unknown workload or size."""
    return _of_program(name, size) if name in library.names() else (_of_kernel(name, size),)


def _of_kernel(name: str, size: str) -> Trace:
    file = kernel(name).load(size)
    execution = execute(compile_file(file.ptx, file.entry), file.launch)
    _check(name, size, (expectation.mismatch(execution.buffers[expectation.name]) for expectation in file.expectations))
    assert execution.trace is not None
    return execution.trace


def _of_program(name: str, size: str) -> tuple[Trace, ...]:
    program, gpu = library.program(name), Gpu(timing=False, traces=True)
    given = program.inputs(size)
    _check(name, size, program.mismatches(given, program.run(gpu, given)))
    return tuple(launched.trace for launched in gpu.launches)


def _check(name: str, size: str, mismatches: Iterable[str | None]) -> None:
    for wrong in filter(None, mismatches):
        raise ExecutionError(f"{name} ({size}): not what its reference computes: {wrong}")


def _kernels() -> tuple[str, ...]:
    return tuple(one.name for one in kernels())


def _known(name: str) -> str:
    """The name of a workload."""
    if name not in names():
        raise LaunchError(f"{shown(name)} is no workload: name bundled kernels or programs, or give {KERNELS}, "
                          f"{PROGRAMS} or {ALL}{nearest(name, names())}")
    return name
