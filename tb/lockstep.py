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
from tb.toolchain import best_waves
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
    made = runner.build(config, "Datapath", component=component, waves=best_waves() if waves else None)
    folder = _folder(made, file, seed)
    try:
        _run(made, file, seed)
    except AssertionError as error:
        difference = _read(folder).get("difference")
        if difference is None:
            raise
        raise LockstepError(_explain(config, component, file, seed, difference)) from error
    outcome = _read(folder)
    if waves:
        _run(made, file, seed, waves_from=0, cycles=waves)
    return Lockstep(
        config.name, str(file.path), seed, outcome["cycles"], outcome["warp_instructions"], outcome["registers"],
        outcome["checks"], outcome["seconds"], str(folder / f"waves.{made.waves}") if waves else None,
    )  # fmt: skip


def _folder(made: runner.Build, file: LaunchFile, seed: int) -> Path:
    return made.folder / "lockstep" / f"{file.path.parent.name}-{file.path.stem}-{seed}"


def _run(
    made: runner.Build, file: LaunchFile, seed: int, *, waves_from: int | None = None, cycles: int | None = None
) -> None:
    """One run of the bench, to the end or for some cycles; an older run's findings do not survive it."""
    folder = _folder(made, file, seed)
    (folder / RESULT).unlink(missing_ok=True)
    job = {JOB: json.dumps({"launch": str(file.path.resolve()), "cycles": cycles})}
    runner.run(made, "tb.lockstep_bench", seed, environment=job, waves_from=waves_from, folder=folder)


def _read(folder: Path) -> dict[str, Any]:
    """What the bench found; nothing if it did not get so far."""
    path = folder / RESULT
    return json.loads(path.read_text()) if path.exists() else {}


def _explain(
    config: SmConfig, component: wiring.Component | None, file: LaunchFile, seed: int, difference: dict[str, Any]
) -> str:
    """The first difference in words, after the same run with a waveform of the cycles before it."""
    made = runner.build(config, "Datapath", component=component, waves=best_waves())
    cycle, waveform = difference["cycle"], _folder(made, file, seed) / f"waves.{made.waves}"
    with contextlib.suppress(AssertionError):  # it differs again: that is what the waveform is for
        _run(made, file, seed, waves_from=max(cycle - WINDOW, 0))
    lane = f", lane {difference['lane']}" if "lane" in difference else ""
    return (f"{file.path}: hardware and golden model differ in cycle {cycle} (seed {seed}): "
            f"{difference['field']}{lane} is {difference['actual']:#x} in hardware, {difference['expected']:#x} in the "
            f"model; waveform of the last {WINDOW} cycles: {waveform}")
