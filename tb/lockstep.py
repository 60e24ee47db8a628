"""A kernel on golden SM and Verilated datapath in lockstep: builds, starts the simulator, and reads its results.

The bench itself is `warploom.tb.lockstep_bench`. If the two differ, the same run is repeated with a waveform of the
last cycles before the difference.
"""

import contextlib
import errno
import json
import os
import shutil
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warploom import store
from warploom.arch.config import SmConfig
from warploom.arch.errors import ToolError, warn
from warploom.files import writing
from warploom.kernels.launchfile import LaunchFile
from warploom.running import compiled
from warploom.tb import gtkwave, runner
from warploom.tb.identity import identity
from warploom.tb.player import play
from warploom.tb.tape import Refused, tape
from warploom.tb.toolchain import best_waves

if TYPE_CHECKING:
    from amaranth.lib import wiring

JOB, RESULT = "WARPLOOM_JOB", "result.json"
"""The environment variable with the bench's job, and the file of its results."""

BENCH = "warploom.tb.lockstep_bench"
ENDED = "the bench came to its end"

WINDOW = 100
"""Cycles of waveform before a difference."""

ROOM = 1 << 26
"""Bytes of the disk that a waveform leaves free: Verilator hangs if it cannot write one."""


class LockstepError(AssertionError):
    """The bench found an error in `cycle`. The message is one line; for a difference between hardware and golden model
    it names field, both values and the waveform."""

    def __init__(self, file: LaunchFile, seed: int, found: dict[str, Any], waveform: Path | None = None) -> None:
        self.found, self.cycle = found, found["cycle"]
        recorded = "" if waveform is None else f"; waveform of the last {WINDOW} cycles: {waveform}"
        super().__init__(f"{file.path}: {_describe(found, seed)}{recorded}")


def _describe(found: dict[str, Any], seed: int) -> str:
    when = f"in cycle {found['cycle']} (seed {seed})"
    if "field" not in found:
        return f"{found['what']} {when}: {found['message']}"
    lane = f", lane {found['lane']}" if "lane" in found else ""
    return (f"hardware and golden model differ {when}: {found['field']}{lane} is {found['actual']:#x} in hardware, "
            f"{found['expected']:#x} in the model")


COCOTB, REPLAY = "cocotb", "replay"
"""The comparing part: the bench, which steps the golden model, or the replay of a tape."""


@dataclass(frozen=True)
class Lockstep:
    """A run without differences: compared cycles, warp instructions, registers read back at the end, checks by kind,
    wall seconds of the simulator's loop, the waveform (None without one), and the comparing part."""

    config: str
    launch: str
    seed: int
    cycles: int
    warp_instructions: int
    registers: int
    checks: dict[str, int]
    seconds: float
    waveform: str | None = None
    by: str = COCOTB

    @property
    def cycles_per_second(self) -> float:
        """Speed of the lockstep loop, without build and start-up."""
        return self.cycles / self.seconds

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def lockstep(
    config: SmConfig, file: LaunchFile, seed: int = 1, *, cycles: int | None = None, waves: int = 0,
    record: Path | None = None, component: "wiring.Component | None" = None, replay: bool = False,
) -> Lockstep:
    """Run the kernel of a launch file. `cycles`, if given, is the number of cycles of the model: the run must take as
    many. `waves` requests a waveform of this number of cycles from the first on, `record` one of all cycles in that
    file, .vcd or .fst, even if the two differ. `component`, if given, replaces the datapath (a mutant). With `replay`
    the run is replayed from a tape; the bench takes over if there is a difference, or no tape.

    Raises `LockstepError` if the bench finds an error, such as a difference, `BenchError` if it did not end normally,
    `ToolError` if a tool is missing.
    """
    kind = record.suffix.lower()[1:] if record else best_waves() if waves else None
    made = runner.build(config, "Datapath", component=component, waves=kind)
    try:
        done = _replay(made, file, seed) if replay else _compare(made, [file], seed, record)[0]
    except LockstepError as error:
        if "field" not in error.found or record:
            raise
        raise LockstepError(file, seed, error.found, _record(config, component, file, seed, error.cycle)) from error
    if cycles not in (None, done.cycles):
        message = f"the model alone takes {cycles} cycles"
        raise LockstepError(file, seed, {"cycle": done.cycles, "what": ENDED, "message": message})
    if waves:
        with _folder(made, file, seed) as folder:
            _run(made, folder, [file], seed, waves_from=0, cycles=waves)
            done = replace(done, waveform=str(_keep_waveform(made, folder, file, _place(made, file, seed))))
    return done


def lockstep_all(config: SmConfig, files: Sequence[LaunchFile], seed: int = 1) -> list[Lockstep]:
    """Run the kernels of several launch files one after the other in one simulation, without waveforms. Raises as
    `lockstep`."""
    return _compare(runner.build(config, "Datapath"), files, seed)


class ReplayError(AssertionError):
    """A run cannot be recorded, or its replay differs, in `cycle`; the message has the location."""

    def __init__(self, cycle: int, message: str) -> None:
        self.cycle = cycle
        super().__init__(message)


def _replay(made: runner.Build, file: LaunchFile, seed: int) -> Lockstep:
    """A replay of a run on a build. If it differs, or is impossible, the bench runs. A `ReplayError` is the cause of
    the exception that the bench then raises."""
    try:
        return _replayed(made, file, seed)
    except Refused as error:
        warn(f"{file.path}: the bench runs instead of a replay: {error}")
        return _compare(made, [file], seed)[0]
    except ReplayError as error:
        doubt = error
    try:
        _compare(made, [file], seed)
    except LockstepError as error:
        raise error from doubt
    found = {"cycle": doubt.cycle, "what": "only the replay differs", "message": str(doubt)}
    raise LockstepError(file, seed, found)


def _replayed(made: runner.Build, file: LaunchFile, seed: int) -> Lockstep:
    """A replay that agrees. Raises `ReplayError`, and `Refused`."""
    try:
        items, about = tape(made.config, made.ports, file)
    except AssertionError as error:
        raise ReplayError(0, str(error)) from error
    played = play(made, items, seed)
    if played.differs:
        raise ReplayError(played.cycles - 1, played.differs)
    if played.cycles != about.checks["cycles"]:
        raise ReplayError(played.cycles, "the tape has ended")
    return Lockstep(made.config.name, str(file.path), seed, about.cycles, about.warp_instructions, about.registers,
                    about.checks, played.seconds, by=REPLAY)


def _compare(
    made: runner.Build, files: Sequence[LaunchFile], seed: int, record: Path | None = None
) -> list[Lockstep]:
    """One run of the bench on a build, to the end, with a waveform in `record`."""
    with _folder(made, files[0], seed) as folder:
        try:
            _run(made, folder, files, seed, waves_from=0 if record else None)
        except runner.BenchError as error:
            if record and (folder / f"waves.{made.waves}").exists():
                _try_to_keep(made, folder, files[0], record)
            for file, outcome in zip(files, _read(folder), strict=False):
                if outcome["found"]:
                    raise LockstepError(file, seed, outcome["found"]) from error
            raise
        if record:
            _keep_waveform(made, folder, files[0], record)
        return [_outcome(made, *one, seed, record) for one in zip(files, _read(folder), strict=True)]


def _outcome(
    made: runner.Build, file: LaunchFile, outcome: dict[str, Any], seed: int, record: Path | None
) -> Lockstep:
    """The bench's result, if it belongs to this launch. Raises `LockstepError` if not."""
    if outcome["identity"] != identity(made.config, file, seed):
        message = "the launch or its PTX has changed since, or another Warploom ran it: run it again"
        raise LockstepError(file, seed, {"cycle": outcome["cycles"], "what": ENDED, "message": message})
    return Lockstep(made.config.name, str(file.path), seed, outcome["cycles"], outcome["warp_instructions"],
                    outcome["registers"], outcome["checks"], outcome["seconds"], str(record) if record else None)


def _folder(made: runner.Build, file: LaunchFile, seed: int) -> AbstractContextManager[Path]:
    return store.run_folder(f"{file.path.resolve().parent.name}-{file.path.stem}-{seed}")


def _run(
    made: runner.Build, folder: Path, files: Sequence[LaunchFile], seed: int, *, waves_from: int | None = None,
    cycles: int | None = None,
) -> None:
    """One run of the bench, of each kernel to the end or for some cycles."""
    launches = [{"path": str(file.path.resolve()), "options": asdict(file.options)} for file in files]
    room = 0 if waves_from is None else ROOM
    need_room(folder, room)
    job = {JOB: json.dumps({"launches": launches, "cycles": cycles, "room": room})}
    runner.simulate(made, folder, BENCH, seed, environment=job, waves_from=waves_from)


def need_room(folder: Path, room: int) -> None:
    """Raise `OSError` if fewer than `room` bytes are free on the disk of a folder."""
    if room and shutil.disk_usage(folder).free < room:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))


def _read(folder: Path) -> list[dict[str, Any]]:
    """The bench's results by kernel, up to the first that failed."""
    path = folder / RESULT
    return json.loads(path.read_text()) if path.exists() else []


def _record(
    config: SmConfig, component: "wiring.Component | None", file: LaunchFile, seed: int, cycle: int
) -> Path | None:
    """A waveform of the cycles before a difference, from a repetition of the run; None if it cannot be made."""
    try:
        made = runner.build(config, "Datapath", component=component, waves=best_waves())
        with _folder(made, file, seed) as folder:
            with contextlib.suppress(runner.BenchError):  # it differs again, as expected
                _run(made, folder, [file], seed, waves_from=max(cycle - WINDOW, 0))
            return _keep_waveform(made, folder, file, _place(made, file, seed))
    except (ToolError, OSError):
        return None


def _place(made: runner.Build, file: LaunchFile, seed: int) -> Path:
    """The path of a waveform that the next run of the same launch replaces."""
    return store.runs() / f"{file.path.stem}-{identity(made.config, file, seed)[:16]}.{made.waves}"


def _keep_waveform(made: runner.Build, folder: Path, file: LaunchFile, waveform: Path) -> Path:
    """Move a run's waveform to a path, with a save file for GTKWave beside it."""
    _move(folder / f"waves.{made.waves}", waveform)
    gtkwave.save(waveform, made.config, compiled(file), made)
    return waveform


def _try_to_keep(made: runner.Build, folder: Path, file: LaunchFile, waveform: Path) -> None:
    """Keep the waveform after an error, which counts for more than its waveform."""
    try:
        _keep_waveform(made, folder, file, waveform)
    except OSError as error:
        warn(f"no waveform: {error.filename or waveform}: {error.strerror}")


def _move(source: Path, target: Path) -> None:
    """Move a file; to another disk as a whole or not at all."""
    try:
        source.replace(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        with source.open("rb") as file, writing(target) as whole:
            shutil.copyfileobj(file, whole)
