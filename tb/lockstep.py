"""A kernel through golden SM and Verilated datapath in lockstep: builds, starts the simulator, and reads what it found.

The bench itself is `tb.lockstep_bench`. When the two differ, the same run is made again with a waveform of the last
cycles before the difference.
"""

import contextlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from amaranth.lib import wiring

from tb import runner
from warploom.arch.config import SmConfig
from warploom.kernels.launchfile import LaunchFile

JOB, RESULT = "WARPLOOM_JOB", "result.json"
"""Where the bench finds its job (an environment variable) and leaves what it found."""

WINDOW = 100
"""Cycles of waveform before a difference."""


class LockstepError(AssertionError):
    """Hardware and golden model differ. The message names cycle, unit, field, both values and the waveform."""


@dataclass(frozen=True)
class Lockstep:
    """A run without differences: cycles compared, warp instructions, registers read back at the end, checks by kind,
    wall seconds of the simulator's loop, and the waveform (None without one)."""

    config: str
    launch: str
    seed: int
    cycles: int
    warp_instructions: int
    registers: int
    checks: dict[str, int]
    seconds: float
    waveform: str | None

    @property
    def cycles_per_second(self) -> float:
        """Speed of the lockstep loop, build and start-up left out."""
        return self.cycles / self.seconds

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def lockstep(
    config: SmConfig, file: LaunchFile, seed: int = 1, *, waves: int = 0, component: wiring.Component | None = None
) -> Lockstep:
    """Run the kernel of a launch file. `waves` asks for a waveform of so many cycles from the first on; `component`
    takes the datapath's place when it is given (a mutant).

    Raises `LockstepError` at the first difference, `ToolError` when a tool is missing.
    """
    made = runner.build(config, "Datapath", component=component, waves=runner.best_waves() if waves else None)
    folder = made.folder / "lockstep" / f"{file.path.parent.name}-{file.path.stem}-{seed}"
    try:
        _run(made, file, seed, (0, waves), folder)
    except AssertionError as error:
        difference = _read(folder).get("difference")
        if difference is None:
            raise
        raise LockstepError(_explain(config, component, file, seed, difference)) from error
    outcome = _read(folder)
    waveform = str(folder / f"waves.{made.waves}") if waves else None
    return Lockstep(
        config.name, str(file.path), seed, outcome["cycles"], outcome["warp_instructions"], outcome["registers"],
        outcome["checks"], outcome["seconds"], waveform,
    )  # fmt: skip


def _run(made: runner.Build, file: LaunchFile, seed: int, window: tuple[int, int], folder: Path) -> None:
    """One run of the bench; an older run's findings do not survive it."""
    (folder / RESULT).unlink(missing_ok=True)
    job = {JOB: str(file.path.resolve())}
    runner.run(made, "tb.lockstep_bench", seed, environment=job, window=window, folder=folder)


def _read(folder: Path) -> dict[str, Any]:
    """What the bench found; nothing if it did not get so far."""
    path = folder / RESULT
    return json.loads(path.read_text()) if path.exists() else {}


def _explain(
    config: SmConfig, component: wiring.Component | None, file: LaunchFile, seed: int, difference: dict[str, Any]
) -> str:
    """The first difference in words, after the same run with a waveform of the cycles before it."""
    made = runner.build(config, "Datapath", component=component, waves=runner.best_waves())
    folder = made.folder / "lockstep" / f"{file.path.parent.name}-{file.path.stem}-{seed}"
    cycle = difference["cycle"]
    with contextlib.suppress(AssertionError):  # it differs again: that is what the waveform is for
        _run(made, file, seed, (max(cycle - WINDOW, 0), cycle + 10), folder)
    lane = f", lane {difference['lane']}" if "lane" in difference else ""
    return (f"{file.path}: hardware and golden model differ in cycle {cycle} (seed {seed}): "
            f"{difference['field']}{lane} is {difference['actual']:#x} in hardware, {difference['expected']:#x} in the "
            f"model; waveform of the last {WINDOW} cycles: {folder / f'waves.{made.waves}'}")
