"""`record`: a run as a Perfetto trace (docs/seeing_a_run.md)."""

from collections.abc import Sequence
from functools import cache
from typing import Any, BinaryIO

from warploom.arch.config import SmConfig
from warploom.golden_model.front_end.stalls import Stall
from warploom.golden_model.sm import Sm
from warploom.golden_model.statistics import Statistics, collect
from warploom.golden_model.trace import Traced
from warploom.watch.banks import Banks
from warploom.watch.cycles import stalled, stretches
from warploom.watch.flights import Flights
from warploom.watch.perfetto import Writer
from warploom.watch.source import Source
from warploom.watch.tracks import Labels

STATES = [*(cause.name.lower() for cause in Stall), "ready"]
"""Why the next instruction of a warp does not issue, by `Stall`; `READY`: it could, and waits for its scheduler, for a
collector or for a port."""

ISSUE = "issue"


class Schedulers:
    """Tracks of schedulers: they issue, or stall for a cause. A cycle of the schedulers has `front_end_interval`
    cycles."""

    def __init__(self, sm: Sm, writer: Writer, root: int) -> None:
        parent = writer.track("schedulers", root)
        self._tracks = [Labels(writer, writer.track(f"scheduler {number}", parent), "scheduler")
                        for number in range(sm.config.schedulers)]
        self._interval = sm.config.front_end_interval

    def see(self, sm: Sm, cycle: int) -> None:
        """A cycle."""
        if cycle % self._interval:
            return
        causes = dict(stalled(sm, cycle))
        for number, track in enumerate(self._tracks):
            cause = causes.get(number)
            track.show(cycle, (ISSUE if cause is None else STATES[cause], None))

    def close(self, cycles: int) -> None:
        """The run is over; the last cycle of the schedulers may end later."""
        end = -(-cycles // self._interval) * self._interval
        for track in self._tracks:
            track.show(end, None)


class Waits:
    """Tracks of warp slots: what the warp's next instruction waits for. `lines(pc)` are the annotations of a pc."""

    def __init__(self, sm: Sm, writer: Writer, warps: Sequence[int], lines: Any) -> None:
        self._tracks = [Labels(writer, warp, "wait") for warp in warps]
        self._lines = lines

    def see(self, sm: Sm, cycle: int) -> None:
        """A cycle."""
        issuing = {warp.slot for warp in sm.issuing}
        warps = sm.front_end.warps
        for slot, state in enumerate(sm.front_end.states):
            if state is None or slot in issuing:
                self._tracks[slot].show(cycle, None)
            else:
                pc = warps[slot].walk.pc
                self._tracks[slot].show(cycle, (STATES[state], pc), self._lines(pc))

    def close(self, cycles: int) -> None:
        """The run is over."""
        for track in self._tracks:
            track.show(cycles, None)


def record(config: SmConfig, trace: Traced, source: Source, file: BinaryIO) -> tuple[Statistics, int]:
    """Simulate a trace to its end, and write it to a file while it runs. Returns statistics, and the number of slices.

    Raises `LaunchError` if the launch does not fit the SM, `ExecutionError` if no warp can go on, `OSError` if the file
    cannot be written.
    """
    sm, writer = Sm(config, trace), Writer(file)
    root = writer.track(f"{trace.program.name} on {config.name}")
    lines = _annotations(writer, source)
    schedulers = Schedulers(sm, writer, root)
    parent = writer.track("warps", root)
    warps = [writer.track(f"warp slot {slot}", parent) for slot in range(config.warps)]
    waits = Waits(sm, writer, warps, lines)
    flights = Flights(sm, writer, warps, root, lines)
    banks = Banks(sm, writer, root, flights.living)
    for cycle, _ in stretches(sm):
        schedulers.see(sm, cycle)
        waits.see(sm, cycle)
        banks.see(sm, cycle)
        flights.see(sm, cycle)
    banks.settle()
    schedulers.close(sm.cycle)
    waits.close(sm.cycle)
    writer.close()
    return collect(sm), writer.slices


def _annotations(writer: Writer, source: Source) -> Any:
    """A function that gives the annotations of a pc: machine instruction, PTX and CUDA."""
    @cache
    def of(pc: int) -> Sequence[Any]:
        lines = source.lines[pc]
        found: dict[str, str | int] = {"pc": pc, "machine": lines.machine, "ptx line": lines.ptx.line,
                                       "ptx": source.at(lines.ptx)}
        if lines.cuda is not None:
            found |= {"cuda line": f"{lines.cuda.file}:{lines.cuda.line}", "cuda": source.at(lines.cuda)}
        return [writer.annotation(name, value) for name, value in found.items()]
    return of
