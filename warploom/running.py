"""Running a kernel: launch file, machine code, execution, and the comparison with what is expected."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from warploom import report
from warploom.arch.chunks import check_at_once
from warploom.arch.config import SmConfig
from warploom.arch.errors import LaunchError, nearest, shown
from warploom.arch.layout import check_fits
from warploom.arch.program import Program
from warploom.compiler.compile import compile_file
from warploom.compiler.prepare import prepared
from warploom.golden_model.functional.executor import Execution, execute
from warploom.kernels.launchfile import LaunchFile, load
from warploom.kernels.library import kernel, kernels
from warploom.programs.library import names


@dataclass(frozen=True)
class Executed:
    """An executed kernel. `mismatches` has one line for each buffer that differs from the expected one, `warnings` the
    warnings about the launch."""

    file: LaunchFile
    program: Program
    execution: Execution
    mismatches: tuple[str, ...]
    warnings: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """The result of the comparison, in a few words."""
        count = len(self.file.expectations)
        if not count:
            return "not checked: the launch file expects nothing"
        if self.mismatches:
            return f"{len(self.mismatches)} of {count} buffers are wrong"
        return "as expected" + (", bit for bit" if all(e.exact for e in self.file.expectations) else "")


def is_program(name: str) -> bool:
    """Whether a name is that of a bundled program, and not of a bundled kernel or a launch file (.toml). Raises
    `LaunchError` if it is none of these."""
    known = [*(kernel.name for kernel in kernels()), *names()]
    if not name.endswith(".toml") and name not in known:
        raise LaunchError(f"{shown(name)} is neither a bundled kernel nor a bundled program (warploom kernels lists "
                          f"them), nor a launch file (.toml){nearest(name, known)}")
    return name in names()


def find(name: str, size: str | None) -> LaunchFile:
    """The launch of a bundled kernel in a size (``default`` if None), or the launch file at a path.

    Raises `LaunchError` if there is none.
    """
    if not name.endswith(".toml"):
        return kernel(name).load(size or "default")
    if size is not None:
        raise LaunchError(f"{name}: --size {size} goes with a bundled kernel; a launch file has its own sizes")
    return load(name)


def compiled(file: LaunchFile) -> Program:
    """The machine code of its kernel. Raises `PtxError`."""
    options = file.options
    return compile_file(file.ptx, file.entry, options.max_registers, optimise=options.optimise,
                        virtual_registers=options.virtual_registers, stack=options.stack)


def run(file: LaunchFile, config: SmConfig, *, sms: int = 1, record: bool = True) -> Executed:
    """Compile and execute the kernel of a launch file, and compare its buffers with the expected ones. Records the
    trace if `record`. Raises `PtxError`, `LaunchError` (also if a block does not fit `config`, or blocks that wait for
    each other so many SMs) or `ExecutionError`.
    """
    program = prepared(compiled(file), config)
    try:
        file.launch.check(program)
        check_fits(config, program, file.launch)
        if program.grid_barrier:
            check_at_once(config, sms, program, file.launch)
    except LaunchError as error:
        raise LaunchError(f"{file.path}: {error}") from None
    execution = execute(program, file.launch, record=record)
    found = (expectation.mismatch(execution.buffers[expectation.name]) for expectation in file.expectations)
    warnings = tuple(f"{file.path}: {line}; set it with [[symbols]]" for line in file.launch.warnings(program))
    return Executed(file, program, execution, tuple(line for line in found if line is not None), warnings)


def save(buffers: Mapping[str, np.ndarray], folder: Path) -> list[Path]:
    """Write each buffer to `<folder>/<name>.npy`, making the folder; returns the paths. Raises `OSError`."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.npy" for name in buffers]
    for path, array in zip(paths, buffers.values(), strict=True):
        report.write_npy(path, array)
    return paths
