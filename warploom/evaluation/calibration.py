"""Calibration: instructions per cycle beside those of GPGPU-Sim on the same PTX (docs/calibration.md)."""

import dataclasses
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from warploom.arch.config import SmConfig
from warploom.arch.isa import Instruction, Op
from warploom.evaluation.figures import AVERAGE, Groups, Runs
from warploom.evaluation.simulations import annotated
from warploom.golden_model.simulate import simulate
from warploom.golden_model.trace import Trace

COLUMNS = ("kernel", "machine", "IPC", "GPGPU-Sim", "IPC, %", "cycles, %", "experiment, %")
"""The percentages: ours over theirs."""

CLOSE = 10
"""Percent of IPC within which no explanation is looked for."""

EXPERIMENTS = {
    "reduction": ["memory_latency=259", "timing.int_add=[6, 1]", "timing.int_mad=[7, 1]", "timing.fp_add=[6, 1]"],
    "histogram": ["mem.credits=1"],
}
"""What else an experiment sets where IPC is not close, in which branches take collectors."""


@dataclass(frozen=True)
class Row:
    """A kernel on a machine: instructions per cycle, ours and theirs; theirs has so many instructions. Where
    the two are not close, `experiment` is our IPC with branches in collectors, as in theirs, and `EXPERIMENTS`."""

    kernel: str
    machine: str
    ipc: float
    cycles: int
    published_ipc: float
    published_instructions: int
    experiment: float | None = None

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
        experiment = "" if self.experiment is None else f"{self._over(self.experiment):+.0f}"
        return (self.kernel, self.machine, self.ipc, self.published_ipc, f"{self.ipc_percent:+.0f}",
                f"{self.cycles_percent:+.0f}", experiment)

    def _over(self, ipc: float) -> float:
        return 100 * (ipc / self.published_ipc - 1)


def measured() -> dict[str, dict[str, float]]:
    """By kernel, the number of instructions and the IPC of each machine, in GPGPU-Sim."""
    found: dict[str, dict[str, float]] = tomllib.loads(Path(__file__).with_name("calibration.toml").read_text())
    return found


def usual() -> Groups:
    """The kernels that were measured."""
    return {AVERAGE: tuple(measured())}


def configurations(config: SmConfig, _: Sequence[str] = ()) -> dict[str, SmConfig]:
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
            if not row.is_close:
                row = dataclasses.replace(row, experiment=_experiment(row, run.config, size))
            found.append(row)
    return found


def _experiment(row: Row, config: SmConfig, size: str) -> float:
    """The IPC of an experiment."""
    changed = config.with_settings(EXPERIMENTS.get(row.kernel, []))
    (trace,) = annotated(row.kernel, size, changed)
    return simulate(changed, through_collectors(trace)).statistics.ipc


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
