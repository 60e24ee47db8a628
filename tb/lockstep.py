"""A kernel through golden SM and Verilated datapath in lockstep: builds, starts the simulator, and reads what it found.

The bench itself is `tb.lockstep_bench`. When the two differ, the same run is made again with a waveform of the last
cycles before the difference.
"""

import contextlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
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
    """Hardware and golden model differ in `cycle`. The message names it, field, both values and the waveform."""

    def __init__(self, file: LaunchFile, seed: int, difference: dict[str, Any], waveform: Path | None = None) -> None:
        self.difference, self.cycle = difference, difference["cycle"]
        lane = f", lane {difference['lane']}" if "lane" in difference else ""
        recorded = "" if waveform is None else f"; waveform of the last {WINDOW} cycles: {waveform}"
        super().__init__(
            f"{file.path}: hardware and golden model differ in cycle {self.cycle} (seed {seed}): "
            f"{difference['field']}{lane} is {difference['actual']:#x} in hardware, {difference['expected']:#x} in the "
            f"model{recorded}"
        )


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
    try:
        [done] = _compare(made, [file], seed)
    except LockstepError as error:
        waveform = _record(config, component, file, seed, error.cycle)
        raise LockstepError(file, seed, error.difference, waveform) from error
    if waves:
        _run(made, [file], seed, waves_from=0, cycles=waves)
        done = replace(done, waveform=str(_folder(made, file, seed) / f"waves.{made.waves}"))
    return done


def lockstep_all(config: SmConfig, files: Sequence[LaunchFile], seed: int = 1) -> list[Lockstep]:
    """Run the kernels of several launch files one after the other in one simulation, without waveforms. Raises as
    `lockstep`."""
    return _compare(runner.build(config, "Datapath"), files, seed)


def _compare(made: runner.Build, files: Sequence[LaunchFile], seed: int) -> list[Lockstep]:
    """One run of the bench on a build, to the end."""
    folder = _folder(made, files[0], seed)
    try:
        _run(made, files, seed)
    except AssertionError as error:
        outcomes = _read(folder)
        if not outcomes:
            raise
        file, difference = files[len(outcomes) - 1], outcomes[-1]["difference"]
        if difference is None:
            raise AssertionError(f"{file.path}: {error}") from error
        raise LockstepError(file, seed, difference) from error
    return [
        Lockstep(made.config.name, str(file.path), seed, outcome["cycles"], outcome["warp_instructions"],
                 outcome["registers"], outcome["checks"], outcome["seconds"], None)
        for file, outcome in zip(files, _read(folder), strict=True)
    ]  # fmt: skip


def _folder(made: runner.Build, file: LaunchFile, seed: int) -> Path:
    return made.folder / "lockstep" / f"{file.path.parent.name}-{file.path.stem}-{seed}"


def _run(
    made: runner.Build, files: Sequence[LaunchFile], seed: int, *, waves_from: int | None = None,
    cycles: int | None = None,
) -> None:  # fmt: skip
    """One run of the bench, of each kernel to the end or for some cycles; an older run's findings do not survive it."""
    folder = _folder(made, files[0], seed)
    (folder / RESULT).unlink(missing_ok=True)
    job = {JOB: json.dumps({"launches": [str(file.path.resolve()) for file in files], "cycles": cycles})}
    runner.run(made, "tb.lockstep_bench", seed, environment=job, waves_from=waves_from, folder=folder)


def _read(folder: Path) -> list[dict[str, Any]]:
    """What the bench found of each kernel; nothing if it did not get so far."""
    path = folder / RESULT
    return json.loads(path.read_text()) if path.exists() else []


def _record(config: SmConfig, component: wiring.Component | None, file: LaunchFile, seed: int, cycle: int) -> Path:
    """A waveform of the cycles before a difference, from the same run once more."""
    made = runner.build(config, "Datapath", component=component, waves=best_waves())
    with contextlib.suppress(AssertionError):  # it differs again: that is what the waveform is for
        _run(made, [file], seed, waves_from=max(cycle - WINDOW, 0))
    return _folder(made, file, seed) / f"waves.{made.waves}"
