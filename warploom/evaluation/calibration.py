"""Calibration: instructions per cycle beside those of GPGPU-Sim on the same PTX (docs/calibration.md)."""

import dataclasses
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from warploom.arch.config import SmConfig
from warploom.arch.isa import Instruction, Op
from warploom.compiler.compile import compile_file
from warploom.evaluation.figures import Runs
from warploom.golden_model.functional.executor import execute
from warploom.golden_model.simulate import simulate
from warploom.golden_model.trace import Trace
from warploom.kernels.library import kernel

COLUMNS = ("kernel", "machine", "IPC", "GPGPU-Sim", "IPC, %", "cycles, %", "IPC with branches, %")
"""The percentages: ours over theirs."""

CLOSE = 10
"""Percent of IPC within which no explanation is looked for."""


@dataclass(frozen=True)
class Row:
    """A kernel on a machine: instructions per cycle, ours and theirs; theirs has so many instructions. `branches` is
    our IPC if branches take collectors, as theirs do, where the two are not close."""

    kernel: str
    machine: str
    ipc: float
    cycles: int
    published_ipc: float
    published_instructions: int
    branches: float | None = None

    @property
    def ipc_percent(self) -> float:
        """How many percent more instructions a cycle ours issues."""
        return self._over(self.ipc)

    @property
    def cycles_percent(self) -> float:
        """How many percent more cycles ours takes."""
        return 100 * (self.cycles * self.published_ipc / self.published_instructions - 1)

    @property
    def is_close(self) -> bool:
        """Whether no explanation is looked for."""
        return abs(self.ipc_percent) <= CLOSE

    @property
    def shown(self) -> tuple[object, ...]:
        """The row of a table with `COLUMNS`."""
        branches = "" if self.branches is None else f"{self._over(self.branches):+.0f}"
        return (self.kernel, self.machine, self.ipc, self.published_ipc, f"{self.ipc_percent:+.0f}",
                f"{self.cycles_percent:+.0f}", branches)

    def _over(self, ipc: float) -> float:
        return 100 * (ipc / self.published_ipc - 1)


def measured() -> dict[str, dict[str, float]]:
    """By kernel, the number of instructions and the IPC of each machine, in GPGPU-Sim."""
    found: dict[str, dict[str, float]] = tomllib.loads(Path(__file__).with_name("calibration.toml").read_text())
    return found


def configurations(config: SmConfig) -> dict[str, SmConfig]:
    """The machines, of which `config` has 4 banks."""
    return {
        "16 banks": config.with_settings(["banks=16", "rows=64"]),
        "4 banks": config,
        "4 collectors": config.with_settings(["collectors=4", "sfu_collectors=0", "mem_collectors=0"]),
    }


def rows(runs: Mapping[str, Runs], size: str) -> list[Row]:
    """Every kernel on every machine on which it was measured; `size` is that of the kernels."""
    found = []
    for name, theirs in measured().items():
        for machine, run in runs[name].items():
            statistics = run.statistics
            row = Row(name, machine, statistics.ipc, statistics.cycles, theirs[machine], int(theirs["instructions"]))
            found.append(row if row.is_close else dataclasses.replace(
                row, branches=simulate(run.config, through_collectors(_trace(name, size))).statistics.ipc))
    return found


def through_collectors(trace: Trace) -> Trace:
    """A trace in which branches enter the datapath, as a MOV that writes nothing: they take an issue port, a collector
    and a turn of SP."""
    program = trace.program
    instructions = tuple(_moved(instruction) for instruction in program.instructions)
    branches = np.array([instruction.op is Op.BRA for instruction in program.instructions])
    warps = tuple(
        dataclasses.replace(warp, lanes=np.where(branches[warp.pc], np.uint32(warp.live), warp.lanes))
        for warp in trace.warps)
    return dataclasses.replace(trace, warps=warps, program=dataclasses.replace(program, instructions=instructions))


def _moved(instruction: Instruction) -> Instruction:
    if instruction.op is not Op.BRA:
        return instruction
    return Instruction(op=Op.MOV, imm_slot=0, guard=instruction.guard, guard_not=instruction.guard_not)


@lru_cache(maxsize=1)
def _trace(name: str, size: str) -> Trace:
    """The trace of a kernel."""
    file = kernel(name).load(size)
    trace = execute(compile_file(file.ptx, file.entry), file.launch).trace
    assert trace is not None
    return trace
