"""A stored program: PTX, launch, and the results of the host's threads."""

import re
import signal
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from support.checked_runs import OFF, ON

from fuzz.generator import VERSION
from fuzz.given import ROW_BYTES, by_value, inputs
from fuzz.program import Program
from warploom.arch.config import SmConfig
from warploom.arch.launch import Buffer, Launch, Scalar
from warploom.arch.program import Program as CompiledProgram
from warploom.compiler.compile import compile_ptx
from warploom.compiler.prepare import prepared
from warploom.golden_model.functional.executor import Execution, execute
from warploom.golden_model.simulate import simulate

CORES = (OFF, ON)
"""The cores on which programs are simulated: without any mechanism, and with all."""

FEW: dict[str, Any] = {"max_registers": 10}
WAYS: tuple[dict[str, Any], ...] = ({}, {}, FEW, {}, {}, FEW, {}, {"optimise": False})
"""Compiler options of programs, in turn: most as users compile, some with so few registers that values are spilled,
some without rewrites."""

LIMIT, CYCLES, SECONDS = 4_000_000, 3_000_000, 120
"""Limits of instructions (as the launch counts them), cycles and seconds of this process, which no terminating program
reaches. Programs whose warps wait for each other's locks take nearly two million instructions."""


class Endless(Exception):
    """Compilation, execution or timing does not end."""


@dataclass(frozen=True)
class Case:
    """A kernel with its launch. `rows` is the CRC-32 of each thread's row of output, `common` the common words after
    the run. As text it is a PTX file with the others in its first lines."""

    seed: int
    version: int
    grid: int
    block: tuple[int, int]
    dynamic_shared: int
    rows: tuple[int, ...]
    common: bytes
    ptx: str

    @classmethod
    def of(cls, program: Program, ptx: str, expected: tuple[bytes, bytes]) -> "Case":
        """A program that was compiled, with its expected (output, common words)."""
        return cls(program.seed, VERSION, program.grid, program.block, program.dynamic_shared, _rows(expected[0]),
                   expected[1], ptx)

    def __str__(self) -> str:
        launch = f"{self.seed} {self.version} {self.grid} {self.block[0]} {self.block[1]} {self.dynamic_shared}"
        rows = b64encode(np.array(self.rows, "<u4").tobytes()).decode()
        return (f"// seed, version, grid, block x, block y, dynamic shared bytes: {launch}\n// rows: {rows}\n"
                f"// common: {b64encode(self.common).decode()}\n{self.ptx}")

    @classmethod
    def read(cls, path: Path) -> "Case":
        """The case that a file holds."""
        launch, rows, common, ptx = path.read_text(encoding="utf-8").split("\n", 3)
        seed, version, grid, x, y, dynamic = map(int, launch.split(": ")[1].split())
        checks = np.frombuffer(b64decode(rows.split(": ")[1]), "<u4")
        return cls(seed, version, grid, (x, y), dynamic, tuple(checks.tolist()), b64decode(common.split(": ")[1]), ptx)

    def run(self, cores: Sequence[SmConfig] = ()) -> None:
        """Compile and execute it, and simulate it on some cores, with every operand checked. Raises `AssertionError` if
        a result differs from the host's, and all errors of compiler and models."""
        previous = signal.signal(signal.SIGPROF, _endless)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            program = compile_ptx(self.ptx, f"{self.seed}.ptx", **WAYS[self.seed % len(WAYS)])
            execution = self._execution(program, record=False)
            self.compare(execution.buffers["output"].tobytes(), execution.buffers["common"].tobytes())
            for core in cores:
                trace = self._execution(prepared(program, core), record=True).trace
                assert trace is not None
                simulate(core, trace, check=True, max_cycles=CYCLES)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, previous)

    def _execution(self, program: CompiledProgram, *, record: bool) -> Execution:
        data, output, common, _ = inputs(self.seed, len(self.rows))
        buffers = [Buffer(name, np.frombuffer(content, np.uint8))
                   for name, content in (("input", data), ("output", output), ("common", common))]
        parameters = program.parameters[len(buffers) :]
        values = by_value(self.seed, [parameter.size for parameter in parameters])
        scalars = [Scalar(parameter.type, value) for parameter, value in zip(parameters, values, strict=True)]
        launch = Launch((self.grid, 1, 1), (*self.block, 1), (*buffers, *scalars), self.dynamic_shared, LIMIT)
        return execute(program, launch, record=record)

    def compare(self, output: bytes, common: bytes) -> None:
        """Raises `AssertionError` if results differ from the host's."""
        found = _rows(output)
        wrong = [number for number, (a, b) in enumerate(zip(found, self.rows, strict=True)) if a != b]
        assert not wrong, f"{len(wrong)} of {len(found)} threads differ from the host's, the first is {wrong[0]}"
        different = [at for at in range(len(common)) if common[at] != self.common[at]]
        assert not different, f"common words differ from the host's from byte {different[0]} on"


def _rows(output: bytes) -> tuple[int, ...]:
    return tuple(crc32(output[at : at + ROW_BYTES]) for at in range(0, len(output), ROW_BYTES))


def _endless(*_) -> None:
    raise Endless(f"goes on after {SECONDS} s")


def verdict(case: Case, cores: Sequence[SmConfig] = ()) -> str | None:
    """The failure of a run in one line: its kind, then its message. None without a failure."""
    try:
        case.run(cores)
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    return None


def signature(wrong: str) -> str:
    """The part of a verdict that does not change while a program shrinks: its kind, and the message without numbers."""
    return re.sub(r"0x[0-9a-f]+|\d+|\(.*?\)|%\w+", "#", wrong)[:60]
